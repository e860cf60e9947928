"""How the operations about proofs verify them: one time limit for a request, and one form of the result.

Rules kept here:
- all proofs of a request share one time limit (`skillSandbox.proofTimeoutMs`); a proof that it does not suffice for is
  `not checked`;
- `valid` is true of what is `verified` or `well-formed`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cortex_graph.datetimes import date_time, to_milliseconds
from cortex_graph.proofs import StoredProof
from cortex_graph.short_ids import full_proof_id
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.rest.operations import ApiCall
from cortex_skills.features.proofs.kinds import CheckContext, check_stored, type_of
from cortex_skills.features.proofs.verdict import Check, Verdict
from cortex_skills.features.proofs.verification_counts import counts_of

_HEX = frozenset("0123456789abcdef")


def asked_of(call: ApiCall) -> CheckContext:
    """What the proofs of a request are checked against; their time limit begins now."""
    config = call.service.plugin.config
    return CheckContext(
        datetime.now(UTC),
        config,
        call.graph,
        replay=call.query.get("replay", True),
        nonce=call.query.get("nonce"),
        deadline=time.monotonic() + config.skill_sandbox.proof_timeout_ms / 1000,
    )


@dataclass(frozen=True, slots=True)
class CheckedProof:
    """The result of verifying a proof.

    Attributes:
        verdict: of all checks together.
        checks: the single checks.
        at: the time.
        took_us: the duration in microseconds.
    """

    verdict: Verdict
    checks: Sequence[Check]
    at: str
    took_us: int


def checked(proof: StoredProof, call: ApiCall, asked: CheckContext) -> CheckedProof:
    """Verify a stored proof, and count the verdict."""
    began = time.perf_counter()
    checks = check_stored(proof, call.graph, asked)
    verdict = Verdict.of_all(check.verdict for check in checks)
    call.host.shared(counts_of).add(call.graph.namespace, verdict)
    return CheckedProof(verdict, checks, now_text(), round((time.perf_counter() - began) * 1e6))


def find(call: ApiCall, proof_id: str) -> StoredProof | None:
    """The proof with an id, or its beginning, in the namespace of the call."""
    proof_id = full_proof_id(call.graph, proof_id)
    is_id = len(proof_id) == 64 and set(proof_id) <= _HEX
    return call.graph.proofs.get(proof_id) if is_id else None


def proof_in_path(call: ApiCall) -> StoredProof:
    """The proof in the path of a call.

    Raises:
        HttpError: `proof_not_found`.
    """
    proof = find(call, call.path["id"])
    if proof is None:
        raise HttpError("proof_not_found", "the namespace has no proof with this id", hint="list them with GET")
    return proof


def verification(proof: StoredProof, result: CheckedProof) -> dict[str, Any]:
    """The JSON of a verification."""
    return {
        "proof_id": proof.id,
        "proof_type": type_of(proof.kind, proof.content),
        "valid": result.verdict.holds,
        "verdict": result.verdict.value,
        "verified_at": result.at,
        "verification_time_us": result.took_us,
        "details": list(map(_line, result.checks)),
        "checks": [check.to_json() for check in result.checks],
    }


def _line(check: Check) -> str:
    """A check as one line of text."""
    why = "; ".join(check.reasons) or f"{check.establishes}; not {check.does_not_establish}"
    return f"{check.part}: {check.verdict.value}. {why}"


def plain_triple(given: Mapping[str, Any]) -> dict[str, Any]:
    """The three parts of a triple."""
    return {part: given[part] for part in ("subject", "predicate", "object")}


def now_text() -> str:
    """The current time as in answers."""
    return date_time(to_milliseconds(datetime.now(UTC)))
