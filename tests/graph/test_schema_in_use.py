"""The schema of a namespace is what its triples use."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, Quad

from cortex_graph import WELL_KNOWN_VOCABULARIES, NamespacedGraph, Provenance, open_store
from cortex_graph.index import kept
from cortex_graph.index.schema_in_use import ClassInUse, SchemaInUse, read_schema
from cortex_graph.naming.vocabulary import VALUE
from cortex_graph.store import GraphStore, Pattern
from tests.graph.schema_counts import check_counts
from tests.property_examples import examples

RDF, XSD = (WELL_KNOWN_VOCABULARIES[prefix] for prefix in ("rdf", "xsd"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[GraphStore]:
    opened = open_store(str(tmp_path / "store"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def shared() -> Iterator[GraphStore]:
    opened = open_store("memory:")
    yield opened
    opened.close()


def filled(store: GraphStore) -> NamespacedGraph:
    graph = NamespacedGraph(store, "m", vocabularies={"rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#"})
    made = Provenance(agent="a1", time=datetime(2026, 1, 2, tzinfo=UTC))
    triples = [
        ("acme", "rdf:type", {"node": "Supplier"}),
        ("acme", "name", {"value": "Acme AB", "language": "sv"}),
        ("acme", "country", {"node": "sweden"}),
        ("byte", "rdf:type", {"node": "Supplier"}),
        ("byte", "name", "Byte"),
        ("byte", "name", "Byte Ltd"),
        ("p1", "rdf:type", {"node": "Part"}),
        ("p1", "from", {"node": "acme"}),
        ("p1", "price", {"value": "12.50", "datatype": "http://www.w3.org/2001/XMLSchema#decimal"}),
        ("sweden", "note", "x" * 500),
    ]
    graph.create_triples([dict(zip(("subject", "predicate", "object"), each, strict=True)) for each in triples], made)
    return graph


def of_class(schema: SchemaInUse, name: str | None) -> ClassInUse:
    wanted = None if name is None else f"urn:cortex:m:{name}"
    (found,) = (each for each in schema.classes if (None if each.node is None else each.node.value) == wanted)
    return found


def used(found: ClassInUse, name: str) -> tuple[object, ...]:
    (use,) = (each for each in found.predicates if each.predicate.value == f"urn:cortex:m:{name}")
    kinds = [(kind.kind.value.rpartition("#")[2].rpartition(":")[2], kind.count, kind.is_node) for kind in use.values]
    return use.subjects, use.triples, use.most, kinds


def test_a_class_has_its_predicates_with_coverage_values_and_examples(store: GraphStore) -> None:
    schema = filled(store).schema.latest(60.0)
    supplier, part = of_class(schema, "Supplier"), of_class(schema, "Part")
    assert (schema.triples, supplier.subjects, part.subjects, schema.languages) == (10, 2, 1, ("sv",))
    assert used(supplier, "name") == (2, 3, 2, [("string", 2, False), ("langString", 1, False)])
    assert used(supplier, "country") == (1, 1, 1, [("Resource", 1, True)])
    assert used(part, "from") == (1, 1, 1, [("Supplier", 1, True)])
    name = supplier.predicates[[each.predicate.value for each in supplier.predicates].index("urn:cortex:m:name")]
    assert (name.values[1].example, name.values[1].language) == ("Acme AB", "sv")
    assert [each.node and each.node.value for each in schema.classes][-1] is None
    (note,) = of_class(schema, None).predicates
    assert len(note.values[0].example) == 100
    assert schema.first == schema.last != ""
    assert (schema.is_exact, schema.is_current) == (True, True)


def test_it_is_empty_where_there_is_nothing(store: GraphStore) -> None:
    filled(store)
    other = NamespacedGraph(store, "mm").schema.latest(60.0)
    assert (other.triples, other.classes, other.first, other.is_exact) == (0, (), "", True)


def test_it_follows_the_graph(store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = filled(store)
    assert of_class(graph.schema.latest(60.0), "Part").subjects == 1
    graph.create_triple({"subject": "p2", "predicate": "rdf:type", "object": {"node": "Part"}})
    monkeypatch.setattr(kept, "_SHARE", 1e9)  # nothing is due
    old = graph.schema.latest(0.0)
    assert (of_class(old, "Part").subjects, old.is_current) == (1, False)
    monkeypatch.setattr(kept, "_SHARE", 0)
    new = graph.schema.latest(60.0)
    assert (of_class(new, "Part").subjects, new.is_current) == (2, True)


def test_the_next_process_begins_with_the_schema_of_the_last_one(
    store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "_WORTH_KEEPING_S", 0.0)
    schema = filled(store).schema.latest(60.0)
    monkeypatch.setattr(kept.KeptSummary, "_make", lambda *_: None)
    again = NamespacedGraph(store, "m").schema.latest(0.0)
    assert (again.classes, again.languages, again.first) == (schema.classes, schema.languages, schema.first)
    assert not again.is_current


@pytest.mark.parametrize("text", ["{}", '{"took": 1, "counted_at": "2026-01-01T00:00:00Z", "classes": [[1]]}', "[]"])
def test_a_damaged_schema_is_not_used(store: GraphStore, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    graph = filled(store)
    graph.store.apply([Quad(graph.schema._node, VALUE, Literal(text), graph.names.index_graph)], [])
    monkeypatch.setattr(kept.KeptSummary, "_make", lambda *_: None)
    assert NamespacedGraph(store, "m").schema.latest(0.0) == SchemaInUse(is_exact=False, is_current=False)
    assert list(store.quads(Pattern(graph.names.index_graph, graph.schema._node)))


names = st.sampled_from("abcdeAB")
kinds = st.sampled_from(["A", "B"])
values = st.one_of(
    st.integers(0, 3),
    st.sampled_from(["x", "y"]),
    st.sampled_from([{"value": "x", "language": "sv"}, {"value": "2026-12-01", "datatype": f"{XSD}date"}]),
    names.map(lambda name: {"node": name}),
)
statements = st.lists(
    st.one_of(
        st.tuples(names, st.just("rdf:type"), kinds.map(lambda kind: {"node": kind})),
        st.tuples(names, st.sampled_from(["p", "q"]), values),
    ),
    max_size=25,
)
_NUMBERS = itertools.count()


@given(statements)
@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_it_is_what_a_reader_of_all_triples_counts(shared: GraphStore, triples: list[tuple[str, str, Any]]) -> None:
    graph = NamespacedGraph(shared, f"n{next(_NUMBERS)}", vocabularies={"rdf": RDF})
    keys = ("subject", "predicate", "object")
    graph.create_triples([dict(zip(keys, each, strict=True)) for each in triples])
    check_counts(read_schema(shared, graph.names), graph)
