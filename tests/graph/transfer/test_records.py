"""Who asserted what goes out with the triples, and comes back to the same triples only."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import NamedNode, Quad

from cortex_graph import GraphStore, InvalidArguments, NamespacedGraph, Provenance, open_store
from cortex_graph.naming.vocabulary import CORTEX
from cortex_graph.store import Pattern
from cortex_graph.transfer import copy_store, import_file
from tests.graph.strategies import unicode_text, values
from tests.graph.transfer.support import RECORDS, assert_some, exported, lines

DATASETS = ["n-quads", "trig", "json-ld"]


def brought_back(file: bytes, form: str = "n-quads", into: NamespacedGraph | None = None):
    graph = into or NamespacedGraph(open_store("memory:"), "mayros")
    return graph, import_file(graph, io.BytesIO(file), form, with_provenance=True)


@pytest.mark.parametrize("form", DATASETS)
def test_a_graph_and_its_records_come_back_the_same(store: GraphStore, form: str) -> None:
    graph = NamespacedGraph(store, "mayros")
    (first, *_) = assert_some(graph)
    graph.create_triple({"subject": "a", "predicate": "p", "object": '\t"\\\n é\x07'}, Provenance(agent="\u202e a/b"))
    copy, done = brought_back(exported(graph, form, with_provenance=True), form)
    assert (done.statements, done.records, done.left_out, done.ignored) == (4, 4, 0, 0)
    assert lines(copy) == lines(graph)
    assert copy.provenance_of(first) == graph.provenance_of(first)


@pytest.mark.timeout(400)  # a process for each example
@settings(max_examples=20)
@given(
    form=st.sampled_from(DATASETS),
    rows=st.lists(st.tuples(unicode_text, values, st.none() | unicode_text, st.none() | unicode_text), max_size=4),
)
def test_every_record_survives_every_format_that_holds_it(form: str, rows: list[tuple[str, Any, Any, Any]]) -> None:
    graph = NamespacedGraph(open_store("memory:"), "mayros")
    for name, value, skill, agent in rows:
        triple = {"subject": f"mayros:{name}", "predicate": "p", "object": value}
        graph.create_triple(triple, Provenance(skill=skill, skill_version="1.0.0", agent=agent))
    copy, done = brought_back(exported(graph, form, with_provenance=True), form)
    assert (done.records, done.left_out, done.ignored) == (graph.count(), 0, 0)
    assert lines(copy) == lines(graph)


def test_records_are_ignored_and_counted_unless_requested(graph: NamespacedGraph) -> None:
    assert_some(graph)
    file = exported(graph, with_provenance=True)
    copy = NamespacedGraph(open_store("memory:"), "mayros")
    done = import_file(copy, io.BytesIO(file), "n-quads")
    assert (done.statements, done.records, done.ignored) == (3, 0, file.count(b"/provenance> ."))
    assert sorted(exported(copy).splitlines()) == sorted(exported(graph).splitlines())
    assert [name.value for name in copy.store.graph_names()] == ["urn:cortex:mayros"]


def test_the_links_to_proofs_are_kept(graph: NamespacedGraph) -> None:
    (triple_id,) = assert_some(graph, 1)
    proof = NamedNode(f"urn:cortex:mayros/proof/{'0' * 64}")
    graph.store.apply([Quad(graph.names.record(triple_id), NamedNode(f"{CORTEX}proof"), proof, RECORDS)])
    copy, _ = brought_back(exported(graph, with_provenance=True))
    assert copy.proofs_of(triple_id) == [proof.value]
    assert lines(copy) == lines(graph)


CHANGES = {
    "the object": (b'"0"^^', b'"7"^^'),
    "the id": (b"/triple/", b"/triple/0"),
    "another namespace's agent": (b"<urn:cortex:mayros:agent:a1>", b"<urn:cortex:shop:agent:a1>"),
    "the time's type": (b"#dateTime>", b"#string>"),
    "the record's type": (b"<http://www.w3.org/ns/prov#Entity>", b"<http://www.w3.org/ns/prov#Activity>"),
    "a predicate": (b"<http://www.w3.org/ns/prov#generatedAtTime>", b"<urn:x:y>"),
    "a stranger": (b"<urn:cortex:mayros:skill:", b"<urn:cortex:shop:skill:"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changed_provenance_is_refused_and_nothing_imported(graph: NamespacedGraph, change: str) -> None:
    assert_some(graph, 1)
    data, records = exported(graph), exported(graph, with_provenance=True)
    changed = data + records.removeprefix(data).replace(*CHANGES[change])
    assert changed != records
    copy = NamespacedGraph(open_store("memory:"), "mayros")
    with pytest.raises(InvalidArguments, match="cannot be trusted"):
        brought_back(changed, into=copy)
    assert copy.store.graph_names() == []


def test_a_record_with_two_times_is_refused(graph: NamespacedGraph) -> None:
    assert_some(graph, 1)
    file = exported(graph, with_provenance=True)
    (time,) = [line for line in file.splitlines() if b"generatedAtTime" in line]
    with pytest.raises(InvalidArguments, match="exactly once"):
        brought_back(file + time.replace(b'"20', b'"19') + b"\n")


def test_records_of_triples_that_are_not_there_are_left_out(graph: NamespacedGraph) -> None:
    ids = assert_some(graph)
    file = exported(graph, with_provenance=True)
    without = b"\n".join(line for line in file.splitlines() if b":s1> <urn:cortex:mayros:p>" not in line) + b"\n"
    copy, done = brought_back(without)
    assert (done.statements, done.records, done.left_out) == (2, 2, 1)
    assert copy.provenance_of(ids[1]) is None
    assert copy.provenance_of(ids[2]) == graph.provenance_of(ids[2])


def test_records_of_triples_that_only_the_store_has_are_taken(graph: NamespacedGraph) -> None:
    ids = assert_some(graph)
    file = exported(graph, with_provenance=True)
    data = exported(graph)
    copy = NamespacedGraph(open_store("memory:"), "mayros")
    import_file(copy, io.BytesIO(data), "n-quads")
    _, done = brought_back(file.removeprefix(data), into=copy)
    assert (done.records, done.left_out) == (3, 0)
    assert copy.provenance_of(ids[0]) == graph.provenance_of(ids[0])


def test_what_the_store_knows_of_a_triple_wins_over_the_file(graph: NamespacedGraph) -> None:
    ids = assert_some(graph, 2)
    copy = NamespacedGraph(open_store("memory:"), "mayros")
    copy.create_triple({"subject": "s0", "predicate": "p", "object": 0}, Provenance(agent="first"))
    before = copy.provenance_of(ids[0])
    _, done = brought_back(exported(graph, with_provenance=True), into=copy)
    assert (done.records, done.left_out) == (1, 1)
    assert copy.provenance_of(ids[0]) == before
    assert copy.provenance_of(ids[1]) == graph.provenance_of(ids[1])


def test_half_a_record_in_the_store_becomes_a_whole_one(graph: NamespacedGraph) -> None:
    assert_some(graph, 1)
    file = exported(graph, with_provenance=True)
    copy, _ = brought_back(file)
    half = list(copy.store.quads(Pattern(RECORDS)))[:3]
    copy.store.apply(remove=half)
    assert lines(copy) != lines(graph)
    brought_back(file, into=copy)
    assert lines(copy) == lines(graph)


def test_imported_twice_is_imported_once(graph: NamespacedGraph) -> None:
    assert_some(graph)
    file = exported(graph, with_provenance=True)
    copy, first = brought_back(file)
    _, again = brought_back(file, into=copy)
    assert again == first
    assert lines(copy) == lines(graph)


def test_another_namespace_gets_the_triples_unchanged_without_records(graph: NamespacedGraph) -> None:
    assert_some(graph)
    shop = NamespacedGraph(graph.store, "shop")
    _, done = brought_back(exported(graph, with_provenance=True), into=shop)
    assert (done.statements, done.records) == (3, 0)
    assert done.ignored > 0
    assert {row["subject"] for row in shop.list_triples()["triples"]} == {f"urn:cortex:mayros:s{n}" for n in range(3)}


@pytest.mark.parametrize("form", ["turtle", "n-triples", "rdf-xml"])
def test_formats_without_graphs_hold_no_provenance(graph: NamespacedGraph, form: str) -> None:
    with pytest.raises(InvalidArguments, match="has no graphs"):
        exported(graph, form, with_provenance=True)
    with pytest.raises(InvalidArguments, match="has no graphs"):
        brought_back(b"", form)


def withdrawn(graph: NamespacedGraph) -> bytes:
    """The export of a graph whose only triple was withdrawn."""
    (triple_id,) = assert_some(graph, 1)
    graph.withdraw(triple_id, Provenance("other", "2.0.0", "b2"))
    return exported(graph, with_provenance=True)


WITHDRAWN_CHANGES = {
    "the object": (b'"0"^^', b'"7"^^'),
    "the id": (b"/withdrawn/", b"/withdrawn/0"),
    "the record": (b"/triple/", b"/triple/0"),
    "no time of withdrawal": (b"prov#invalidatedAtTime>", b"prov#generatedAtTime>"),
    "the time's type": (b"#dateTime>", b"#string>"),
    "who withdrew it": (b"<urn:cortex:mayros:agent:b2>", b"<urn:cortex:shop:agent:b2>"),
    "a predicate": (b"prov#invalidatedAtTime>", b"prov#endedAtTime>"),
}


@pytest.mark.parametrize("change", WITHDRAWN_CHANGES)
def test_a_changed_withdrawn_record_is_refused(graph: NamespacedGraph, change: str) -> None:
    file = withdrawn(graph)
    changed = file.replace(*WITHDRAWN_CHANGES[change])
    assert changed != file
    copy = NamespacedGraph(open_store("memory:"), "mayros")
    with pytest.raises(InvalidArguments, match="provenance that cannot be trusted"):
        import_file(copy, io.BytesIO(changed), "n-quads", with_provenance=True)
    assert lines(copy) == []


def test_a_namespace_whose_statements_are_all_withdrawn_is_copied(graph: NamespacedGraph) -> None:
    file = withdrawn(graph)
    target = open_store("memory:")
    copy_store(graph.store, target)
    copy = NamespacedGraph(target, "mayros")
    assert lines(copy) == lines(graph) == lines(brought_back(file)[0])
    assert len(lines(copy)) > 8
