"""`/api/v1/proofs/…/verify` and `/validate`: verify proofs, evaluate rules.

Rules kept here:
- nothing is written, and no proof is made: validating only evaluates the rules;
- what was not checked is `not checked`, and neither `valid` nor `verified`; what is well-formed is `valid`;
- the hash of a validation commits to its statements, so that a verification of it evaluates the rules again;
- an unknown id in a batch is reported beside the results of the others.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Literal, cast

from cortex_graph import NamespacedGraph
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.rest.model_types import NamespaceQuery
from cortex_skills.doors.rest.operations import ApiCall, Operations
from cortex_skills.features.proofs import proof_operations as proofs
from cortex_skills.features.proofs.dialects import mayros
from cortex_skills.features.proofs.evaluating import EvaluatedStatement, evaluate
from cortex_skills.features.proofs.proof_operations import now_text
from cortex_skills.features.proofs.rest import proof_models as models
from cortex_skills.features.proofs.rest.proof_checks import plain_triple, verification
from cortex_skills.features.proofs.verdict import Verdict

if TYPE_CHECKING:
    from cortex_skills.doors.rest.model_types import StoredTriple
    from cortex_skills.features.proofs.logic.evaluate import Evaluation
    from cortex_skills.features.proofs.logic.findings import RuleFinding


_PROOF_ID = re.compile("[0-9a-f]{64}")
OPERATIONS = Operations()


@OPERATIONS.add(
    "GET",
    "/api/v1/proofs/{id}/verify",
    query=models.VerifyQuery,
    errors=("proof_not_found", "graph_busy"),
    pool="slow",
)
def verify_proof(call: ApiCall) -> models.ProofVerification:
    """Verify a proof."""
    given = {"replay": call.query.get("replay", True), "nonce": call.query.get("nonce")}
    (found,) = call.operate(proofs.verify, proofs=[call.path["id"]], **given)
    if found is None:
        raise HttpError("proof_not_found", "the namespace has no proof with this id", hint="list them with GET")
    return verification(found)


@OPERATIONS.add(
    "POST",
    "/api/v1/proofs/verify/batch",
    query=NamespaceQuery,
    body=models.ProofIds,
    errors=("graph_busy",),
    pool="slow",
)
def verify_proofs(call: ApiCall) -> models.ProofVerifications:
    """Verify several proofs.

    They share the time limit of one; a proof that it does not suffice for is `not checked`.
    """
    ids = call.body["proof_ids"]
    found = call.operate(proofs.verify, proofs=ids)
    rows = [_unknown(i) if each is None else verification(each) for i, each in zip(ids, found, strict=True)]
    counts = Counter(Verdict(row["verdict"]) for row in rows)
    valid = counts[Verdict.VERIFIED] + counts[Verdict.WELL_FORMED]
    return {
        "total": len(rows),
        "valid_count": valid,
        "invalid_count": len(rows) - valid,
        "refuted_count": counts[Verdict.REFUTED],
        "well_formed_count": counts[Verdict.WELL_FORMED],
        "not_evaluated_count": counts[Verdict.NOT_CHECKED],
        "verifications": rows,
        "results": [{"id": row["proof_id"], "verified": row["verdict"] == "verified"} for row in rows],
    }


def _unknown(proof_id: str) -> models.ProofVerification:
    return {
        "proof_id": proof_id,
        "proof_type": None,
        "valid": False,
        "verdict": Verdict.NOT_CHECKED.value,
        "verified_at": now_text(),
        "verification_time_us": 0,
        "details": ["the namespace has no proof with this id"],
        "checks": [],
        "code": "proof_not_found",
    }


@OPERATIONS.add(
    "POST",
    "/api/v1/validate",
    query=NamespaceQuery,
    body=models.ToValidate,
    errors=("graph_busy",),
    pool="slow",
)
def validate_triples(call: ApiCall) -> models.RuleValidation:
    """Evaluate the rules on statements, which need not be in the graph.

    The core rules, and the shapes of the namespace. Nothing is written, and no proof is made.
    """
    given = call.body.get("triples") or call.body["statements"]
    found = call.operate(evaluate, statements=list(map(plain_triple, given)), rule_set=call.body.get("rule_set"))
    results = [_result(call.graph, each) for each in found.statements]
    verdict = Verdict.of_all(Verdict(result["verdict"]) for result in results)
    return {
        "valid": verdict.holds,
        "verdict": verdict.value,
        "results": results,
        "messages": [message for result in results for message in result["messages"]],
        "proof_hash": found.proof or (mayros.hash_of(_ids(results)) if verdict.holds else None),
    }


def _ids(results: list[models.ValidatedStatement]) -> list[str]:
    return [result["triple"]["id"] for result in results]


@OPERATIONS.add(
    "POST",
    "/api/v1/verify",
    query=NamespaceQuery,
    body=models.HashToVerify,
    errors=("proof_not_found", "graph_busy"),
    pool="slow",
)
def verify_hash(call: ApiCall) -> models.VerifiedHash:
    """Verify the hash of a validation.

    The id of a stored proof verifies that proof, which must be of the statements that are given. Any other hash commits
    to statements and to no verdict: these are needed, must have the hash, and are evaluated again.
    """
    given, wanted = call.body.get("statements"), call.body["proof_hash"]
    (stored,) = call.operate(proofs.verify, proofs=[wanted]) if _PROOF_ID.fullmatch(wanted) else (None,)
    if stored is not None:
        ids = {call.graph.index.identify(call.graph.quad_of(plain_triple(each))) for each in given or ()}
        is_of_them = ids <= set(stored.proof.proves)
        verdict = stored.verdict if is_of_them else Verdict.REFUTED
        steps = sum(check.verdict.holds for check in stored.checks)
        reason = "" if is_of_them else "the proof is of other statements"
        return _verified(wanted, verdict, steps, len(stored.proof.proves), reason)
    if given is None:
        hint = "send the `statements` that were validated: the hash of a validation is of these, and is not stored"
        raise HttpError("proof_not_found", "the namespace has no proof with this id", hint=hint)
    found = call.operate(evaluate, statements=list(map(plain_triple, given)))
    results = [_result(call.graph, each) for each in found.statements]
    if mayros.hash_of(_ids(results)) != wanted:
        return _verified(wanted, Verdict.REFUTED, 0, 0, "the hash is not that of these statements")
    verdict = Verdict.of_all(Verdict(result["verdict"]) for result in results)
    evaluations = [each.evaluation for each in found.statements if each.evaluation is not None]
    steps = sum(len(each.rule_sets) for each in evaluations if each.verdict.holds)
    return _verified(wanted, verdict, steps, len(results), "")


def _verified(wanted: str, verdict: Verdict, steps: int, statements: int, reason: str) -> models.VerifiedHash:
    details: models.HashDetails = {
        "proof_hash": wanted,
        "steps_verified": steps,
        "statements_covered": statements,
        "verified_at": now_text(),
    }
    answer: models.VerifiedHash = {"valid": verdict.holds, "verdict": verdict.value, "details": details}
    return {**answer, "reason": reason} if reason else answer


def _result(graph: NamespacedGraph, judged: EvaluatedStatement) -> models.ValidatedStatement:
    evaluation, verdict = judged.evaluation, judged.verdict
    if evaluation is None:
        messages: list[models.RuleMessage] = [{"level": "error", "message": judged.why_not, "rule": None}]
    else:
        messages = [
            {"level": _LEVELS[finding.severity.value], "message": finding.message, "rule": f"{name}#{finding.rule}"}
            for name, finding in _findings(evaluation)
        ]
    triple = cast("StoredTriple", graph.as_json(judged.quad))
    return {"triple": triple, "valid": verdict.holds, "verdict": verdict.value, "messages": messages}


def _findings(evaluation: Evaluation) -> list[tuple[str, RuleFinding]]:
    return [(result.rules.name, finding) for result in evaluation.rule_sets for finding in result.findings]


_LEVELS: dict[str, Literal["error", "warning", "info"]] = {"violation": "error", "warning": "warning", "info": "info"}
