"""`/sparql` with foreign clients: rdflib, SPARQLWrapper, curl, sparql-http-client."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import rdflib
from rdflib.plugins.stores.sparqlstore import SPARQLStore, SPARQLUpdateStore
from SPARQLWrapper import CSV, JSON, POST, TURTLE, XML, SPARQLWrapper

from tests.docs.conformance_page import cases_in, counts_of
from tests.server.serving import WAIT_S, Running

JAVASCRIPT = Path(__file__).parent / "javascript"
S, P = rdflib.URIRef("urn:x:s"), rdflib.URIRef("urn:x:p")

javascript = pytest.mark.skipif(
    not (JAVASCRIPT / "node_modules").is_dir(),
    reason="sparql-http-client is not installed: npm ci --prefix tests/server/sparql/javascript",
)
curl = pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")


@pytest.fixture
def token(server: Running, namespace: str) -> str:
    return server.token(f"of-{namespace}", (namespace,), ("read", "write", "provenance"))


@pytest.fixture
def endpoint(server: Running) -> str:
    return f"{server.url}/sparql"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


# --- rdflib


def test_rdflib_reads_and_writes_a_namespace(endpoint: str, token: str, namespace: str) -> None:
    graph = rdflib.URIRef(f"urn:cortex:{namespace}")
    store = SPARQLUpdateStore(endpoint, endpoint, headers=bearer(token))
    whole = rdflib.Dataset(store=store).graph(graph)
    objects = [rdflib.Literal(1), rdflib.Literal("ü\n\"'\\", lang="de"), rdflib.Literal(2.5), rdflib.URIRef("urn:x:ö")]
    for value in objects:
        whole.add((S, P, value))
    assert set(whole.objects(S, P)) == set(objects)
    assert len(whole) == 4
    whole.remove((S, P, rdflib.Literal(1)))
    assert (S, P, rdflib.Literal(1)) not in whole
    assert len(whole) == 3


@pytest.mark.parametrize("method", ["GET", "POST", "POST_FORM"])
def test_rdflib_queries_by_every_method(endpoint: str, token: str, method: str) -> None:
    SPARQLUpdateStore(endpoint, endpoint, headers=bearer(token)).update("INSERT DATA { <urn:x:s> <urn:x:p> 1, 2 }")
    store = SPARQLStore(endpoint, method=method, headers=bearer(token))
    graph = rdflib.Graph(store=store)
    assert [int(row.o) for row in graph.query("SELECT ?o { ?s ?p ?o } ORDER BY ?o")] == [1, 2]  # type: ignore[union-attr,arg-type]
    assert graph.query("ASK { ?s ?p 3 }").askAnswer is False
    assert len(graph.query("CONSTRUCT WHERE { ?s ?p ?o }").graph or []) == 2


# --- SPARQLWrapper


def test_sparqlwrapper_queries_and_updates(endpoint: str, token: str) -> None:
    def asked(text: str, form: str, method: str = "GET") -> Any:
        wrapper = SPARQLWrapper(endpoint)
        wrapper.addCustomHttpHeader("Authorization", f"Bearer {token}")
        wrapper.setMethod(method)
        wrapper.setReturnFormat(form)
        wrapper.setQuery(text)
        return wrapper.query().convert()

    asked("INSERT DATA { <urn:x:s> <urn:x:p> 'eins', 'zwei' }", JSON, POST)
    rows = asked("SELECT ?o { ?s ?p ?o } ORDER BY ?o", JSON)["results"]["bindings"]
    assert [row["o"]["value"] for row in rows] == ["eins", "zwei"]
    assert asked("SELECT ?o { ?s ?p ?o } ORDER BY ?o", CSV) == b"o\r\neins\r\nzwei\r\n"
    assert len(asked("SELECT ?o { ?s ?p ?o }", XML, POST).getElementsByTagName("result")) == 2
    assert rdflib.Graph().parse(data=asked("CONSTRUCT WHERE { ?s ?p ?o }", TURTLE), format="turtle").value(
        S, P, any=True
    ) in {rdflib.Literal("eins"), rdflib.Literal("zwei")}


# --- curl


@curl
def test_curl_queries_and_updates(endpoint: str, token: str) -> None:
    def run(*words: str) -> str:
        command = ["curl", "-sS", "--fail-with-body", "-m", str(WAIT_S), "-H", f"Authorization: Bearer {token}", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=WAIT_S).stdout

    form = run(endpoint, "--data-urlencode", "update=INSERT DATA { <urn:x:s> <urn:x:p> 'x y', 'ü' }")
    assert json.loads(form) == {"inserted": 2, "removed": 0}
    query = "query=SELECT ?o { ?s ?p ?o } ORDER BY ?o"
    assert run("-G", endpoint, "--data-urlencode", query, "-H", "Accept: text/csv") == "o\nx y\nü\n"
    posted = run(endpoint, "-H", "Content-Type: application/sparql-query", "-d", "ASK { ?s ?p 'x y' }")
    assert json.loads(posted)["boolean"] is True


# --- sparql-http-client


@pytest.mark.extended
@pytest.mark.slow
@pytest.mark.timeout(400)  # it starts Node.js four times
@javascript
def test_sparql_http_client_queries_and_updates(endpoint: str, token: str) -> None:
    def run(operation: str, text: str) -> Any:
        command = ["node", str(JAVASCRIPT / "ask.mjs"), endpoint, token, operation, text]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=WAIT_S)
        return json.loads(done.stdout)

    data = "<urn:x:s> <urn:x:p> 'eins', 'zwei' . <urn:x:t> <urn:x:q> <urn:x:s>"
    assert run("update", f"INSERT DATA {{ {data} }}") is None
    assert run("select", "SELECT ?t ?o { ?t <urn:x:q> ?s . ?s <urn:x:p> ?o } ORDER BY ?o") == [
        {"t": "urn:x:t", "o": "eins"},
        {"t": "urn:x:t", "o": "zwei"},
    ]
    assert run("ask", "ASK { <urn:x:s> ?p 'drei' }") is False
    assert sorted(run("construct", "CONSTRUCT WHERE { ?s <urn:x:p> ?o }")) == [
        ["urn:x:s", "urn:x:p", "eins"],
        ["urn:x:s", "urn:x:p", "zwei"],
    ]


@pytest.mark.parametrize("client", ["rdflib", "SPARQLWrapper", "curl", "sparql-http-client"])
def test_the_page_of_conformance_counts_the_clients(client: str) -> None:
    assert counts_of(client) == (cases_in(globals(), f"test_{client.lower().replace('-', '_')}_"), 0)
