"""`/api/v1/proofs`: handed in, read, listed, counted, deleted; and what is refused."""

from __future__ import annotations

import copy
import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
import rfc8785

from cortex_graph.store import Pattern
from tests.server.proof_cases import KINDS, PROOFS, TRIPLE, ZK, Elsewhere, graph_of, kept, problem, submit, write


@pytest.fixture
def elsewhere(namespace, tmp_path):
    return Elsewhere(namespace, tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_proof_is_handed_in_read_listed_and_deleted(client, namespace, elsewhere, kind):
    triple_id, document = write(client), elsewhere.proof(kind)
    content = rfc8785.dumps(document)
    answer = submit(client, kind, document, subject="alice", predicate="isVerified")
    made = answer.json()
    assert answer.status_code == 201, made
    assert made["id"] == made["proof_id"] == hashlib.sha256(content).hexdigest()
    assert (made["proof_type"], made["created"], made["proves"]) == (kind, True, [triple_id])
    assert (made["subject"], made["predicate"]) == (f"{namespace}:alice", f"{namespace}:isVerified")
    assert made["size_bytes"] == len(content)
    # Nobody is trusted here to sign commitments.
    expected = "not checked" if kind in ("equality", "membership", "range") else "verified"
    expected = "well-formed" if kind == "pol" else expected
    assert (made["status"], made["verified"]) == (expected, expected == "verified")

    again = submit(client, kind, document)
    assert (again.status_code, again.json()["created"], again.json()["id"]) == (200, False, made["id"])
    read = client.get(f"{PROOFS}/{made['id']}").json()
    assert read["proof_data"] == document
    assert (read["status"], read["verified"], read["verified_at"]) == ("not checked", False, None)
    (listed,) = client.get(PROOFS, params={"proof_type": kind}).json()["proofs"]
    assert listed == {key: value for key, value in read.items() if key != "proof_data"}
    assert client.get(PROOFS, params={"proof_type": "pol" if kind != "pol" else "range"}).json()["count"] == 0

    assert client.delete(f"{PROOFS}/{made['id']}").json() == {"proof_id": made["id"], "deleted": True}
    for gone in (client.get(f"{PROOFS}/{made['id']}"), client.delete(f"{PROOFS}/{made['id']}")):
        assert problem(gone) == (404, "proof_not_found")
    assert client.get(PROOFS).json() == {"count": 0, "proofs": [], "nextCursor": None}


def test_a_proof_that_is_deleted_leaves_the_record_without_a_link(client, server, namespace, elsewhere):
    triple_id = write(client)
    proof_id = kept(client, "pol", elsewhere.pol())
    graph = graph_of(server, namespace)
    assert graph.proofs_of(triple_id) == [f"urn:cortex:{namespace}/proof/{proof_id}"]
    record = graph.provenance_of(triple_id)
    client.delete(f"{PROOFS}/{proof_id}")
    assert graph.proofs_of(triple_id) == []
    assert graph.proofs.all_quads(proof_id) == []
    assert graph.provenance_of(triple_id) == record


def test_a_proof_that_many_submit_at_once_is_stored_once(client, server, namespace, elsewhere):
    write(client)
    document = elsewhere.zk("schnorr")
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: submit(client, "schnorr", document), range(12)))
    assert sorted(answer.status_code for answer in answers) == [200] * 11 + [201]
    (proof_id,) = {answer.json()["id"] for answer in answers}
    graph = graph_of(server, namespace)
    about = list(graph.store.quads(Pattern(graph.names.provenance_graph, graph.proofs.iri(proof_id))))
    assert len(about) == len({quad.predicate for quad in about})


