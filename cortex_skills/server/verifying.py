"""`/api/v1/proofs/…/verify`, `/validate` and `/assertions/verify-batch`: what holds of proofs and of statements.

Rules kept here:
- nothing is written, and no proof is made: to validate is to ask the rules;
- what was not checked is `not_evaluated`, and neither `valid` nor `verified`;
- a batch has one to so many members. A member that is unknown is told of, beside the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cortex_graph import NamespacedGraph
from cortex_skills.errors import CortexError
from cortex_skills.proofs.assertions import check_statements
from cortex_skills.proofs.kinds import Asked
from cortex_skills.proofs.verdict import Verdict
from cortex_skills.server.checking import asked_of, checked, find, found, now_text, plain_triple, verification
from cortex_skills.server.errors import HttpError
from cortex_skills.server.operations import Answer, Call, Operation

if TYPE_CHECKING:
    from pyoxigraph import Quad

    from cortex_skills.proofs.logic.findings import Finding
    from cortex_skills.proofs.logic.judging import Judgement
    from cortex_skills.proofs.logic.rules import RuleSet

_CORE = "core"
_OVER = "the time that a request has for its proofs was used up"


def _verify(call: Call) -> Answer:
    proof = found(call)
    return Answer(200, verification(proof, checked(proof, call, asked_of(call))))


def _verify_batch(call: Call) -> Answer:
    asked = asked_of(call)
    done = {proof_id: _verified(call, proof_id, asked) for proof_id in dict.fromkeys(call.body["proof_ids"])}
    rows = [done[proof_id] for proof_id in call.body["proof_ids"]]
    valid, refuted = (sum(row["verdict"] == verdict for row in rows) for verdict in ("verified", "refuted"))
    document = {
        "total": len(rows),
        "valid_count": valid,
        "invalid_count": len(rows) - valid,
        "refuted_count": refuted,
        "not_evaluated_count": len(rows) - valid - refuted,
        "verifications": rows,
        "results": [{"id": row["proof_id"], "verified": row["valid"]} for row in rows],
    }
    return Answer(200, document)


def _verified(call: Call, proof_id: str, asked: Asked) -> dict[str, Any]:
    proof = find(call, proof_id)
    if proof is not None:
        return verification(proof, checked(proof, call, asked))
    return {
        "proof_id": proof_id,
        "proof_type": None,
        "valid": False,
        "verdict": Verdict.NOT_EVALUATED.value,
        "verified_at": now_text(),
        "verification_time_us": 0,
        "details": ["the namespace has no proof of this id"],
        "checks": [],
        "code": "proof_not_found",
    }


def _validate(call: Call) -> Answer:
    given = call.body.get("triples") or call.body["statements"]
    graph, asked = call.graph, asked_of(call)
    quads = [graph.quad_of(plain_triple(each)) for each in given]
    sets = _rule_sets(call)
    results, judgements = [], []
    for quad in quads:
        judgement, why_not = _judged(call, quad, sets, asked)
        judgements.append(judgement)
        results.append(_result(graph, quad, judgement, why_not))
    verdict = Verdict.of_all(Verdict(result["verdict"]) for result in results)
    document = {
        "valid": verdict is Verdict.VERIFIED,
        "verdict": verdict.value,
        "results": results,
        "messages": [message for result in results for message in result["messages"]],
        "proof_hash": _proof_of(graph, quads, judgements) if verdict is Verdict.VERIFIED else None,
    }
    return Answer(200, document)


def _rule_sets(call: Call) -> list[RuleSet]:
    """The shapes to ask, beside the core rules.

    Raises:
        HttpError: `invalid_arguments`: there is no rule set of the name that was given.

    """
    own = call.service.prover(call.graph).namespace_rules
    known: dict[str, list[RuleSet]] = {_CORE: []} | ({} if own is None else {own.name: [own]})
    name = call.body.get("rule_set")
    if name is None:
        return [] if own is None else [own]
    if name not in known:
        hint = f"there is {', '.join(known)}; leave it out for all"
        details = {"field": "rule_set"}
        raise HttpError("invalid_arguments", "there is no rule set of this name", hint=hint, details=details)
    return known[name]


def _judged(call: Call, quad: Quad, sets: list[RuleSet], asked: Asked) -> tuple[Judgement | None, str]:
    """What the rules say of a statement; else why nobody can ask them."""
    from cortex_skills.proofs.logic.judging import judge

    if not call.service.prover(call.graph).is_on:
        return None, "verification.polValidation is off: no rules are asked"
    if not asked.limit_ms:
        return None, _OVER
    try:
        return judge(quad, call.graph, sets, timeout_s=asked.limit_ms / 1000), ""
    except CortexError as error:
        if error.code not in ("proof_timeout", "proof_failed"):
            raise
        return None, error.message


def _result(graph: NamespacedGraph, quad: Quad, judgement: Judgement | None, why_not: str) -> dict[str, Any]:
    verdict = Verdict.NOT_EVALUATED if judgement is None else judgement.verdict
    if judgement is None:
        messages = [{"level": "error", "message": why_not, "rule": None}]
    else:
        messages = [
            {"level": _LEVELS[finding.severity.value], "message": finding.message, "rule": f"{name}#{finding.rule}"}
            for name, finding in _findings(judgement)
        ]
    triple = graph.as_json(quad)
    return {"triple": triple, "valid": verdict is Verdict.VERIFIED, "verdict": verdict.value, "messages": messages}


def _findings(judgement: Judgement) -> list[tuple[str, Finding]]:
    return [(ruling.rules.name, finding) for ruling in judgement.rulings for finding in ruling.findings]


_LEVELS = {"violation": "error", "warning": "warning", "info": "info"}


def _proof_of(graph: NamespacedGraph, quads: list[Quad], judgements: list[Judgement | None]) -> str | None:
    """The id of a Proof of Logic that is kept of the one statement, and says what the rules say now."""
    from cortex_skills.proofs.logic.document import KIND
    from cortex_skills.proofs.logic.verifying import still_holds

    judgement = judgements[0]
    if len(quads) != 1 or judgement is None or not graph.store.contains(quads[0]):
        return None
    proofs = graph.proofs.of(graph.index.identify(quads[0]), KIND)
    return next((proof.id for proof in proofs if still_holds(proof, quads[0], judgement)), None)


def _verify_assertions(call: Call) -> Answer:
    asked = asked_of(call)
    return Answer(200, {"results": [_assertion(call, given, asked) for given in call.body["assertions"]]})


def _assertion(call: Call, given: dict[str, Any], asked: Asked) -> dict[str, Any]:
    said = {"subject": given["subject"], "predicate": given["predicate"]}
    if not asked.limit_ms:
        why = _OVER
        return said | {"verified": False, "verdict": "not_evaluated", "found": None, "checks": [], "details": [why]}
    statements = check_statements(call.graph, given, asked)
    verdict = statements.verdict
    checks = [{**part.to_json(), "tripleHash": triple["id"]} for triple, parts in statements.checked for part in parts]
    details = [] if statements.checked else ["there is no such statement"]
    if statements.unchecked:
        details.append(f"{statements.unchecked} more were not looked at: give an object")
    found_any = bool(statements.checked)
    answer = {"verified": verdict is Verdict.VERIFIED, "verdict": verdict.value, "found": found_any}
    return said | answer | {"checks": checks, "details": details}


OPERATIONS = (
    Operation(
        "POST",
        "/api/v1/proofs/verify/batch",
        "verifyProofs",
        "Verify several proofs.",
        _verify_batch,
        {200: "Verifications"},
        query="NamespaceQuery",
        body="ProofIds",
        errors=("graph_busy",),
        lane="slow",
        description="All of them within the time that one may take; what it does not suffice for is `not_evaluated`.",
    ),
    Operation(
        "GET",
        "/api/v1/proofs/{id}/verify",
        "verifyProof",
        "Verify a proof.",
        _verify,
        {200: "Verification"},
        query="VerifyQuery",
        errors=("proof_not_found", "graph_busy"),
        lane="slow",
    ),
    Operation(
        "POST",
        "/api/v1/validate",
        "validateTriples",
        "Ask the rules what they say of some statements, which need not be there.",
        _validate,
        {200: "Validation"},
        query="NamespaceQuery",
        body="ToValidate",
        errors=("graph_busy",),
        lane="slow",
        description=(
            "The core rules, and the shapes of the namespace. Nothing is written: `proof_hash` names a proof that was "
            "kept before."
        ),
    ),
    Operation(
        "POST",
        "/api/v1/assertions/verify-batch",
        "verifyAssertions",
        "Say what holds of what some assertions carry.",
        _verify_assertions,
        {200: "VerifiedAssertions"},
        query="NamespaceQuery",
        body="AssertionsToVerify",
        errors=("graph_busy",),
        lane="slow",
    ),
)
