"""`/api/v1/assertions/verify-batch`: verify the proofs of assertions."""

from __future__ import annotations

import time
from typing import Any

from cortex_skills.doors.rest.model_types import NamespaceQuery
from cortex_skills.doors.rest.operations import ApiCall, Operations
from cortex_skills.features.graph.looking.statement_checks import verify
from cortex_skills.features.proofs.rest import proof_models as models
from cortex_skills.features.proofs.rest.proof_checks import checks_of
from cortex_skills.features.proofs.verdict import Verdict

_OUT_OF_TIME = "the time limit of a request for its proofs was used up"

OPERATIONS = Operations()


@OPERATIONS.add(
    "POST",
    "/api/v1/assertions/verify-batch",
    query=NamespaceQuery,
    body=models.AssertionsToVerify,
    errors=("graph_busy",),
    pool="slow",
)
def verify_assertions(call: ApiCall) -> models.VerifiedAssertions:
    """Verify the proofs of assertions."""
    deadline = time.monotonic() + call.service.plugin.config.skill_sandbox.proof_timeout_ms / 1000
    return {"results": [_assertion(call, given, deadline) for given in call.body["assertions"]]}


def _assertion(call: ApiCall, given: dict[str, Any], deadline: float) -> models.VerifiedAssertion:
    left_ms = round((deadline - time.monotonic()) * 1000)
    if left_ms <= 0:
        return {
            "subject": given["subject"],
            "predicate": given["predicate"],
            "verified": False,
            "verdict": "not checked",
            "found": None,
            "checks": [],
            "details": [_OUT_OF_TIME],
        }
    statements = call.operate(verify, **given, other_forms=False, limit_ms=left_ms).statements
    parts_of = [*statements.checked, *((triple, [part]) for triple, part in statements.withdrawn)]
    details = [] if statements.checked else ["there is no such statement"]
    if statements.withdrawn:
        details.append(f"{len(statements.withdrawn)} were withdrawn: see their presence")
    if statements.unchecked:
        details.append(f"{statements.unchecked} more were not checked: give an object")
    return {
        "subject": given["subject"],
        "predicate": given["predicate"],
        "verified": statements.verdict is Verdict.VERIFIED,
        "verdict": statements.verdict.value,
        "found": bool(statements.checked),
        "checks": [{**check, "tripleHash": triple["id"]} for triple, parts in parts_of for check in checks_of(parts)],
        "details": details,
    }
