"""What a user's SPARQL does is the same on every store."""

from __future__ import annotations

import json

import pytest

from cortex_graph import (
    GraphStore,
    InvalidArguments,
    NamespacedGraph,
    NamespaceViolation,
    PermissionDenied,
    Provenance,
)
from cortex_graph.sparql import Updated

pytestmark = pytest.mark.timeout(400)  # some of these servers take long for much on a busy machine


def rows(graph: NamespacedGraph, text: str) -> list[dict[str, str]]:
    bindings = json.loads(b"".join(graph.query(text).chunks))["results"]["bindings"]
    return [{name: term["value"] for name, term in row.items()} for row in bindings]


def rows_or_refusal(graph: NamespacedGraph, text: str) -> list[dict[str, str]]:
    """The rows; none from a server that is not asked about named graphs, since it would leave the namespace."""
    try:
        return rows(graph, text)
    except InvalidArguments as refused:
        return [] if "would leave the namespace" in refused.message else [{"refused": refused.message}]


def test_a_namespace_asks_and_changes_its_own_graph(graph: NamespacedGraph) -> None:
    ns = graph.namespace
    text = f"INSERT DATA {{ {ns}:a {ns}:p 1, 2 ; {ns}:q {ns}:b }}"
    assert graph.update(text, Provenance(agent="a1")) == Updated(3, 0)
    assert rows(graph, f"SELECT ?o {{ {ns}:a {ns}:p ?o }} ORDER BY ?o") == [{"o": "1"}, {"o": "2"}]
    assert graph.update("DELETE { ?s ?p 1 } INSERT { ?s ?p 3 } WHERE { ?s ?p 1 }") == Updated(1, 1)
    assert rows(graph, f"SELECT ?o {{ {ns}:a {ns}:p ?o }} ORDER BY ?o") == [{"o": "2"}, {"o": "3"}]
    assert all(graph.get_triple(row["id"]) == row for row in graph.list_triples()["triples"])
    assert graph.update("DELETE WHERE { ?s ?p ?o }") == Updated(0, 3)
    assert graph.count() == 0


def test_another_namespace_is_not_there_and_is_not_changed(store: GraphStore, graph: NamespacedGraph) -> None:
    other = NamespacedGraph(store, f"{graph.namespace}x")
    other.create_triple({"subject": "a", "predicate": "p", "object": "canary"}, Provenance(agent="spy"))
    there = f"urn:cortex:{other.namespace}"
    for text in (
        f"SELECT * {{ GRAPH <{there}> {{ ?s ?p ?o }} }}",
        f"SELECT * {{ GRAPH <{there}/provenance> {{ ?s ?p ?o }} }}",
        "SELECT * { GRAPH ?g { ?s ?p ?o } }",
        "SELECT * { ?s ?p 'canary' }",
        f"SELECT * {{ <{there}:a> ?p ?o }}",
    ):
        assert rows_or_refusal(graph, text) == []
    with pytest.raises(NamespaceViolation):
        graph.query(f"SELECT * FROM <{there}> {{ ?s ?p ?o }}")
    with pytest.raises(NamespaceViolation):
        graph.update(f"DELETE WHERE {{ GRAPH <{there}> {{ ?s ?p ?o }} }}")
    with pytest.raises(PermissionDenied):
        graph.query("SELECT * { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }")
    assert graph.update("INSERT { ?s ?p 1 } WHERE { ?s ?p ?o }") == Updated(0, 0)
    assert graph.update(f"DELETE WHERE {{ <{there}:a> ?p ?o }}") == Updated(0, 0)
    assert other.count() == 1
    assert other.delete_triple(other.list_triples()["triples"][0]["id"])


def test_a_graph_around_anything_is_each_named_graph_and_a_path_may_be_empty(graph: NamespacedGraph) -> None:
    ns, own = graph.namespace, graph.names.graph.value
    graph.update(f"INSERT DATA {{ {ns}:a {ns}:p {ns}:b }}")
    narrowed = f"FROM NAMED <{own}>"
    for inner, found in (("VALUES ?x { 1 }", "1"), (f"SELECT (COUNT(*) AS ?x) {{ ?s {ns}:p ?o }}", "1")):
        answered = rows_or_refusal(graph, f"SELECT ?g ?x {narrowed} {{ GRAPH ?g {{ {inner} }} }}")
        assert answered in ([{"g": own, "x": found}], [])
        assert rows_or_refusal(graph, f"SELECT ?x {{ GRAPH <urn:nowhere> {{ {inner} }} }}") == []
    assert rows(graph, f"SELECT ?x {{ <urn:z> {ns}:p* ?x }}") == [{"x": "urn:z"}]
    assert len(rows(graph, f"SELECT ?x {{ {ns}:a {ns}:p* ?x }}")) == 2
