"""Of several writers of one claim, every store that has claims lets one succeed."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from threading import Barrier

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import GraphStore, GraphUnavailable
from cortex_graph.store import Pattern
from cortex_graph.store_access.claims import apply_claimed
from cortex_graph.stores.remote.sparql_store import RemoteStore
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


@pytest.fixture
def clients(claiming: GraphStore) -> Iterator[list[GraphStore]]:
    """Four writers that do not wait for each other: on a server each has another store, as processes have."""
    if not isinstance(claiming, RemoteStore):
        yield [claiming] * 4
        return
    with ExitStack() as stack:
        stores = [RemoteStore(claiming._protocol._endpoints, engine=claiming._known) for _ in range(4)]
        for store in stores:
            stack.enter_context(closing(store))
            store._client.timeout_s = claiming._client.timeout_s
            store.flush()
        yield list(stores)


def test_of_several_clients_that_replace_a_value_one_does(clients: list[GraphStore]) -> None:
    barrier = Barrier(len(clients))

    def replace(number: int, round_: int) -> bool:
        claim = Quad(NamedNode(f"{EVENT.value}-{round_}"), HASH, Literal(f"writer {number}"), GRAPH)
        barrier.wait()
        return apply_claimed(clients[number], claim, [state(f"{round_} of {number}")], [state(f"old {round_}")])

    with ThreadPoolExecutor(len(clients)) as threads:
        for round_ in range(20):
            clients[0].apply([state(f"old {round_}")], set(clients[0].quads(Pattern(GRAPH))))
            held = list(threads.map(replace, range(len(clients)), [round_] * len(clients)))
            winner = held.index(True)
            assert held.count(True) == 1
            left = {(quad.subject, quad.object.value) for quad in everything(clients[0])}
            assert left == {
                (NamedNode(f"{EVENT.value}-{round_}"), f"writer {winner}"),
                (OTHER, f"{round_} of {winner}"),
            }
