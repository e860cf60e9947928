"""Queries that are saved in a namespace: their parameters, who may change them, and that no value changes a query."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from cortex_graph import NamespacedGraph, open_store
from cortex_graph.naming.names import kept_beside
from cortex_graph.sparql import query_graphs
from cortex_graph.sparql.query_parameters import filled, parameters_of
from tests.server.serving import Running, served

STOCK = "SELECT ?n { $part <urn:cortex:mayros:inStock> ?n FILTER(?n >= $least) }"
SAVED = {
    "name": "stock of",
    "query": STOCK,
    "description": "How much there is of a part",
    "parameters": ["part name The part", "$least number At least"],
}
URL = "/api/v1/graph/queries"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("saved")
    with served(folder, audit={"folder": str(folder / "journal")}) as server:
        rows = [{"subject": "nails", "predicate": "inStock", "object": count} for count in (3, 14)]
        server.plugin.graph.create_triples(rows)
        yield server


def client_of(
    running: Running, name: str, permissions: tuple[str, ...] = ("read", "write"), **more: Any
) -> httpx.Client:
    return running.client(running.token(name, permissions=permissions, **more))


@pytest.fixture(scope="module")
def writer(running: Running) -> httpx.Client:
    client = client_of(running, "ada", holder="person")
    assert client.post(URL, json=SAVED).status_code == 200
    return client


def test_a_query_is_saved_listed_and_run_with_values(running: Running, writer: httpx.Client) -> None:
    (saved,) = writer.get(URL).json()
    assert (saved["name"], saved["creator"], saved["query"]) == ("stock of", "ada", STOCK)
    assert saved["parameters"] == [
        {"name": "part", "kind": "name", "description": "The part"},
        {"name": "least", "kind": "number", "description": "At least"},
    ]
    reader = client_of(running, "reader", ("read",))
    answer = reader.post(f"{URL}/stock of", json={"values": ["part=nails", "least=10"]})
    assert answer.json()["rows"] == [["14"]], answer.text
    assert reader.post(URL, json={**SAVED, "name": "other"}).status_code == 403


def test_one_record_names_the_query_with_its_state_before_and_after(running: Running, writer: httpx.Client) -> None:
    kept = {**SAVED, "name": "recorded"}
    for query in (STOCK, STOCK.replace(">=", ">")):
        writer.post(URL, json={**kept, "query": query})
    writer.delete(f"{URL}/recorded")
    auditor = client_of(running, "auditor", ("audit",))
    records = auditor.get("/api/v1/audit", params={"about": "recorded"}).json()
    assert [each["event"] for each in records] == ["graph.forget_query", "graph.save_query", "graph.save_query"]
    states = [(each["data"]["before"], each["data"]["after"]) for each in records]
    assert states[0][1] == "absent"
    assert states[0][0] == states[1][1] != states[2][1]
    assert [each["name"] for each in writer.get(URL).json()] == ["stock of"]


def test_an_agent_changes_only_queries_of_its_own(running: Running, writer: httpx.Client) -> None:
    agent = client_of(running, "robot")
    assert agent.post(URL, json=SAVED).status_code == 403
    assert agent.delete(f"{URL}/stock of").status_code == 403
    assert agent.post(URL, json={**SAVED, "name": "mine"}).status_code == 200
    assert agent.post(URL, json={**SAVED, "name": "mine", "description": "again"}).status_code == 200
    assert writer.delete(f"{URL}/mine").status_code == 200


@pytest.mark.parametrize(
    "change",
    [
        {"query": "SELECT ?n { ?s ?p"},
        {"query": "INSERT DATA { <a:b> <a:c> 1 }", "parameters": []},
        {"query": "SELECT $part { $part ?p ?o }", "parameters": []},
        {"query": "SELECT * { SERVICE <http://example.org/> { ?s ?p ?o } }", "parameters": []},
        {"parameters": ["other text"]},
        {"parameters": ["part colour"]},
        {"name": "a/b"},
        {"name": ""},
        {"description": "x" * 1001},
    ],
)
def test_what_is_no_query_with_these_parameters_is_not_saved(writer: httpx.Client, change: dict[str, Any]) -> None:
    assert writer.post(URL, json={**SAVED, "name": "refused", **change}).status_code in (400, 403)
    assert "refused" not in [each["name"] for each in writer.get(URL).json()]


@pytest.mark.parametrize(
    "values",
    [
        [],
        ["part=nails"],
        ["part=nails", "least=many"],
        ["part=nails", "least=1 } UNION { ?s ?p ?o"],
        ["part=nails", "least=1", "other=2"],
    ],
)
def test_a_missing_and_a_malformed_value_are_refused(writer: httpx.Client, values: list[str]) -> None:
    assert writer.post(f"{URL}/stock of", json={"values": values}).status_code == 400


def test_saved_queries_are_of_their_namespace(running: Running, writer: httpx.Client) -> None:
    other = client_of(running, "elsewhere-writer", namespaces=("elsewhere",))
    assert other.get(URL).json() == []
    assert other.post(f"{URL}/stock of", json={"values": []}).status_code == 404
    assert other.get(URL, params={"namespace": "mayros"}).status_code == 403
    names = running.plugin.graph.names
    assert kept_beside(names.queries_graph.value, "urn:cortex:")
    everything = writer.post("/api/v1/graph/sparql", json={"query": "SELECT * { ?s ?p ?o }"})
    assert "stock of" not in json.dumps(everything.json())


TERMS = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=20).map(Literal),
    st.integers(-(10**9), 10**9).map(Literal),
    st.from_regex(r"[a-z]{1,5}", fullmatch=True).map(lambda name: NamedNode(f"urn:x:{name}")),
)
GRAPH = NamespacedGraph(open_store("memory:"), "mayros")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TERMS, st.text(st.characters(codec="utf-8", exclude_characters='\\"\r\n'), max_size=10))
def test_a_value_is_one_term_whatever_it_contains(term: Any, text: str) -> None:
    query = f'SELECT ?v {{ BIND($a AS ?v) FILTER("$a {text}" != "x") # $a\n }}'
    assert parameters_of(query) == ("a",)
    answer = b"".join(query_graphs(GRAPH.store, [GRAPH], filled(query, {"a": term})).chunks)
    (binding,) = json.loads(answer)["results"]["bindings"]
    assert binding["v"]["value"] == term.value
