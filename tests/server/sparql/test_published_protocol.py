"""The SPARQL 1.1 Protocol tests of the W3C, as they are published (`published/manifest.ttl`), sent to a real server.

Rules kept here:
- the requests are sent as they are written: method, parameters, headers and the bytes of the body. The path is that of
  the endpoint, and each graph that a test names is the graph of a namespace;
- a test passes if each of its answers has the expected status, form and truth value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from pyoxigraph import Literal, NamedNode, RdfFormat, Store, parse

from tests.docs.conformance_page import counts_of
from tests.server.serving import Running

FOLDER = Path(__file__).parent / "published"
MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
HT = "http://www.w3.org/2011/http#"
CNT = "http://www.w3.org/2011/content#"
UT = "http://www.w3.org/2009/sparql/tests/test-update#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
BASE = "http://www.w3.org/2009/sparql/docs/tests/data-sparql11/protocol/manifest"
# The graphs of the tests, and the namespaces that replace them.
GRAPHS = {f"http://kasei.us/2009/09/sparql/data/data{number}.rdf": f"data{number}" for number in range(4)} | {
    f"http://example.org/protocol-{name}-test/": name
    for name in (
        *("update-dataset", "update-dataset-graphs", "update-dataset-named-graphs", "update-dataset-full", "base"),
        "update-dataset-conflict",
    )
}
TYPES = {
    "boolean": {"application/sparql-results+json", "application/sparql-results+xml"},
    "tabular": {"application/sparql-results+json", "application/sparql-results+xml", "text/csv"},
    "RDF": {"text/turtle", "application/n-triples", "application/rdf+xml", "application/ld+json"},
}
# `<s>` and `<test>` have no base: a name belongs to a namespace, and not to the address of a server.
ON_PURPOSE = {"query_content_type_construct", "update_base_uri"}


@dataclass(frozen=True)
class Request:
    """A request of a test, and what is expected of its answer."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    statuses: frozenset[str]
    boolean: bool | None
    form: str | None


class Manifest:
    """The tests."""

    def __init__(self) -> None:
        self._store = Store()
        self._store.load(path=FOLDER / "manifest.ttl", format=RdfFormat.TURTLE, base_iri=BASE)

    def values(self, node: Any, name: str) -> list[Any]:
        """The values of a property."""
        return [quad.object for quad in self._store.quads_for_pattern(node, NamedNode(name), None)]

    def value(self, node: Any, name: str) -> Any:
        """The value of a property; None without one."""
        return next(iter(self.values(node, name)), None)

    def listed(self, node: Any) -> Iterator[Any]:
        """The members of a list."""
        while node is not None and node != NamedNode(f"{RDF}nil"):
            yield self.value(node, f"{RDF}first")
            node = self.value(node, f"{RDF}rest")

    def names(self) -> list[str]:
        """The names of the tests."""
        (entries,) = (quad.object for quad in self._store.quads_for_pattern(None, NamedNode(f"{MF}entries"), None))
        return [entry.value.partition("#")[2] for entry in self.listed(entries)]

    def data(self, name: str) -> Iterator[tuple[str, bytes]]:
        """The graphs that a test begins with, and their content."""
        for node in self.values(NamedNode(f"{BASE}#{name}"), f"{UT}graphData"):
            file = self.value(node, f"{UT}graph").value.rpartition("/")[2]
            yield self.value(node, LABEL).value, (FOLDER / file).read_bytes()

    def requests(self, name: str) -> Iterator[Request]:
        """The requests of a test, in their order."""
        action = self.value(NamedNode(f"{BASE}#{name}"), f"{MF}action")
        for node in self.listed(self.value(action, f"{HT}requests")):
            answer, body = self.value(node, f"{HT}resp"), self.value(node, f"{HT}body")
            boolean, form = self.value(answer, f"{MF}expectedBoolean"), self.value(answer, f"{MF}expectedFormat")
            yield Request(
                self.value(node, f"{HT}methodName").value,
                self.value(node, f"{HT}absolutePath").value,
                {
                    self.value(header, f"{HT}fieldName").value: self.value(header, f"{HT}fieldValue").value
                    for header in self.listed(self.value(node, f"{HT}headers"))
                },
                b"" if body is None else self._bytes(body),
                frozenset(status.value[-3] for status in self.values(answer, f"{MF}expectedStatus")),
                boolean.value == "true" if isinstance(boolean, Literal) else None,
                None if form is None else form.value,
            )

    def _bytes(self, body: Any) -> bytes:
        encoding = self.value(body, f"{CNT}characterEncoding").value
        return in_namespaces(self.value(body, f"{CNT}chars").value).encode(encoding)


MANIFEST = Manifest()
NAMES = MANIFEST.names()


def in_namespaces(text: str) -> str:
    """A text with the graphs of namespaces, also where it is percent-encoded."""
    for graph, namespace in GRAPHS.items():
        for encode in (str, lambda iri: quote(iri, safe="")):
            text = re.sub(re.escape(encode(graph)), encode(f"urn:cortex:{namespace}"), text, flags=re.IGNORECASE)
    return text


@pytest.fixture(scope="module")
def client(server: Running) -> httpx.Client:
    """A client that may do everything in the namespaces of the tests."""
    return server.client(server.token("of-the-w3c", tuple(GRAPHS.values()), ("read", "write", "provenance")))


def problems(client: httpx.Client, name: str) -> list[str]:
    """What of the answers to a test is not as expected."""
    update = {"content-type": "application/sparql-update"}
    assert client.post("/sparql", content="CLEAR ALL", headers=update).status_code == 200
    for graph, content in MANIFEST.data(name):
        triples = " ".join(f"{quad.triple} ." for quad in parse(in_namespaces(content.decode()), RdfFormat.N_TRIPLES))
        text = f"INSERT DATA {{ GRAPH <{in_namespaces(graph)}> {{ {triples} }} }}"
        assert client.post("/sparql", content=text, headers=update).json()["inserted"] == 1
    found = []
    for number, sent in enumerate(MANIFEST.requests(name), 1):
        target = in_namespaces(sent.target).replace("/sparql/", "/sparql", 1)
        request = client.build_request(sent.method, target, content=sent.body, headers=sent.headers)
        answer = client.send(request)
        kind = answer.headers.get("content-type", "").partition(";")[0]
        if str(answer.status_code)[0] not in sent.statuses:
            found.append(f"request {number}: status {answer.status_code}: {answer.text}")
        elif sent.form is not None and kind not in TYPES[sent.form]:
            found.append(f"request {number}: {kind}")
        elif sent.boolean is not None and answer.json()["boolean"] is not sent.boolean:
            found.append(f"request {number}: {answer.text}")
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_published_request_is_answered_as_expected_or_refused_with_a_reason(client: httpx.Client, name: str) -> None:
    found = problems(client, name)
    if name in ON_PURPOSE:
        assert found
        assert "is relative, and there is no base" in found[0]
    else:
        assert found == []


def test_the_counts_are_those_of_the_page() -> None:
    assert counts_of("SPARQL 1.1 protocol") == (len(NAMES) - len(ON_PURPOSE), len(ON_PURPOSE))
