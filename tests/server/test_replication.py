"""`/api/v1/changes` and `/api/v1/objects`, which stores on this server use."""

from __future__ import annotations

import json

import pytest

from cortex_graph import NamespacedGraph

DECIMAL = "http://www.w3.org/2001/XMLSchema#decimal"
ALL = ("read", "write", "provenance")


def triple(number, subject="a"):
    return {"subject": subject, "predicate": "p", "object": number}


def objects(client):
    return sorted(row["object"] for row in client.get("/api/v1/triples").json()["triples"])


def test_a_change_removes_and_then_inserts(client):
    client.post("/api/v1/triples/batch", json={"triples": [triple(1), triple(2)]})
    change = {"remove": {"triples": [triple(1), triple(2), triple(9)]}, "insert": {"triples": [triple(2), triple(3)]}}
    for _ in range(2):
        answer = client.post("/api/v1/changes", json=change)
        assert (answer.status_code, answer.json()) == (200, {"ok": True})
        assert objects(client) == [2, 3]
    assert client.post("/api/v1/changes", json={}).json() == {"ok": True}


def test_triples_get_the_records_that_are_given_and_no_others(client, server, namespace):
    graph = NamespacedGraph(server.plugin.graph.store, namespace)
    made = client.post("/api/v1/triples", json=triple(1)).json()
    client.post("/api/v1/changes", json={"remove": {"triples": [triple(1)]}})
    assert graph.get_triple(made["id"]) is None
    assert graph.provenance_of(made["id"]) is not None
    time = {"value": "2026-01-31T12:00:00Z", "datatype": "http://www.w3.org/2001/XMLSchema#dateTime"}
    at = "http://www.w3.org/ns/prov#generatedAtTime"
    reported = {"subject": "<urn:r>", "predicate": f"<{at}>", "object": time}
    client.post("/api/v1/changes", json={"insert": {"triples": [triple(2)], "records": [reported]}})
    found = client.post(
        "/sparql",
        params={"namespace": namespace},
        data={"query": f"SELECT ?o {{ GRAPH {graph.names.provenance_graph} {{ <urn:r> <{at}> ?o }} }}"},
    )
    assert [row["o"]["value"] for row in json.loads(found.content)["results"]["bindings"]] == [time["value"]]


@pytest.mark.parametrize("permissions", [("read",), ("write",), ("read", "write"), ("read", "provenance")])
def test_a_change_takes_both_permissions(server, namespace, permissions):
    client = server.client(server.token(f"{namespace}-{'-'.join(permissions)}", (namespace,), permissions))
    answer = client.post("/api/v1/changes", json={"insert": {"triples": [triple(1)]}})
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
    assert NamespacedGraph(server.plugin.graph.store, namespace).count() == 0


def test_a_change_with_one_bad_triple_changes_nothing(client):
    client.post("/api/v1/triples", json=triple(1))
    for bad in (triple(2, ""), triple({"value": "x"}), triple(2, "<x:a b>"), {"subject": "a"}):
        change = {"remove": {"triples": [triple(1)]}, "insert": {"triples": [triple(3), bad]}}
        assert client.post("/api/v1/changes", json=change).status_code == 400
    assert objects(client) == [1]


def test_a_change_stays_in_its_namespace(client, server, namespace):
    other = NamespacedGraph(server.plugin.graph.store, f"{namespace}x")
    made = other.create_triple(triple("canary"))
    for name in (f"{namespace}x:a", f"<urn:cortex:{namespace}x:a>"):
        quads = [{**triple("canary", name), "predicate": f"<urn:cortex:{namespace}x:p>"}]
        client.post("/api/v1/changes", json={"remove": {"triples": quads, "records": quads}})
        client.post("/api/v1/changes", json={"insert": {"triples": quads, "records": quads}})
    assert [row["id"] for row in other.list_triples()["triples"]] == [made["id"]]
    answer = client.post("/api/v1/changes", params={"namespace": other.namespace}, json={})
    assert answer.status_code == 403


def test_objects_are_returned_as_they_are_read(client):
    given = [
        {"value": "01.50", "datatype": DECIMAL},
        "text",
        7,
        {"value": "x", "language": "en"},
        {"value": "(1, 2)", "datatype": "https://example.org/point"},
    ]
    answer = client.post("/api/v1/objects", json={"objects": given}).json()["objects"]
    assert answer == [{"value": "1.5", "datatype": DECIMAL}, *given[1:]]
    for value in given:
        client.post("/api/v1/triples", json=triple(value))
    read = [row["object"] for row in client.get("/api/v1/triples").json()["triples"]]
    assert sorted(map(str, read)) == sorted(map(str, answer))


def test_one_page_is_of_about_a_mebibyte(client):
    client.post("/api/v1/triples/batch", json={"triples": [triple(f"{n}{'x' * 300_000}") for n in range(6)]})
    whole = client.post("/api/v1/query", json={"limit": 10}).json()
    page = client.post("/api/v1/query", json={"limit": 10, "onePage": True}).json()
    assert (len(whole["matches"]), whole["nextCursor"]) == (6, None)
    assert len(page["matches"]) == 3
    rest = client.post("/api/v1/query", json={"limit": 10, "onePage": True, "cursor": page["nextCursor"]}).json()
    assert len({row["id"] for row in (*page["matches"], *rest["matches"])}) == 6
