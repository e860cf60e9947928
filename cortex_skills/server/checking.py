"""What the operations about proofs check proofs with: one time for all of a request, and one form of an answer.

Rules kept here:
- all proofs of a request share the time that one may take (`skillSandbox.proofTimeoutMs`). What it did not suffice for
  is `not_evaluated`, and says so;
- an answer says `valid` only of what is `verified`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cortex_graph.moments import date_time, to_milliseconds
from cortex_graph.proofs import StoredProof
from cortex_skills.proofs.kept import check_kept, type_of
from cortex_skills.proofs.kinds import Asked
from cortex_skills.proofs.verdict import Check, Verdict
from cortex_skills.server.errors import HttpError
from cortex_skills.server.operations import Call

_HEX = frozenset("0123456789abcdef")


def asked_of(call: Call) -> Asked:
    """What the proofs of a request are checked against: by its namespace, within one time, from now on."""
    config = call.service.plugin.config
    return Asked(
        datetime.now(UTC),
        config,
        call.graph,
        replay=call.query.get("replay", True),
        nonce=call.query.get("nonce"),
        deadline=time.monotonic() + config.skill_sandbox.proof_timeout_ms / 1000,
    )


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of checking a proof.

    Attributes:
        verdict: of the whole.
        checks: its parts.
        at: when it was checked.
        took_us: how long that took, in microseconds.

    """

    verdict: Verdict
    checks: Sequence[Check]
    at: str
    took_us: int


def checked(proof: StoredProof, call: Call, asked: Asked) -> Checked:
    """Check a proof that is kept, and count the verdict."""
    began = time.perf_counter()
    checks = check_kept(proof, call.graph, asked)
    verdict = Verdict.of_all(check.verdict for check in checks)
    call.service.tallies.add(call.graph.namespace, verdict)
    return Checked(verdict, checks, now_text(), round((time.perf_counter() - began) * 1e6))


def find(call: Call, proof_id: str) -> StoredProof | None:
    """The proof of an id, in the namespace that the call is about."""
    is_id = len(proof_id) == 64 and set(proof_id) <= _HEX
    return call.graph.proofs.get(proof_id) if is_id else None


def found(call: Call) -> StoredProof:
    """The proof that the path names.

    Raises:
        HttpError: `proof_not_found`.

    """
    proof = find(call, call.path["id"])
    if proof is None:
        raise HttpError("proof_not_found", "the namespace has no proof of this id", hint="list them with GET")
    return proof


def verification(proof: StoredProof, result: Checked) -> dict[str, Any]:
    """A verification as it is answered."""
    return {
        "proof_id": proof.id,
        "proof_type": type_of(proof.kind, proof.content),
        "valid": result.verdict is Verdict.VERIFIED,
        "verdict": result.verdict.value,
        "verified_at": result.at,
        "verification_time_us": result.took_us,
        "details": list(map(told, result.checks)),
        "checks": [check.to_json() for check in result.checks],
    }


def told(check: Check) -> str:
    """A check in a line."""
    why = "; ".join(check.reasons) or f"{check.establishes}; not {check.does_not_establish}"
    return f"{check.part}: {check.verdict.value}. {why}"


def plain_triple(given: Mapping[str, Any]) -> dict[str, Any]:
    """The three parts of a triple."""
    return {part: given[part] for part in ("subject", "predicate", "object")}


def now_text() -> str:
    """The time, as answers have it."""
    return date_time(to_milliseconds(datetime.now(UTC)))
