"""Who may use the server, and what they can see."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills.doors.http.auth import AccessControl, Principal
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.server.app import api
from cortex_skills.errors import CortexError
from cortex_skills.tokens import new_token
from tests.server.serving import statuses, talk

CLOSED = [operation for operation in api() if operation.permission is not None]
SOME_ID = "0" * 64


def path_of(operation):
    return operation.path.replace("{id}", SOME_ID if "triples" in operation.path else "sandbox-" + "0" * 32)


NOT_VALID = [
    None,
    "",
    "Bearer",
    "Bearer nonsense",
    "Basic dXNlcjpwYXNz",
    "Bearer cortex_" + "A" * 43,
    "Bearer " + "x" * 5000,
    "Token secret-of-the-configuration",
    "Bearer \xff\xfe",
    "Bearer a b",
]


@pytest.mark.parametrize("operation", CLOSED, ids=lambda operation: operation.name)
def test_without_a_valid_token_nothing_is_answered(server, operation):
    client = server.client()
    for value in NOT_VALID:
        headers = {} if value is None else {"Authorization": value.encode("latin-1")}
        response = client.request(operation.method, path_of(operation), headers=headers)
        assert response.status_code == 401
        assert response.headers["www-authenticate"] == 'Bearer realm="cortex"'
        error = response.json()
        assert (error["error"], error["code"]) == ("a valid token is needed", "unauthorized")


def test_two_tokens_at_once_are_refused(server):
    token = server.token("twice")
    headers = [("Authorization", f"Bearer {token}"), ("Authorization", f"Bearer {token}")]
    assert server.client().get("/api/v1/triples", headers=headers).status_code == 401


def test_a_token_in_the_url_is_ignored(server):
    token = server.token("in-url")
    response = server.client().get("/api/v1/triples", params={"access_token": token})
    assert response.status_code == 401


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_is_accepted_in_any_case(server, scheme):
    """RFC 9110 §11.1: a scheme has no case."""
    headers = {"Authorization": f"{scheme} {server.token('schemes')}"}
    assert server.client().get("/api/v1/triples", headers=headers).status_code == 200


def test_a_token_alone_is_accepted_as_clients_of_cortex_send_it(server):
    headers = {"Authorization": server.token("schemes")}
    assert server.client().get("/api/v1/triples", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "form",
    [
        " {} x",
        "{},",
        '"{}"',
        "Bearer  {}",
        "Bearer\t{}",
        "Bearer{}",
        "Bearer:{}",
        'Bearer "{}"',
        "Bearer token={}",
        "Bearer {},",
        "Bearer {}, Bearer {}",
        "Bearer {} {}",
        "Bearer {}\xa0",
        "Bearer \x85{}",
        "Bearer {}\x1f",
        "Token {}",
        "Basic {}",
    ],
)
def test_a_credential_in_any_other_spelling_is_refused(server, form):
    token = server.token("schemes")
    value = form.replace("{}", token).encode("latin-1")
    head = b"GET /api/v1/triples HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: "
    answer = talk(server.port, head + value + b"\r\n\r\n", finish=False)
    assert statuses(answer) == [401]


@given(st.text(st.characters(min_codepoint=9, max_codepoint=255), max_size=3), st.integers(0, 50))
def test_a_credential_with_anything_added_is_refused(server, added, place):
    gate, token = AccessControl(server.plugin.config), server.token("spelled")
    credential = f"Bearer {token}"
    place = min(place, len(credential))
    changed = credential[:place] + added + credential[place:]
    headers = [(b"authorization", changed.encode("latin-1"))]
    if changed == credential:
        assert gate.identify(headers, None).name == "spelled"
    else:
        with pytest.raises(HttpError):
            gate.identify(headers, None)


@pytest.mark.parametrize("secret", ["", "Bearer ", "with space", "Bearer  x", "ümlaut-in-a-token", "x" * 600, "a\nb"])
def test_a_configured_token_that_no_client_could_send_is_an_error(serve, secret):
    with pytest.raises(CortexError, match=r"cortex\.authToken") as caught:
        serve(cortex={"authToken": secret})
    assert caught.value.code == "config_invalid"


@pytest.mark.parametrize("operation", CLOSED, ids=lambda operation: operation.name)
def test_each_operation_needs_its_permission(server, operation):
    for permission in ("read", "write", "provenance"):
        client = server.client(server.token(f"only-{permission}", ("only",), (permission,)))
        response = client.request(operation.method, path_of(operation), params={})
        if permission == operation.permission:
            assert response.status_code not in (401, 403)
        else:
            assert (response.status_code, response.json()["code"]) == (403, "permission_denied")


def test_a_revoked_or_expired_token_stops_at_once(server):
    token, text = new_token("short", ("mayros",), ("read",), timedelta(hours=1), datetime.now(UTC))
    server.tokens.add(token)
    client = server.client(text)
    assert client.get("/api/v1/triples").status_code == 200
    server.tokens.remove("short")
    assert client.get("/api/v1/triples").status_code == 401
    old, text = new_token("old", ("mayros",), ("read",), timedelta(hours=1), datetime.now(UTC) - timedelta(hours=2))
    server.tokens.add(old)
    assert server.client(text).get("/api/v1/triples").status_code == 401


def test_with_a_damaged_file_of_tokens_only_the_configured_token_is_accepted(serve, tmp_path, caplog):
    server = serve(cortex={"authToken": "secret-of-the-configuration"})
    client, configured = server.client(server.token("t")), server.client("secret-of-the-configuration")
    assert client.get("/api/v1/triples").status_code == 200
    (tmp_path / "tokens.json").write_text("{")
    assert client.get("/api/v1/triples").status_code == 401
    assert configured.get("/api/v1/triples").status_code == 200
    assert "is damaged" in caplog.text


def test_the_configured_token_opens_the_configured_namespace_with_every_permission(serve, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "secret-of-the-environment")
    server = serve(cortex={"authToken": "Bearer ${MY_TOKEN}"}, agentNamespace="mine")
    client = server.client("secret-of-the-environment")
    body = {"subject": "a", "predicate": "p", "object": 1, "provenance": {"agent": "somebody"}}
    assert client.post("/api/v1/triples", json=body).json()["subject"] == "mine:a"
    assert client.get("/api/v1/triples", params={"namespace": "other"}).status_code == 403
    assert server.client("secret-of-the-environmen").get("/api/v1/triples").status_code == 401
    assert server.client("${MY_TOKEN}").get("/api/v1/triples").status_code == 401


def test_anonymous_reads_are_off_and_read_only_the_configured_namespace_when_on(serve, server):
    assert server.client().get("/api/v1/triples").status_code == 401
    open_server = serve(cortex={"allowAnonymousReads": True})
    client = open_server.client()
    assert client.get("/api/v1/triples").status_code == 200
    assert client.get("/api/v1/triples", params={"namespace": "other"}).status_code == 403
    triple = {"subject": "a", "predicate": "p", "object": 1}
    refused = client.post("/api/v1/triples", json=triple)
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, 'Bearer realm="cortex"')
    assert client.get("/api/v1/triples", headers={"Authorization": "Bearer wrong"}).status_code == 401
    for forwarded in ("X-Forwarded-For", "Forwarded", "Via", "X-Real-IP", "X-Forwarded-Host"):
        assert client.get("/api/v1/triples", headers={forwarded: "192.0.2.1"}).status_code == 401


@pytest.mark.parametrize("address", ["192.0.2.1", "10.0.0.1", "::", "2001:db8::1", "::ffff:192.0.2.1", "", None, "x"])
def test_anonymous_reads_are_for_this_machine_alone(serve, address):
    gate = AccessControl(serve(cortex={"allowAnonymousReads": True}).plugin.config)
    assert gate.identify([], "127.0.0.1").has_token is False
    assert gate.identify([], "::ffff:127.0.0.1").name == "anonymous"
    with pytest.raises(HttpError) as caught:
        gate.identify([], address)
    assert caught.value.code == "unauthorized"


def test_one_namespaces_token_never_sees_another(server):
    """By names, ids, cursors, patterns, numbers or sandboxes, and no error discloses that it exists."""
    a = server.client(server.token("iso-a", ("isoA",), ("read", "write", "provenance")))
    b = server.client(server.token("iso-b", ("isoB",), ("read", "write", "provenance")))
    triples = [{"subject": f"secret{n}", "predicate": "p", "object": f"word{n}"} for n in range(5)]
    created = a.post("/api/v1/triples/batch", json={"triples": triples}).json()["inserted"]
    cursor = a.get("/api/v1/triples", params={"limit": 2}).json()["nextCursor"]

    for triple in created:
        unknown = b.get(f"/api/v1/triples/{SOME_ID}")
        known = b.get(f"/api/v1/triples/{triple['id']}", params={"provenance": "true"})
        assert (known.status_code, known.json()["error"]) == (unknown.status_code, unknown.json()["error"])
        assert b.delete(f"/api/v1/triples/{triple['id']}").status_code == 404
    for name in ("isoA:secret0", "secret0", "<urn:cortex:isoA:secret0>", "urn:cortex:isoA:secret0", "../isoA:secret0"):
        assert b.get("/api/v1/triples", params={"subject": name}).json()["total"] == 0
        assert b.post("/api/v1/query", json={"subject": name}).json()["matches"] == []
        assert b.get("/api/v1/query/predicates", params={"subject": name}).json()["total"] == 0
    assert b.get("/api/v1/triples", params={"limit": 2, "cursor": cursor}).status_code == 400
    assert b.get("/api/v1/stats").json()["graph"]["triple_count"] == 0
    assert b.get("/api/v1/query/subjects").json() == {"subjects": [], "total": 0}
    assert b.get("/api/v1/namespaces").json()["namespaces"] == []

    refusals = [
        b.get(path, params={"namespace": name})
        for path in ("/api/v1/triples", "/api/v1/stats", "/api/v1/query/subjects", "/api/v1/query/predicates")
        for name in ("isoA", "neverWas", "isoa", "iso")
    ]
    assert {response.status_code for response in refusals} == {403}
    assert len({response.json()["error"] for response in refusals}) == 1
    writes = b.post("/api/v1/triples", params={"namespace": "isoA"}, json=triples[0])
    assert writes.status_code == 403

    # What b writes about a's names is b's own, and changes nothing for a.
    written = b.post("/api/v1/triples", json={"subject": "isoA:secret0", "predicate": "p", "object": 1}).json()
    assert written["subject"] == "isoB:isoA:secret0"
    absolute = {"subject": "<urn:cortex:isoA:secret0>", "predicate": "p", "object": 1}
    b.post("/api/v1/triples", json=absolute)
    assert a.get("/api/v1/triples").json()["total"] == 5
    assert a.get("/api/v1/triples", params={"subject": "secret0"}).json()["total"] == 1


def test_a_token_of_several_namespaces_must_name_one(server):
    client = server.client(server.token("several", ("sevA", "sevB"), ("read", "write")))
    triple = {"subject": "a", "predicate": "p", "object": 1}
    excluded = client.post("/api/v1/triples", json=triple)
    assert (excluded.status_code, excluded.json()["code"]) == (400, "invalid_arguments")
    for namespace in ("sevA", "sevB"):
        made = client.post("/api/v1/triples", params={"namespace": namespace}, json=triple)
        assert made.json()["subject"] == f"{namespace}:a"
    assert client.get("/api/v1/namespaces").json()["namespaces"] == ["sevA", "sevB"]
    everywhere = server.client(server.token("all", ("*",), ("read",)))
    assert everywhere.get("/api/v1/triples", params={"namespace": "sevA"}).json()["total"] == 1
    assert everywhere.get("/api/v1/triples").status_code == 200  # the configured one


def test_the_usual_namespace_is_the_default_of_callers_who_may_use_it():
    assert Principal("p", ("a", "usual"), frozenset({"read"}), "usual").namespace(None) == "usual"
    assert Principal("p", ("a",), frozenset({"read"}), "usual").namespace(None) == "a"
    with pytest.raises(HttpError) as caught:
        Principal("p", ("a", "b"), frozenset({"read"}), "usual").namespace(None)
    assert caught.value.code == "invalid_arguments"


def test_no_secret_reaches_the_log(server, caplog):
    for name in ("", "cortex_skills"):
        caplog.set_level(logging.DEBUG, name)
    token = server.token("logged")
    client = server.client(token)
    client.get("/api/v1/triples", params={"subject": "a-secret-subject"})
    client.post("/api/v1/triples", json={"subject": "a-secret-subject", "predicate": "p", "object": "a-secret-value"})
    client.get("/api/v1/triples", headers={"Authorization": "Bearer a-secret-guess"})
    client.post("/api/v1/triples", content=b"a-secret-body", headers={"Content-Type": "application/json"})
    ours = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith(("cortex", "uvicorn")))
    assert "GET /api/v1/triples 200" in ours
    for secret in (token, "a-secret"):
        assert secret not in ours


def test_no_answer_holds_the_text_of_the_token(server):
    token = server.token("echoed")
    client = server.client(token)
    for path in ("/", "/openapi.json", "/api/v1/triples", "/api/v1/stats", "/api/v1/triples?namespace=x", "/nothing"):
        response = client.get(path)
        assert token not in response.text + json.dumps(dict(response.headers))
