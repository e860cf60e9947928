"""`asOf`: every read of the API is that of a moment, from the records; bad moments and writes are refused."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

JANUARY, FEBRUARY, MARCH = "2026-01-15", "2026-02-15T00:00:00Z", "2026-03-15T12:00:00+01:00"
READS = (
    "triples",
    "query/subjects",
    "query/predicates",
    "stats",
    "neighbourhood?name=box",
    "assertions",
)


@pytest.fixture
def history(client: httpx.Client) -> dict[str, str]:
    """In January `box` holds 1, in February 2, and in March nothing; nobody knows since when it is `red`."""
    ids = {}
    for value, month in ((1, "01"), (2, "02")):
        by = {"agent": f"a{value}", "time": f"2026-{month}-01T00:00:00Z"}
        made = client.post(
            "/api/v1/triples", json={"subject": "box", "predicate": "holds", "object": value, "provenance": by}
        )
        ids[month] = made.json()["id"]
    red = {"subject": "box", "predicate": "colour", "object": {"node": "red"}, "provenance": None}
    ids["red"] = client.post("/api/v1/triples", json=red).json()["id"]
    return ids


def values(answer: httpx.Response) -> list[Any]:
    return sorted((row["object"] for row in answer.json()["triples"]), key=str)


def test_triples_are_those_of_the_moment(client: httpx.Client, history: dict[str, str], namespace: str) -> None:
    red = {"node": f"{namespace}:red"}
    january = client.get("/api/v1/triples", params={"asOf": JANUARY})
    assert values(january) == [1, red]
    body = january.json()
    assert (body["asOf"], body["undated"], body["total"]) == ("2026-01-15T00:00:00Z", 1, 2)
    dated = client.get("/api/v1/triples", params={"asOf": JANUARY, "undated": "exclude"})
    assert (values(dated), dated.json()["undated"]) == ([1], 0)
    assert values(client.get("/api/v1/triples", params={"asOf": MARCH, "predicate": "holds"})) == [1, 2]
    assert "asOf" not in client.get("/api/v1/triples").json()
    asked = client.post("/api/v1/query", params={"asOf": "2025-12-31"}, json={"subject": "box"}).json()
    assert ([row["object"] for row in asked["matches"]], asked["undated"]) == ([red], 1)
    one = f"/api/v1/triples/{history['02']}"
    assert client.get(one, params={"asOf": JANUARY}).status_code == 404
    assert client.get(one, params={"asOf": FEBRUARY}).json()["object"] == 2


def test_other_reads_are_those_of_the_moment(client: httpx.Client, history: dict[str, str], namespace: str) -> None:
    found = client.get("/api/v1/neighbourhood", params={"name": "box", "asOf": JANUARY}).json()
    assert [(group["predicate"], group["count"]) for group in found["outgoing"]["groups"]] == [
        (f"{namespace}:colour", 1),
        (f"{namespace}:holds", 1),
    ]
    assert found["undated"] == 1
    listed = client.get("/api/v1/assertions", params={"asOf": JANUARY}).json()
    assert [each["provenance"]["agent"] for each in listed["assertions"]] == ["a1"]
    graph = client.get("/api/v1/stats", params={"asOf": JANUARY}).json()["graph"]
    assert (graph["triple_count"], graph["undated"], graph["asOf"]) == (2, 1, "2026-01-15T00:00:00Z")
    early = client.get("/api/v1/query/predicates", params={"asOf": "2025-01-01"}).json()
    assert early["predicates"] == [f"{namespace}:colour"]


def test_a_query_is_of_the_moment(client: httpx.Client, history: dict[str, str], namespace: str) -> None:
    text = f"SELECT ?n {{ {namespace}:box {namespace}:holds ?n }}"
    asked = {"query": text, "namespace": namespace}
    answer = client.get("/sparql", params={**asked, "asOf": JANUARY, "undated": "exclude"})
    assert [row["n"]["value"] for row in answer.json()["results"]["bindings"]] == ["1"]
    assert answer.headers["cortex-as-of"] == "2026-01-15T00:00:00Z; undated=excluded"
    today = client.get("/sparql", params=asked)
    assert len(today.json()["results"]["bindings"]) == 2
    assert "cortex-as-of" not in today.headers


def test_what_was_withdrawn_is_there_as_of_before(client: httpx.Client, history: dict[str, str]) -> None:
    text = "INSERT DATA { <urn:x:a> <urn:x:p> 1 }"
    assert client.post("/sparql", data={"update": text}).status_code == 200
    found = client.get("/api/v1/triples", params={"subject": "urn:x:a"}).json()["triples"]
    written = found[0]["created_at"]
    assert values(client.get("/api/v1/triples", params={"subject": "urn:x:a", "asOf": written})) == [1]
    assert values(client.get("/api/v1/triples", params={"subject": "urn:x:a", "asOf": MARCH})) == []


@pytest.mark.parametrize("moment", ["tomorrow", "2026-01-15T00:00:00", "2026-13-01", "", "2026-01-15T24:00:00Z"])
@pytest.mark.parametrize("path", READS)
def test_a_bad_moment_is_refused_by_name(client: httpx.Client, path: str, moment: str) -> None:
    refused = client.get(f"/api/v1/{path}{'&' if '?' in path else '?'}asOf={moment}")
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_arguments")
    assert refused.json()["details"]["field"] == "asOf"


def test_misplaced_moments_are_refused(client: httpx.Client, namespace: str) -> None:
    for path in ("triples?undated=exclude", "triples?asOf=2026-01-01&undated=some", "counts?asOf=2026-01-01"):
        assert client.get(f"/api/v1/{path}").status_code == 400
    for data in ({"query": "ASK {}", "undated": "exclude"}, {"update": "CLEAR ALL", "asOf": JANUARY}):
        assert client.post("/sparql", data=data).status_code == 400
    bad = client.get("/sparql", params={"query": "ASK {}", "asOf": "soon"})
    assert (bad.status_code, bad.json()["details"]["field"]) == (400, "asOf")
    written = client.post("/api/v1/triples", params={"asOf": JANUARY}, json={})
    assert (written.status_code, written.json()["code"]) == (400, "invalid_arguments")


def test_a_cursor_is_bound_to_its_moment(client: httpx.Client, history: dict[str, str]) -> None:
    first = client.get("/api/v1/triples", params={"asOf": MARCH, "limit": 1}).json()
    cursor = first["nextCursor"]
    rest = client.get("/api/v1/triples", params={"asOf": MARCH, "cursor": cursor}).json()
    assert len(first["triples"]) + len(rest["triples"]) == 3
    for other in ({"asOf": JANUARY}, {}, {"asOf": MARCH, "undated": "exclude"}):
        refused = client.get("/api/v1/triples", params={**other, "cursor": cursor})
        assert (refused.status_code, refused.json()["details"]["field"]) == (400, "cursor")