def test_a_triple_that_has_proofs_is_withdrawn_and_erased_on_request(server, namespace, client, elsewhere):
    author, stranger = (
        server.client(server.token(f"{name}-{namespace}", (namespace,), ("read", "write")))
        for name in ("author", "stranger")
    )
    triple_id = write(author)
    proof_id = kept(client, "credential", elsewhere.credential())
    place, proof = f"/api/v1/triples/{triple_id}", f"{PROOFS}/{proof_id}"
    update = {"update": "DELETE WHERE { ?s ?p ?o }"}
    for refused in (
        stranger.delete(place),
        stranger.delete(f"{place}?erase=true"),
        author.delete(f"{place}?erase=true"),
        stranger.delete(proof),
        stranger.post("/sparql", data=update),
    ):
        assert problem(refused) == (403, "permission_denied")
    assert client.get(place).status_code == client.get(proof).status_code == 200

    assert author.delete(place).status_code == 204
    assert (client.get(place).status_code, client.get(proof).status_code) == (404, 200)
    assert (write(author), stranger.delete(place).status_code) == (triple_id, 403)
    assert client.delete(place).status_code == 204
    write(author)
    assert client.post("/sparql", data=update).json()["removed"] == 1
    withdrawals = graph_of(server, namespace).withdrawals
    by = [(each.asserted["agent"], each.withdrawn["agent"]) for each in withdrawals.of(triple_id)]
    assert by == [(f"author-{namespace}", f"{name}-{namespace}") for name in ("of", "of", "author")]

    write(author)
    assert client.delete(f"{place}?erase=true").status_code == 204
    assert len(withdrawals.of(triple_id)) == 3
    assert stranger.delete(proof).status_code == 403
    assert client.delete(proof).status_code == 200


@pytest.mark.parametrize("kind", KINDS)
def test_a_declared_type_that_is_not_the_proofs_own_is_refused(client, elsewhere, kind):
    write(client)
    document = elsewhere.proof(kind)
    for declared in KINDS:
        if declared != kind:
            answer = submit(client, declared, document)
            assert problem(answer) == (400, "invalid_arguments")
            assert answer.json()["details"]["field"] == "proof_type"
    for unknown in ("nonmembership", "hashopening", "Range", "", None, 7):
        assert problem(submit(client, unknown, document)) == (400, "invalid_arguments")
    assert client.get(PROOFS).json()["count"] == 0


def test_a_proof_whose_scheme_was_renamed_is_no_proof_of_that_scheme(client, elsewhere):
    write(client)
    document = elsewhere.zk("schnorr")
    for scheme in ZK[1:]:
        answer = submit(client, scheme, document | {"proofType": scheme})
        assert problem(answer) == (400, "invalid_arguments")
        assert answer.json()["details"]["field"] == "proof_data"


def test_a_proof_of_another_statement_than_given_is_refused(client, elsewhere):
    write(client)
    for said in ({"subject": "bob"}, {"predicate": "isAdult"}, {"subject": "alice", "predicate": "isAdult"}):
        answer = submit(client, "pol", elsewhere.pol(), **said)
        assert problem(answer) == (400, "invalid_arguments")
        assert answer.json()["details"]["field"] in said


@pytest.mark.parametrize("kind", KINDS)
def test_a_proof_of_another_namespace_is_refused_and_unknown(client, server, namespace, elsewhere, tmp_path, kind):
    write(client)
    proof_id = kept(client, kind, elsewhere.proof(kind))
    other = f"{namespace}x"
    stranger = server.client(server.token(f"of-{other}", (other,), ("read", "write", "provenance")))
    write(stranger)
    answer = submit(stranger, kind, elsewhere.proof(kind))
    assert problem(answer) == (400, "invalid_arguments")
    assert answer.json()["details"]["field"] == "proof_data"
    for path in (f"{PROOFS}/{proof_id}", f"{PROOFS}/{proof_id}/verify"):
        assert problem(stranger.get(path)) == (404, "proof_not_found")
        assert problem(stranger.get(path, params={"namespace": namespace})) == (403, "permission_denied")
    assert problem(stranger.delete(f"{PROOFS}/{proof_id}")) == (404, "proof_not_found")
    assert stranger.get(PROOFS).json()["count"] == stranger.get(f"{PROOFS}/stats").json()["total_proofs"] == 0
    (row,) = stranger.post(f"{PROOFS}/verify/batch", json={"proof_ids": [proof_id]}).json()["verifications"]
    assert (row["valid"], row["verdict"], row["code"]) == (False, "not checked", "proof_not_found")
    assert client.get(f"{PROOFS}/{proof_id}").status_code == 200


