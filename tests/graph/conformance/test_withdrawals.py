"""Every store keeps the record and the proofs of an assertion that is withdrawn, and knows who withdrew it."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime

import pytest

from cortex_graph import NamespacedGraph, Provenance, export_rdf
from cortex_graph.assertion_records.proofs import StoredProof
from cortex_graph.namespace.proved_write import assert_proved
from cortex_graph.sparql.queries import query_graphs
from cortex_graph.store import Pattern
from cortex_graph.stores.open_store import open_store
from cortex_graph.transfer import import_file

pytestmark = pytest.mark.timeout(400)  # some of these servers take long for much on a busy machine

ROW = {"subject": "a", "predicate": "p", "object": "v"}
ASSERTED = Provenance("kyc", "1.0.0", "bob", datetime(2026, 1, 1, tzinfo=UTC))
WITHDRAWN = Provenance("kyc", "1.1.0", "eve", datetime(2026, 2, 1, tzinfo=UTC))
ASSERTED_AT = """
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
SELECT ?object {
  ?record rdf:object ?object ; prov:generatedAtTime ?since .
  OPTIONAL { ?record prov:invalidatedAtTime ?until }
  FILTER(?since <= "MOMENT"^^xsd:dateTime && (!BOUND(?until) || ?until > "MOMENT"^^xsd:dateTime))
}"""
AGAIN = Provenance("other", None, "bob", datetime(2026, 3, 1, tzinfo=UTC))


def assert_with_proof(graph: NamespacedGraph) -> tuple[str, StoredProof]:
    """Write a statement with a proof; returns the ids of both."""
    quad = graph.quad_of(ROW)
    proof = StoredProof("pol", '{"n":1}', "2026-01-01T00:00:00Z", (graph.index.identify(quad),))
    assert assert_proved(graph, quad, ASSERTED, proof) is True
    return proof.proves[0], proof


def test_a_withdrawn_statement_is_gone_and_its_record_and_proofs_stay(graph: NamespacedGraph) -> None:
    triple_id, proof = assert_with_proof(graph)
    kept = graph.create_triple({**ROW, "object": "w"}, ASSERTED)["id"]
    assert graph.withdraw(triple_id, WITHDRAWN) is True
    assert graph.get_triple(triple_id) is None
    assert [row["id"] for row in graph.list_triples({"subject": "a"})["triples"]] == [kept]
    assert graph.count() == 1
    assert (graph.provenance_of(triple_id), graph.proofs_of(triple_id)) == (None, [])
    (found,) = graph.withdrawals.of(triple_id)
    assert (found.triple_id, found.quad) == (triple_id, graph.quad_of(ROW))
    assert found.asserted == {"agent": "bob", "skill": "kyc", "skillVersion": "1.0.0", "time": "2026-01-01T00:00:00Z"}
    assert found.withdrawn == {"agent": "eve", "skill": "kyc", "skillVersion": "1.1.0", "time": "2026-02-01T00:00:00Z"}
    assert found.proofs == (graph.proofs.iri(proof.id).value,)
    assert graph.proofs.of(triple_id) == [proof]
    for pattern in ({"subject": "a", "predicate": "p"}, ROW):
        assert graph.withdrawn(pattern) == [found]
    assert graph.withdrawn({**ROW, "predicate": "q"}) == graph.withdrawn({**ROW, "object": "w"}) == []
    assert graph.withdrawals.of(kept) == []
    assert graph.withdraw(triple_id, WITHDRAWN) is False
    assert graph.withdrawals.of(triple_id) == [found]


def test_a_withdrawn_statement_can_be_asserted_again_with_a_new_record(graph: NamespacedGraph) -> None:
    triple_id, proof = assert_with_proof(graph)
    graph.withdraw(triple_id, WITHDRAWN)
    again = graph.create_triple(ROW, AGAIN)
    assert (again["id"], again["created"]) == (triple_id, True)
    assert graph.get_triple(triple_id) is not None
    record = graph.provenance_of(triple_id) or {}
    assert (record["agent"], record["skill"], record["time"]) == ("bob", "other", "2026-03-01T00:00:00Z")
    assert graph.proofs_of(triple_id) == []  # the proof was of the assertion that was withdrawn
    (first,) = graph.withdrawals.of(triple_id)
    assert first.asserted["time"] == "2026-01-01T00:00:00Z"
    later = Provenance(agent="eve", time=datetime(2026, 4, 1, tzinfo=UTC))
    assert graph.withdraw(triple_id, later)
    assert [each.withdrawn["time"] for each in graph.withdrawals.of(triple_id)] == [
        "2026-04-01T00:00:00Z",
        "2026-02-01T00:00:00Z",
    ]
    # Deleting the triple for good leaves what was withdrawn before, with its proofs.
    graph.create_triple(ROW, AGAIN)
    assert graph.delete_triple(triple_id)
    assert len(graph.withdrawals.of(triple_id)) == 2
    assert graph.proofs.get(proof.id) == proof


def test_a_statement_without_a_record_can_be_withdrawn(graph: NamespacedGraph) -> None:
    triple_id = graph.create_triple(ROW)["id"]
    assert graph.withdraw(triple_id, Provenance()) is True
    (found,) = graph.withdrawals.of(triple_id)
    assert found.asserted == dict.fromkeys(("agent", "skill", "skillVersion", "time"))
    assert (found.withdrawn["agent"], found.withdrawn["skill"]) == (None, None)
    assert found.withdrawn["time"] is not None


def test_an_update_withdraws_a_statement_that_has_proofs(graph: NamespacedGraph) -> None:
    triple_id, proof = assert_with_proof(graph)
    plain = graph.create_triple({**ROW, "object": "w"}, ASSERTED)["id"]
    updated = graph.update("DELETE WHERE { ?s ?p ?o }", WITHDRAWN)
    assert (updated.removed, graph.count()) == (2, 0)
    (found,) = graph.withdrawals.of(triple_id)
    assert (found.asserted["agent"], found.withdrawn["agent"]) == ("bob", "eve")
    assert graph.proofs.get(proof.id) == proof
    assert graph.withdrawals.of(plain) == []


def test_the_times_of_the_records_are_what_was_asserted_at_a_moment(graph: NamespacedGraph) -> None:
    triple_id, _ = assert_with_proof(graph)
    graph.withdraw(triple_id, WITHDRAWN)
    graph.create_triple(ROW, AGAIN)
    known = {}
    for month in ("2025-12", "2026-01", "2026-02", "2026-03"):
        query = ASSERTED_AT.replace("MOMENT", f"{month}-15T00:00:00Z")
        records = [graph.names.provenance_graph.value]
        answer = query_graphs(graph.store, [graph], query, default_graphs=records)
        rows = json.loads(b"".join(answer.chunks))["results"]["bindings"]
        known[month] = [row["object"]["value"] for row in rows]
    assert known == {"2025-12": [], "2026-01": ["v"], "2026-02": [], "2026-03": ["v"]}


def test_an_export_with_provenance_carries_withdrawals_to_another_store(graph: NamespacedGraph) -> None:
    triple_id, proof = assert_with_proof(graph)
    graph.create_triple({**ROW, "object": "w"}, ASSERTED)
    graph.withdraw(triple_id, WITHDRAWN)
    (found,) = graph.withdrawals.of(triple_id)
    file = io.BytesIO()
    assert export_rdf(graph, file, "n-quads", with_provenance=True) == 1
    other = NamespacedGraph(open_store("memory:"), graph.namespace)
    file.seek(0)
    imported = import_file(other, file, "n-quads", with_provenance=True)
    assert (imported.statements, imported.records, imported.left_out) == (1, 1, 0)
    assert other.withdrawals.of(triple_id) == [found]
    assert other.proofs.get(proof.id) == proof
    assert set(records_of(other)) == set(records_of(graph))
    file.seek(0)
    assert import_file(graph, file, "n-quads", with_provenance=True).left_out == 0
    assert graph.withdrawals.of(triple_id) == [found]


def records_of(graph: NamespacedGraph) -> list:
    return list(graph.store.quads(Pattern(graph.names.provenance_graph)))
