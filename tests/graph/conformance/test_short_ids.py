"""Every store finds a triple and a proof by the first digits of its id."""

from __future__ import annotations

from collections import defaultdict

import pytest

from cortex_graph import InvalidArguments, NamespacedGraph, Provenance
from cortex_graph.assertion_records.proofs import StoredProof
from cortex_graph.index.triple_index import TripleIndex
from cortex_graph.namespace.proved_write import assert_proved
from cortex_graph.namespace.short_ids import full_proof_id, full_triple_id

pytestmark = pytest.mark.timeout(400)  # some of these servers take long for much on a busy machine


def triple(number: int) -> dict[str, object]:
    return {"subject": "a", "predicate": "p", "object": number}


def collision(graph: NamespacedGraph) -> tuple[str, list[int]]:
    """Six digits with which the ids of two triples begin, and their objects."""
    seen: dict[str, list[int]] = defaultdict(list)
    for number in range(100_000):
        digits = TripleIndex.hash_of(graph.quad_of(triple(number)))[:6]
        seen[digits].append(number)
        if len(seen[digits]) == 2:
            return digits, seen[digits]
    raise AssertionError("no collision")


def test_a_unique_beginning_is_the_id_with_a_record_and_without(graph: NamespacedGraph) -> None:
    recorded = graph.create_triple(triple(1), Provenance(agent="a1"))["id"]
    plain = graph.create_triple(triple(2))["id"]
    other = NamespacedGraph(graph.store, f"{graph.namespace}x")
    foreign = other.create_triple(triple(1), Provenance(agent="a1"))["id"]
    for triple_id in (recorded, plain):
        for digits in (6, 12, 63, 64):
            assert full_triple_id(graph, triple_id[:digits]) == triple_id
    with pytest.raises(InvalidArguments, match=f"no triple of {graph.namespace} has an id that begins with"):
        full_triple_id(graph, foreign[:8])
    assert graph.withdraw(recorded, Provenance(agent="a1"))
    assert full_triple_id(graph, recorded[:6]) == recorded


def test_an_ambiguous_beginning_is_an_error_that_lists_the_ids(graph: NamespacedGraph) -> None:
    digits, (one, other) = collision(graph)
    first = graph.create_triple(triple(one), Provenance(agent="a1"))["id"]
    assert full_triple_id(graph, digits) == first
    second = graph.create_triple(triple(other))["id"]
    with pytest.raises(InvalidArguments) as caught:
        full_triple_id(graph, digits)
    assert first in caught.value.message
    assert second in caught.value.message
    longer = next(number for number in range(7, 64) if first[:number] != second[:number])
    assert [full_triple_id(graph, each[:longer]) for each in (first, second)] == [first, second]


def test_a_proof_is_found_by_the_beginning_of_its_id(graph: NamespacedGraph) -> None:
    quad = graph.quad_of(triple(1))
    triple_id = graph.as_json(quad)["id"]
    proof = StoredProof("pol", '{"a":1}', "2026-01-01T00:00:00Z", (triple_id,))
    assert_proved(graph, quad, Provenance(agent="a1"), proof)
    iri = graph.proofs.iri(proof.id).value
    assert [full_proof_id(graph, each) for each in (proof.id[:6], proof.id, iri[:-1])] == [proof.id] * 3
    assert full_proof_id(graph, triple_id[:6]) == triple_id[:6]


@pytest.mark.parametrize("given", ["", "12345", "abcdeg", "ABCDEF", "a" * 65, 'abcdef"', "aaaaaa}", None, 7])
def test_what_is_no_beginning_of_an_id_is_left_as_it_is(graph: NamespacedGraph, given: object) -> None:
    assert full_triple_id(graph, given) == given  # type: ignore[arg-type]
    assert full_proof_id(graph, given) == given  # type: ignore[arg-type]
