"""Pages, cursors and totals."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_graph import InvalidArguments, NamespacedGraph, open_store

Fill = Callable[[int], list[str]]

LONG = "x" * 400_000


def read_all(graph: NamespacedGraph, limit: int, between: Callable[[], object] = lambda: None) -> list[dict[str, Any]]:
    rows, cursor = [], None
    while True:
        page = graph.list_triples({"subject": "s", "limit": limit, "cursor": cursor})
        rows += page["triples"]
        cursor = page["nextCursor"]
        if cursor is None:
            return rows
        between()


@pytest.mark.parametrize("limit", [1, 2, 7, 50, 99, 100, 101, 1000])
def test_pages_hold_every_triple_once(graph: NamespacedGraph, fill: Fill, limit: int) -> None:
    ids = fill(100)
    assert sorted(row["id"] for row in read_all(graph, limit)) == sorted(ids)


def test_a_page_is_100_triples_of_a_list_and_20_of_a_query(graph: NamespacedGraph, fill: Fill) -> None:
    fill(150)
    assert len(graph.list_triples()["triples"]) == 100
    assert len(graph.pattern_query({"subject": "s"})["matches"]) == 20


@pytest.mark.parametrize(("count", "total", "exact"), [(0, 0, True), (5, 5, True), (100, 100, True), (101, 100, False)])
def test_a_total_is_exact_up_to_a_hundred(
    graph: NamespacedGraph, fill: Fill, count: int, total: int, exact: bool
) -> None:
    fill(count)
    page = graph.list_triples({"predicate": "p", "limit": 3})
    assert (page["total"], page["totalIsExact"], graph.count()) == (total, exact, count)
    whole = graph.list_triples({"limit": 1000})
    assert (whole["total"], whole["totalIsExact"]) == (count, True)


def test_the_total_is_that_of_the_pattern_on_every_page(graph: NamespacedGraph, fill: Fill) -> None:
    fill(5)
    graph.create_triple({"subject": "other", "predicate": "p", "object": 1})
    first = graph.list_triples({"subject": "s", "limit": 3})
    last = graph.list_triples({"subject": "s", "limit": 3, "cursor": first["nextCursor"]})
    assert (first["total"], last["total"], len(last["triples"]), last["nextCursor"]) == (5, 5, 2, None)


def test_what_is_there_throughout_is_read_while_others_write(graph: NamespacedGraph, fill: Fill) -> None:
    ids = fill(60)
    numbers = iter(range(1000, 2000))

    def write() -> None:
        graph.create_triple({"subject": "s", "predicate": "p", "object": next(numbers)})

    assert set(ids) <= {row["id"] for row in read_all(graph, 7, write)}


def test_what_is_there_throughout_is_read_while_others_delete(graph: NamespacedGraph, fill: Fill) -> None:
    ids = fill(60)
    doomed = iter(ids[::6])
    gone: set[str] = set()

    def delete() -> None:
        if triple_id := next(doomed, None):
            gone.add(triple_id)
            graph.delete_triple(triple_id)

    read = {row["id"] for row in read_all(graph, 7, delete)}
    assert len(gone) > 5
    assert set(ids) - gone <= read


def test_a_reader_who_deletes_what_it_has_read_comes_to_an_end(graph: NamespacedGraph, fill: Fill) -> None:
    fill(30)
    cursor, read = None, 0
    while True:
        page = graph.list_triples({"limit": 7, "cursor": cursor})
        for triple in page["triples"]:
            read += graph.delete_triple(triple["id"])
        if (cursor := page["nextCursor"]) is None:
            break
    assert (read, graph.count()) == (30, 0)


def test_a_cursor_of_another_pattern_is_refused(graph: NamespacedGraph, fill: Fill) -> None:
    fill(5)
    cursor = graph.list_triples({"limit": 2})["nextCursor"]
    with pytest.raises(InvalidArguments) as caught:
        graph.list_triples({"subject": "s", "limit": 2, "cursor": cursor})
    assert caught.value.details == {"field": "cursor"}


@pytest.mark.parametrize("cursor", ["x", "é", "=", "\ud800", "A" * 34, "A" * 100_000, "../..", "' OR 1=1", "\x00"])
def test_a_garbled_cursor_is_refused(graph: NamespacedGraph, fill: Fill, cursor: str) -> None:
    fill(5)
    with pytest.raises(InvalidArguments, match="`cursor`"):
        graph.list_triples({"cursor": cursor})


@given(st.data())
def test_a_tampered_cursor_is_refused_or_stays_in_its_pattern(data: st.DataObject) -> None:
    store = open_store("memory:")
    graph = NamespacedGraph(store, "mayros")
    ids = {graph.create_triple({"subject": "s", "predicate": "p", "object": number})["id"] for number in range(6)}
    NamespacedGraph(store, "may").create_triple({"subject": "s", "predicate": "p", "object": 1})
    cursor = graph.list_triples({"limit": 2})["nextCursor"]
    raw = bytearray(base64.urlsafe_b64decode(cursor + "=="))
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        page = graph.list_triples({"cursor": base64.urlsafe_b64encode(bytes(raw)).rstrip(b"=").decode()})
    except InvalidArguments:
        return
    assert {row["id"] for row in page["triples"]} <= ids


def test_a_page_ends_before_its_triples_have_more_than_a_mebibyte(graph: NamespacedGraph) -> None:
    rows = [{"subject": "s", "predicate": "p", "object": f"{LONG}{number}"} for number in range(7)]
    ids = [row["id"] for row in graph.create_triples(rows)]
    page = graph.list_triples({"subject": "s", "limit": 1000})
    assert (len(page["triples"]), page["total"], page["totalIsExact"]) == (2, 7, True)
    assert sorted(row["id"] for row in read_all(graph, 1000)) == sorted(ids)


def test_a_triple_longer_than_a_page_has_a_separate_page(graph: NamespacedGraph) -> None:
    rows = [{"subject": "s", "predicate": "p", "object": text} for text in ("a", LONG * 3, "b", LONG * 4)]
    graph.create_triples(rows)
    found = [row["object"] for row in read_all(graph, 1000)]
    assert sorted(map(len, found)) == [1, 1, 3 * len(LONG), 4 * len(LONG)]


def test_a_page_is_measured_in_bytes(graph: NamespacedGraph) -> None:
    rows = [{"subject": "s", "predicate": "p", "object": f"{number}{'😀' * 100_000}"} for number in range(3)]
    graph.create_triples(rows)
    assert len(graph.list_triples()["triples"]) == 2


def test_the_length_of_names_counts_too(graph: NamespacedGraph) -> None:
    graph.create_triples([{"subject": f"{LONG}{number}", "predicate": "p", "object": number} for number in range(3)])
    assert len(graph.list_triples()["triples"]) == 2
