"""Proofs as the TypeScript client of Mayros asks for them and reads them (`ProofResponse` of `cortex-client.ts`).

Rules kept here:
- what holds no proof is never answered as verified, and nothing of it is stored;
- the hash of a validation commits to the statements that were validated, and not to the verdict on them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

UnknownType = Literal["knowledge", "non-membership", "hash-opening"]
UNKNOWN_TYPES: tuple[UnknownType, ...] = get_args(UnknownType)

# The members of `SubmitProofRequest`, and what becomes of each; None for what is not kept.
REQUEST: dict[str, str | None] = {
    "proof_type": "type",
    "proof_data": "document",
    "subject": "subject",
    "predicate": "predicate",
    "metadata": None,  # submitter, tags, extra: a proof names its maker itself
}


@dataclass(frozen=True, slots=True)
class NoProof:
    """Why a request has no proof that can be verified here; `is_request` if it asks for one."""

    code: str
    reason: str
    is_request: bool = False


_ASKED = NoProof(
    "proof_not_found",
    "no proof of this type is stored for the subject and the predicate, and a request alone makes none: a skill makes "
    "proofs with the tools skill_assert and skill_request_zk_proof, and `proof_data` takes one that was made elsewhere",
    is_request=True,
)
_UNKNOWN_TYPE = NoProof(
    "proof_failed",
    "proofs of this type are not verified here, so that none is stored; the types that are: schnorr, equality, "
    "membership, range, pol, credential",
)
_UNKNOWN_FORM = NoProof(
    "proof_failed",
    "`proof_data` is none of the forms of a proof that are verified here, so that it is not stored; see docs/proofs.md",
)
_SCHEMES = ("schnorr", "equality", "membership", "range")
_POINTS = {"commitment", "challenge", "response"}  # at the top of a proof of `zk-schnorr.ts`; no kind of proof here


def no_proof_in(given: Mapping[str, Any]) -> NoProof | None:
    """Why a request holds no proof that can be verified here; None if it may hold one.

    >>> no_proof_in({"proof_type": "schnorr", "proof_data": {"type": "schnorr"}}).is_request
    True
    >>> no_proof_in({"proof_type": "knowledge", "proof_data": {"type": "Knowledge", "commitment": [1]}}).code
    'proof_failed'
    """
    proof_type, data = given["proof_type"], given.get("proof_data")
    if proof_type in UNKNOWN_TYPES:
        return _UNKNOWN_TYPE
    if data is None or data == {"type": proof_type}:
        return _ASKED
    is_of_client = "type" not in data and not given.keys().isdisjoint(("subject", "predicate", "metadata"))
    is_other = proof_type in _SCHEMES and (is_of_client or data.keys() >= _POINTS)
    return _UNKNOWN_FORM if is_other else None


def failed(given: Mapping[str, Any], problem: NoProof, now: str) -> dict[str, Any]:
    """The answer to a request for which there is no proof, with the members of `ProofResponse`."""
    return {
        "proof_type": given["proof_type"],
        "created_at": now,
        "status": "failed",
        "verified": False,
        "verified_at": None,
        "subject": given.get("subject"),
        "predicate": given.get("predicate"),
        "size_bytes": 0,
        "created": False,
        "checks": [],
        "reason": problem.reason,
        "code": problem.code,
    }


def hash_of(triple_ids: Iterable[str]) -> str:
    """The hash of a validation: the SHA-256 of the ids of its statements, in order, joined by line feeds.

    >>> hash_of(["a" * 64])[:12]
    'ffe054fe7ae0'
    """
    return hashlib.sha256("\n".join(triple_ids).encode()).hexdigest()
