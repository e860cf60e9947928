"""`/api/v1/skills`: validating manifests, and sandboxes."""

from __future__ import annotations

import time

import pytest

from cortex_skills.doors.http.sandboxes import MAX_SANDBOXES
from tests.cli.conftest import MANIFEST


def test_a_correct_manifest_is_valid(client):
    response = client.post("/api/v1/skills/validate", json={"manifest": MANIFEST.format(name="greeter")})
    assert response.json() == {"valid": True, "errors": [], "problems": []}


def test_every_problem_of_a_manifest_is_named_with_its_place(client):
    text = "---\nname: Bad Name\ntype: semantic\nsemantic: {version: 0}\n---\n"
    body = client.post("/api/v1/skills/validate", json={"manifest": text, "name": "other"}).json()
    assert body["valid"] is False
    fields = {problem["field"]: problem for problem in body["problems"]}
    assert {"name", "description", "semantic.version"} <= set(fields)
    assert fields["name"]["line"] == 2
    assert len(body["errors"]) == len(body["problems"])


@pytest.mark.parametrize(
    "text", ["", "no frontmatter", "---\n", "---\n&a [*a]\n---\n", "\0", "---\n" + "[" * 5000 + "\n---\n"]
)
def test_a_hostile_manifest_is_reported_as_invalid(client, text):
    body = client.post("/api/v1/skills/validate", json={"manifest": text}).json()
    assert body["valid"] is False
    assert body["errors"]


def test_the_declarations_that_older_clients_send_are_checked(client, namespace):
    fine = {"namespace": namespace, "assertions": [{"predicate": "p", "requireProof": False}]}
    assert client.post("/api/v1/skills/validate", json=fine).json()["valid"] is True
    proof = {"namespace": namespace, "assertions": [{"predicate": "p", "requireProof": True}, {"predicate": ""}]}
    body = client.post("/api/v1/skills/validate", json=proof).json()
    assert body["valid"] is False
    assert [problem["field"] for problem in body["problems"]] == ["assertions[1].predicate"]
    other = client.post("/api/v1/skills/validate", json=fine | {"namespace": "elsewhere"})
    assert (other.status_code, other.json()["code"]) == (403, "permission_denied")


def test_a_sandbox_ends_with_its_triples_and_with_no_others(client, namespace):
    made = client.post("/api/v1/skills/sandbox", json={"namespace": namespace, "ttl_seconds": 60})
    assert made.status_code == 201
    sandbox = made.json()
    assert sandbox["namespace"] == f"{namespace}:{sandbox['id']}"
    inside = [{"subject": f"{sandbox['namespace']}:s{n}", "predicate": "p", "object": n} for n in range(30)]
    outside = [
        {"subject": "s", "predicate": "p", "object": 1},
        {"subject": f"{sandbox['namespace']}-not", "predicate": "p", "object": 1},
    ]
    client.post("/api/v1/triples/batch", json={"triples": [*inside, *outside]})
    ended = client.delete(f"/api/v1/skills/sandbox/{sandbox['id']}").json()
    assert ended == {"deleted": True, "namespace": sandbox["namespace"], "triples_removed": 30}
    assert client.get("/api/v1/triples").json()["total"] == 2
    again = client.delete(f"/api/v1/skills/sandbox/{sandbox['id']}")
    assert (again.status_code, again.json()) == (200, {"deleted": False, "error": "sandbox not found"})


def test_a_sandbox_of_another_namespace_is_not_found(client, server, namespace):
    sandbox = client.post("/api/v1/skills/sandbox", json={"namespace": namespace}).json()
    subject = f"{sandbox['namespace']}:s"
    client.post("/api/v1/triples", json={"subject": subject, "predicate": "p", "object": 1})
    other = server.client(server.token(f"stranger-{namespace}", ("elsewhere",)))
    refused = other.delete(f"/api/v1/skills/sandbox/{sandbox['id']}")
    assert refused.json() == {"deleted": False, "error": "sandbox not found"}
    assert client.get("/api/v1/triples").json()["total"] == 1
    assert other.post("/api/v1/skills/sandbox", json={"namespace": namespace}).status_code == 403


