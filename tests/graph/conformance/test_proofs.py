"""Every store keeps a proof with its assertion, and lets go of both together."""

from __future__ import annotations

import pytest

from cortex_graph import NamespacedGraph, Provenance
from cortex_graph.assertion_records.proofs import MAX_PREMISES, StoredProof, content_id
from cortex_graph.namespace.proved_write import assert_proved, revision_of
from cortex_graph.store import Pattern

pytestmark = pytest.mark.timeout(400)  # some of these servers take long for much on a busy machine

TIME = "2026-11-22T00:00:00Z"
ORIGIN = Provenance(skill="s", skill_version="1.0.0", agent="a")
ROW = {"subject": "a", "predicate": "p", "object": 1}


def proof_of(graph: NamespacedGraph, content: str = '{"n":"\\u0007é"}', **parts) -> StoredProof:
    return StoredProof("pol", content, TIME, (graph.index.identify(graph.quad_of(ROW)),), **parts)


def about(graph: NamespacedGraph) -> int:
    return sum(graph.store.count(Pattern(name)) for name in (graph.names.graph, graph.names.provenance_graph))


def test_an_assertion_is_written_with_its_proof_and_goes_with_it(graph: NamespacedGraph) -> None:
    rules = '# rules\n\t"é"\n'
    premises = tuple(sorted(content_id(str(number)) for number in range(MAX_PREMISES)))
    proof = proof_of(graph, premises=premises, rules=(content_id(rules),))
    seen = revision_of(graph)
    assert assert_proved(graph, graph.quad_of(ROW), ORIGIN, proof, [rules], revision=seen) is True
    triple_id = proof.proves[0]
    assert graph.proofs.of(triple_id) == [proof]
    assert graph.proofs_of(triple_id) == [graph.proofs.iri(proof.id).value]
    assert graph.proofs.rules(content_id(rules)) == rules
    assert graph.proofs.resting_on(premises[0]) == [proof.id]
    assert (graph.provenance_of(triple_id) or {})["skill"] == "s"
    assert assert_proved(graph, graph.quad_of(ROW), ORIGIN, proof, [rules]) is False
    assert graph.delete_triple(triple_id)
    assert graph.count() == graph.proofs.count() == 0
    assert graph.proofs.get(proof.id) is None


def test_a_new_proof_takes_the_place_of_an_old_one(graph: NamespacedGraph) -> None:
    old, new = proof_of(graph), proof_of(graph, content='{"n":2}')
    assert_proved(graph, graph.quad_of(ROW), ORIGIN, old)
    before = about(graph)
    assert assert_proved(graph, graph.quad_of(ROW), ORIGIN, new, instead=[old.id]) is False
    assert graph.proofs.of(new.proves[0]) == [new]
    assert about(graph) == before


def test_what_was_looked_at_may_not_have_changed(graph: NamespacedGraph) -> None:
    seen = revision_of(graph)
    if seen is None:  # this store has no revisions
        return
    graph.create_triple({**ROW, "object": 2})
    assert assert_proved(graph, graph.quad_of(ROW), ORIGIN, proof_of(graph), revision=seen) is None
    assert graph.count() == 1
    assert graph.proofs.count() == 0
