"""The pages of saved queries: save one, fill in its fields, read the answer, forget it."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.explorer.hostile import check_page
from tests.explorer.http.browsing import CLICKED, fields_of, signed_in, submitted
from tests.server.serving import Running, served

LIST = "/explore/mayros/queries"
PAGE = f"{LIST}/stock%20of"
QUERY = "SELECT ?n { $part <urn:cortex:mayros:inStock> ?n }"
HOSTILE = "</textarea><script>alert(1)</script>\u202e"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with served(tmp_path_factory.mktemp("queries")) as server:
        server.plugin.graph.create_triples([{"subject": "nails", "predicate": "inStock", "object": 14}])
        yield server


@pytest.fixture(scope="module")
def writer(running: Running) -> httpx.Client:
    token = running.token("ada", permissions=("read", "write"), holder="person")
    browser = signed_in(running, token)
    form = {**fields_of(browser.get(LIST, headers=CLICKED).text), "token": token}
    kept = {"name": "stock of", "description": f"How much of {HOSTILE}", "parameters": "part name The part"}
    answer = submitted(browser, LIST, {**form, "action": "save", "query": QUERY, **kept})
    assert (answer.status_code, answer.headers["location"]) == (303, PAGE), answer.text
    return browser


def test_somebody_who_writes_no_sparql_fills_in_a_form(writer: httpx.Client) -> None:
    listed = check_page(writer.get(LIST, headers=CLICKED).text, 60_000)
    assert PAGE in listed.links
    empty = check_page(writer.get(PAGE, headers=CLICKED).text, 60_000)
    assert "The part" in empty.text
    assert "whole answer" not in empty.text
    answered = check_page(writer.get(PAGE, params={"v0": "nails"}, headers=CLICKED).text, 60_000)
    assert ("1 row, the whole answer" in answered.text, "14" in answered.text) == (True, True)
    assert any(link.startswith("/explore/mayros/sparql?query=SELECT") for link in answered.links)
    past = writer.get(PAGE, params={"v0": "nails", "asOf": "2020-01-01"}, headers=CLICKED)
    assert past.status_code == 200


def test_a_link_from_elsewhere_shows_the_form_and_runs_nothing(writer: httpx.Client) -> None:
    page = writer.get(PAGE, params={"v0": "nails", "followed": "1"}, headers=CLICKED)
    assert ("nails" in page.text, "whole answer" in page.text) == (True, False)


def test_a_text_that_is_no_query_is_shown_again_with_the_fault(writer: httpx.Client, running: Running) -> None:
    form = {**fields_of(writer.get(LIST, headers=CLICKED).text), "action": "save"}
    answer = submitted(writer, LIST, {**form, "name": "broken", "query": f"SELECT {HOSTILE}"})
    assert answer.status_code == 400
    page = check_page(answer.text, 60_000)
    assert "broken" in answer.text
    assert "the SPARQL text, line 1" in page.text
    assert "broken" not in [each["name"] for each in writer.get(f"{LIST}?format=json").json()]


def test_a_reader_may_ask_and_not_save(running: Running, writer: httpx.Client) -> None:
    reader = signed_in(running, running.token("reader", permissions=("read",)))
    page = reader.get(LIST, headers=CLICKED).text
    assert ('name="parameters"' in page, "needs a session of a token with the permission write" in page) == (
        False,
        True,
    )
    assert "14" in reader.get(PAGE, params={"v0": "nails"}, headers=CLICKED).text
    assert reader.get(f"{LIST}/nothing", headers=CLICKED).status_code == 404
    assert reader.get("/explore/elsewhere/queries", headers=CLICKED).status_code == 404


def test_a_query_is_forgotten(running: Running, writer: httpx.Client) -> None:
    fresh = signed_in(running, running.token("writer", permissions=("read", "write")))
    asking = submitted(fresh, PAGE, {**fields_of(fresh.get(PAGE, headers=CLICKED).text), "action": "forget"})
    assert (asking.status_code, ">Forget: stock of</h1>" in asking.text) == (401, True)
    assert '<button class="danger final">Forget</button>' in asking.text
    form = fields_of(writer.get(PAGE, headers=CLICKED).text)
    answer = submitted(writer, PAGE, {**form, "action": "forget"})
    assert (answer.status_code, answer.headers["location"]) == (303, LIST)
    assert writer.get(PAGE, headers=CLICKED).status_code == 404
