"""`/sparql` follows the SPARQL 1.1 Protocol, within the permissions of the token."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from pyoxigraph import RdfFormat, parse

from tests.server.serving import Running

QUERY = {"content-type": "application/sparql-query"}
UPDATE = {"content-type": "application/sparql-update"}
ALL = "SELECT ?s ?o { ?s ?p ?o } ORDER BY STR(?o)"


def update(client: httpx.Client, text: str, **parameters: Any) -> httpx.Response:
    return client.post("/sparql", content=text, headers=UPDATE, params=parameters)


def rows(answer: httpx.Response) -> list[dict[str, str]]:
    assert answer.status_code == 200, answer.text
    bindings = answer.json()["results"]["bindings"]
    return [{name: term["value"] for name, term in row.items()} for row in bindings]


@pytest.fixture
def filled(client: httpx.Client, namespace: str) -> httpx.Client:
    done = update(client, f"INSERT DATA {{ {namespace}:a {namespace}:p 1, 'x'@en }}")
    assert (done.status_code, done.json()) == (200, {"inserted": 2, "removed": 0})
    return client


def test_a_query_is_accepted_by_get_by_form_and_by_direct_post(filled: httpx.Client, namespace: str) -> None:
    expected = [{"s": f"urn:cortex:{namespace}:a", "o": "1"}, {"s": f"urn:cortex:{namespace}:a", "o": "x"}]
    assert rows(filled.get("/sparql", params={"query": ALL})) == expected
    assert rows(filled.post("/sparql", data={"query": ALL})) == expected
    assert rows(filled.post("/sparql", content=ALL, headers=QUERY)) == expected


@pytest.mark.parametrize("path", ["/sparql", "/api/v1/sparql"])
def test_a_query_is_accepted_as_json(filled: httpx.Client, namespace: str, path: str) -> None:
    expected = [{"s": f"urn:cortex:{namespace}:a", "o": "1"}, {"s": f"urn:cortex:{namespace}:a", "o": "x"}]
    assert rows(filled.post(path, json={"query": ALL})) == expected
    assert rows(filled.post(path, json={"query": ALL, "default_graph": f"urn:cortex:{namespace}"})) == expected
    none = {"query": ALL, "default_graph": None, "named_graphs": [f"urn:cortex:{namespace}"]}
    assert rows(filled.post(path, json=none)) == []
    assert filled.post(path, json={"query": "ASK { ?s ?p 1 }"}).json()["boolean"] is True
    csv = filled.post(path, json={"query": ALL}, headers={"accept": "text/csv"})
    assert csv.headers["content-type"] == "text/csv; charset=utf-8"


def test_an_update_is_accepted_by_form_and_by_direct_post_only(client: httpx.Client, namespace: str) -> None:
    text = f"INSERT DATA {{ {namespace}:a {namespace}:p 1 }}"
    refused = client.get("/sparql", params={"update": text})
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_arguments")
    assert rows(client.get("/sparql", params={"query": ALL})) == []
    assert client.post("/sparql", data={"update": text}).json() == {"inserted": 1, "removed": 0}
    assert update(client, text).json() == {"inserted": 0, "removed": 0}
    assert update(client, "DELETE WHERE { ?s ?p ?o }").json() == {"inserted": 0, "removed": 1}


@pytest.mark.parametrize(
    ("accept", "kind", "start"),
    [
        (None, "application/sparql-results+json", '{"head"'),
        ("*/*", "application/sparql-results+json", '{"head"'),
        ("text/html, application/sparql-results+xml;q=0.5", "application/sparql-results+xml", "<?xml"),
        ("text/csv", "text/csv; charset=utf-8", "s,o\r\n"),
        ("text/tab-separated-values", "text/tab-separated-values; charset=utf-8", "?s\t?o\n"),
        ("application/json;q=0.2, text/csv;q=0.9", "text/csv; charset=utf-8", "s,o\r\n"),
    ],
)
def test_rows_have_the_preferred_format(filled: httpx.Client, accept: str | None, kind: str, start: str) -> None:
    headers = {"accept": accept} if accept else {}
    answer = filled.get("/sparql", params={"query": ALL}, headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (200, kind)
    assert answer.text.startswith(start)
    assert answer.headers["vary"] == "accept"


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("text/turtle", RdfFormat.TURTLE),
        ("application/n-triples", RdfFormat.N_TRIPLES),
        ("application/ld+json", RdfFormat.JSON_LD),
        ("application/rdf+xml", RdfFormat.RDF_XML),
        ("*/*", RdfFormat.TURTLE),
    ],
)
def test_graphs_have_the_preferred_format(filled: httpx.Client, accept: str, form: RdfFormat) -> None:
    answer = filled.get("/sparql", params={"query": "CONSTRUCT WHERE { ?s ?p ?o }"}, headers={"accept": accept})
    assert answer.status_code == 200
    assert sorted(str(quad.object) for quad in parse(answer.content, form)) == [
        '"1"^^<http://www.w3.org/2001/XMLSchema#integer>',
        '"x"@en',
    ]


@pytest.mark.parametrize(
    ("query", "accept"),
    [(ALL, "image/png"), (ALL, "text/turtle"), ("DESCRIBE ?s { ?s ?p ?o }", "text/csv"), (ALL, "*/*;q=0")],
)
def test_a_format_that_cannot_be_written_is_not_acceptable(filled: httpx.Client, query: str, accept: str) -> None:
    answer = filled.get("/sparql", params={"query": query}, headers={"accept": accept})
    assert (answer.status_code, answer.json()["code"]) == (406, "not_acceptable")


def test_booleans_have_every_format_of_rows(filled: httpx.Client) -> None:
    for accept, body in (("application/json", '{"head":{},"boolean":true}'), ("text/csv", "true")):
        assert filled.get("/sparql", params={"query": "ASK { ?s ?p 1 }"}, headers={"accept": accept}).text == body


def test_the_service_describes_what_the_token_opens(server: Running, filled: httpx.Client, namespace: str) -> None:
    text = filled.get("/sparql", headers={"accept": "application/n-triples"}).text
    assert f"<urn:cortex:{namespace}>" in text
    assert f"<urn:cortex:{namespace}/provenance>" in text
    assert f"<urn:cortex:{namespace}/registry>" in text
    assert "SPARQL11Update" in text
    reader = server.client(server.token(f"reads-{namespace}", (namespace,), ("read",)))
    assert "SPARQL11Update" not in reader.get("/sparql").text
    assert text.count("sparql-service-description#name>") == 3


@pytest.mark.parametrize(
    ("text", "line"), [("SELECT * {\n ?s ?p }", 2), ("SELECT * { ?s ?p 'x }", 1), ("ASK {}\n\nASK {}", 3), ("", None)]
)
def test_the_error_of_an_invalid_query_names_the_line(client: httpx.Client, text: str, line: int | None) -> None:
    answer = client.post("/sparql", content=text, headers=QUERY)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_arguments")
    assert answer.json()["details"].get("line") == line


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"params": {"query": ["ASK {}", "ASK {}"]}}, 400),
        ({"params": {"query": "ASK {}", "timeout": "soon"}}, 400),
        ({"params": {"query": "ASK {}", "timeout": "nan"}}, 400),
        ({"params": {"query": "ASK {}", "using-graph-uri": "urn:x"}}, 400),
        ({"params": {"query": "ASK {}", "namespace": "../x"}}, 400),
        ({"params": {"query": "ASK {}", "namespace": "somebody-elses"}}, 403),
        ({"params": {"query": "ASK {}", "default-graph-uri": "urn:cortex:other"}}, 403),
        ({"params": {"query": "SELECT * { SERVICE <http://localhost/> { ?s ?p ?o } }"}}, 403),
        ({"method": "PUT", "params": {"query": "ASK {}"}}, 405),
        ({"method": "POST", "data": {"query": "ASK {}", "update": "CLEAR DEFAULT"}}, 400),
        ({"method": "POST", "data": {"nothing": "x"}}, 400),
        ({"method": "POST", "params": {"query": "ASK {}"}, "content": "ASK {}", "headers": QUERY}, 400),
        ({"method": "POST", "content": b"ASK { ?s ?p '\xff' }", "headers": QUERY}, 400),
        ({"method": "POST", "json": {"query": "ASK {}", "update": "CLEAR DEFAULT"}}, 400),
        ({"method": "POST", "json": {"query": 1}}, 400),
        ({"method": "POST", "json": {}}, 400),
        ({"method": "POST", "json": ["ASK {}"]}, 400),
        ({"method": "POST", "json": {"query": "ASK {}", "named_graphs": "urn:x"}}, 403),
        ({"method": "POST", "json": {"query": "ASK {}"}, "params": {"query": "ASK {}"}}, 400),
        ({"method": "POST", "content": "ASK {}", "headers": {"content-type": "text/plain"}}, 415),
        ({"method": "POST", "content": "LOAD <http://localhost/x>", "headers": UPDATE}, 403),
        ({"method": "POST", "content": "CLEAR GRAPH <urn:cortex:other>", "headers": UPDATE}, 403),
        ({"method": "POST", "content": "INSERT DATA { GRAPH <urn:x> { <urn:a> <urn:b> 1 } }", "headers": UPDATE}, 403),
        ({"method": "POST", "content": "ASK { " + "{" * 100 + "}" * 101, "headers": QUERY}, 400),
    ],
)  # fmt: skip
def test_a_request_that_is_none_is_refused(client: httpx.Client, sent: dict[str, Any], status: int) -> None:
    answer = client.request(sent.pop("method", "GET"), "/sparql", **sent)
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]
    assert answer.json()["code"]


def test_unknown_parameters_of_clients_are_ignored(filled: httpx.Client) -> None:
    answer = filled.get("/sparql", params={"query": "ASK {}", "format": "xml", "output": "xml", "results": "xml"})
    assert answer.json() == {"head": {}, "boolean": True}


def test_head_answers_without_a_body(filled: httpx.Client) -> None:
    answer = filled.head("/sparql", params={"query": ALL})
    assert (answer.status_code, answer.content) == (200, b"")


def test_a_token_reads_its_own_namespaces_together_and_each_alone(server: Running, namespace: str) -> None:
    one, two, third = f"{namespace}-one", f"{namespace}-two", f"{namespace}-three"
    for name in (one, two, third):
        writer = server.client(server.token(f"w-{name}", (name,), ("read", "write")))
        assert update(writer, f"INSERT DATA {{ {name}:a {name}:p '{name}' }}").status_code == 200
    both = server.client(server.token(f"both-{namespace}", (one, two), ("read", "write")))
    texts = {"query": "SELECT ?o { ?s ?p ?o } ORDER BY ?o"}
    assert rows(both.get("/sparql", params=texts)) == [{"o": one}, {"o": two}]
    assert rows(both.get("/sparql", params=texts | {"namespace": two})) == [{"o": two}]
    assert rows(both.get("/sparql", params=texts | {"default-graph-uri": f"urn:cortex:{one}"})) == [{"o": one}]
    named = {
        "query": "SELECT ?g ?o { GRAPH ?g { ?s ?p ?o FILTER(isLiteral(?o) && STRLEN(STR(?o)) < 20) } } ORDER BY ?o"
    }
    graphs = {row["g"] for row in rows(both.get("/sparql", params=named))}
    assert f"urn:cortex:{third}" not in json.dumps(sorted(graphs))
    assert {f"urn:cortex:{one}", f"urn:cortex:{two}"} <= graphs
    ambiguous = update(both, "INSERT DATA { <urn:a> <urn:b> 1 }")
    assert (ambiguous.status_code, ambiguous.json()["code"]) == (400, "invalid_arguments")
    assert update(both, f"INSERT DATA {{ GRAPH <urn:cortex:{two}> {{ <urn:a> <urn:b> 1 }} }}").json()["inserted"] == 1


def test_an_update_takes_the_permission_to_write(server: Running, filled: httpx.Client, namespace: str) -> None:
    reader = server.client(server.token(f"only-reads-{namespace}", (namespace,), ("read",)))
    refused = update(reader, "DELETE WHERE { ?s ?p ?o }")
    assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")
    assert len(rows(reader.get("/sparql", params={"query": ALL}))) == 2
    anonymous = server.client()
    for answer in (anonymous.get("/sparql", params={"query": ALL}), update(anonymous, "CLEAR DEFAULT")):
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")


def test_the_record_of_a_triple_names_the_token(filled: httpx.Client, namespace: str) -> None:
    text = """
        PREFIX prov: <http://www.w3.org/ns/prov#>
        SELECT DISTINCT ?who { GRAPH ?g { ?record prov:wasAttributedTo ?who ; prov:generatedAtTime ?when } }
    """
    found = rows(filled.get("/sparql", params={"query": text}))
    assert found == [{"who": f"urn:cortex:{namespace}:agent:of-{namespace}"}]


def test_a_byte_order_mark_before_a_text_is_no_part_of_it(client: httpx.Client, namespace: str) -> None:
    assert update(client, f"\ufeffINSERT DATA {{ {namespace}:a {namespace}:p 1 }}").json()["inserted"] == 1
    for sent in ({"content": f"\ufeff{ALL}", "headers": QUERY}, {"data": {"query": f"\ufeff{ALL}"}}):
        assert [row["o"] for row in rows(client.post("/sparql", **sent))] == ["1"]


def test_what_of_a_result_may_be_wrong_is_in_a_header(client: httpx.Client) -> None:
    deep = "?n"
    for _ in range(8):
        deep = f"STRLEN(STR({deep} + 1))"
    text = f"SELECT ({deep} AS ?x) {{ ?s ?p ?n FILTER(?n > 12345678901234567890123) }}"
    answer = client.get("/sparql", params={"query": text})
    assert "nest too deeply" in answer.headers["cortex-warning"]
    assert "cortex-warning" not in client.get("/sparql", params={"query": ALL}).headers
