"""`/api/v1/neighbourhood`, `/counts` and `/assertions`: of the caller's namespace, and bounded."""

from __future__ import annotations

import httpx
import pytest

from tests.server.serving import Running

HOSTILE = ["a> } ?s ?p ?o", '"', "%2e%2e/", "\u202e", "<script>", "a" * 2048]


@pytest.fixture
def filled(client: httpx.Client) -> httpx.Client:
    triples = [
        {"subject": "alice", "predicate": "knows", "object": {"node": "bob"}},
        {"subject": "alice", "predicate": "name", "object": "Alice"},
        {"subject": "bob", "predicate": "name", "object": "Bob"},
    ]
    by = {"agent": "a1", "skill": "people", "skillVersion": "1.2.0", "time": "2026-01-01T00:00:00Z"}
    for hour, triple in enumerate(triples):
        given = triple | {"provenance": by | {"time": f"2026-01-01T0{hour}:00:00Z"}}
        assert client.post("/api/v1/triples", json=given).status_code == 201
    return client


def test_a_resource_is_described_in_both_directions(filled: httpx.Client, namespace: str) -> None:
    body = filled.get("/api/v1/neighbourhood", params={"name": "bob"}).json()
    assert (body["name"], body["iri"]) == (f"{namespace}:bob", f"urn:cortex:{namespace}:bob")
    (said,) = body["outgoing"]["groups"]
    assert (said["predicate"], said["count"], said["exact"]) == (f"{namespace}:name", 1, True)
    assert [row["value"] for row in said["rows"]] == ["Bob"]
    (used,) = body["incoming"]["groups"]
    (row,) = used["rows"]
    assert row["value"] == {"node": f"{namespace}:alice"}
    assert filled.get(f"/api/v1/triples/{row['id']}").json()["object"] == {"node": f"{namespace}:bob"}
    assert (body["outgoing"]["count"], body["outgoing"]["complete"], body["incoming"]["predicates"]) == (1, True, 1)
    nothing = filled.get("/api/v1/neighbourhood", params={"name": "nobody"}).json()
    assert nothing["outgoing"] == {"groups": [], "predicates": 0, "complete": True, "count": 0, "exact": True}


def test_counts_name_what_a_namespace_has(filled: httpx.Client, namespace: str) -> None:
    for _ in range(100):
        body = filled.get("/api/v1/counts").json()
        if body["countedAt"] is not None and body["current"]:
            break
    assert (body["triples"], body["resources"], body["exact"], body["undated"]) == (3, 2, True, 0)
    assert body["predicates"] == [
        {"predicate": f"{namespace}:name", "count": 2},
        {"predicate": f"{namespace}:knows", "count": 1},
    ]
    assert {(each["name"], each["kind"], each["assertions"]) for each in body["asserters"]} == {
        (f"{namespace}:agent:a1", "agent", 3),
        (f"{namespace}:skill:people@1.2.0", "skill", 3),
    }


def test_assertions_are_listed_with_their_source(filled: httpx.Client, namespace: str) -> None:
    first = filled.get("/api/v1/assertions", params={"limit": 2}).json()
    assert [(each["subject"], each["object"]) for each in first["assertions"]] == [
        (f"{namespace}:bob", "Bob"),
        (f"{namespace}:alice", "Alice"),
    ]
    assert first["assertions"][0]["provenance"] == {
        "agent": "a1",
        "skill": "people",
        "skillVersion": "1.2.0",
        "time": "2026-01-01T02:00:00Z",
    }
    rest = filled.get("/api/v1/assertions", params={"limit": 2, "cursor": first["nextCursor"]}).json()
    assert ([each["object"] for each in rest["assertions"]], rest["nextCursor"]) == (
        [{"node": f"{namespace}:bob"}],
        None,
    )
    some = filled.get("/api/v1/assertions", params={"subject": "alice", "object": '{"node": "bob"}'}).json()
    assert [each["predicate"] for each in some["assertions"]] == [f"{namespace}:knows"]
    assert filled.get("/api/v1/assertions", params={"agent": "a2"}).json()["assertions"] == []


@pytest.mark.parametrize("path", ["neighbourhood?name=bob", "counts", "assertions"])
def test_another_namespace_is_refused(filled: httpx.Client, server: Running, path: str, namespace: str) -> None:
    other = server.client(server.token("of-another", ("another",), ("read",)))
    asked = f"/api/v1/{path}{'&' if '?' in path else '?'}namespace={namespace}"
    refused = other.get(asked)
    assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")
    own = other.get(f"/api/v1/{path}")
    assert own.status_code == 200
    assert namespace not in own.text
    assert httpx.get(f"{server.url}{asked}").status_code == 401


def test_a_cursor_of_another_namespace_is_refused(filled: httpx.Client, server: Running, namespace: str) -> None:
    cursor = filled.get("/api/v1/assertions", params={"limit": 1}).json()["nextCursor"]
    other = server.client(server.token("of-others", ("others",), ("read",)))
    refused = other.get("/api/v1/assertions", params={"cursor": cursor})
    assert (refused.status_code, refused.json()["details"]["field"]) == (400, "cursor")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_names_or_refused(filled: httpx.Client, text: str) -> None:
    for path, field in (("neighbourhood", "name"), ("assertions", "subject"), ("assertions", "agent")):
        answer = filled.get(f"/api/v1/{path}", params={field: text})
        assert answer.status_code in (200, 400)
        if answer.status_code == 200:
            body = answer.json()
            assert body.get("assertions") in (None, [])
            assert body.get("outgoing", {"groups": []})["groups"] == []


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ("neighbourhood", "name"),
        ("neighbourhood?name=a&predicates=0", "predicates"),
        ("neighbourhood?name=a&values=101", "values"),
        ("counts?limit=0", "limit"),
        ("assertions?limit=1001", "limit"),
        ("assertions?since=tomorrow", "since"),
        ("assertions?until=2026-01-01T00:00:00", "until"),
        ("assertions?cursor=AAAA", "cursor"),
    ],
)
def test_an_invalid_argument_is_named(filled: httpx.Client, asked: str, field: str) -> None:
    refused = filled.get(f"/api/v1/{asked}")
    assert (refused.status_code, refused.json()["details"]["field"]) == (400, field)


def test_what_a_text_may_mean_is_found(filled: httpx.Client, namespace: str) -> None:
    for text, where in (("ali", "text"), ("ÁLICE", "text"), ("alcie", "text"), (f"{namespace}:alice", "name")):
        body = filled.get("/api/v1/find", params={"q": text}).json()
        assert body["complete"] is True
        assert (body["hits"][0]["where"], body["hits"][0]["name"]) == (where, f"{namespace}:alice")
    body = filled.get("/api/v1/find", params={"q": "ali"}).json()
    assert body["hits"][0]["triple"]["object"] == "Alice"
    few = filled.get("/api/v1/find", params={"q": "p", "limit": 1}).json()
    assert few["complete"] is not ("reason" in few)
    refused = filled.get("/api/v1/find", params={"q": " "})
    assert (refused.status_code, refused.json()["details"]["field"]) == (400, "q")
