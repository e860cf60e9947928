"""Proofs over `cortex://`: written with their assertions on another server, in one request, and checked from here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cortex_graph import NamespacedGraph, Pattern
from cortex_graph.stores.http.client import HttpClient
from cortex_skills import Config, Plugin
from cortex_skills.features.proofs.logic.verify import verify
from tests.configs import config
from tests.graph.cortex.support import ALL
from tests.plugin.skills import write_skill
from tests.server.proof_cases import PROOFS, Elsewhere, kept, write
from tests.server.serving import Running, served

PERMISSIONS = {"graph": ["read", "write"], "proofs": ["request", "verify"]}
SEALED = {"subject": "project:x", "predicate": "sealed", "object": "yes"}
# What is sealed has an owner, once.
SHAPES = """@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix : <urn:cortex:mayros:> .
:S a sh:NodeShape ; sh:targetSubjectsOf :sealed ;
    sh:property [ sh:path :sealed ; sh:maxCount 1 ] ; sh:property [ sh:path :owner ; sh:minCount 1 ] .
"""


@pytest.fixture
def far(tmp_path: Path) -> Iterator[Running]:
    """The instance that has the data."""
    with served(tmp_path / "far") as server:
        yield server


def near_config(
    far: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, permissions: tuple[str, ...] = ALL
) -> Config:
    monkeypatch.setenv("FAR_TOKEN", far.token(f"near-{'-'.join(permissions)}", ("mayros",), permissions))
    store = {"cortex": far.url, "auth": {"type": "bearer", "token": "${FAR_TOKEN}"}}
    patient = {"proofTimeoutMs": 60_000}  # shapes are asked in a process that has to start
    return config(store=store, proofs={"keys": str(tmp_path / "keys")}, skillSandbox=patient)


@pytest.fixture
def near(far: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Plugin]:
    """An instance whose store is the other."""
    with Plugin.open(near_config(far, tmp_path, monkeypatch), agent="a7") as plugin:
        files = {"shapes.ttl": SHAPES}
        folder = write_skill(
            tmp_path / "probe", "export default { name: 'probe' };", files=files, permissions=PERMISSIONS
        )
        plugin.load(folder)
        yield plugin


def everything(far: Running) -> set[str]:
    store = far.plugin.graph.store
    return {str(quad) for name in store.graph_names() for quad in store.quads(Pattern(name))}


def owned(graph: NamespacedGraph) -> str:
    premise: str = graph.create_triple({"subject": "project:x", "predicate": "owner", "object": "ann"})["id"]
    return premise


def test_an_assertion_that_needs_a_proof_is_written_with_it_on_the_other_side(far: Running, near: Plugin) -> None:
    premise = owned(far.plugin.graph)
    made = near.call("skill_assert", SEALED)
    assert not made.is_error, made.text
    assert (made.details["created"], made.details["verified"]) == (True, True)
    proof = far.plugin.graph.proofs.get(made.details["proofHash"])
    assert proof is not None
    assert (proof.proves, proof.premises, len(proof.rules)) == ((made.details["tripleHash"],), (premise,), 1)
    assert far.plugin.graph.proofs.rules(proof.rules[0]) == SHAPES
    assert far.plugin.graph.proofs_of(proof.proves[0]) == [far.plugin.graph.proofs.iri(proof.id).value]
    record = far.plugin.graph.provenance_of(proof.proves[0])
    assert record is not None
    assert (record["agent"], record["skill"]) == ("a7", "probe")
    verified = near.call("skill_verify_assertion", SEALED)
    assert verified.details["verdict"] == "verified", verified.text


def test_the_other_side_verifies_it(far: Running, near: Plugin) -> None:
    owned(far.plugin.graph)
    proof_id = near.call("skill_assert", SEALED).details["proofHash"]
    client = far.client(far.token("reader", ("mayros",), ("read",)))
    proof = far.plugin.graph.proofs.get(proof_id)
    assert proof is not None
    checks = verify(proof, far.plugin.graph, timeout_s=60)
    assert {check.part: check.verdict.value for check in checks} == dict.fromkeys(
        ("signature", "statement", "premises", "logic"), "verified"
    )
    listed = client.get("/api/v1/proofs").json()["proofs"]
    assert [(each["id"], each["proof_type"]) for each in listed] == [(proof_id, "pol")]


def test_asserting_again_keeps_the_proof_and_deleting_takes_it_along(far: Running, near: Plugin) -> None:
    owned(far.plugin.graph)
    first = near.call("skill_assert", SEALED).details
    before = everything(far)
    again = near.call("skill_assert", SEALED).details
    assert (again["created"], again["proofHash"]) == (False, first["proofHash"])
    assert everything(far) == before
    assert near.graph.delete_triple(first["tripleHash"])
    assert far.plugin.graph.proofs.get(first["proofHash"]) is None
    assert far.plugin.graph.get_triple(first["tripleHash"]) is None


def test_what_the_rules_refuse_writes_nothing_on_the_other_side(far: Running, near: Plugin) -> None:
    before = everything(far)
    refused = near.call("skill_assert", SEALED)  # it has no owner
    assert refused.code == "proof_failed"
    assert everything(far) == before


def test_a_token_that_may_not_write_records_gets_a_clear_refusal_and_writes_nothing(
    far: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owned(far.plugin.graph)
    before = everything(far)
    with Plugin.open(near_config(far, tmp_path, monkeypatch, ("read", "write"))) as near:
        near.load(write_skill(tmp_path / "probe", "export default { name: 'probe' };", permissions=PERMISSIONS))
        refused = near.call("skill_assert", SEALED)
    assert refused.code == "graph_unavailable"
    assert "403" in refused.text
    assert "provenance" in refused.text
    assert everything(far) == before


def test_it_is_one_request(far: Running, near: Plugin, monkeypatch: pytest.MonkeyPatch) -> None:
    """So it is one transaction there: all of it, or nothing."""
    owned(far.plugin.graph)
    asked: list[tuple[str, str]] = []
    send = HttpClient.send

    def recorded(self: HttpClient, method: str, url: str, **settings: Any) -> Any:
        if settings.get("writes"):
            asked.append((method, url.partition("?")[0].removeprefix(f"{far.url}/api/v1/")))
        return send(self, method, url, **settings)

    monkeypatch.setattr(HttpClient, "send", recorded)
    assert near.call("skill_assert", SEALED).details["created"] is True
    assert asked == [("POST", "changes")]


def test_a_server_whose_store_is_another_one_imports_proofs_for_it(
    far: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = near_config(far, tmp_path, monkeypatch).store
    with served(tmp_path, store=store) as middle:
        client = middle.client(middle.token("t", permissions=("read", "write", "provenance")))
        triple_id, elsewhere = write(client), Elsewhere("mayros", tmp_path)
        ids = {kind: kept(client, kind, elsewhere.proof(kind)) for kind in ("pol", "credential", "schnorr")}
        listed = client.get(PROOFS).json()["proofs"]
        assert {(each["proof_type"], each["id"]) for each in listed} == set(ids.items())
        assert client.get(f"{PROOFS}/stats").json()["total_proofs"] == 3
        verdicts = {kind: client.get(f"{PROOFS}/{each}/verify").json()["verdict"] for kind, each in ids.items()}
        assert verdicts == {"pol": "well-formed", "credential": "verified", "schnorr": "verified"}
        for proof_id in ids.values():
            assert far.plugin.graph.proofs.iri(proof_id).value in far.plugin.graph.proofs_of(triple_id)
        assert client.delete(f"{PROOFS}/{ids['pol']}").status_code == 200
        assert far.plugin.graph.proofs.get(ids["pol"]) is None
        assert len(far.plugin.graph.proofs_of(triple_id)) == 2
        assert client.delete(f"/api/v1/triples/{triple_id}?erase=true").status_code == 204
        assert far.plugin.graph.proofs.count() == 0