def test_a_sandbox_of_an_earlier_run_can_still_be_ended(client, namespace):
    sandbox_id = "sandbox-" + "0a" * 16
    subject = f"{namespace}:{sandbox_id}:s"
    client.post("/api/v1/triples", json={"subject": subject, "predicate": "p", "object": 1})
    assert client.delete(f"/api/v1/skills/sandbox/{sandbox_id}").json()["triples_removed"] == 1
    assert client.delete("/api/v1/skills/sandbox/s").status_code == 400


def test_a_sandbox_whose_time_is_over_is_emptied(serve, monkeypatch):
    monkeypatch.setattr("cortex_skills.doors.server.app._SWEEP_S", 0.1)
    server = serve()
    client = server.client(server.token("t"))

    def sandbox(seconds: int) -> str:
        body = {"namespace": "mayros", "ttl_seconds": seconds}
        namespace: str = client.post("/api/v1/skills/sandbox", json=body).json()["namespace"]
        triple = {"subject": f"{namespace}:s", "predicate": "p", "object": 1}
        assert client.post("/api/v1/triples", json=triple).status_code == 201
        return namespace

    stays = sandbox(900)
    for seconds in (1, 5, 25):  # longer where this machine is so slow that it ends before there is anything in it
        begun = time.monotonic()
        goes = sandbox(seconds)
        if time.monotonic() - begun < seconds:
            break
    while goes in subjects(client):  # pytest's own time-out ends it
        pass
    assert stays in subjects(client)


def subjects(client):
    triples = client.get("/api/v1/triples").json()["triples"]
    return {triple["subject"].removesuffix(":s") for triple in triples}


def test_the_number_of_sandboxes_is_limited(serve):
    server = serve()
    client = server.client(server.token("t"))
    body = {"namespace": "mayros"}
    answers = [client.post("/api/v1/skills/sandbox", json=body).status_code for _ in range(MAX_SANDBOXES + 1)]
    assert answers == [201] * MAX_SANDBOXES + [503]


def test_a_sandbox_may_be_a_part_of_a_namespace(client, namespace):
    part = f"{namespace}:skill:verify-kyc"
    sandbox = client.post("/api/v1/skills/sandbox", json={"namespace": part, "ttl_seconds": 300}).json()
    assert sandbox["namespace"] == f"{part}:{sandbox['id']}"
    for subject in (f"{sandbox['namespace']}:s", f"{part}:s"):
        client.post("/api/v1/triples", json={"subject": subject, "predicate": "p", "object": 1})
    ended = client.delete(f"/api/v1/skills/sandbox/{sandbox['id']}").json()
    assert ended == {"deleted": True, "namespace": sandbox["namespace"], "triples_removed": 1}
    assert [triple["subject"] for triple in client.get("/api/v1/triples").json()["triples"]] == [f"{part}:s"]
    declared = {"namespace": part, "assertions": [{"predicate": "p", "requireProof": False}]}
    assert client.post("/api/v1/skills/validate", json=declared).json()["valid"] is True


@pytest.mark.parametrize("part", [":", ":a:", ":a b", ':"} UNION {', ":<x>", ":a/b", ":ü", ":" + "a" * 300])
def test_a_part_of_a_namespace_that_is_no_name_is_refused(client, namespace, part):
    answer = client.post("/api/v1/skills/sandbox", json={"namespace": namespace + part})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_arguments")


def test_a_part_of_a_namespace_of_others_is_refused(client):
    assert client.post("/api/v1/skills/sandbox", json={"namespace": "elsewhere:a"}).status_code == 403


def test_an_unknown_path_is_not_found(server):
    client = server.client()
    for path in ("/nothing", "/api/v1/agents/a/b", "/api/v2/triples"):
        response = client.get(path)
        assert (response.status_code, response.json()["code"]) == (404, "not_found")
        assert response.json()["error"] == "there is nothing at this path"


def test_declarations_that_need_a_proof_are_reported_if_rules_are_off(serve):
    server = serve(verification={"polValidation": False})
    client = server.client(server.token("t"))
    body = {"namespace": "mayros", "assertions": [{"predicate": "p", "requireProof": True}]}
    (problem,) = client.post("/api/v1/skills/validate", json=body).json()["problems"]
    assert problem["field"] == "assertions[0].predicate"
    assert "polValidation" in problem["hint"]
    logic = client.get("/api/v1/health").json()["components"]["logic"]
    assert logic == {"status": "unavailable", "message": "verification.polValidation is off"}
