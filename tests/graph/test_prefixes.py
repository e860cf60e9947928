"""The prefixes of imported files are kept, and are never part of what a name of the namespace means."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pytest
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import GraphUnavailable, NamespacedGraph, Provenance, as_of, import_rdf, open_store
from cortex_graph.assertions import AssertionFilter, list_assertions
from cortex_graph.find import find
from cortex_graph.index.prefixes import MOST, Prefixes
from cortex_graph.namespace.neighbourhood import neighbourhood
from cortex_graph.naming.vocabulary import VALUE
from cortex_graph.store import GraphStore
from cortex_graph.transfer import back_up, copy_store, export_rdf, restore

TURTLE = b"@prefix pv: <http://example.org/vocab/> .\n@prefix it: <http://example.org/> .\nit:a pv:name 'A' .\n"


@pytest.fixture
def store() -> Iterator[GraphStore]:
    opened = open_store("memory:")
    yield opened
    opened.close()


@pytest.fixture
def graph(store: GraphStore) -> NamespacedGraph:
    return NamespacedGraph(store, "m")


def loaded(graph: NamespacedGraph, data: bytes, form: str = "turtle") -> NamespacedGraph:
    import_rdf(graph, BytesIO(data), form)
    return graph


@pytest.mark.parametrize(
    ("data", "form"),
    [
        (TURTLE, "turtle"),
        (TURTLE, "trig"),
        (
            b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:pv="http://example.org/vocab/">'
            b'<rdf:Description rdf:about="http://example.org/a"><pv:name>A</pv:name></rdf:Description></rdf:RDF>',
            "rdf-xml",
        ),
        (
            b'{"@context": {"pv": "http://example.org/vocab/"}, "@id": "http://example.org/a", "pv:name": "A"}',
            "json-ld",
        ),
    ],
)
def test_the_prefixes_of_a_file_name_its_terms(store: GraphStore, data: bytes, form: str) -> None:
    loaded(NamespacedGraph(store, "m"), data, form)
    graph = NamespacedGraph(store, "m")  # as another process has it
    assert graph.prefixes.kept()["pv"] == "http://example.org/vocab/"
    assert graph.node_of("pv:name").value == "http://example.org/vocab/name"
    assert graph.prefixes.terms().node("http://example.org/vocab/name") == "pv:name"
    assert b'"A"' in b"".join(graph.query("SELECT ?n { ?s pv:name ?n }").chunks)
    assert as_of.as_of(graph, "2026-01-01").node_of("pv:name") == graph.node_of("pv:name")
    assert NamespacedGraph(store, "mm").prefixes.kept() == {}


def test_a_name_of_the_namespace_that_is_in_use_keeps_its_meaning(graph: NamespacedGraph) -> None:
    graph.create_triple({"subject": "pv:name", "predicate": "p", "object": 1})
    loaded(graph, TURTLE)
    assert graph.node_of("pv:name").value == "urn:cortex:m:pv:name"
    assert graph.node_of("pv:other").value == "http://example.org/vocab/other"
    assert graph.node_of("m:pv:other").value == "urn:cortex:m:pv:other"


@pytest.mark.parametrize(
    "prefix", ["m", "rdf", "agent", "skill", "http", "", "a" * 40, "Ignore.all", "caf\u00e9", "genid"]
)
def test_a_file_does_not_choose_what_other_prefixes_mean(graph: NamespacedGraph, prefix: str) -> None:
    graph.prefixes.keep({prefix: "http://evil.example/"})
    assert graph.prefixes.kept() == {}


def test_an_import_is_complete_where_prefixes_cannot_be_kept(
    graph: NamespacedGraph, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    kind, apply = type(graph.store), type(graph.store).apply

    def full(store: Any, insert: Any = (), remove: Any = ()) -> None:
        if any(quad.subject.value.endswith("/prefixes") for quad in insert):
            raise GraphUnavailable("the disk is full")
        apply(store, insert, remove)

    monkeypatch.setattr(kind, "apply", full)
    assert import_rdf(graph, BytesIO(TURTLE), "turtle") == 1
    assert (graph.count(), graph.prefixes.kept()) == (1, {})
    assert "the prefixes of the file are not kept: the disk is full" in caplog.text


def test_the_first_meaning_of_a_prefix_stays(graph: NamespacedGraph) -> None:
    graph.prefixes.keep({"pv": "http://one.example/"})
    graph.prefixes.keep({"pv": "http://two.example/", "more": "http://three.example/", "bad": "no iri/"})
    assert graph.prefixes.kept() == {"pv": "http://one.example/", "more": "http://three.example/"}


def test_a_file_with_many_prefixes_keeps_the_first_ones(graph: NamespacedGraph) -> None:
    head = "".join(f"@prefix p{n}: <http://example.org/{n}/> .\n" for n in range(MOST + 50))
    loaded(graph, f"{head}<urn:s> <urn:p> 1 .".encode())
    assert len(graph.prefixes.kept()) == MOST


@pytest.mark.parametrize(
    "text", ["", "[1]", "{", '{"agent": "http://evil.example/"}', '{"pv": 1}', '{"pv": "no iri/"}']
)
def test_damaged_prefixes_are_none(graph: NamespacedGraph, text: str) -> None:
    node = NamedNode("urn:cortex:m/prefixes")
    graph.store.apply([Quad(node, VALUE, Literal(text), graph.names.index_graph)], [])
    assert Prefixes(graph.store, graph.names).kept() == {}


def test_the_prefixes_survive_the_process(tmp_path: Path) -> None:
    first = open_store(str(tmp_path / "store"))
    loaded(NamespacedGraph(first, "m"), TURTLE)
    first.close()
    second = open_store(str(tmp_path / "store"))
    kept = NamespacedGraph(second, "m").prefixes.kept()
    second.close()
    assert orjson.dumps(dict(kept)) == b'{"it":"http://example.org/","pv":"http://example.org/vocab/"}'


@pytest.mark.parametrize("form", ["turtle", "trig", "rdf-xml"])  # JSON-LD is written without a context
def test_an_export_declares_them_and_an_import_of_it_keeps_them(graph: NamespacedGraph, form: str) -> None:
    loaded(graph, TURTLE)
    graph.prefixes.keep({"xmlThing": "http://example.org/xml/"})  # XML keeps such names for itself
    output = BytesIO()
    export_rdf(graph, output, form)
    assert b"http://example.org/vocab/" in output.getvalue()
    store = open_store("memory:")
    again = loaded(NamespacedGraph(store, "m"), output.getvalue(), form)
    assert again.prefixes.kept()["pv"] == "http://example.org/vocab/"
    assert again.count() == graph.count()
    store.close()


def test_a_copy_and_a_backup_have_them(graph: NamespacedGraph, tmp_path: Path) -> None:
    loaded(graph, TURTLE)
    target = open_store("memory:")
    NamespacedGraph(target, "m").prefixes.keep({"other": "http://other.example/"})
    copy_store(graph.store, target)
    assert NamespacedGraph(target, "m").prefixes.kept() == {"other": "http://other.example/", **graph.prefixes.kept()}
    target.close()
    back_up(graph.store, tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "store")
    store = open_store(str(tmp_path / "store"))
    assert NamespacedGraph(store, "m").prefixes.kept() == graph.prefixes.kept()
    store.close()


def test_what_is_searched_for_is_named_with_the_prefixes_of_a_file(graph: NamespacedGraph) -> None:
    loaded(graph, TURTLE + b"it:a pv:knows it:b .\n")
    (named,) = graph.list_triples({"subject": "it:a", "predicate": "pv:name"})["triples"]
    assert (named["subject"], named["object"]) == ("http://example.org/a", "A")
    assert graph.pattern_query({"object": {"node": "it:b"}})["total"] == 1
    assert graph.count({"predicate": "pv:name"}) == 1
    assert [str(each.node.value) for each in find(graph, "it:a").hits] == ["http://example.org/a"]
    assert len(neighbourhood(graph, "it:a").outgoing.groups) == 2
    written = graph.create_triple(
        {"subject": "http://example.org/a", "predicate": "http://example.org/vocab/size", "object": 3},
        Provenance(agent="a1"),
    )
    for which in ({"subject": "it:a"}, {"predicate": "pv:size"}, {"object": 3}):
        (assertion,) = list_assertions(graph, AssertionFilter(**which)).assertions  # type: ignore[arg-type]
        assert assertion.triple_id == written["id"]
    assert list_assertions(graph, AssertionFilter(object={"node": "it:b"})).assertions == ()


def test_a_name_without_a_prefix_is_not_looked_up(graph: NamespacedGraph) -> None:
    loaded(graph, TURTLE)
    assert graph.with_names({"subject": "nails", "predicate": "pv:name", "object": "pv:name"}) == {
        "subject": "nails",
        "predicate": "http://example.org/vocab/name",
        "object": "pv:name",
    }
    assert graph.with_names({"object": {"value": "x", "datatype": "it:code"}}) == {
        "object": {"value": "x", "datatype": "http://example.org/code"}
    }
