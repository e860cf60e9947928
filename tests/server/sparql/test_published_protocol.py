"""The 34 cases of the protocol suite of the W3C (SPARQL 1.1 Protocol), in our words, as requests to the server.

The two graphs of a case are the graph of the namespace, G, and its provenance, H.
"""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.docs.conformance_page import counts_of

FORM = {"content-type": "application/x-www-form-urlencoded"}
QUERY = {"content-type": "application/sparql-query"}
UPDATE = {"content-type": "application/sparql-update"}
ASK = "ASK { ?s ?p ?o }"
NAMED = "ASK { GRAPH ?g { ?s ?p ?o } }"
ADD = "INSERT DATA { NS:new NS:p 1 }"
COPY = "INSERT { NS:new NS:q ?o } WHERE { ?s NS:p ?o }"
TEXT = {"content-type": "text/plain"}

# The request, and its answer: true or false of an ASK, the triples that an update inserts, or a media type.
ACCEPTED: dict[str, tuple[dict[str, Any], bool | int | str]] = {
    "query_get": ({"params": {"query": ASK}}, True),
    "query_post_form": ({"data": {"query": ASK}}, True),
    "query_post_direct": ({"content": ASK, "headers": QUERY}, True),
    "query_dataset_default_graphs_get": ({"params": {"query": ASK, "default-graph-uri": ["G", "H"]}}, True),
    "query_dataset_default_graphs_post": ({"data": {"query": ASK, "default-graph-uri": ["G", "H"]}}, True),
    "query_dataset_named_graphs_get": ({"params": {"query": ASK, "named-graph-uri": ["G", "H"]}}, False),
    "query_dataset_named_graphs_post": ({"data": {"query": NAMED, "named-graph-uri": ["G", "H"]}}, True),
    "query_dataset_full": ({"data": {"query": NAMED, "default-graph-uri": "G", "named-graph-uri": "G"}}, True),
    "query_multiple_dataset": ({"params": {"query": f"ASK FROM <G> {ASK[4:]}", "named-graph-uri": "G"}}, False),
    "query_content_type_select": ({"params": {"query": "SELECT * { ?s ?p ?o }"}}, "application/sparql-results+json"),
    "query_content_type_ask": ({"params": {"query": ASK}}, "application/sparql-results+json"),
    "query_content_type_describe": ({"params": {"query": "DESCRIBE NS:a"}}, "text/turtle"),
    "query_content_type_construct": ({"params": {"query": "CONSTRUCT WHERE { ?s ?p ?o }"}}, "text/turtle"),
    "update_post_form": ({"data": {"update": ADD}}, 1),
    "update_post_direct": ({"content": ADD, "headers": UPDATE}, 1),
    "update_dataset_default_graph": ({"data": {"update": COPY, "using-graph-uri": "G"}}, 1),
    "update_dataset_default_graphs": ({"data": {"update": COPY, "using-graph-uri": ["G", "H"]}}, 1),
    "update_dataset_named_graphs": ({"data": {"update": COPY, "using-named-graph-uri": "G"}}, 0),
    "update_dataset_full": ({"data": {"update": COPY, "using-graph-uri": "H", "using-named-graph-uri": "G"}}, 0),
}
REFUSED: dict[str, dict[str, Any]] = {
    "bad_query_method": {"method": "PUT", "params": {"query": ASK}},
    "bad_multiple_queries": {"method": "GET", "params": {"query": [ASK, ASK]}},
    "bad_query_wrong_media_type": {"content": ASK, "headers": TEXT},
    "bad_query_missing_form_type": {"content": "query=ASK%20%7B%7D"},
    "bad_query_missing_direct_type": {"content": ASK},
    "bad_query_non_utf8": {
        "content": ASK.encode("utf-16"),
        "headers": {"content-type": f"{QUERY['content-type']}; charset=UTF-16"},
    },
    "bad_query_syntax": {"method": "GET", "params": {"query": "ASK { ?s ?p"}},
    "bad_update_get": {"method": "GET", "params": {"update": ADD}},
    "bad_multiple_updates": {"content": "update=CLEAR%20ALL&update=CLEAR%20ALL", "headers": FORM},
    "bad_update_wrong_media_type": {"content": ADD, "headers": TEXT},
    "bad_update_missing_form_type": {"content": "update=CLEAR%20ALL"},
    "bad_update_non_utf8": {
        "content": "CLEAR ALL".encode("utf-16"),
        "headers": {"content-type": f"{UPDATE['content-type']}; charset=UTF-16"},
    },
    "bad_update_syntax": {"content": "INSERT DATA { NS:a", "headers": UPDATE},
    "bad_update_dataset_conflict": {"data": {"update": f"WITH <G> {COPY}", "using-graph-uri": "G"}},
}
# "MAY be the service endpoint": names of a namespace are not resolved against the address of a server.
ON_PURPOSE = {"update_base_uri": {"data": {"update": "INSERT DATA { <a> <b> 1 }"}}}


def of(value: Any, namespace: str) -> Any:
    """A part of a request, with the namespace and its graphs."""
    if isinstance(value, dict):
        return {name: of(inner, namespace) for name, inner in value.items()}
    if isinstance(value, list):
        return [of(inner, namespace) for inner in value]
    if not isinstance(value, str):
        return value
    graphs = {"G": f"urn:cortex:{namespace}", "H": f"urn:cortex:{namespace}/provenance"}
    text = graphs.get(value, value.replace("NS:", f"{namespace}:"))
    return text.replace("<G>", f"<{graphs['G']}>")


@pytest.fixture
def filled(client: httpx.Client, namespace: str) -> httpx.Client:
    done = client.post("/sparql", content=of("INSERT DATA { NS:a NS:p 1 }", namespace), headers=UPDATE)
    assert done.status_code == 200
    return client


@pytest.mark.parametrize("case", ACCEPTED)
def test_a_request_of_the_published_suite_is_answered(case: str, filled: httpx.Client, namespace: str) -> None:
    sent, expected = ACCEPTED[case]
    answer = filled.request("GET" if "params" in sent else "POST", "/sparql", **of(sent, namespace))
    assert answer.status_code == 200, answer.text
    if isinstance(expected, str):
        assert answer.headers["content-type"].partition(";")[0] == expected
    elif isinstance(expected, bool):
        assert answer.json()["boolean"] is expected
    else:
        assert answer.json()["inserted"] == expected


@pytest.mark.parametrize("case", [*REFUSED, *ON_PURPOSE])
def test_a_wrong_request_of_the_published_suite_is_refused(case: str, filled: httpx.Client, namespace: str) -> None:
    sent = of({"method": "POST", **{**REFUSED, **ON_PURPOSE}[case]}, namespace)
    answer = filled.request(sent.pop("method"), "/sparql", **sent)
    assert 400 <= answer.status_code < 500, answer.text
    assert filled.get("/sparql", params={"query": ASK}).json()["boolean"] is True


def test_the_counts_are_those_of_the_page() -> None:
    assert counts_of("SPARQL 1.1 protocol") == (len(ACCEPTED) + len(REFUSED), len(ON_PURPOSE))
