"""Recent triples are read as they always would be, found by their ids, few of them kept, and handed out as copies."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import NamespacedGraph, Pattern, open_store
from cortex_graph.store import Triple, triple_of
from cortex_graph.store_access import recent_cache as recent
from cortex_graph.store_access.recent_cache import RecentTriples, Row
from tests.graph.strategies import names, values

GRAPH, S, P = (NamedNode(f"urn:{name}") for name in "gsp")


def quad(value: str | int) -> Quad:
    return Quad(S, P, Literal(value), GRAPH)


def line(value: str | int) -> bytes:
    return str(quad(value)).encode()


class Reading:
    """Makes rows of triples, and counts them."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, triple_id: str, triple: Triple) -> Row:
        self.count += 1
        return {"id": triple_id, "object": {"node": str(triple[2])}}


def rows(memory: RecentTriples, read: Reading, *some: str | int) -> list[dict[str, Any]]:
    return memory.rows([triple_of(quad(value)) for value in some], [line(value) for value in some], read)


def test_a_triple_is_read_once_and_keeps_its_place_and_its_id() -> None:
    memory, read = RecentTriples(), Reading()
    first = rows(memory, read, 1, 2, 1)
    assert [row["object"]["node"] for row in first] == [str(Literal(value)) for value in (1, 2, 1)]
    assert [row["id"] for row in first] == [hashlib.sha256(line(value) + b" .\n").hexdigest() for value in (1, 2, 1)]
    third = {"id": recent.hash_of(line(3)), "object": {"node": str(Literal(3))}}
    assert rows(memory, read, 2, 3) == [first[1], third]
    assert read.count == 3


def test_a_changed_row_does_not_change_the_cache() -> None:
    memory, read = RecentTriples(), Reading()
    (row,) = rows(memory, read, "v")
    row["object"]["node"] = row["id"] = "changed"
    (again,) = rows(memory, read, "v")
    assert again == {"id": recent.hash_of(line("v")), "object": {"node": '"v"'}}


def test_a_triple_that_was_only_identified_is_read_when_it_is_asked_for() -> None:
    memory, read = RecentTriples(), Reading()
    triple_id = memory.identify(line("v"))
    assert memory.quad(triple_id) == quad("v")
    assert rows(memory, read, "v")[0]["id"] == triple_id
    assert memory.identify(line("v")) == triple_id
    assert (len(memory), read.count) == (1, 1)


def test_so_many_are_kept_and_those_that_were_asked_for_lately(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "HALF", 10)
    memory, read = RecentTriples(), Reading()
    for number in range(95):
        (row,) = rows(memory, read, number)
        assert rows(memory, read, "asked for each time")[0]["object"] == {"node": '"asked for each time"'}
        assert memory.quad(row["id"]) == quad(number)
        assert len(memory) <= 20
    assert read.count == 96
    assert memory.quad(recent.hash_of(line(0))) is None
    assert memory.quad(recent.hash_of(line("asked for each time"))) is not None


def test_a_long_triple_is_read_and_not_kept() -> None:
    memory, read = RecentTriples(), Reading()
    (row,) = rows(memory, read, "x" * 2000)
    assert row["id"] == memory.identify(line("x" * 2000)) == recent.hash_of(line("x" * 2000))
    assert len(memory) == 0
    assert memory.quad(row["id"]) is None


@given(names, names, values)
def test_every_triple_is_found_by_its_id_as_it_is(subject: str, predicate: str, value: Any) -> None:
    graph = NamespacedGraph(open_store("memory:"), "mayros")
    given_quad = graph.quad_of({"subject": f"mayros:{subject}", "predicate": f"mayros:{predicate}", "object": value})
    memory = RecentTriples()
    found = memory.quad(memory.identify(str(given_quad).encode()))
    assert found == given_quad or len(str(given_quad).encode()) > 1024
    graph.store.insert([[given_quad]])
    page = graph.store.match(Pattern(graph.names.graph), 1)
    assert (page.quads, page.lines) == ([given_quad], [str(given_quad).encode()])
