"""Every kind of term: kept as it is read, or refused; found, counted, and written back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import GraphStore, InvalidArguments, Pattern
from tests.graph.conformance.kinds import Kind
from tests.graph.conformance.terms import EQUALS, TERMS

pytestmark = pytest.mark.timeout(400)  # some of these servers take long for much on a busy machine

S, P = NamedNode("urn:s"), NamedNode("urn:p")

Term = Literal | NamedNode
LONG = "string-of-1MB"  # that is much for some of the servers


def stored(store: GraphStore, term: Term) -> Term:
    return store.as_stored(term) if isinstance(term, Literal) else term


@pytest.mark.parametrize(
    "which", [pytest.param(LONG, marks=pytest.mark.slow), *(which for which in TERMS if which != LONG)]
)
def test_a_term_is_kept_found_and_written_back(store: GraphStore, kind: Kind, name: NamedNode, which: str) -> None:
    if which in kind.refuses:
        return  # the next test
    term = stored(store, TERMS[which])
    quad = Quad(S, P, term, name)
    assert store.insert([[quad]]) == [True]
    assert list(store.quads(Pattern(name))) == [quad]
    assert store.contains(quad)
    assert store.match(Pattern(name, object_=term), 10).quads == [quad]
    assert store.match(Pattern(name, S, P), 10).quads == [quad]
    assert (store.count(Pattern(name, None, P, term)), store.count(Pattern(name, S, P, term))) == (1, 1)
    (read,) = store.match(Pattern(name), 10).quads
    assert stored(store, read.object) == term  # type: ignore[arg-type]
    assert store.insert([[read]]) == [False]
    assert store.remove(read)
    assert not store.remove(read)
    assert store.count(Pattern(name)) == 0


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


@pytest.mark.parametrize("which", [which for which, term in TERMS.items() if isinstance(term, NamedNode)])
def test_an_iri_is_stored_in_every_position(store: GraphStore, kind: Kind, name: NamedNode, which: str) -> None:
    iri = TERMS[which]
    assert isinstance(iri, NamedNode)
    if which in kind.refuses:
        return
    other = iri if kind.any_graph else NamedNode(f"{name.value}-other")
    quads = [Quad(iri, P, S, name), Quad(S, iri, S, name), Quad(S, P, S, other)]
    assert store.insert([[quad] for quad in quads]) == [True] * 3
    assert set(store.quads(Pattern(name))) == set(quads[:2])
    assert list(store.quads(Pattern(other))) == quads[2:]
    assert store.count(Pattern(name, iri)) == store.count(Pattern(name, None, iri)) == 1
    store.apply(remove=quads)
    assert store.count(Pattern(other)) == 0


def test_all_terms_are_read_in_one_stream_and_in_pages(store: GraphStore, kind: Kind, name: NamedNode) -> None:
    short = (which for which, term in TERMS.items() if which not in kind.refuses and len(term.value) < 10_000)
    kept = {which: stored(store, TERMS[which]) for which in short}
    quads = {Quad(NamedNode(f"urn:s:{which}"), P, term, name) for which, term in kept.items()}
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
