"""`skill_assert`: write one statement, or several together, to the namespace, with a record of who asserted them.

Rules kept here:
- only declared predicates may be asserted; a statement that needs a proof is not written without one, and neither a
  caller nor another skill can switch that off;
- a required proof applies the rules of every active skill that requires it, beside those of the acting skill;
- the statements, their provenance and their proofs are written together or not at all; when the rules refuse one of
  them, nothing is written, and the error has the problem of each that was refused;
- repeating an assertion is not an error: `created` is false, the hash is the same, and no slot is used or needed,
  unless a proof was added. Each other statement uses a slot, also one of several.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cortex_graph import GraphError, NamespacedGraph, Provenance
from cortex_skills.errors import CortexError, as_ours
from cortex_skills.features.graph.tools.given_terms import as_written
from cortex_skills.features.graph.tools.triple_text import line_of
from cortex_skills.features.proofs.proving import prover_of
from cortex_skills.features.proofs.verdict import Verdict
from cortex_skills.policy.permissions import check_may_assert, check_permissions, needs_proof
from cortex_skills.tools.answer_sizes import LENGTH, LONGEST_PAGE, size_of, with_short_object
from cortex_skills.tools.base import BUDGET, NAME, TRIPLE, VALUE, Call, Outcome, Tool

if TYPE_CHECKING:
    from cortex_skills.features.proofs.logic.prover import Stated
    from cortex_skills.skill_folder.rule_set import RuleSet

MOST = 100
_PARTS = ("subject", "predicate", "object")
_CORE_ONLY = " (no rules of a skill or of the namespace applied)"
_MOST_NAMED = 5  # problems in the text of an error; the details have all
_MOST_OF_PROBLEM = 200  # characters

_STATEMENT: dict[str, Any] = {
    "subject": {**NAME, "description": "The thing that the statement is about."},
    "predicate": {**NAME, "description": "One of the predicates that the skill declares."},
    "object": {
        **VALUE,
        "description": 'A value, another thing {"node": "name"}, or {"value", "datatype" or "language"}.',
    },
    "requireProof": {"type": "boolean", "description": "Write nothing unless it can be proved."},
    "proofType": {"enum": ["pol"], "description": "The kind of proof."},
}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        **_STATEMENT,
        "statements": {
            "type": "array",
            "minItems": 1,
            "maxItems": MOST,
            "items": {
                "type": "object",
                "properties": {
                    name: {k: v for k, v in rule.items() if k != "description"} for name, rule in _STATEMENT.items()
                },
                "required": list(_PARTS),
                "additionalProperties": False,
            },
            "description": "Several statements instead of one, all written or none.",
        },
    },
    "additionalProperties": False,
}

_ONE: dict[str, Any] = {
    **TRIPLE["properties"],
    "objectLength": LENGTH,
    "tripleHash": {"type": "string"},
    "proofHash": {"type": "string", "description": "The id of the proof, when one was required."},
    "verified": {"type": "boolean", "description": "Whether the verdict is `verified`."},
    "verdict": {
        "enum": [Verdict.VERIFIED.value, Verdict.WELL_FORMED.value, Verdict.NOT_CHECKED.value],
        "description": "`well-formed`: only the core rules applied, and nothing checked the meaning.",
    },
    "created": {"type": "boolean", "description": "Whether the statement is new."},
}
_ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {
        **_ONE,
        "statements": {
            "type": "array",
            "items": {"type": "object", "required": ["tripleHash", "verified", "created"]},
            "description": "These fields of each of several statements; of very long ones no triples.",
        },
        "createdCount": {"type": "integer", "description": "How many of several are new."},
        "budget": BUDGET,
    },
}


def _run(call: Call) -> Outcome:
    given = call.arguments.get("statements")
    if given is not None:
        return _run_all(call, given)
    triple, provenance, needs = _checked(call, call.arguments)
    if not needs:
        return _answered(call.host.graph, call.host.graph.create_triple(triple, provenance=provenance))
    others = _rules_of_others(call, triple["predicate"])
    proved = call.host.part(prover_of).assert_proved(triple, provenance, call.skill.rules, call.cancel, others=others)
    graph = call.host.graph
    return _answered(graph, proved.triple, proved.proof, proved.verdict, added=proved.added)


def _run_all(call: Call, given: Sequence[Mapping[str, Any]]) -> Outcome:
    from cortex_skills.features.proofs.logic.prover import RefusedStatementsError

    statements: list[Stated] = []
    problems: dict[int, CortexError] = {}
    for place, each in enumerate(given):
        try:
            statements.append(_stated(call, each))
        except (CortexError, GraphError) as error:
            problems[place] = as_ours("skill_assert", error)
    if problems:
        raise _refused(problems, len(given))
    provenance = _provenance(call)
    if any(each.needs_proof for each in statements):
        try:
            proved = call.host.part(prover_of).assert_all(statements, provenance, call.skill.rules, call.cancel)
        except RefusedStatementsError as error:
            raise _refused(error.problems, len(given)) from None
        graph = call.host.graph
        written = [_answered(graph, each.triple, each.proof, each.verdict, added=each.added) for each in proved]
    else:
        rows = call.host.graph.create_triples([each.triple for each in statements], provenance)
        written = [_answered(call.host.graph, row) for row in rows]
    new = sum(each.details["created"] for each in written)
    lines = [f"Asserted {new} of {len(written)} statements; {len(written) - new} were there already:"]
    answers = [each.details for each in written]
    if sum(map(size_of, answers)) + 100 * len(answers) > LONGEST_PAGE:  # with the hash in the text, and a proof
        answers = [
            {name: value for name, value in each.items() if name not in (*_PARTS, "objectLength")} for each in answers
        ]
        lines += ["(in the order of the call, without the triples, which are too long for an answer)"]
        lines += [f"{number}. hash {each['tripleHash']}" for number, each in enumerate(answers, 1)]
    else:
        lines += [
            f"{number}. {line_of(each, call.host.graph)} hash {each['tripleHash']}"
            for number, each in enumerate(answers, 1)
        ]
    return Outcome("\n".join(lines), {"statements": answers, "createdCount": new}, spent=sum(w.spent for w in written))


def _stated(call: Call, given: Mapping[str, Any]) -> Stated:
    """One of several statements, when the skill may assert it."""
    from cortex_skills.features.proofs.logic.prover import Stated

    triple, _, needs = _checked(call, {**_for_all(call), **given})
    call.host.graph.quad_of(triple)
    return Stated(triple, needs, _rules_of_others(call, triple["predicate"]) if needs else ())


def _for_all(call: Call) -> dict[str, Any]:
    """What the call requires of each of its statements: one of them cannot switch it off."""
    return {"proofType": "pol"} if call.arguments.get("requireProof") or "proofType" in call.arguments else {}


def _refused(problems: Mapping[int, CortexError], count: int) -> CortexError:
    """The error for several statements of which some are refused."""
    first = next(iter(problems.values()))
    named = [
        f"statement {place + 1}: {error.message[:_MOST_OF_PROBLEM]}"
        for place, error in list(problems.items())[:_MOST_NAMED]
    ]
    more = f"; and {len(problems) - len(named)} more" if len(problems) > len(named) else ""
    return CortexError(
        first.code,
        f"{len(problems)} of {count} statements cannot be asserted, and nothing was written: {'; '.join(named)}{more}",
        hint=first.hint,
        details={"problems": [_problem(place, error) for place, error in problems.items()]},
    )


def _problem(place: int, error: CortexError) -> dict[str, Any]:
    """One of up to a hundred, so it is short."""
    message, hint = error.message[:_MOST_OF_PROBLEM], error.hint[:_MOST_OF_PROBLEM]
    return {"statement": place + 1, "code": error.code, "message": message, "hint": hint}


def _units(call: Call) -> int:
    """How many slots a call needs: those of several statements that are in the graph already need none."""
    given = call.arguments.get("statements")
    if given is None:
        return 1
    graph, quads, others = call.host.graph, set[Any](), 0
    for each in given:
        try:
            triple, _, needs = _checked(call, {**_for_all(call), **each})
            quad = graph.quad_of(triple)
        except (CortexError, GraphError):
            others += 1  # the call is refused with its problem
            continue
        if needs or not graph.store.contains(quad):
            quads.add(quad)
    return len(quads) + others


def _repeated(call: Call) -> Outcome | None:
    if "statements" in call.arguments:
        return None  # it has counted those that are there already
    triple, provenance, needs_proof = _checked(call, call.arguments)
    graph = call.host.graph
    quad = graph.quad_of(triple)
    if not graph.store.contains(quad):
        return None
    known = {**graph.as_json(quad), "created": False}
    if not needs_proof:
        return _answered(graph, known)
    others = _rules_of_others(call, triple["predicate"])
    proof = call.host.part(prover_of).valid_proof(quad, provenance, call.skill.rules, call.cancel, others=others)
    return None if proof is None else _answered(graph, known, *proof)


def _provenance(call: Call) -> Provenance:
    return Provenance(skill=call.skill.name, skill_version=call.skill.semantic.skill_version, agent=call.agent)


def _checked(call: Call, given: Mapping[str, Any]) -> tuple[dict[str, Any], Provenance, bool]:
    """A statement, its source, and whether it needs a proof, when the skill may assert it."""
    skill, semantic, host = call.skill.name, call.skill.semantic, call.host
    triple = as_written(host.graph, {key: given[key] for key in _PARTS})
    predicate, strict = triple["predicate"], host.config.strict_declarations
    required = check_may_assert(predicate, skill, semantic, host.declared_predicates, host.graph.names, strict=strict)
    return triple, _provenance(call), bool(required or given.get("requireProof") or "proofType" in given)


def _rules_of_others(call: Call, predicate: str) -> list[RuleSet]:
    """The rules of the active skills that require a proof of the predicate, when a proof can be made."""
    check_permissions(["proofs:request"], call.skill.manifest, "a proof")
    prover = call.host.part(prover_of)
    if not prover.is_on:
        raise needs_proof(predicate, "switch verification.polValidation on, or assert without a proof")
    requiring = [call.active.get(name) for name in call.host.declared_predicates.skills(predicate)]
    return [skill.rules for skill in requiring if skill is not None and skill.rules is not None]


def _answered(
    graph: NamespacedGraph,
    triple: dict[str, Any],
    proof: str | None = None,
    verdict: Verdict = Verdict.NOT_CHECKED,
    *,
    added: bool = False,
) -> Outcome:
    created = triple["created"]
    statement = with_short_object({key: triple[key] for key in _PARTS})
    details = {**statement, "tripleHash": triple["id"], "verified": verdict is Verdict.VERIFIED}
    details |= {"verdict": verdict.value, "created": created}
    verb = "Asserted" if created else "Already asserted"
    text = f"{verb}: {line_of(statement, graph)}\nhash {triple['id']}"
    if proof is not None:
        details["proofHash"] = proof
        text += f"\nproof {proof}, {verdict.value}{_CORE_ONLY if verdict is Verdict.WELL_FORMED else ''}"
    return Outcome(text, details, spent=int(created or added))


SKILL_ASSERT = Tool(
    name="skill_assert",
    description=(
        "Assert a statement (subject, predicate, object) in the knowledge graph of this namespace on behalf of the "
        "acting skill, or up to 100 at once (statements). Only predicates that the skill declares can be asserted; "
        "repeating an assertion changes nothing."
    ),
    input_schema=_SCHEMA,
    permissions=("graph:write",),
    budget="assertion",
    one_of=(_PARTS, ("statements",)),
    units=_units,
    repeated=_repeated,
    read_only=False,
    output_schema=_ANSWER,
    run=_run,
)
