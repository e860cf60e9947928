"""A query as JSON, `{query}`, and its answer as the server of Mayros writes it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.interchange.mayros.conftest import CortexClient, CortexError

MEMBERS = {"result_type", "variables", "bindings", "boolean", "triple_count", "execution_time_ms"}


@pytest.fixture
def filled(cortex: CortexClient) -> CortexClient:
    cortex.create_triple("alice", "knows", {"node": "bob"})
    cortex.create_triple("alice", "name", "Alice")
    cortex.create_triple("alice", "age", 41)
    cortex.create_triple("alice", "active", True)
    return cortex


def ask(client: CortexClient, query: str, path: str = "/sparql", **more: Any) -> Any:
    answer = client.request("POST", path, {"query": query, **more})
    assert answer["execution_time_ms"] >= 0
    return answer


@pytest.mark.parametrize("path", ["/sparql", "/api/v1/sparql"])
def test_a_select_is_answered_with_texts_by_variable(filled: CortexClient, name: str, path: str) -> None:
    answer = ask(filled, "SELECT ?p ?o { ?s ?p ?o } ORDER BY ?p", path)
    assert (answer["result_type"], answer["variables"]) == ("bindings", ["p", "o"])
    start = f"urn:cortex:{name}:"
    assert answer["bindings"] == [
        {"p": f"<{start}active>", "o": "true"},
        {"p": f"<{start}age>", "o": "41"},
        {"p": f"<{start}knows>", "o": f"<{start}bob>"},
        {"p": f"<{start}name>", "o": '"Alice"'},
    ]


def test_the_members_of_the_standard_are_there_too(filled: CortexClient) -> None:
    answer = ask(filled, "SELECT ?o { ?s ?p ?o } ORDER BY ?o LIMIT 1")
    assert answer["head"]["vars"] == ["o"]
    assert len(answer["results"]["bindings"]) == len(answer["bindings"]) == 1


def test_nothing_found_is_an_empty_list(cortex: CortexClient) -> None:
    answer = ask(cortex, "SELECT ?s ?p ?o { ?s ?p ?o }")
    assert (answer["result_type"], answer["variables"], answer["bindings"]) == ("bindings", ["s", "p", "o"], [])


def test_a_variable_without_a_value_is_left_out(filled: CortexClient) -> None:
    answer = ask(filled, 'SELECT ?a ?b { BIND("x"@en AS ?a) OPTIONAL { ?b ?b ?b } }')
    assert answer["bindings"] == [{"a": '"x"@en'}]


@pytest.mark.parametrize(("query", "expected"), [("ASK { ?s ?p 41 }", True), ("ASK { ?s ?p 42 }", False)])
def test_an_ask_is_answered_with_a_boolean(filled: CortexClient, query: str, expected: bool) -> None:
    answer = ask(filled, query)
    assert (answer["result_type"], answer["boolean"]) == ("boolean", expected)


@pytest.mark.parametrize(
    "query", ["CONSTRUCT { ?s ?p ?o } { ?s ?p ?o FILTER(isLiteral(?o)) }", "DESCRIBE ?s { ?s ?p 41 }"]
)
def test_triples_are_answered_and_counted(filled: CortexClient, name: str, query: str) -> None:
    answer = ask(filled, query)
    assert (answer["result_type"], answer["triple_count"]) == ("graph", len(answer["bindings"]))
    row = {"subject": f"<urn:cortex:{name}:alice>", "predicate": f"<urn:cortex:{name}:age>", "object": "41"}
    assert row in answer["bindings"]


def test_each_member_of_the_original_is_answered(filled: CortexClient) -> None:
    queries = ("SELECT ?s { ?s ?p 41 }", "ASK {}", "CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }")
    assert {member for query in queries for member in ask(filled, query)} >= MEMBERS


def test_a_client_that_names_a_format_of_sparql_gets_it(filled: CortexClient) -> None:
    given = {"json": {"query": "SELECT ?o { ?s ?p ?o FILTER(?o = 41) }"}, "headers": {"accept": "text/csv"}}
    assert filled.http.post("/sparql", **given).text == "o\r\n41\r\n"
    given["headers"] = {"accept": "application/sparql-results+json"}
    assert set(filled.http.post("/sparql", **given).json()) == {"head", "results"}


@pytest.mark.parametrize("query", ["SELECT", "INSERT DATA { <urn:a> <urn:b> 1 }", "SELECT * { SERVICE <urn:x> {} }"])
def test_refused_a_query_that_is_none(cortex: CortexClient, query: str) -> None:
    with pytest.raises(CortexError) as refused:
        ask(cortex, query)
    assert refused.value.code in ("invalid_arguments", "permission_denied")
