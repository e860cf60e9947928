"""Every kind of term: kept as it is read, or refused; found, counted, and written back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import GraphStore, InvalidArguments, Pattern
from cortex_graph.store_access.gathered import gathered
from tests.every_case import check_every
from tests.graph.conformance.kinds import Kind
from tests.graph.conformance.terms import EQUALS, TERMS

pytestmark = pytest.mark.timeout(400)  # some of these servers take long for much on a busy machine

S, P = NamedNode("urn:s"), NamedNode("urn:p")

Term = Literal | NamedNode


def stored(store: GraphStore, term: Term) -> Term:
    return store.as_stored(term) if isinstance(term, Literal) else term


@pytest.fixture
def kept(store: GraphStore, kind: Kind, name: NamedNode) -> dict[str, Quad]:
    """Each term that a kind of store does not refuse, as it stores it, in a statement of a graph of its own."""
    kept = {which: stored(store, term) for which, term in TERMS.items() if which not in kind.refuses}
    return {
        which: Quad(S, P, term, NamedNode(f"{name.value}-{number}"))
        for number, (which, term) in enumerate(kept.items())
    }


def test_every_term_is_kept_found_and_written_back(store: GraphStore, kept: dict[str, Quad]) -> None:
    assert store.insert([[quad] for quad in kept.values()]) == [True] * len(kept)

    def check_found(quad: Quad) -> None:
        graph, term = quad.graph_name, quad.object
        assert store.contains(quad)
        assert store.match(Pattern(graph, object_=term), 10).quads == [quad]
        assert store.match(Pattern(graph, S, P), 10).quads == [quad]
        patterns = [Pattern(graph, s, p, term) for s in (None, S) for p in (None, P)]
        assert [store.count(pattern) for pattern in patterns] == [1] * 4
        assert list(store.quads(Pattern(graph))) == [quad]

    def check_removed(quad: Quad) -> None:
        assert store.remove(quad)
        assert not store.remove(quad)
        assert store.count(Pattern(quad.graph_name)) == 0

    check_every(kept, check_found)
    read = {which: store.match(Pattern(quad.graph_name), 10).quads[0] for which, quad in kept.items()}
    assert {which: stored(store, quad.object) for which, quad in read.items()} == {
        which: quad.object for which, quad in kept.items()
    }
    assert store.insert([[quad] for quad in read.values()]) == [False] * len(kept)
    check_every(read, check_removed)


def test_a_number_is_found_by_each_part_beside_numbers_of_any_size(
    store: GraphStore, kind: Kind, name: NamedNode
) -> None:
    numbers = {
        which: stored(store, term)
        for which, term in TERMS.items()
        if which.startswith(("integer-", "decimal-", "double-")) and which not in kind.refuses
    }
    quads = [
        Quad(S, P, number, NamedNode(f"{name.value}-{round_}-{place}"))
        for round_ in range(4)
        for place, number in enumerate(numbers.values())
    ]
    for start in range(0, len(quads), 5):  # indexes of servers keep numbers that arrive together in other forms
        store.insert([[quad] for quad in quads[start : start + 5]])
    wanted = [
        Pattern(quad.graph_name, s, p, quad.object)  # type: ignore[arg-type]
        for quad in quads
        for s in (None, S)
        for p in (None, P)
    ]
    assert gathered(store, wanted) == [[quad] for quad in quads for _ in range(4)]


def test_a_term_that_would_be_changed_is_refused_and_nothing_written(
    store: GraphStore, kind: Kind, name: NamedNode
) -> None:
    other = Quad(S, P, S, name)
    for which in sorted(kind.refuses):
        term = TERMS[which]
        quad = Quad(S, P, term, name)
        writes: list[Callable[[], object]] = [
            lambda quad=quad: store.insert([[quad]]),
            lambda quad=quad: store.insert([[other], [quad]]),
            lambda quad=quad: store.apply(insert=[other, quad]),
            lambda quad=quad: store.bulk_insert([other, quad]),
        ]
        if isinstance(term, Literal):
            writes.append(lambda term=term: store.as_stored(term))
        for write in writes:
            with pytest.raises(InvalidArguments) as caught:
                write()
            assert caught.value.hint
        assert not store.contains(quad)
        assert store.match(Pattern(name, object_=term), 5).quads == []
    assert store.count(Pattern(name)) == 0


IRIS = {which: term for which, term in TERMS.items() if isinstance(term, NamedNode)}


def test_an_iri_is_stored_in_every_position(store: GraphStore, kind: Kind, name: NamedNode) -> None:
    iris = {which: iri for which, iri in IRIS.items() if which not in kind.refuses}
    check_every(iris, lambda iri: assert_stored_in_every_position(store, iri, name, iri if kind.any_graph else None))


def assert_stored_in_every_position(
    store: GraphStore, iri: NamedNode, name: NamedNode, graph: NamedNode | None
) -> None:
    other = graph or NamedNode(f"{name.value}-other")
    quads = [Quad(iri, P, S, name), Quad(S, iri, S, name), Quad(S, P, S, other)]
    assert store.insert([[quad] for quad in quads]) == [True] * 3
    assert set(store.quads(Pattern(name))) == set(quads[:2])
    assert list(store.quads(Pattern(other))) == quads[2:]
    assert store.count(Pattern(name, iri)) == store.count(Pattern(name, None, iri)) == 1
    store.apply(remove=quads)
    assert store.count(Pattern(other)) == store.count(Pattern(name)) == 0


def test_all_terms_are_read_in_one_stream_and_in_pages(
    store: GraphStore, name: NamedNode, kept: dict[str, Quad]
) -> None:
    short = {which: quad.object for which, quad in kept.items() if len(TERMS[which].value) < 10_000}
    quads = {Quad(NamedNode(f"urn:s:{which}"), P, term, name) for which, term in short.items()}
    store.bulk_insert(quads)
    assert set(store.quads(Pattern(name))) == quads
    read: list[Quad] = []
    cursor = None
    while cursor is not None or not read:
        page = store.match(Pattern(name), 25, cursor)
        read += page.quads
        if (cursor := page.cursor) is None:
            break
    assert (len(read), set(read)) == (len(quads), quads)


def test_equal_values_of_different_types_are_different_or_refused(
    store: GraphStore, kind: Kind, name: NamedNode
) -> None:
    quads = [Quad(S, P, term, name) for term in EQUALS]
    if kind.equals_apart:
        assert store.insert([[quad] for quad in quads]) == [True] * len(quads)
        assert set(store.quads(Pattern(name))) == set(quads)
        return
    with pytest.raises(InvalidArguments):
        store.insert([[quad] for quad in quads])
    assert store.count(Pattern(name)) == 0
    for first in quads:
        store.insert([[first]])
        for other in quads:
            if other != first:
                assert not store.contains(other)
                assert store.count(Pattern(name, S, P, other.object)) == 0  # type: ignore[arg-type]
                assert store.match(Pattern(name, None, None, other.object), 5).quads == []  # type: ignore[arg-type]
                assert not store.remove(other)
                with suppress(InvalidArguments):
                    assert store.insert([[other]]) == [True]
                    assert Literal("1") in (first.object, other.object)
                    store.remove(other)
        assert list(store.quads(Pattern(name))) == [first]
        store.remove(first)
