"""Proofs beside what they prove: kept under the name of their content, and gone with it."""

from __future__ import annotations

import io

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import InvalidArguments, NamespacedGraph, Provenance, open_store
from cortex_graph.assertion_records.proofs import MAX_OF, MAX_PREMISES, StoredProof, content_id, proof_quads
from cortex_graph.exceptions import PermissionDenied
from cortex_graph.naming.vocabulary import CONTENT, CORTEX, PROOF
from cortex_graph.sparql.updates import update_graphs
from cortex_graph.store import Pattern
from cortex_graph.transfer import export_rdf, import_file

TIME = "2026-11-22T00:00:00Z"
RULES = "# rules\n"


@pytest.fixture
def graph() -> NamespacedGraph:
    return NamespacedGraph(open_store("memory:"), "mayros")


def asserted(graph: NamespacedGraph, subject: str = "a") -> str:
    triple = graph.create_triple({"subject": subject, "predicate": "p", "object": 1}, Provenance(skill="s", agent="x"))
    return triple["id"]


def proof_of(*ids: str, content: str = '{"n":1}', **parts) -> StoredProof:
    return StoredProof("pol", content, TIME, ids, **parts)


def everything(graph: NamespacedGraph) -> set[Quad]:
    return {quad for name in graph.store.graph_names() for quad in graph.store.quads(Pattern(name))}


def test_a_proof_is_read_as_it_was_kept_and_linked_from_the_record(graph: NamespacedGraph) -> None:
    about, premise = asserted(graph), asserted(graph, "b")
    proof = proof_of(about, premises=(premise,), rests_on_graph=True, rules=(content_id(RULES),))
    assert graph.proofs.add(proof, [RULES]) == proof.id == content_id('{"n":1}')
    assert graph.proofs.get(proof.id) == proof
    assert graph.proofs.of(about) == graph.proofs.of(about, "pol") == [proof]
    assert graph.proofs.of(about, "vc") == graph.proofs.of(premise) == []
    assert graph.proofs_of(about) == [f"urn:cortex:mayros/proof/{proof.id}"]
    assert graph.proofs.rules(content_id(RULES)) == RULES
    assert (graph.proofs.page(10), graph.proofs.count()) == (([proof], None), 1)


def test_a_proof_of_what_is_not_asserted_yet_is_kept_without_a_record(graph: NamespacedGraph) -> None:
    proof = proof_of("0" * 64)
    graph.proofs.add(proof)
    assert graph.proofs.of("0" * 64) == [proof]
    assert graph.proofs_of("0" * 64) == []
    assert graph.provenance_of("0" * 64) is None


def test_the_same_proof_is_kept_once(graph: NamespacedGraph) -> None:
    about = asserted(graph)
    graph.proofs.add(proof_of(about))
    before = everything(graph)
    graph.proofs.add(proof_of(about))
    assert everything(graph) == before


