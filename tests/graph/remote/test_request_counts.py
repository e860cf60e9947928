"""How many requests an operation sends to a server: each costs a round trip."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cortex_graph import NamespacedGraph, Pattern, Provenance, open_store
from cortex_graph.stores.http.client import HttpClient
from cortex_skills import Plugin
from tests.configs import config
from tests.plugin.skills import write_skill
from tests.services.oxigraph import oxigraph

Asked = list[str]
PERMISSIONS = {"graph": ["read", "write"], "proofs": ["request"], "memory": ["remember", "recall"]}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with oxigraph() as running:
        yield running.url


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """The address of each request, but of the look for changed tools, every few seconds."""
    found: Asked = []
    send: Callable[..., Any] = HttpClient.send

    def counted(client: HttpClient, method: str, url: str, **given: Any) -> Any:
        if b"artifactsChanged" not in given.get("body", b""):
            found.append(url)
        return send(client, method, url, **given)

    monkeypatch.setattr(HttpClient, "send", counted)
    return found


def test_a_triple_with_its_record_is_two_requests_and_a_page_with_its_total_one(server: str, asked: Asked) -> None:
    store = open_store(server)
    graph, by = NamespacedGraph(store, "counts"), Provenance(agent="a1", time=datetime.now(UTC))
    graph.create_triple({"subject": "s", "predicate": "p", "object": 0}, by)
    asked.clear()
    for number in range(1, 130):
        assert graph.create_triple({"subject": "s", "predicate": "p", "object": number}, by)["created"]
    assert len(asked) == 2 * 129
    asked.clear()
    first = graph.list_triples({"subject": "s", "limit": 20})
    assert (len(first["triples"]), first["total"], first["totalIsExact"], len(asked)) == (20, 100, False, 1)
    whole = graph.list_triples({"subject": "s", "predicate": "p", "limit": 1000})
    assert (len(whole["triples"]), whole["total"], whole["totalIsExact"], len(asked)) == (130, 130, True, 2)
    one = graph.list_triples({"object": 7, "limit": 20})
    assert (one["total"], one["totalIsExact"], len(asked)) == (1, True, 3)
    asked.clear()
    rows, cursor = list(first["triples"]), first["nextCursor"]
    while cursor is not None:
        page = graph.list_triples({"subject": "s", "limit": 20, "cursor": cursor})
        rows, cursor = [*rows, *page["triples"]], page["nextCursor"]
    assert len({row["id"] for row in rows}) == len(rows) == 130
    assert len(asked) == 2 * 6  # where the page before ended, and the page
    asked.clear()
    assert {each["agent"] for each in graph.provenances_of([row["id"] for row in rows[:20]]).values()} == {"a1"}
    assert len(asked) == 1
    store.close()


def test_the_requests_of_a_thread_use_one_connection(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, connect = [], socket.create_connection

    def counted(*arguments: Any, **given: Any) -> Any:
        opened.append(arguments)
        return connect(*arguments, **given)

    monkeypatch.setattr(socket, "create_connection", counted)
    store = open_store(server)
    graph = NamespacedGraph(store, "connections")
    for number in range(30):
        graph.create_triple({"subject": "s", "predicate": "p", "object": number}, Provenance(agent="a1"))
    for _ in range(5):
        page = graph.list_triples({"subject": "s", "limit": 7})
        graph.list_triples({"subject": "s", "limit": 7, "cursor": page["nextCursor"]})
        list(store.quads(Pattern(graph.names.graph)))
    assert len(opened) == 1
    store.close()


def test_a_page_of_long_values_has_its_total_too(server: str) -> None:
    store = open_store(server)
    graph = NamespacedGraph(store, "long")
    graph.create_triples([{"subject": "s", "predicate": "p", "object": f"{n}{'x' * 200_000}"} for n in range(8)])
    page = graph.list_triples({"subject": "s"})
    assert (len(page["triples"]), page["total"], page["totalIsExact"]) == (5, 8, True)
    assert page["nextCursor"]
    store.close()


def test_a_query_with_marks_of_proofs_and_a_recall_are_two_requests(server: str, asked: Asked, tmp_path: Path) -> None:
    settings = config(store=server, agentNamespace="calls", skillSandbox={"maxAssertions": 100})
    with Plugin.open(settings, agent="a1") as plugin:
        plugin.load(write_skill(tmp_path / "probe", permissions=PERMISSIONS))

        def call(tool: str, **arguments: Any) -> Any:
            result = plugin.call(tool, arguments)
            assert not result.is_error, result.text
            return result

        for number in range(24):
            call("skill_assert", subject="nails", predicate="note", object=number)
        for number in range(3):
            call("skill_assert", subject="nails", predicate="sealed", object=number)
        call("skill_memory_remember", text="The nails are in the shed.")
        call("skill_memory_remember", text="The saw is in the shed.")
        first = call("skill_graph_query", subject="nails", predicate="sealed")
        assert [match.get("proved") for match in first.details["matches"]] == [True] * 3
        call("skill_memory_context", query="nails")
        asked.clear()
        page = call("skill_graph_query", subject="nails")
        assert (page.details["total"], len(page.details["matches"]), len(asked)) == (27, 20, 2)
        asked.clear()
        assert "nails are in the shed" in call("skill_memory_context", query="nails").text
        assert len(asked) == 2
        asked.clear()
        call("skill_assert", subject="nails", predicate="note", object="last")
        assert len(asked) == 2
