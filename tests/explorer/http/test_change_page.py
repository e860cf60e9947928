"""The page of the difference of two moments, and the links that lead to it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from cortex_graph import Provenance
from tests.explorer.hostile import TEXTS, check_page
from tests.explorer.http.browsing import CLICKED, signed_in
from tests.server.serving import Running, served

NOW = datetime.now(UTC)


def at(hours: int, agent: str = "a1") -> Provenance:
    return Provenance(agent=agent, time=NOW - timedelta(hours=hours))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with served(tmp_path_factory.mktemp("changes")) as server:
        graph = server.plugin.graph
        (old,) = graph.create_triples([{"subject": "nails", "predicate": "stock", "object": 26}], at(48))
        graph.withdraw(old["id"], at(2, "a 2/ä"))
        graph.create_triples([{"subject": "nails", "predicate": "stock", "object": 14}], at(2, "a 2/ä"))
        for text in TEXTS:
            if len(text) < 1000:
                graph.create_triples([{"subject": "hostile", "predicate": "note", "object": text}], at(1))
        yield server


@pytest.fixture(scope="module")
def reader(running: Running) -> httpx.Client:
    client = running.client(running.token("reader", permissions=("read",)))
    client.headers["Accept"] = "text/html"
    return client


def test_the_page_has_what_was_added_and_withdrawn_with_by_whom(running: Running, reader: httpx.Client) -> None:
    page = check_page(reader.get("/explore/mayros/changes?since=24h&subject=nails").text, 60_000)
    assert "1 added, 1 withdrawn from" in page.text
    (row,) = running.plugin.graph.list_triples({"subject": "nails"})["triples"]
    assert {f"/explore/mayros/t/{row['id']}", "/explore/mayros/agent?name=a%202%2F%C3%A4"} <= set(page.links)
    everything = check_page(reader.get("/explore/mayros/changes?since=24h").text, 60_000)
    assert "<script>alert(1)</script>" in everything.text
    document = reader.get("/explore/mayros/changes?since=24h&subject=nails&format=json").json()
    assert [(each["change"], each["object"]) for each in document["changes"]] == [("added", "14"), ("withdrawn", "26")]


def test_the_rows_of_a_query_are_compared(reader: httpx.Client) -> None:
    query = "SELECT ?n { ?s <urn:cortex:mayros:stock> ?n }"
    page = check_page(reader.get("/explore/mayros/changes", params={"since": "24h", "query": query}).text, 60_000)
    assert ("+ new" in page.text, "− gone" in page.text) == (True, True)


def test_a_query_that_came_with_a_link_is_shown_and_not_run(running: Running) -> None:
    browser = signed_in(running, running.token("reader", permissions=("read",)))
    asked = {"since": "24h", "query": "SELECT ?n { ?s <urn:cortex:mayros:stock> ?n }"}
    shown = browser.get("/explore/mayros/changes", params={**asked, "followed": "1"}, headers=CLICKED)
    assert ("was not run" in shown.text, "+ new" in shown.text) == (True, False)
    form = browser.get("/explore/mayros/changes", params={**asked, "followed": "1", "format": "json"}, headers=CLICKED)
    assert form.status_code == 403
    assert "+ new" in browser.get("/explore/mayros/changes", params=asked, headers=CLICKED).text


@pytest.mark.parametrize("query", ["since=soon", "since=1h&until=2h", "since=1h&query=SELECT"])
def test_what_cannot_be_compared_is_an_error_page(reader: httpx.Client, query: str) -> None:
    answer = reader.get(f"/explore/mayros/changes?{query}")
    assert answer.status_code == 400
    check_page(answer.text, 60_000)