def spoilt(document: dict[str, Any]) -> dict[str, Any]:
    """A proof with another proof value, of the same form."""
    changed = copy.deepcopy(document)
    holder = changed if "proofValue" in changed else changed["proof"]
    text = holder["proofValue"]
    place = len(text) // 2
    holder["proofValue"] = text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1 :]
    return changed


@pytest.mark.parametrize("kind", KINDS)
def test_a_tampered_proof_is_not_kept(client, elsewhere, kind):
    write(client)
    answer = submit(client, kind, spoilt(elsewhere.proof(kind)))
    assert problem(answer) in ((422, "proof_failed"), (400, "invalid_arguments"))
    assert client.get(PROOFS).json()["count"] == 0


def test_the_error_of_a_refuted_proof_lists_its_checks(client, elsewhere):
    write(client)
    answer = submit(client, "credential", spoilt(elsewhere.credential()))
    assert problem(answer) == (422, "proof_failed")
    checks = {check["part"]: check["verdict"] for check in answer.json()["details"]["checks"]}
    assert checks["signature"] == "refuted"
    expired = submit(client, "schnorr", elsewhere.zk("schnorr", lifetime=timedelta(seconds=-60)))
    assert problem(expired) == (422, "proof_failed")
    assert "expired" in expired.json()["error"]


def test_a_proof_of_a_statement_that_is_not_there(client, elsewhere):
    for kind in ("pol", "credential"):
        assert submit(client, kind, elsewhere.proof(kind)).status_code in (400, 422)
    early = submit(client, "schnorr", elsewhere.zk("schnorr"))  # of a statement that is yet to be asserted
    assert (early.status_code, early.json()["status"]) == (201, "verified")
    assert client.get(PROOFS).json()["count"] == 1


HOSTILE: list[Any] = [
    {},
    {"type": "ProofOfLogic"},
    {"type": "range"},
    {"@context": []},
    {"@context": ["https://www.w3.org/ns/credentials/v2"], "type": ["VerifiableCredential"], "issuer": {"id": 5}},
    {"type": "ProofOfLogic", "version": 10**400},
    {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {}}}}}}}}},
    {"type": "x" * 300_000},
    {"commitment": [0] * 32, "challenge": [1] * 32, "response": [2] * 32},
]


@pytest.mark.parametrize("document", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("kind", ["pol", "range", "credential"])
def test_a_document_that_is_no_proof_is_refused(client, kind, document):
    of_mayros = {("range", "type"): (200, "proof_not_found"), ("range", "commitment"): (200, "proof_failed")}
    is_asked = document == {"type": kind} or "commitment" in document
    expected = of_mayros.get((kind, next(iter(document), ""))) if is_asked else None
    assert problem(submit(client, kind, document)) == (expected or (400, "invalid_arguments"))
    assert client.get(PROOFS).json()["count"] == 0


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b'{"proof_type": "unknown"}',
        b'{"proof_type": "pol", "proof_data": "{}"}',
        b'{"proof_type": "pol", "proof_data": {}, "proof_data": {}}',
        b'{"proof_type": "pol", "proof_data": {"a": NaN}}',
        b'{"proof_type": "pol", "proof_data": {"a": "\\ud800"}}',
        b'{"proof_type": "pol", "proof_data": {}, "submitter": "somebody"}',
        b'{"proof_type": "pol", "proof_data": ' + b'{"a":' * 5_000 + b"1" + b"}" * 5_000 + b"}",
    ],
)
def test_a_hostile_body_is_refused(client, body):
    answer = client.post(PROOFS, content=body, headers={"content-type": "application/json"})
    assert problem(answer) == (400, "invalid_arguments")


