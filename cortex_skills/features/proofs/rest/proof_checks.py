"""The JSON of what was verified, and what statements are checked against.

Rules kept here:
- `valid` is true of what is `verified` or `well-formed`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, cast

from cortex_skills.doors.rest.operations import ApiCall
from cortex_skills.features.proofs.assertions import Part
from cortex_skills.features.proofs.kinds import CheckContext, type_of
from cortex_skills.features.proofs.proof_operations import CheckedProof, now_text
from cortex_skills.features.proofs.rest.proof_models import ProofCheck, ProofVerification
from cortex_skills.features.proofs.verdict import Check


def asked_of(call: ApiCall) -> CheckContext:
    """What the proofs of a request about statements are checked against; their time limit begins now."""
    config = call.service.plugin.config
    deadline = time.monotonic() + config.skill_sandbox.proof_timeout_ms / 1000
    return CheckContext(datetime.now(UTC), config, call.graph, deadline=deadline)


def verification(result: CheckedProof) -> ProofVerification:
    """The JSON of a verification."""
    proof = result.proof
    return {
        "proof_id": proof.id,
        "proof_type": type_of(proof.kind, proof.content),
        "valid": result.verdict.holds,
        "verdict": result.verdict.value,
        "verified_at": result.at or now_text(),
        "verification_time_us": result.took_us,
        "details": list(map(_line, result.checks)),
        "checks": checks_of(result.checks),
    }


def checks_of(checks: Iterable[Check | Part]) -> list[ProofCheck]:
    """The JSON of checks."""
    return [cast("ProofCheck", check.to_json()) for check in checks]


def _line(check: Check) -> str:
    """A check as one line of text."""
    why = "; ".join(check.reasons) or f"{check.establishes}; not {check.does_not_establish}"
    return f"{check.part}: {check.verdict.value}. {why}"


def plain_triple(given: Mapping[str, Any]) -> dict[str, Any]:
    """The three parts of a triple."""
    return {part: given[part] for part in ("subject", "predicate", "object")}
