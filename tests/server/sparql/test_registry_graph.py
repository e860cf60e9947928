"""The registered skills of a namespace in SPARQL: read by its tokens, changed by none."""

from __future__ import annotations

import httpx
import pytest

from cortex_graph import NamespacedGraph
from cortex_skills.features.registry.documents.document import SkillDocument
from cortex_skills.features.registry.parts import open_registry
from cortex_skills.features.registry.records.skill_record import SkillKey
from tests.server.serving import Running

NAMES = """PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
SELECT DISTINCT ?name { GRAPH ?g { ?skill a <urn:cortex-graph:ontology#RegisteredSkill> ; rdfs:label ?name } }"""


@pytest.fixture
def registry(server: Running, namespace: str):
    found = open_registry(server.plugin.config, NamespacedGraph(server.plugin.graph.store, namespace))
    document = SkillDocument.checked(namespace=namespace, name="fetch-data", description="Fetches data.")
    found.register(document, actor="ada", origin="human")
    return found


def names(client: httpx.Client, **more: str) -> list[str]:
    answer = client.post("/sparql", data={"query": NAMES, **more})
    assert answer.status_code == 200, answer.text
    return [row["name"]["value"] for row in answer.json()["results"]["bindings"]]


def record_of(registry) -> list[str]:
    """The quads of the registered skill."""
    node = registry.terms.record(SkillKey(registry.terms.names.namespace, "fetch-data"))
    return sorted(map(str, registry._quads(node)))


def test_a_token_reads_the_registry_of_its_namespace_and_of_no_other(server, client, registry):
    graph = registry.terms.graph.value
    assert names(client) == ["fetch-data"]
    assert names(client, **{"named-graph-uri": graph}) == ["fetch-data"]
    assert f"<{graph}>" in client.get("/sparql", headers={"accept": "text/turtle"}).text
    stranger = server.client(server.token("of-nobody", ("nobody",), ("read", "write")))
    assert names(stranger) == []
    refused = stranger.post("/sparql", data={"query": NAMES, "named-graph-uri": graph})
    assert (refused.status_code, refused.json()["code"]) == (403, "namespace_violation")


def test_the_registry_is_in_no_default_graph(client, registry):
    answer = client.post("/sparql", data={"query": "ASK {?s ?p ?o}"})
    assert answer.json()["boolean"] is False


@pytest.mark.parametrize(
    "update",
    [
        "INSERT DATA { GRAPH <G> { <urn:a> <urn:b> <urn:c> } }",
        "DELETE WHERE { GRAPH <G> { ?s ?p ?o } }",
        "CLEAR GRAPH <G>",
        "DROP GRAPH <G>",
        "WITH <G> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }",
        "DELETE { GRAPH <G> { ?s ?p ?o } } INSERT { GRAPH <G> { ?s ?p 1 } } WHERE { GRAPH <G> { ?s ?p ?o } }",
        "MOVE GRAPH <G> TO DEFAULT",
    ],
)
def test_an_update_of_the_registry_is_refused_and_changes_nothing(client, registry, update):
    before = sorted(
        map(str, registry._quads(registry.terms.record(SkillKey(registry.terms.names.namespace, "fetch-data"))))
    )
    answer = client.post("/sparql", data={"update": update.replace("<G>", f"<{registry.terms.graph.value}>")})
    assert answer.status_code in (400, 403), answer.text
    after = sorted(
        map(str, registry._quads(registry.terms.record(SkillKey(registry.terms.names.namespace, "fetch-data"))))
    )
    assert after == before
    assert registry.verify_events() is None


def test_everything_that_an_update_may_clear_is_without_the_registry(client, registry):
    assert client.post("/sparql", data={"update": "CLEAR ALL"}).status_code == 200
    assert names(client) == ["fetch-data"]
    assert registry.verify_events() is None
