"""Pages, on every kind of store."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import GraphStore, InvalidArguments, Pattern
from cortex_graph.store import PAGE_BYTES

pytestmark = pytest.mark.timeout(400)  # some of these servers take long for much on a busy machine

S, P = NamedNode("urn:s"), NamedNode("urn:p")


def quad(number: int, graph: NamedNode) -> Quad:
    return Quad(NamedNode(f"urn:s:{number % 7}"), P, Literal(number), graph)


def read_all(
    store: GraphStore, pattern: Pattern, limit: int, between: Callable[[], object] = lambda: None
) -> list[Quad]:
    quads: list[Quad] = []
    cursor = None
    while True:
        page = store.match(pattern, limit, cursor)
        assert len(page.quads) <= limit
        assert page.lines == [str(quad).encode() for quad in page.quads]
        quads += page.quads
        if page.cursor is None:
            return quads
        cursor = page.cursor
        between()


@pytest.mark.parametrize("limit", [1, 7, 29, 30, 31])
def test_pages_hold_every_quad_once(store: GraphStore, name: NamedNode, limit: int) -> None:
    quads = [quad(number, name) for number in range(30)]
    store.bulk_insert(quads)
    read = read_all(store, Pattern(name), limit)
    assert (len(read), set(read)) == (30, set(quads))
    assert len(read_all(store, Pattern(name, NamedNode("urn:s:1")), limit)) == 5
    assert len(read_all(store, Pattern(name, None, P), limit)) == 30


def test_pages_by_object(store: GraphStore, name: NamedNode) -> None:
    quads = [Quad(NamedNode(f"urn:s:{number}"), P, Literal(number % 2), name) for number in range(20)]
    quads += [Quad(NamedNode(f"urn:t:{number}"), P, Literal(bool(number % 2)), name) for number in range(20)]
    store.bulk_insert(quads)
    for value in (Literal(1), Literal(True)):
        read = read_all(store, Pattern(name, object_=value), 3)
        assert (len(read), set(read)) == (10, {each for each in quads if each.object == value})


def test_what_is_there_throughout_is_read_while_others_write(store: GraphStore, name: NamedNode) -> None:
    quads = {quad(number, name) for number in range(40)}
    store.bulk_insert(quads)
    numbers = count(1_000)

    def write() -> None:
        store.insert([[quad(next(numbers), name)] for _ in range(3)])

    assert quads <= set(read_all(store, Pattern(name), 7, write))


def test_what_is_there_throughout_is_read_while_others_delete(store: GraphStore, name: NamedNode) -> None:
    quads = [quad(number, name) for number in range(40)]
    store.bulk_insert(quads)
    doomed = iter(quads[::6])
    gone: set[Quad] = set()

    def delete() -> None:
        if victim := next(doomed, None):
            gone.add(victim)
            store.remove(victim)

    read = set(read_all(store, Pattern(name), 7, delete))
    assert set(quads) - gone <= read
    assert len(gone) > 3


@pytest.mark.slow
def test_a_page_ends_before_it_has_more_than_a_mebibyte(store: GraphStore, name: NamedNode) -> None:
    quads = {Quad(S, P, Literal(f"{number}{'x' * 400_000}"), name) for number in range(3)}
    quads.add(Quad(S, P, Literal("y" * (PAGE_BYTES + 1)), name))
    for each in quads:
        store.insert([[each]])
    lengths = []
    read: list[Quad] = []
    cursor = None
    while True:
        page = store.match(Pattern(name), 10, cursor)
        lengths.append(sum(len(str(each)) for each in page.quads))
        assert len(page.quads) == 1 or lengths[-1] <= PAGE_BYTES
        read += page.quads
        if (cursor := page.cursor) is None:
            break
    assert (len(read), set(read)) == (4, quads)


def test_a_cursor_of_another_pattern_or_garbage_is_refused(store: GraphStore, name: NamedNode) -> None:
    store.bulk_insert(quad(number, name) for number in range(10))
    cursor = store.match(Pattern(name), 3).cursor
    assert cursor
    for pattern in (Pattern(name, None, P), Pattern(NamedNode("urn:other"))):
        with pytest.raises(InvalidArguments):
            store.match(pattern, 3, cursor)
    for garbage in ("x", cursor[:-4], cursor + "AAAA", "' OR 1 = 1", "é"):
        with pytest.raises(InvalidArguments):
            store.match(Pattern(name), 3, garbage)
