"""`graph.verify`: whether statements are in the graph, and whether their records and their proofs are valid.

Rules kept here:
- each part has its own verdict; the whole is VERIFIED only when there are proofs and all of them are valid;
- a statement whose proofs applied the core rules only is `well-formed`, and NOT VERIFIED: no rule about its meaning was
  checked; the answer names the rules that were (`rules`);
- a statement that was withdrawn is not in the graph, and NOT VERIFIED: the answer has who withdrew it, and when;
- without an object, all statements of this subject and predicate are checked, up to a few;
- a named proof must be one of the statement's own;
- for a model, parts that would make the answer too long are counted, and not shown: those that are valid before others;
  texts of a proof that read like instructions are withheld.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from annotated_types import Ge, Len
from typing_extensions import TypedDict

from cortex_graph import NamespacedGraph
from cortex_graph.namespace.about import about_triples
from cortex_skills.features.graph.given_terms import with_present_object
from cortex_skills.features.graph.triple_text import line_of
from cortex_skills.operations.operation import Described, OperationCall, operation
from cortex_skills.safe_io.display import json_text
from cortex_skills.tools.answer_sizes import with_short_object
from cortex_skills.tools.token_estimate import tokens_of

if TYPE_CHECKING:
    from cortex_graph.store_access.read_ahead import Ahead
    from cortex_skills.enrichment.policy import Policy
    from cortex_skills.features.proofs.assertions import Part, Statements

_MOST = 2_200
_FIRST = {"refuted": 0, "not checked": 1}
_VERDICTS = {
    "verified": "VERIFIED: every proof of it is valid.",
    "well-formed": "NOT VERIFIED (well-formed): it obeys the core rules, and no rules of a skill or of the namespace "
    "were checked.",
    "not checked": "NOT VERIFIED (not checked): it has no proof, or not all of it could be checked.",
    "refuted": "NOT VERIFIED (refuted): its record or a proof of it is not valid.",
}


@dataclass(frozen=True, slots=True)
class StatementToVerify:
    """A statement, or all with a subject and a predicate.

    With `other_forms`, another form of the object is taken when no statement has exactly that (`given_terms.py`).
    """

    subject: Annotated[str, Len(1, 65_536), Described("The thing that the statement is about.")]
    predicate: Annotated[str, Len(1, 65_536), Described("The predicate of the statement.")]
    object: Annotated[Any, Described('A value, or another thing: {"node": "name"}; any when left out.')] = None
    proof_id: Annotated[str, Len(1, 4096), Described("The only proof to check; every proof when left out.")] | None = (
        None
    )
    other_forms: bool = True
    limit_ms: Annotated[int, Ge(0)] | None = None


class VerifiedStatements(TypedDict):
    """The verdict of all matching statements, and each check with the hash of its statement.

    `withdrawn` has the hashes of those that were withdrawn; `total` counts all that match, and at most ten are checked.
    """

    found: Annotated[bool, Described("Whether the statement is in the graph.")]
    verdict: Literal["verified", "well-formed", "not checked", "refuted"]
    rules: Annotated[
        list[str],
        Described(
            "The rule sets that its Proofs of Logic were checked with: `core` alone says that the statement is "
            "well-formed, and nothing of its meaning."
        ),
    ]
    checks: Annotated[
        list[dict[str, Any]],
        Described(
            "Each part: `part`, `verdict`, `establishes`, `doesNotEstablish`, `reasons`, `tripleHash`, and `proofId` "
            "and `kind` for a part of a proof."
        ),
    ]
    withdrawn: Annotated[
        list[str],
        Described("The hashes of the matching statements that were withdrawn; their `presence` has by whom."),
    ]
    total: Annotated[int, Described("How many statements match; at most ten are checked.")]
    partsLeftOut: NotRequired[Annotated[int, Described("Parts that were checked, and would make this too long.")]]


@dataclass(frozen=True, slots=True)
class StatementChecks:
    """What was checked; `note` states what was checked in place of what was asked for."""

    statements: Statements
    graph: NamespacedGraph
    note: str = ""
    is_for_a_model: bool = False

    def for_a_model(self) -> StatementChecks:
        """The same, not too long, and without texts that read like instructions to a model."""
        return replace(self, is_for_a_model=True)

    def document(self) -> VerifiedStatements:
        """The answer for a program."""
        from cortex_skills.features.proofs.assertions import rules_applied

        of, written = self.statements, self._written()
        left_out: VerifiedStatements = {"partsLeftOut": written.left_out} if written.left_out else {}  # type: ignore[typeddict-item]
        return {
            "found": bool(of.checked),
            "verdict": of.verdict.value,
            "rules": sorted({name for _, parts in of.checked for name in rules_applied(parts)}),
            "checks": written.checks,
            "withdrawn": [row["id"] for row, _ in of.withdrawn],
            "total": of.total,
            **left_out,
        }

    def text(self, policy: Policy | None = None) -> str:
        """The answer for a model, or without a policy as it is."""
        return "\n".join((self if policy is None else self.for_a_model())._written().lines)

    def _written(self) -> _Written:
        from cortex_skills.features.proofs.assertions import verdict_of

        of, written = self.statements, _Written(is_for_a_model=self.is_for_a_model)
        for row, parts in of.checked:
            found = f"Found: {line_of(with_short_object(row), self.graph)}"
            written.add(row["id"], [found, _VERDICTS[verdict_of(parts).value]], parts)
        if of.unchecked:
            written.lines.append(f"{of.unchecked} more were not checked: give an object.")
        for row, part in of.withdrawn:
            withdrawn = f"Withdrawn: {line_of(with_short_object(row), self.graph)}"
            written.add(row["id"], [withdrawn, "NOT VERIFIED (refuted): it is not in the graph any more."], [part])
        if written.left_out:
            more = "more parts were checked, and are not shown: give an object or a proofId."
            written.lines.append(f"{written.left_out} {more}")
        if not written.lines:
            written.lines = ["Not found.", "NOT VERIFIED (not checked): there is nothing to verify."]
        if self.note:
            written.lines.append(self.note)
        return written


class _Written:
    """The lines and the checks of an answer, for a model each of at most `_MOST` tokens; the lines are shorter."""

    def __init__(self, *, is_for_a_model: bool) -> None:
        self.lines: list[str] = []
        self.checks: list[dict[str, Any]] = []
        self.left_out = 0
        self._room = _MOST if is_for_a_model else math.inf
        self._is_for_a_model = is_for_a_model

    def add(self, triple_id: str, heading: list[str], parts: Sequence[Part]) -> None:
        """Add a statement with its parts; what is not valid before what is."""
        found = [replace(part, check=part.check.for_a_model()) for part in parts] if self._is_for_a_model else parts
        written = [(_line(part), {**part.to_json(), "tripleHash": triple_id}) for part in found]
        shown: set[int] = set()
        for place in sorted(range(len(found)), key=lambda place: _FIRST.get(found[place].check.verdict.value, 2)):
            size = tokens_of(json_text(written[place][1])) if self._is_for_a_model else 0
            if size <= self._room or not (self.checks or shown):
                self._room -= size
                shown.add(place)
        self._room -= sum(map(tokens_of, heading))
        self.lines += [*heading, *(written[place][0] for place in sorted(shown))]
        self.checks += [written[place][1] for place in sorted(shown)]
        self.left_out += len(found) - len(shown)


def _ahead(call: OperationCall, given: StatementToVerify) -> Iterator[Ahead]:
    if given.object is not None:
        graph = call.host.graph
        triple = {"subject": given.subject, "predicate": given.predicate, "object": given.object}
        yield from about_triples(graph, quads=[graph.quad_of(graph.with_names(triple))], proofs=True)


@operation("graph.verify", effect="reads", permission="read", ahead=_ahead)
def verify(call: OperationCall, given: StatementToVerify) -> StatementChecks:
    """Check whether statements are in the graph, and whether their records and each of their proofs are valid."""
    from cortex_skills.features.proofs.assertions import check_statements
    from cortex_skills.features.proofs.kinds import CheckContext

    pattern: dict[str, Any] = {"subject": given.subject, "predicate": given.predicate}
    if given.object is not None:
        pattern["object"] = given.object
    pattern, note = with_present_object(call.host.graph, pattern) if given.other_forms else (pattern, "")
    deadline = None if given.limit_ms is None else time.monotonic() + given.limit_ms / 1000
    graph = call.host.graph
    asked = CheckContext(datetime.now(UTC), call.host.config, graph, deadline=deadline, cancel=call.cancel)
    return StatementChecks(check_statements(graph, pattern, asked, given.proof_id), graph, note)


def _line(part: Part) -> str:
    check = part.check
    name = check.part if part.proof is None else f"{part.kind} {part.proof[:12]} {check.part}"
    text = "; ".join(check.reasons) or f"{check.establishes}; not {check.does_not_establish}"
    return f"- {name}: {check.verdict.value}. {json_text(text)[1:-1]}"
