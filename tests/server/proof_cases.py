"""Proofs of each kind about a statement of a served namespace, made as their holders would, far from the server."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from pyoxigraph import Quad

from cortex_graph import NamespacedGraph, Provenance, open_store
from cortex_skills import Config
from cortex_skills.features.proofs.logic.prover import Prover
from cortex_skills.features.proofs.signing import TripleClaim, issue
from cortex_skills.features.proofs.zk import (
    Commitment,
    EqualityClaim,
    KeyClaim,
    KeySecret,
    MembershipClaim,
    Opening,
    RangeClaim,
    ZkProof,
    ZkStatement,
    prove,
)
from cortex_skills.features.proofs.zk.statement import moment_text
from cortex_skills.keys import Key
from cortex_skills.skill_folder.rule_set import RuleSet
from tests.server.serving import Running

TRIPLE = {"subject": "alice", "predicate": "isVerified", "object": True}
ISSUER, HOLDER = Key("issuer", b"\1" * 32), Key("holder", b"\3" * 32)
PROOFS = "/api/v1/proofs"
ZK = ("schnorr", "equality", "membership", "range")
KINDS = (*ZK, "pol", "credential")


def _patient(keys: Path) -> Config:
    """Shapes are asked in a process that has to start."""
    return Config(proofs={"keys": str(keys)}, skill_sandbox={"proofTimeoutMs": 60_000})


class Elsewhere:
    """A graph of the same namespace on another machine, in which proofs are made.

    Args:
        namespace: the namespace.
        folder: where its key is kept.

    """

    def __init__(self, namespace: str, folder: Path) -> None:
        self.graph = NamespacedGraph(open_store("memory:"), namespace)
        self._prover = Prover(_patient(folder / "keys"), self.graph)
        self.quad: Quad = self.graph.quad_of(TRIPLE)

    def pol(self, triple: dict[str, Any] | None = None, rules: RuleSet | None = None) -> dict[str, Any]:
        """A Proof of Logic."""
        proved = self._prover.assert_proved(triple or TRIPLE, Provenance("kyc", "1.0.0", "a1"), rules)
        kept = self.graph.proofs.get(proved.proof)
        assert kept is not None
        document: dict[str, Any] = json.loads(kept.content)
        return document

    def credential(self, triple: dict[str, Any] | None = None) -> dict[str, Any]:
        """A verifiable credential of a statement."""
        quad = self.graph.quad_of(triple or TRIPLE)
        record = self.graph.names.record(self.graph.index.identify(quad))
        return issue(TripleClaim(quad, record), ISSUER, datetime.now(UTC))

    def statement(self, nonce: str = "", lifetime: timedelta = timedelta(days=1)) -> ZkStatement:
        """What zero-knowledge proofs are bound to."""
        expires = moment_text(datetime.now(UTC) + lifetime)
        return ZkStatement(self.graph.namespace, f"{self.quad} .", "kyc", "1.0.0", nonce, expires)

    def zk(self, scheme: str, **statement: Any) -> dict[str, Any]:
        """A zero-knowledge proof."""
        return self.proved(scheme, **statement).to_json()

    def proved(self, scheme: str, **statement: Any) -> ZkProof:
        """A zero-knowledge proof, as it was made."""
        said = self.statement(**statement)
        if scheme == "schnorr":
            secret = KeySecret.of(HOLDER)
            return prove(KeyClaim(secret.public), said, secret)
        year, again, country = Opening(1990), Opening(1990), Opening("DE")
        if scheme == "equality":
            return prove(EqualityClaim(self.in_graph(year, "year"), self.in_graph(again, "born")), said, [year, again])
        if scheme == "membership":
            return prove(MembershipClaim(self.in_graph(country, "country"), ("AT", "DE")), said, [country])
        return prove(RangeClaim(self.in_graph(year, "year"), 1985, 1996), said, [year])

    def in_graph(self, opening: Opening, predicate: str) -> Commitment:
        """The commitment of a triple in the graph."""
        node = self.graph.names.node
        return Commitment(node("alice", "subject").value, node(predicate, "predicate").value, opening.point)

    def proof(self, kind: str) -> dict[str, Any]:
        """A proof of a type."""
        if kind in ZK:
            return self.zk(kind)
        return self.pol() if kind == "pol" else self.credential()


def write(client: httpx.Client, **triple: Any) -> str:
    """Write the statement; its id."""
    made = client.post("/api/v1/triples", json={**TRIPLE, **triple})
    assert made.status_code in (200, 201)
    triple_id: str = made.json()["id"]
    return triple_id


def submit(client: httpx.Client, kind: str, document: dict[str, Any], **more: Any) -> httpx.Response:
    """Hand a proof in."""
    return client.post(PROOFS, json={"proof_type": kind, "proof_data": document, **more})


def kept(client: httpx.Client, kind: str, document: dict[str, Any], **more: Any) -> str:
    """Hand a proof in that is kept; its id."""
    answer = submit(client, kind, document, **more)
    assert answer.status_code == 201, answer.text
    proof_id: str = answer.json()["id"]
    return proof_id


def problem(answer: httpx.Response) -> tuple[int, str]:
    """The status and the code of an error."""
    return answer.status_code, answer.json()["code"]


def graph_of(server: Running, namespace: str) -> NamespacedGraph:
    """The graph behind a served namespace."""
    return NamespacedGraph(server.plugin.graph.store, namespace)
