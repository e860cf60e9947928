"""Verifying proofs and assertions, and evaluating the rules on statements."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyoxigraph import Literal, Quad

from cortex_graph.naming.vocabulary import CONTENT
from cortex_graph.store import Pattern
from cortex_skills.features.proofs.dialects.mayros import hash_of
from tests.proofs.logic.conftest import shapes
from tests.server.proof_cases import ISSUER, KINDS, PROOFS, TRIPLE, Elsewhere, graph_of, kept, problem, submit, write

VERIFY = f"{PROOFS}/verify/batch"
ASSERTIONS = "/api/v1/assertions/verify-batch"
ALICE = {"subject": "alice", "predicate": "isVerified"}


@pytest.fixture
def elsewhere(namespace, tmp_path):
    return Elsewhere(namespace, tmp_path)


def parts(answer: dict[str, Any]) -> dict[str, str]:
    return {check["part"]: check["verdict"] for check in answer["checks"]}


@pytest.mark.parametrize("kind", ["pol", "credential", "schnorr"])
def test_a_proof_that_holds_is_verified(client, elsewhere, kind):
    write(client)
    proof_id = kept(client, kind, elsewhere.proof(kind))
    answer = client.get(f"{PROOFS}/{proof_id}/verify").json()
    assert (answer["proof_id"], answer["proof_type"]) == (proof_id, kind)
    expected = "well-formed" if kind == "pol" else "verified"  # no shapes applied
    assert (answer["valid"], answer["verdict"]) == (True, expected)
    assert set(parts(answer).values()) == {"verified", expected}
    assert len(answer["details"]) == len(answer["checks"])
    assert answer["verification_time_us"] > 0


@pytest.mark.parametrize("kind", ["equality", "membership", "range"])
def test_a_proof_about_a_commitment_without_a_trusted_issuer_is_not_valid(client, elsewhere, kind):
    write(client)
    proof_id = kept(client, kind, elsewhere.proof(kind))
    answer = client.get(f"{PROOFS}/{proof_id}/verify").json()
    assert (answer["valid"], answer["verdict"]) == (False, "not checked")
    assert (parts(answer)["proof"], parts(answer)["anchor"]) == ("verified", "not checked")


def test_a_proof_about_a_commitment_that_a_trusted_issuer_signed_is_verified(serve, tmp_path):
    server = serve(proofs={"trustedIssuers": [ISSUER.did]})
    client, elsewhere = server.client(server.token("t")), Elsewhere("mayros", tmp_path)
    write(client)
    proof = elsewhere.proved("range")
    commitment = {"subject": "alice", "predicate": "year", "object": proof.claim.commitments[0].text}
    premise = write(client, **commitment)
    kept(client, "credential", elsewhere.credential(commitment))
    made = submit(client, "range", proof.to_json()).json()
    assert (made["status"], made["premises"]) == ("verified", [premise])
    assert client.get(f"{PROOFS}/{made['id']}/verify").json()["valid"] is True
    client.delete(f"/api/v1/triples/{premise}")  # and with it who signed it
    answer = client.get(f"{PROOFS}/{made['id']}/verify").json()
    assert (answer["valid"], parts(answer)["anchor"]) == (False, "not checked")


def test_a_nonce_is_held_against_the_proof(client, elsewhere):
    write(client)
    proof_id = kept(client, "schnorr", elsewhere.zk("schnorr", nonce="n-1"))
    for nonce, verdict in (("n-1", "verified"), ("n-2", "refuted")):
        answer = client.get(f"{PROOFS}/{proof_id}/verify", params={"nonce": nonce}).json()
        assert (answer["verdict"], parts(answer)["nonce"]) == (verdict, verdict)


def test_what_was_not_asked_for_is_not_evaluated(client, elsewhere):
    write(client)
    proof_id = kept(client, "pol", elsewhere.pol())
    answer = client.get(f"{PROOFS}/{proof_id}/verify", params={"replay": False}).json()
    assert (answer["valid"], answer["verdict"], parts(answer)["logic"]) == (False, "not checked", "not checked")


PATIENT = {"skillSandbox": {"proofTimeoutMs": 60_000}}  # shapes are asked in a process that has to start
NAMES = shapes(":S a sh:NodeShape ; sh:targetSubjectsOf :isVerified ; sh:nodeKind sh:IRI .")
STATUS = shapes(
    ":S a sh:NodeShape ; sh:targetSubjectsOf :isVerified ; sh:property [ sh:path :status ; sh:minCount 1 ] ."
)


def test_a_proof_by_unknown_rules_is_not_evaluated_unless_they_are_submitted_too(serve, tmp_path):
    server = serve(**PATIENT)
    client, elsewhere = server.client(server.token("t")), Elsewhere("mayros", tmp_path)
    write(client)
    document = elsewhere.pol(rules=NAMES)
    made = submit(client, "pol", document).json()
    assert (made["status"], parts(made)["logic"]) == ("not checked", "not checked")
    client.delete(f"{PROOFS}/{made['id']}")
    foreign = submit(client, "pol", document, rules=[NAMES.text, "# other"])
    assert problem(foreign) == (400, "invalid_arguments")
    assert foreign.json()["details"]["field"] == "rules"
    made = submit(client, "pol", document, rules=[NAMES.text]).json()
    assert made["status"] == "verified"
    assert client.get(f"{PROOFS}/{made['id']}/verify").json()["valid"] is True


def test_a_proof_whose_premise_was_withdrawn_is_refuted(serve, tmp_path):
    server = serve(**PATIENT)
    client, elsewhere = server.client(server.token("t")), Elsewhere("mayros", tmp_path)
    write(client)
    status = {"subject": "alice", "predicate": "status", "object": "fine"}
    premise = write(client, **status)
    elsewhere.graph.create_triple(status)
    made = submit(client, "pol", elsewhere.pol(rules=STATUS), rules=[STATUS.text]).json()
    assert (made["status"], made["premises"]) == ("verified", [premise])
    client.delete(f"/api/v1/triples/{premise}")
    answer = client.get(f"{PROOFS}/{made['id']}/verify").json()
    assert (answer["valid"], answer["verdict"], parts(answer)["premises"]) == (False, "refuted", "refuted")


@pytest.mark.parametrize("kind", KINDS)
def test_a_proof_that_was_changed_in_the_store_is_no_longer_there(client, server, namespace, elsewhere, kind):
    write(client)
    proof_id = kept(client, kind, elsewhere.proof(kind))
    graph = graph_of(server, namespace)
    node = graph.proofs.iri(proof_id)
    (old,) = graph.store.quads(Pattern(graph.names.provenance_graph, node, CONTENT))
    document = json.loads(old.object.value)
    new = Quad(node, CONTENT, Literal(json.dumps(document | {"more": 1})), graph.names.provenance_graph)
    graph.store.apply([new], [old])
    assert problem(client.get(f"{PROOFS}/{proof_id}/verify")) == (404, "proof_not_found")


def test_a_proof_that_is_kept_with_another_statement_is_refuted(client, server, namespace, elsewhere):
    write(client)
    other = write(client, subject="bob")
    for kind in ("pol", "credential", "schnorr"):
        proof_id = kept(client, kind, elsewhere.proof(kind))
        graph = graph_of(server, namespace)
        proof = graph.proofs.get(proof_id)
        assert proof is not None
        client.delete(f"{PROOFS}/{proof_id}")
        graph.proofs.add(type(proof)(proof.kind, proof.content, proof.time, (other,)))
        assert client.get(f"{PROOFS}/{proof_id}/verify").json()["verdict"] == "refuted"
        client.delete(f"{PROOFS}/{proof_id}")


def test_a_batch_answers_in_its_order_and_reports_unknown_ids(client, elsewhere):
    write(client)
    holds = kept(client, "schnorr", elsewhere.zk("schnorr"))
    unanchored = kept(client, "range", elsewhere.zk("range"))
    asked = [unanchored, "0" * 64, holds, "no id", holds]
    answer = client.post(VERIFY, json={"proof_ids": asked}).json()
    assert [row["proof_id"] for row in answer["verifications"]] == asked
    assert [row["verdict"] for row in answer["verifications"]] == [
        *("not checked", "not checked", "verified", "not checked", "verified")
    ]
    assert [row.get("code") for row in answer["verifications"]] == [
        *(None, "proof_not_found", None, "proof_not_found", None)
    ]
    counts = ("total", "valid_count", "invalid_count", "refuted_count", "not_evaluated_count")
    assert [answer[key] for key in counts] == [5, 2, 3, 0, 3]
    assert answer["results"] == [{"id": each, "verified": each == holds} for each in asked]


def test_what_the_time_does_not_suffice_for_is_not_evaluated(serve, tmp_path):
    server = serve(skillSandbox={"proofTimeoutMs": 1000})
    client, elsewhere = server.client(server.token("t")), Elsewhere("mayros", tmp_path)
    text = "a" * 50 + "!"
    write(client, object=text)
    quick = shapes(":S a sh:NodeShape ; sh:targetNode :alice ; sh:property [ sh:path :isVerified ; sh:minCount 1 ] .")
    slow = quick.text.replace("sh:minCount 1", 'sh:pattern "^(a+)+$"')
    document = elsewhere.pol({**TRIPLE, "object": text}, quick)
    proof_id = kept(client, "pol", document, rules=[quick.text])
    graph = server.plugin.graph
    # A signed proof whose rules never finish.
    fields = {**document, "rules": [*document["rules"][:1], {**document["rules"][1], "digest": digest(slow)}]}
    signed = resigned(fields)
    made = submit(client, "pol", signed, rules=[slow])
    assert made.status_code == 201, made.text
    assert (made.json()["status"], parts(made.json())["logic"]) == ("not checked", "not checked")
    rows = client.post(VERIFY, json={"proof_ids": [made.json()["id"], proof_id]}).json()["verifications"]
    assert [row["verdict"] for row in rows] == ["not checked", "not checked"]
    assert "used up" in rows[1]["details"][0]
    assert graph.proofs.count() == 2


def digest(text: str) -> str:
    from cortex_graph.assertion_records.proofs import content_id

    return content_id(text)


def resigned(document: dict[str, Any]) -> dict[str, Any]:
    """A Proof of Logic with another content, signed by an unknown key."""
    from datetime import UTC, datetime

    from cortex_graph.checks.datetimes import to_milliseconds
    from cortex_skills.features.proofs.logic.document import signed

    fields = {key: value for key, value in document.items() if key != "proof"}
    return signed(fields, ISSUER, to_milliseconds(datetime.now(UTC))).fields


def test_statements_are_held_against_the_core_rules(client, namespace):
    good = {"subject": "a", "predicate": "p", "object": 1}
    bad = {"subject": "a", "predicate": "knows", "object": {"node": "a"}}  # of itself
    answer = client.post("/api/v1/validate", json={"triples": [good, bad]}).json()
    assert (answer["valid"], answer["verdict"]) == (False, "refuted")
    assert [result["verdict"] for result in answer["results"]] == ["well-formed", "refuted"]
    assert answer["results"][0]["triple"]["subject"] == f"{namespace}:a"
    (message,) = [each for each in answer["messages"] if each["level"] == "error"]
    assert message["rule"].startswith("core#")
    assert answer["proof_hash"] is None
    older = client.post("/api/v1/validate", json={"statements": [good]}).json()
    assert (older["valid"], older["verdict"]) == (True, "well-formed")
    assert older["proof_hash"] == hash_of([older["results"][0]["triple"]["id"]])
    assert client.get("/api/v1/triples").json()["total"] == client.get(PROOFS).json()["count"] == 0


def test_a_statement_with_a_proof_that_still_holds_names_it(client, elsewhere):
    triple_id = write(client)
    body = {"triples": [TRIPLE]}
    assert client.post("/api/v1/validate", json=body).json()["proof_hash"] == hash_of([triple_id])
    proof_id = kept(client, "pol", elsewhere.pol())
    assert client.post("/api/v1/validate", json=body).json()["proof_hash"] == proof_id
    other = {**TRIPLE, "object": False}
    for statements in ([other], [TRIPLE, other]):
        answer = client.post("/api/v1/validate", json={"triples": statements}).json()
        assert answer["proof_hash"] == hash_of(each["triple"]["id"] for each in answer["results"])


@pytest.mark.parametrize("namespace", ["mayros", "other"])
def test_statements_are_held_against_the_shapes_of_their_namespace(serve, tmp_path, namespace):
    file = tmp_path / "shapes.ttl"
    own = f"<urn:cortex:{namespace}:p>"
    one = shapes(f":S a sh:NodeShape ; sh:targetSubjectsOf {own} ; sh:property [ sh:path {own} ; sh:maxCount 1 ] .")
    file.write_text(one.text)
    server = serve(proofs={"shapes": {namespace: str(file)}}, **PATIENT)
    client = server.client(server.token("t", (namespace,)))
    client.post("/api/v1/triples", json={"subject": "a", "predicate": "p", "object": 1})
    second = {"triples": [{"subject": "a", "predicate": "p", "object": 2}]}
    for rule_set, verdict in ((None, "refuted"), (f"namespace:{namespace}", "refuted"), ("core", "well-formed")):
        body = second | ({} if rule_set is None else {"rule_set": rule_set})
        assert client.post("/api/v1/validate", json=body).json()["verdict"] == verdict
    answer = client.post("/api/v1/validate", json=second | {"rule_set": "namespace:elsewhere"})
    assert problem(answer) == (400, "invalid_arguments")
    assert answer.json()["details"]["field"] == "rule_set"


def test_nothing_is_valid_where_no_rules_are_asked(serve):
    server = serve(verification={"polValidation": False})
    client = server.client(server.token("t"))
    answer = client.post("/api/v1/validate", json={"triples": [TRIPLE]}).json()
    assert (answer["valid"], answer["verdict"]) == (False, "not checked")
    assert "polValidation" in answer["messages"][0]["message"]


@pytest.mark.parametrize(
    "body",
    [
        {"triples": [TRIPLE], "statements": [TRIPLE]},
        {"triples": [{**TRIPLE, "object": None}]},
        {"triples": [{**TRIPLE, "object": []}]},
        {"triples": [{**TRIPLE, "subject": ""}]},
        {"triples": [{**TRIPLE, "more": 1}]},
        {"triples": [TRIPLE], "rule_set": 5},
        {"triples": TRIPLE},
    ],
)
def test_what_are_no_statements_is_refused(client, body):
    assert problem(client.post("/api/v1/validate", json=body)) == (400, "invalid_arguments")


def test_assertions_are_verified_by_all_that_they_carry(serve, elsewhere, namespace):
    pol = elsewhere.pol()
    signer = pol["proof"]["verificationMethod"].partition("#")[0]
    server = serve(proofs={"trustedIssuers": [signer]})
    client = server.client(server.token("all", (namespace,), ("read", "write", "provenance")))
    write(client)
    write(client, subject="bob")
    asked = [ALICE, {**ALICE, "subject": "bob"}, {**ALICE, "subject": "nobody"}, {**ALICE, "object": False}]
    kept(client, "pol", pol)
    rows = client.post(ASSERTIONS, json={"assertions": asked}).json()["results"]
    assert [(row["subject"], row["predicate"]) for row in rows] == [(a["subject"], a["predicate"]) for a in asked]
    assert [row["verified"] for row in rows] == [False, False, False, False]
    assert [row["verdict"] for row in rows] == ["well-formed", *["not checked"] * 3]
    assert [row["found"] for row in rows] == [True, True, False, False]
    assert {check.get("kind") for check in rows[0]["checks"]} == {None, "pol"}
    assert len(client.get("/api/v1/triples").json()["triples"]) == 2


def test_a_submitted_proof_verifies_nothing_unless_its_signer_is_trusted(client, elsewhere):
    write(client)
    kept(client, "pol", elsewhere.pol())
    (row,) = client.post(ASSERTIONS, json={"assertions": [ALICE]}).json()["results"]
    assert (row["verified"], row["verdict"]) == (False, "not checked")
    reported = {check["part"]: check["verdict"] for check in row["checks"]}
    assert (reported["signature"], reported["logic"], reported["signer"]) == ("verified", "well-formed", "not checked")


def test_one_unchecked_proof_keeps_an_assertion_from_being_verified(client, elsewhere):
    write(client)
    kept(client, "pol", elsewhere.pol())
    kept(client, "range", elsewhere.zk("range"))
    (row,) = client.post(ASSERTIONS, json={"assertions": [ALICE]}).json()["results"]
    assert (row["verified"], row["verdict"]) == (False, "not checked")


def test_more_statements_than_are_looked_at_are_not_verified(client):
    for number in range(12):
        write(client, object=number)
    (row,) = client.post(ASSERTIONS, json={"assertions": [ALICE]}).json()["results"]
    assert (row["verdict"], row["found"]) == ("not checked", True)
    assert row["details"] == ["2 more were not checked: give an object"]


def test_a_kind_that_is_not_known_is_not_evaluated(client, server, namespace, elsewhere):
    from cortex_graph.assertion_records.proofs import StoredProof

    triple_id = write(client)
    graph = graph_of(server, namespace)
    proof_id = graph.proofs.add(StoredProof("future", '{"a":1}', "2026-01-01T00:00:00Z", (triple_id,)))
    assert client.get(f"{PROOFS}/{proof_id}").json()["proof_type"] == "future"
    answer = client.get(f"{PROOFS}/{proof_id}/verify").json()
    assert (answer["valid"], answer["verdict"]) == (False, "not checked")