def test_every_operation_takes_its_permission(server, namespace, elsewhere):
    both = server.client(server.token(f"both-{namespace}", (namespace,)))
    write(both)
    proof_id = kept(both, "pol", elsewhere.pol())
    reader = server.client(server.token(f"reader-{namespace}", (namespace,), ("read",)))
    writer = server.client(server.token(f"writer-{namespace}", (namespace,), ("write", "provenance")))
    new = {"proof_type": "credential", "proof_data": elsewhere.credential()}
    reads = [
        ("GET", PROOFS, None),
        ("GET", f"{PROOFS}/stats", None),
        ("GET", f"{PROOFS}/{proof_id}", None),
        ("GET", f"{PROOFS}/{proof_id}/verify", None),
        ("POST", f"{PROOFS}/verify/batch", {"proof_ids": [proof_id]}),
        ("POST", "/api/v1/validate", {"triples": [TRIPLE]}),
        ("POST", "/api/v1/assertions/verify-batch", {"assertions": [{"subject": "alice", "predicate": "isVerified"}]}),
    ]
    writes = [
        ("POST", PROOFS, new),
        ("POST", f"{PROOFS}/batch", {"proofs": [new]}),
        ("DELETE", f"{PROOFS}/{proof_id}", None),
    ]
    anonymous = server.client()
    for method, path, body in reads + writes:
        assert problem(anonymous.request(method, path, json=body)) == (401, "unauthorized")
    for method, path, body in reads:
        assert problem(writer.request(method, path, json=body)) == (403, "permission_denied")
        assert reader.request(method, path, json=body).status_code == 200
    for method, path, body in writes:
        assert problem(reader.request(method, path, json=body)) == (403, "permission_denied")
    assert [writer.request(method, path, json=body).status_code for method, path, body in writes] == [201, 200, 200]


def test_a_batch_stores_valid_proofs_and_reports_the_others(client, elsewhere):
    write(client)
    good, other = elsewhere.pol(), elsewhere.zk("schnorr")
    proofs = [
        {"proof_type": "pol", "proof_data": good},
        {"proof_type": "range", "proof_data": other},
        {"proof_type": "credential", "proof_data": spoilt(elsewhere.credential())},
        {"proof_type": "schnorr", "proof_data": other},
    ]
    answer = client.post(f"{PROOFS}/batch", json={"proofs": proofs})
    body = answer.json()
    assert (answer.status_code, body["successful_count"], body["failed_count"]) == (200, 2, 2)
    assert [(each["index"], each["code"]) for each in body["failed"]] == [(1, "invalid_arguments"), (2, "proof_failed")]
    assert {each["id"] for each in client.get(PROOFS).json()["proofs"]} == set(body["successful"])


@pytest.mark.parametrize(
    ("path", "key", "member", "most"),
    [
        (f"{PROOFS}/batch", "proofs", {"proof_type": "pol", "proof_data": {}}, 64),
        (f"{PROOFS}/verify/batch", "proof_ids", "0" * 64, 64),
        ("/api/v1/validate", "triples", TRIPLE, 64),
        ("/api/v1/validate", "statements", TRIPLE, 64),
        ("/api/v1/assertions/verify-batch", "assertions", {"subject": "a", "predicate": "p"}, 64),
    ],
)
def test_the_number_of_members_of_a_batch_is_limited(client, path, key, member, most):
    assert client.post(path, json={key: [member] * most}).status_code == 200
    for number in (0, most + 1):
        answer = client.post(path, json={key: [member] * number})
        assert problem(answer) == (400, "invalid_arguments")
        assert answer.json()["details"]["field"] == key
    assert problem(client.post(path, json={})) == (400, "invalid_arguments")


