"""The schema of a namespace is what its triples use."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyoxigraph import Literal, Quad

from cortex_graph import NamespacedGraph, Provenance, kept, open_store
from cortex_graph.schema_in_use import ClassInUse, SchemaInUse
from cortex_graph.store import GraphStore, Pattern
from cortex_graph.vocabulary import VALUE


@pytest.fixture
def store(tmp_path: Path) -> Iterator[GraphStore]:
    opened = open_store(str(tmp_path / "store"))
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


def test_it_follows_the_graph(store: GraphStore) -> None:
    graph = filled(store)
    assert of_class(graph.schema.latest(60.0), "Part").subjects == 1
    graph.create_triple({"subject": "p2", "predicate": "rdf:type", "object": {"node": "Part"}})
    deadline = time.monotonic() + 30
    while of_class(schema := graph.schema.latest(5.0), "Part").subjects == 1 and time.monotonic() < deadline:
        assert not schema.is_current
        time.sleep(0.05)
    assert (of_class(schema, "Part").subjects, schema.is_current) == (2, True)


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
