"""Proofs that a namespace keeps: of which type they are, and what holds of them.

Rules kept here:
- a proof is held against each statement that it is kept with: one that is good and about another is refuted;
- a zero-knowledge proof may be of a statement that is yet to be asserted; a signature and a Proof of Logic may not.
"""

from __future__ import annotations

import json
from dataclasses import replace

from cortex_graph import NamespacedGraph
from cortex_graph.proofs import StoredProof
from cortex_skills.errors import CortexError
from cortex_skills.proofs.about import statement_of
from cortex_skills.proofs.kinds import Asked, check_proof
from cortex_skills.proofs.verdict import Check, Verdict

ZK_TYPES = ("schnorr", "equality", "membership", "range")
TYPES = (*ZK_TYPES, "pol", "credential")
_KINDS = frozenset({"zk", "pol", "credential"})


def type_of(kind: str, content: str) -> str:
    """The type of a proof: the scheme of a zero-knowledge proof, the kind of another."""
    if kind != "zk":
        return kind
    try:
        found = json.loads(content).get("proofType")
    except (ValueError, RecursionError, AttributeError):
        found = None
    return found if found in ZK_TYPES else kind


def check_kept(proof: StoredProof, graph: NamespacedGraph, asked: Asked) -> list[Check]:
    """What holds of a proof, held against each statement that it is kept with.

    Args:
        proof: as it is kept.
        graph: the namespace.
        asked: what it is checked against; its graph and triple are set here.

    Raises:
        CortexError: `cancelled`.

    """
    if proof.kind not in _KINDS:
        return check_proof(proof.kind, proof.content, replace(asked, graph=graph))
    checks = []
    for triple_id in proof.proves:
        quad = graph.index.find(triple_id)
        if quad is None and proof.kind != "zk":
            checks.append(_absent(triple_id))
        checks += check_proof(proof.kind, proof.content, replace(asked, graph=graph, triple=quad))
        if quad is None:
            checks += _check_about(proof, triple_id, graph)
    return checks


def _absent(triple_id: str) -> Check:
    why = (f"{triple_id} is not in the graph",)
    return Check("presence", Verdict.REFUTED, "the statement is in the graph", "that it is true", why)


def _check_about(proof: StoredProof, triple_id: str, graph: NamespacedGraph) -> list[Check]:
    """That a proof is about a statement which is not there to be compared."""
    try:
        found, _ = statement_of(proof.kind, proof.content, graph)
    except (ValueError, RecursionError, CortexError):
        return []  # what it is instead, the other checks say
    is_same = found == triple_id
    why = () if is_same else (f"it is about the statement {found}",)
    verdict = Verdict.VERIFIED if is_same else Verdict.REFUTED
    establishes = "the proof is about the statement that it is kept with"
    return [Check("about", verdict, establishes, "that it proves it: see the other parts", why)]