def test_only_the_newest_of_very_many_proofs_are_read(graph: NamespacedGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    about = asserted(graph)
    for number in range(MAX_OF + 40):
        kind, time = ("vc" if number % 40 == 0 else "pol"), f"2026-01-01T00:{number // 60:02}:{number % 60:02}Z"
        graph.proofs.add(StoredProof(kind, f"{number}", time, (about,)))
    read: list[str] = []
    many = graph.proofs.many
    monkeypatch.setattr(graph.proofs, "many", lambda proof_ids: read.extend(proof_ids) or many(proof_ids))
    newest = graph.proofs.of(about)
    assert [proof.content for proof in newest] == [str(number) for number in range(MAX_OF + 39, 39, -1)]
    assert len(read) == MAX_OF
    assert [proof.content for proof in graph.proofs.of(about, "vc")] == ["80", "40", "0"]
    assert len(read) == MAX_OF + 3


def test_who_rests_on_a_triple_is_one_query_away(graph: NamespacedGraph) -> None:
    about, premise, other = asserted(graph), asserted(graph, "b"), asserted(graph, "c")
    graph.proofs.add(proof_of(about, premises=(premise,)))
    graph.proofs.add(proof_of(other, content="{}", rests_on_graph=True))
    assert graph.proofs.resting_on(premise) == [proof_of(about).id]
    record, whole = graph.names.record(premise), graph.names.graph
    answer = graph.query(
        f"SELECT ?proof {{ GRAPH ?g {{ ?proof <{CORTEX}premise> ?on FILTER(?on IN ({record}, {whole})) }} }}"
    )
    assert b"".join(answer.chunks).count(b"/proof/") == 2


def test_a_triple_takes_its_proofs_along_but_not_those_that_prove_another(graph: NamespacedGraph) -> None:
    first, second = asserted(graph), asserted(graph, "b")
    before = everything(graph)
    graph.proofs.add(proof_of(first))
    both = proof_of(first, second, content='{"n":2}')
    graph.proofs.add(both)
    assert graph.delete_triple(first)
    assert graph.proofs.count() == 1
    assert graph.proofs_of(second) == [graph.proofs.iri(both.id).value]
    assert graph.delete_triple(second)
    assert graph.proofs.count() == 0
    assert not {quad for quad in everything(graph) - before if str(quad).count("/proof/")}


def test_an_update_withdraws_what_has_proofs_and_keeps_these(graph: NamespacedGraph) -> None:
    first, second = asserted(graph), asserted(graph, "b")
    graph.proofs.add(proof_of(first, second))
    graph.update("DELETE WHERE { <urn:cortex:mayros:a> ?p ?o }")
    graph.proofs.add(proof_of(asserted(graph), second))
    graph.update("DELETE WHERE { ?s ?p ?o }")
    assert (graph.count(), graph.proofs.count()) == (0, 1)
    assert [len(graph.withdrawals.of(each)) for each in (first, second)] == [2, 1]
    asserted(graph)
    with pytest.raises(PermissionDenied, match="has proofs"):
        update_graphs(graph.store, [graph], "DELETE WHERE { ?s ?p ?o }", may_withdraw=False)
    assert graph.count() == 1


def test_a_proof_outlives_its_premise(graph: NamespacedGraph) -> None:
    about, premise = asserted(graph), asserted(graph, "b")
    proof = proof_of(about, premises=(premise,))
    graph.proofs.add(proof)
    assert graph.delete_triple(premise)
    assert graph.proofs.of(about) == [proof]


def test_a_proof_is_forgotten_with_its_links(graph: NamespacedGraph) -> None:
    about = asserted(graph)
    before = everything(graph)
    proof_id = graph.proofs.add(proof_of(about))
    assert graph.proofs.remove(proof_id)
    assert not graph.proofs.remove(proof_id)
    assert everything(graph) == before


def test_a_proof_that_was_changed_in_the_store_is_not_found(graph: NamespacedGraph) -> None:
    about = asserted(graph)
    proof = proof_of(about)
    graph.proofs.add(proof, [RULES])
    records = graph.names.provenance_graph
    for node, text in ((graph.proofs.iri(proof.id), proof.content), (None, RULES)):
        (old,) = graph.store.quads(Pattern(records, node, CONTENT, Literal(text)))
        graph.store.apply([Quad(old.subject, CONTENT, Literal("{}"), records)], [old])
    assert graph.proofs.get(proof.id) is None
    assert graph.proofs.of(about) == []
    assert graph.proofs.rules(content_id(RULES)) is None


BAD = {
    "no triple": {"proves": ()},
    "an id that is none": {"proves": ("x",)},
    "a premise that is none": {"premises": ("../x",)},
    "rules that are none": {"rules": ("",)},
    "a kind that is none": {"kind": "P O L"},
    "no content": {"content": ""},
    "too many premises": {"premises": tuple(content_id(str(n)) for n in range(MAX_PREMISES + 1))},
}


@pytest.mark.parametrize("change", BAD)
def test_what_is_no_proof_is_refused(change: str) -> None:
    parts = {"kind": "pol", "content": "{}", "time": TIME, "proves": ("0" * 64,)} | BAD[change]
    with pytest.raises(InvalidArguments):
        StoredProof(**parts)


@pytest.mark.parametrize("form", ["n-quads", "trig", "json-ld"])
def test_proofs_and_their_rules_come_back_with_the_records(graph: NamespacedGraph, form: str) -> None:
    about, premise = asserted(graph), asserted(graph, "b")
    graph.proofs.add(proof_of(about, premises=(premise,), rests_on_graph=True, rules=(content_id(RULES),)), [RULES])
    file = exported(graph, form)
    copy = NamespacedGraph(open_store("memory:"), "mayros")
    import_file(copy, io.BytesIO(file), form, with_provenance=True)
    assert everything(copy) == everything(graph)


def test_the_proof_of_a_statement_without_a_record_comes_back_as_well(graph: NamespacedGraph) -> None:
    about = graph.create_triple({"subject": "a", "predicate": "p", "object": 1})["id"]
    graph.proofs.add(proof_of(about))
    copy = NamespacedGraph(open_store("memory:"), "mayros")
    import_file(copy, io.BytesIO(exported(graph)), "n-quads", with_provenance=True)
    assert copy.proofs.of(about) == graph.proofs.of(about) != []


def exported(graph: NamespacedGraph, form: str = "n-quads") -> bytes:
    written = io.BytesIO()
    export_rdf(graph, written, form, with_provenance=True)
    return written.getvalue()


CHANGES = {
    "its content": (b'"{\\"n\\":1}"', b'"{\\"n\\":2}"'),
    "its kind": (b'"pol"', b'"P L"'),
    "its type": (b"ontology#Proof>", b"ontology#Record>"),
    "what it proves": (b"ontology#proves> <urn:cortex:mayros/", b"ontology#proves> <urn:cortex:shop/"),
    "a premise": (b"ontology#premise> <urn:cortex:mayros/", b"ontology#premise> <urn:cortex:shop/"),
    "its rules": (b'"# rules\\n"', b'"# no rules\\n"'),
    "a predicate": (b"ontology#proofKind>", b"ontology#memoryTag>"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_proof_that_was_changed_in_a_file_is_refused_and_nothing_imported(
    graph: NamespacedGraph, change: str
) -> None:
    about, premise = asserted(graph), asserted(graph, "b")
    graph.proofs.add(proof_of(about, premises=(premise,), rules=(content_id(RULES),)), [RULES])
    file = exported(graph)
    changed = file.replace(*CHANGES[change])
    assert changed != file
    copy = NamespacedGraph(open_store("memory:"), "mayros")
    with pytest.raises(InvalidArguments, match="cannot be trusted"):
        import_file(copy, io.BytesIO(changed), "n-quads", with_provenance=True)
    assert copy.store.graph_names() == []


def test_the_quads_of_a_proof_stay_in_the_provenance_graph(graph: NamespacedGraph) -> None:
    proof = proof_of("0" * 64, premises=("1" * 64,))
    assert {quad.graph_name for quad in proof_quads(proof, graph.names)} == {graph.names.provenance_graph}
    assert {quad.predicate for quad in graph.proofs.quads(proof, ["0" * 64])} >= {PROOF, NamedNode(f"{CORTEX}premise")}
