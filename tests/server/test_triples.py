"""`/api/v1/triples`: what a client of the REST API sends, and what it gets."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.server.serving import Running

XSD = "http://www.w3.org/2001/XMLSchema#"


def create(client: httpx.Client, object_: Any = 1, subject: str = "a") -> httpx.Response:
    return client.post("/api/v1/triples", json={"subject": subject, "predicate": "p", "object": object_})


def test_a_new_triple_is_answered_with_201_and_a_repeated_one_with_200(client, namespace):
    first, second = create(client), create(client)
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json() == {
        "id": first.json()["id"],
        "subject": f"{namespace}:a",
        "predicate": f"{namespace}:p",
        "object": 1,
        "created": True,
    }
    assert second.json() == first.json() | {"created": False}
    assert len(first.json()["id"]) == 64


def test_a_triple_is_read_and_deleted_by_its_id(client):
    triple_id = create(client).json()["id"]
    assert client.get(f"/api/v1/triples/{triple_id}").json()["object"] == 1
    gone = client.delete(f"/api/v1/triples/{triple_id}")
    assert (gone.status_code, gone.content) == (204, b"")
    for response in (client.get(f"/api/v1/triples/{triple_id}"), client.delete(f"/api/v1/triples/{triple_id}")):
        assert response.status_code == 404
        assert response.json()["code"] == "not_found"


@pytest.mark.parametrize("bad", ["zz", "A" * 64, "0" * 63, "%00", "0" * 64 + "%2F..", "é"])
def test_an_invalid_id_is_refused(client, bad):
    response = client.get(f"/api/v1/triples/{bad}")
    assert response.status_code in (400, 404)
    assert response.json()["code"] in ("invalid_arguments", "not_found")


@pytest.mark.parametrize(
    "value",
    [
        "text",
        "",
        "NUL \0 and 😀 and \u202e",
        0,
        -1,
        10**40,
        1.5,
        1e300,
        -0.0,
        True,
        False,
        {"node": "b"},
        {"node": "https://schema.org/name"},
        {"value": "1.1", "datatype": f"{XSD}decimal"},
        {"value": "NaN", "datatype": f"{XSD}double"},
        {"value": "2026-01-31T12:00:00Z", "datatype": f"{XSD}dateTime"},
        {"value": "grün", "language": "de"},
        {"value": "שלום", "language": "he", "direction": "rtl"},
        "x" * 1_000_000,
    ],
    ids=lambda value: str(value)[:20].encode("unicode_escape").decode(),
)
def test_every_kind_of_object_is_read_as_it_was_written(client, namespace, value):
    created = create(client, value)
    assert created.status_code == 201
    expected = {"node": f"{namespace}:b"} if value == {"node": "b"} else value
    read = client.get(f"/api/v1/triples/{created.json()['id']}").json()["object"]
    assert (read, type(read)) == (expected, type(expected))
    again = create(client, read)  # and can be written back
    assert (again.status_code, again.json()["id"]) == (200, created.json()["id"])


@settings(max_examples=60)
@given(
    subject=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30),
    value=st.one_of(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=50),
        st.integers(),
        st.booleans(),
        st.floats(allow_nan=False, allow_infinity=False),
    ),
)
def test_names_and_values_of_any_kind_survive_the_wire(server: Running, subject, value):
    client = server.client(server.token("hypothesis", ("hypothesis",)))
    try:
        created = create(client, value, subject=f"hypothesis:{subject}")
        assert created.status_code in (200, 201)
        body = created.json()
        assert body["subject"] == f"hypothesis:{subject}"
        assert (body["object"], type(body["object"])) == (value, type(value))
        (found,) = client.post(
            "/api/v1/query", json={"subject": body["subject"], "predicate": body["predicate"], "object": body["object"]}
        ).json()["matches"]
        assert found["id"] == body["id"]
        listed = client.get("/api/v1/triples", params={"subject": body["subject"], "object": json.dumps(value)}).json()[
            "triples"
        ]
        assert body["id"] in [triple["id"] for triple in listed]
    finally:
        client.close()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "document"),
        ("text", "document"),
        ({"subject": "", "predicate": "p", "object": 1}, "subject"),
        ({"subject": "a", "predicate": "p", "object": None}, "object"),
        ({"subject": "a", "predicate": "p", "object": {"node": 1}}, "object"),
        ({"subject": "a", "predicate": "p", "object": {"node": "b", "value": "c"}}, "object"),
        ({"subject": "a", "predicate": "p", "object": {"value": "x", "datatype": "no iri"}}, "object"),
    ],
)
def test_the_error_of_an_invalid_triple_names_the_field(client, body, field):
    response = client.post("/api/v1/triples", json=body)
    assert response.status_code == 400
    error = response.json()
    assert (error["code"], error["details"]["field"]) == ("invalid_arguments", field)
    assert client.get("/api/v1/triples").json()["total"] == 0


def test_a_batch_is_written_whole_and_answered_in_its_order(client):
    triples = [{"subject": "a", "predicate": "p", "object": n % 3} for n in range(5)]
    response = client.post("/api/v1/triples/batch", json={"triples": triples})
    assert response.status_code == 201
    body = response.json()
    assert [t["object"] for t in body["inserted"]] == [0, 1, 2, 0, 1]
    assert [t["created"] for t in body["inserted"]] == [True, True, True, False, False]
    assert (body["total"], body["created"], body["duplicates"]) == (5, 3, 2)
    again = client.post("/api/v1/triples/batch", json={"triples": triples})
    assert (again.status_code, again.json()["duplicates"]) == (200, 5)
    assert client.post("/api/v1/triples/batch", json={"triples": []}).json()["total"] == 0


def test_a_batch_with_one_bad_triple_writes_nothing(client):
    good = [{"subject": f"s{n}", "predicate": "p", "object": n} for n in range(50)]
    for bad in ({"subject": "s", "predicate": "p"}, {"subject": "s", "predicate": "p", "object": {"node": ""}}):
        assert client.post("/api/v1/triples/batch", json={"triples": [*good, bad]}).status_code == 400
    late = {"subject": "urn:x y", "predicate": "p", "object": 1}  # passes the schema, and is no IRI
    assert client.post("/api/v1/triples/batch", json={"triples": [*good, late]}).status_code == 400
    assert client.get("/api/v1/triples").json()["total"] == 0


def test_pages_lead_through_everything_once(client):
    triples = [{"subject": f"s{n}", "predicate": "p", "object": n} for n in range(250)]
    client.post("/api/v1/triples/batch", json={"triples": triples})
    seen: list[int] = []
    cursor: str | None = None
    while True:
        page = client.get("/api/v1/triples", params={"limit": 100} | ({"cursor": cursor} if cursor else {})).json()
        seen += [triple["object"] for triple in page["triples"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert sorted(seen) == list(range(250))
    assert len(seen) == 250


def test_a_limit_of_thousands_and_an_offset_work_for_older_clients(client):
    triples = [{"subject": f"s{n}", "predicate": "p", "object": n} for n in range(2500)]
    client.post("/api/v1/triples/batch", json={"triples": triples})
    page = client.get("/api/v1/triples", params={"limit": 10_000}).json()
    assert (len(page["triples"]), page["total"], page["totalIsExact"], page["nextCursor"]) == (2500, 2500, True, None)
    rest = client.get("/api/v1/triples", params={"limit": 10_000, "offset": 2400}).json()
    assert [t["id"] for t in rest["triples"]] == [t["id"] for t in page["triples"][2400:]]
    assert rest["offset"] == 2400
    assert client.get("/api/v1/triples", params={"offset": 9_000}).json()["triples"] == []
    assert client.get("/api/v1/triples", params={"offset": 10_001}).status_code == 400


def test_a_total_is_bounded_unless_it_is_asked_for_exactly(client):
    triples = [{"subject": f"s{n}", "predicate": "p", "object": n % 2} for n in range(300)]
    client.post("/api/v1/triples/batch", json={"triples": triples})
    page = client.get("/api/v1/triples", params={"limit": 10}).json()
    assert (page["total"], page["totalIsExact"]) == (100, False)
    exact = client.get("/api/v1/triples", params={"limit": 10, "exactTotal": "true"}).json()
    assert (exact["total"], exact["totalIsExact"]) == (300, True)
    half = client.get("/api/v1/triples", params={"limit": 10, "object": "1", "exactTotal": "true"}).json()
    assert half["total"] == 150
    asked = client.post("/api/v1/query", params={"exactTotal": "true"}, json={"object": 0, "limit": 1}).json()
    assert (asked["total"], asked["totalIsExact"]) == (150, True)


@pytest.mark.parametrize(
    ("written", "asked"),
    [("active", "active"), ("5", '"5"'), (5, "5"), (True, "true"), ({"node": "b"}, '{"node":"b"}'), ("{", "{")]
    + [(word, word) for word in ("NaN", "-Infinity", "1e999", "null", "[1]", "[" * 1500)],
)
def test_an_object_in_a_query_string_is_json_or_else_a_string(client, written, asked):
    created = create(client, written).json()
    (found,) = client.get("/api/v1/triples", params={"object": asked}).json()["triples"]
    assert found["id"] == created["id"]


def test_an_object_in_a_query_string_may_repeat_a_key(client):
    created = create(client, {"node": "b"}).json()
    (found,) = client.get("/api/v1/triples", params={"object": '{"node": "a", "node": "b"}'}).json()["triples"]
    assert found["id"] == created["id"]
    refused = client.get("/api/v1/triples", params={"object": '{"a": 1, "a": 2}'})
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_arguments")


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=10001",
        "limit=1.5",
        "limit=x",
        "limit=",
        "limit=1&limit=2",
        "unknown=1",
        "subject=",
        "subject=%ff",
        "cursor=made-up",
        "exactTotal=maybe",
        "namespace=no%20namespace",
        "=",
        "a",
        "&&",
        "&".join(f"p{n}=1" for n in range(100)),
    ],
)
def test_an_invalid_query_string_is_refused(client, query):
    response = client.get(f"/api/v1/triples?{query}")
    assert response.status_code == 400
    assert response.json()["code"] == "invalid_arguments"


def test_a_cursor_of_another_pattern_is_refused(client):
    triples = [{"subject": f"s{n}", "predicate": "p", "object": n} for n in range(5)]
    client.post("/api/v1/triples/batch", json={"triples": triples})
    cursor = client.get("/api/v1/triples", params={"limit": 2}).json()["nextCursor"]
    assert client.get("/api/v1/triples", params={"limit": 2, "cursor": cursor}).status_code == 200
    refused = client.get("/api/v1/triples", params={"predicate": "p", "cursor": cursor})
    assert (refused.status_code, refused.json()["details"]["field"]) == (400, "cursor")


def test_the_provenance_is_the_holder_of_the_token_unless_they_may_name_another(client, server, namespace):
    triple = create(client).json()
    reported = client.get(f"/api/v1/triples/{triple['id']}", params={"provenance": "true"}).json()
    assert reported["provenance"] | {"time": None} == {
        "agent": f"of-{namespace}",
        "skill": None,
        "skillVersion": None,
        "time": None,
    }
    assert reported["created_at"] == reported["provenance"]["time"]

    given = {"agent": "a 1", "skill": "verify-kyc", "skillVersion": "1.0.0", "time": "2026-01-31T12:00:00Z"}
    body = {"subject": "b", "predicate": "p", "object": 1, "provenance": given}
    second = client.post("/api/v1/triples", json=body).json()
    (listed,) = client.get("/api/v1/triples", params={"subject": "b", "provenance": "true"}).json()["triples"]
    assert listed["provenance"] == given
    batch = {"triples": [{"subject": "c", "predicate": "p", "object": 1}], "provenance": given | {"agent": "a2"}}
    client.post("/api/v1/triples/batch", json=batch)
    (found,) = client.post("/api/v1/query", json={"subject": "c", "provenance": True}).json()["matches"]
    assert found["provenance"]["agent"] == "a2"
    none = client.post("/api/v1/triples", json={"subject": "d", "predicate": "p", "object": 1, "provenance": None})
    unknown = client.get(f"/api/v1/triples/{none.json()['id']}", params={"provenance": "true"}).json()
    assert (unknown["provenance"], "created_at" in unknown) == (None, False)
    assert "provenance" not in client.get(f"/api/v1/triples/{second['id']}").json()

    writer = server.client(server.token(f"writer-{namespace}", (namespace,), ("read", "write")))
    refused = writer.post("/api/v1/triples", json=body | {"object": 2})
    assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")
    assert client.get("/api/v1/triples", params={"subject": "b"}).json()["total"] == 1


@pytest.mark.parametrize("time", ["yesterday", "2026-01-31", "2026-01-31T12:00:00", "2026-02-30T12:00:00Z", 5])
def test_an_invalid_time_of_provenance_is_refused(client, time):
    body = {"subject": "b", "predicate": "p", "object": 1, "provenance": {"time": time}}
    assert client.post("/api/v1/triples", json=body).status_code == 400


def test_pages_of_long_literals_end_early_and_go_on(client):
    for n in range(14):
        create(client, f"{n}" + "x" * 1_000_000)
    first = client.get("/api/v1/triples", params={"limit": 1000}).json()
    assert 5 <= len(first["triples"]) < 14
    rest = client.get("/api/v1/triples", params={"limit": 1000, "cursor": first["nextCursor"]}).json()
    assert len(first["triples"]) + len(rest["triples"]) == 14
    assert rest["nextCursor"] is None
