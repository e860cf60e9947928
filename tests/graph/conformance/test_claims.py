"""Of several writers of one claim, every store that has claims lets one succeed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import GraphStore, GraphUnavailable
from cortex_graph.store import Pattern
from cortex_graph.store_access.claims import apply_claimed
from tests.graph.conformance.kinds import Subject

pytestmark = pytest.mark.timeout(400)

GRAPH = NamedNode("urn:cortex:claims/registry")
EVENT, OTHER = NamedNode("urn:cortex:claims/event/1"), NamedNode("urn:cortex:claims/other")
HASH, STATE = NamedNode("urn:x:hash"), NamedNode("urn:x:state")


def claim(text: str) -> Quad:
    return Quad(EVENT, HASH, Literal(text), GRAPH)


def state(text: str) -> Quad:
    return Quad(OTHER, STATE, Literal(text), GRAPH)


def everything(store: GraphStore) -> set[Quad]:
    return set(store.quads(Pattern(GRAPH)))


@pytest.fixture
def claiming(subject: Subject) -> GraphStore:
    if not subject.kind.any_graph:
        with pytest.raises(GraphUnavailable):
            apply_claimed(subject.store, claim("a"))
        pytest.skip("a store of namespaces only has no claims, and says so")
    subject.store.apply(remove=everything(subject.store))
    return subject.store


def test_the_first_claim_and_its_change_are_written_together(claiming: GraphStore) -> None:
    claiming.apply([state("old")])
    assert apply_claimed(claiming, claim("a"), [state("new")], [state("old")]) is True
    assert everything(claiming) == {claim("a"), state("new")}


def test_another_claim_writes_nothing(claiming: GraphStore) -> None:
    claiming.apply([claim("a"), state("old")])
    assert apply_claimed(claiming, claim("b"), [state("new")], [state("old")]) is False
    assert everything(claiming) == {claim("a"), state("old")}


def test_a_repeated_claim_writes_nothing_and_holds(claiming: GraphStore) -> None:
    assert apply_claimed(claiming, claim("a"), [state("one")]) is True
    claiming.apply([state("two")], [state("one")])
    assert apply_claimed(claiming, claim("a"), [state("one")]) is True
    assert everything(claiming) == {claim("a"), state("two")}


def test_of_racing_claims_one_holds(claiming: GraphStore) -> None:
    names = [f"writer {number}" for number in range(8)]
    with ThreadPoolExecutor(len(names)) as threads:
        held = list(threads.map(lambda name: apply_claimed(claiming, claim(name), [state(name)]), names))
    winner = names[held.index(True)]
    assert held.count(True) == 1
    assert everything(claiming) == {claim(winner), state(winner)}