def test_pages_of_proofs_go_on_where_they_ended(client, elsewhere):
    write(client)
    made = {kept(client, "schnorr", elsewhere.zk("schnorr", nonce=str(number))) for number in range(7)}
    found, cursor = [], None
    for _ in range(4):
        page = client.get(PROOFS, params={"limit": 2, **({"cursor": cursor} if cursor else {})}).json()
        found += [proof["id"] for proof in page["proofs"]]
        cursor = page["nextCursor"]
    assert cursor is None
    assert sorted(found) == sorted(made)
    for limit in (0, 1001, "x"):
        assert problem(client.get(PROOFS, params={"limit": limit})) == (400, "invalid_arguments")
    assert problem(client.get(PROOFS, params={"cursor": "x"})) == (400, "invalid_arguments")
    assert problem(client.get(PROOFS, params={"proof_type": "knowledge"})) == (400, "invalid_arguments")


def test_a_list_of_those_that_hold_verifies_each_now(client, elsewhere):
    write(client)
    holds = kept(client, "schnorr", elsewhere.zk("schnorr"))
    unanchored = kept(client, "range", elsewhere.zk("range"))
    for asked, expected in ((True, holds), (False, unanchored)):
        (row,) = client.get(PROOFS, params={"verified": asked}).json()["proofs"]
        assert (row["id"], row["verified"]) == (expected, asked)
        assert row["verified_at"] is not None


def test_numbers_are_those_of_the_namespace(client, elsewhere):
    write(client)
    documents = [("schnorr", elsewhere.zk("schnorr")), ("range", elsewhere.zk("range")), ("pol", elsewhere.pol())]
    ids = [kept(client, kind, document) for kind, document in documents]
    before = client.get(f"{PROOFS}/stats").json()
    assert (before["total_proofs"], before["exact"]) == (3, True)
    assert before["proofs_by_type"] == {"pol": 1, "range": 1, "schnorr": 1}
    assert before["total_size_bytes"] == sum(len(rfc8785.dumps(document)) for _, document in documents)
    for proof_id in ids:
        client.get(f"{PROOFS}/{proof_id}/verify")
    after = client.get(f"{PROOFS}/stats").json()
    counts = ("total_verifications", "successful_verifications", "failed_verifications", "unevaluated_verifications")
    assert [after[key] - before[key] for key in counts] == [3, 2, 0, 1]
    assert (after["cache_hits"], after["cache_misses"], after["cache_hit_rate"]) == (0, 0, 0)


@pytest.mark.parametrize("proof_id", ["0" * 64, "0" * 63, "A" * 64, "550e8400-e29b-41d4-a716-446655440000", "%00", "é"])
def test_an_unknown_id_is_not_found(client, proof_id):
    for answer in (
        client.get(f"{PROOFS}/{proof_id}"),
        client.delete(f"{PROOFS}/{proof_id}"),
        client.get(f"{PROOFS}/{proof_id}/verify"),
    ):
        assert problem(answer) == (404, "proof_not_found")


def test_zero_knowledge_proofs_are_refused_if_they_are_off(serve, tmp_path):
    server = serve(skillSandbox={"allowZkProofs": False})
    client = server.client(server.token("t"))
    write(client)
    elsewhere = Elsewhere("mayros", tmp_path)
    assert problem(submit(client, "schnorr", elsewhere.zk("schnorr"))) == (403, "zk_disabled")
    assert submit(client, "pol", elsewhere.pol()).status_code == 201


def test_a_proof_is_kept_as_its_canonical_json(client, server, namespace, elsewhere):
    write(client)
    document = elsewhere.pol()
    shuffled = json.dumps({key: document[key] for key in reversed(document)}, indent=3)
    body = f'{{"proof_data": {shuffled}, "proof_type": "pol"}}'
    made = client.post(PROOFS, content=body, headers={"content-type": "application/json"}).json()
    stored = graph_of(server, namespace).proofs.get(made["id"])
    assert stored is not None
    assert stored.content.encode() == rfc8785.dumps(document)
