"""`skill_verify_assertion`: whether a statement is in the graph, and whether its record and its proofs are valid.

Rules kept here:
- each part has its own verdict; the whole is VERIFIED only when there are proofs and all of them are valid;
- a statement whose proofs applied the core rules only is `well-formed`, and NOT VERIFIED: no rule about its meaning was
  checked; the result names the rules that were (`rules`);
- a statement that was withdrawn is not in the graph, and NOT VERIFIED: the result has who withdrew it, and when;
- without an object, all statements of this subject and predicate are checked, up to a few;
- a named proof must be one of the statement's own;
- parts that would make the answer too long are counted, and not shown: those that are valid before others;
- texts of a proof that read like instructions to a model are withheld.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cortex_skills.features.graph.given_terms import with_present_object
from cortex_skills.features.graph.tools.triple_text import line_of
from cortex_skills.safe_io.display import json_text
from cortex_skills.tools.answer_sizes import with_short_object
from cortex_skills.tools.base import NAME, VALUE, Call, Outcome, Tool
from cortex_skills.tools.token_estimate import tokens_of

if TYPE_CHECKING:
    from cortex_skills.features.proofs.assertions import Part

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "subject": {**NAME, "description": "The thing that the statement is about."},
        "predicate": {**NAME, "description": "The predicate of the statement."},
        "object": {**VALUE, "description": 'A value, or another thing: {"node": "name"}; any when left out.'},
        "proofId": {
            "type": "string",
            "minLength": 1,
            "maxLength": 4096,
            "description": "The only proof to check; every proof when left out.",
        },
    },
    "required": ["subject", "predicate"],
    "additionalProperties": False,
}

_ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "found": {"type": "boolean", "description": "Whether the statement is in the graph."},
        "verdict": {"enum": ["verified", "well-formed", "not checked", "refuted"]},
        "rules": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The rule sets that its Proofs of Logic were checked with: `core` alone says that the "
            "statement is well-formed, and nothing of its meaning.",
        },
        "checks": {
            "type": "array",
            "items": {"type": "object"},
            "description": "Each part: `part`, `verdict`, `establishes`, `doesNotEstablish`, `reasons`, "
            "`tripleHash`, and `proofId` and `kind` for a part of a proof.",
        },
        "withdrawn": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The hashes of the matching statements that were withdrawn; their `presence` has by whom.",
        },
        "total": {"type": "integer", "description": "How many statements match; at most ten are checked."},
        "partsLeftOut": {"type": "integer", "description": "Parts that were checked, and would make this too long."},
    },
    "required": ["found", "verdict", "rules", "checks", "total"],
}


def _run(call: Call) -> Outcome:
    from datetime import UTC, datetime

    from cortex_skills.features.proofs.assertions import check_statements, rules_applied, verdict_of
    from cortex_skills.features.proofs.kinds import CheckContext

    pattern: dict[str, Any] = {
        key: call.arguments[key] for key in ("subject", "predicate", "object") if key in call.arguments
    }
    graph = call.host.graph
    pattern, note = with_present_object(graph, pattern)
    asked = CheckContext(datetime.now(UTC), call.host.config, graph, cancel=call.cancel)
    statements = check_statements(graph, pattern, asked, call.arguments.get("proofId"))
    rules = {rule for _, parts in statements.checked for rule in rules_applied(parts)}
    answer = _Answer()
    for triple, parts in statements.checked:
        found_line = f"Found: {line_of(with_short_object(triple), graph)}"
        answer.add(triple["id"], [found_line, _VERDICTS[verdict_of(parts)]], parts)
    lines = answer.lines
    if statements.unchecked:
        lines.append(f"{statements.unchecked} more were not checked: give an object.")
    found = bool(statements.checked)
    for triple, part in statements.withdrawn:
        withdrawn_line = f"Withdrawn: {line_of(with_short_object(triple), graph)}"
        verdict_line = "NOT VERIFIED (refuted): it is not in the graph any more."
        answer.add(triple["id"], [withdrawn_line, verdict_line], [part])
    if answer.left_out:
        lines.append(f"{answer.left_out} more parts were checked, and are not shown: give an object or a proofId.")
    if not lines:
        lines = ["Not found.", "NOT VERIFIED (not checked): there is nothing to verify."]
    if note:
        lines.append(note)
    details = {
        "found": found,
        "verdict": statements.verdict.value,
        "rules": sorted(rules),
        "checks": answer.checks,
        "withdrawn": [triple["id"] for triple, _ in statements.withdrawn],
        "total": statements.total,
        **({"partsLeftOut": answer.left_out} if answer.left_out else {}),
    }
    return Outcome("\n".join(lines), details)


class _Answer:
    """The lines and the checks of an answer, each of at most `_MOST` tokens; the lines of a check are shorter."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.checks: list[dict[str, Any]] = []
        self.left_out = 0
        self._room = _MOST

    def add(self, triple_id: str, heading: list[str], parts: Sequence[Part]) -> None:
        """Add a statement with its parts."""
        found = [replace(part, check=part.check.for_a_model()) for part in parts]
        written = [(_line(part), {**part.to_json(), "tripleHash": triple_id}) for part in found]
        sizes = [tokens_of(json_text(check)) for _, check in written]
        shown: set[int] = set()
        for place in sorted(range(len(found)), key=lambda place: _FIRST.get(found[place].check.verdict.value, 2)):
            if sizes[place] <= self._room or not (self.checks or shown):
                self._room -= sizes[place]
                shown.add(place)
        self._room -= sum(map(tokens_of, heading))
        self.lines += [*heading, *(written[place][0] for place in sorted(shown))]
        self.checks += [written[place][1] for place in sorted(shown)]
        self.left_out += len(found) - len(shown)


def _line(part: Part) -> str:
    check = part.check
    name = check.part if part.proof is None else f"{part.kind} {part.proof[:12]} {check.part}"
    text = "; ".join(check.reasons) or f"{check.establishes}; not {check.does_not_establish}"
    return f"- {name}: {check.verdict.value}. {json_text(text)[1:-1]}"


_MOST = 2_200
_FIRST = {"refuted": 0, "not checked": 1}
_VERDICTS = {
    "verified": "VERIFIED: every proof of it is valid.",
    "well-formed": "NOT VERIFIED (well-formed): it obeys the core rules, and no rules of a skill or of the namespace "
    "were checked.",
    "not checked": "NOT VERIFIED (not checked): it has no proof, or not all of it could be checked.",
    "refuted": "NOT VERIFIED (refuted): its record or a proof of it is not valid.",
}


SKILL_VERIFY_ASSERTION = Tool(
    name="skill_verify_assertion",
    description=(
        "Check whether a statement is in the graph, and whether its record and each of its proofs are valid. The "
        "result is VERIFIED only when it has proofs, all of them are valid, and they checked more than its form."
    ),
    input_schema=_SCHEMA,
    permissions=("graph:read", "proofs:verify"),
    budget=None,
    profile="proofs",
    output_schema=_ANSWER,
    run=_run,
)
