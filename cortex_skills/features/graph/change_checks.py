"""`graph.check_change`: what shapes find in a statement before it is added, corrected or withdrawn.

Rules kept here:
- nothing is written. A finding is one that the change brings, keeps or resolves, and is about a part of the statement;
- the shapes are those of the namespace, of the skills that act in it, and in the graph (`looking/rules_here.py`), each
  evaluated in the confined process at the nodes of the statement. They share the time limit of proofs; one set that
  cannot be evaluated is reported, and the others are;
- any writer may have written the shapes in the graph: they come last, and one check evaluates such shapes at a time, so
  that a process is left for those who make proofs;
- of the core rules the violations count: they are the same for every namespace.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired

from annotated_types import Len
from pyoxigraph import Literal as LiteralTerm
from pyoxigraph import NamedNode, Quad
from typing_extensions import TypedDict

from cortex_graph import NamespacedGraph
from cortex_graph.exceptions import invalid
from cortex_graph.naming.terms import from_term
from cortex_skills.errors import CortexError
from cortex_skills.features.graph.corrections import StatementInPlace, statement_in_place
from cortex_skills.features.graph.looking.rules_here import IN_GRAPH, Node, rule_sets, shapes_in_graph
from cortex_skills.features.proofs.logic.core import NAME as CORE
from cortex_skills.features.proofs.logic.core import RULES, AssertedStatement, check_core
from cortex_skills.features.proofs.logic.findings import Severity, safe_message
from cortex_skills.features.proofs.logic.node_checks import ChangeEffect, CheckedNodes, NodeFinding, check_nodes
from cortex_skills.features.proofs.proving import prover_of
from cortex_skills.operations.operation import Described, OperationCall, operation
from cortex_skills.skill_folder.rule_set import RuleSet

Part = Literal["subject", "predicate", "object"]
PER_MINUTE = 120
PARTS: tuple[Part, ...] = ("subject", "predicate", "object")
_TURN = threading.BoundedSemaphore(1)  # of the checks of a process, to evaluate shapes in a graph
# What cannot be evaluated is reported, with the reason; another error ends the operation.
_NOT_EVALUATED = ("proof_timeout", "proof_failed", "manifest_invalid", "config_invalid", "graph_unavailable")
# Of the same predicate, but about whether it may be there, or how often.
_OF_PREDICATE = frozenset(
    f"{name}ConstraintComponent"
    for name in ("Closed", "MinCount", "MaxCount", "QualifiedMinCount", "QualifiedMaxCount")
)


class ChangeFinding(TypedDict):
    """What a shape finds in a change: `part` is the part of the statement that it is about; `value` may be missing."""

    effect: Literal["brings", "keeps", "resolves"]
    severity: Literal["violation", "warning", "info"]
    part: Part
    message: str
    node: str
    path: str
    value: NotRequired[Any]
    rule: str
    shape: str
    rules: str


class CheckedRuleSet(TypedDict):
    """A set of rules, and how many of it apply; `reason` is why it was not evaluated, or not wholly."""

    rules: str
    applied: int
    evaluated: bool
    reason: str


class CheckedChange(TypedDict):
    """What shapes find in a change: `brings` is the number of violations that it brings."""

    brings: int
    evaluated: bool
    findings: list[ChangeFinding]
    rules: list[CheckedRuleSet]


@dataclass(frozen=True, slots=True)
class StatementToCheck:
    """A statement to add; or the id of one, or its first digits, with the parts of the one in its place that differ.

    Without any part the statement with that id is withdrawn.
    """

    triple: Annotated[str, Len(0, 64), Described("The id of the triple that is corrected or withdrawn.")] = ""
    subject: Annotated[str | None, Described("The subject, or what is in its place.")] = None
    predicate: Annotated[str | None, Described("The predicate, or what is in its place.")] = None
    object: Annotated[Any, Described("The object, or what is in its place; null keeps it.")] = None


@operation("graph.check_change", effect="reads", permission="read", per_minute=PER_MINUTE)
def check_change(call: OperationCall, given: StatementToCheck) -> CheckedChange:
    """Return what shapes find in a statement before it is added, corrected or withdrawn."""
    change = _asked(call, given)
    if not call.part(prover_of).is_on:
        reason = "verification.polValidation is off: no rules are evaluated"
        return {"brings": 0, "evaluated": False, "findings": [], "rules": [_result("all", reason=reason)]}
    findings, results = list(change.core_findings()), [_result(CORE, applied=len(RULES))]
    for name, checked, reason in _evaluated(call, change):
        if checked is None:
            results.append(_result(name, reason=reason))
            continue
        more = "there are more findings than are compared" if checked.is_cut else ""
        results.append(_result(name, applied=checked.applied, reason=more))
        findings += [change.shown(each, name) for each in checked.findings]
    brings = sum(each["effect"] == "brings" and each["severity"] == "violation" for each in findings)
    order = [*ChangeEffect]
    findings.sort(key=lambda each: order.index(ChangeEffect(each["effect"])))
    evaluated = all(each["evaluated"] for each in results)
    return {"brings": brings, "evaluated": evaluated, "findings": findings, "rules": results}


@dataclass(frozen=True, slots=True)
class _Change:
    """The statement that is removed, and the one that is inserted; one of them may be None."""

    graph: NamespacedGraph
    old: Quad | None
    new: Quad | None

    @property
    def nodes(self) -> list[Node]:
        """At which shapes are evaluated."""
        quads = [quad for quad in (self.new, self.old) if quad is not None]
        found = dict.fromkeys(node for quad in quads for node in (quad.subject, quad.object))
        return [node for node in found if isinstance(node, NamedNode | LiteralTerm)]

    def core_findings(self) -> Iterator[ChangeFinding]:
        """The violations of the core rules."""
        new, old = (
            {} if quad is None else {each.rule: each for each in check_core(AssertedStatement(quad, self.graph.names))}
            for quad in (self.new, self.old)
        )
        is_there = self.new is not None and self.graph.store.contains(self.new)
        for rule, finding in {**old, **new}.items():
            if finding.severity is not Severity.VIOLATION:
                continue
            stays = rule in old or is_there
            effect = ChangeEffect.KEEPS if stays else ChangeEffect.BRINGS
            effect = effect if rule in new else ChangeEffect.RESOLVES
            part: Part = next((each for each in PARTS if finding.message.startswith(f"the {each} ")), "object")
            yield self._document(effect, finding.severity, part, finding.message, rule, CORE)

    def shown(self, finding: NodeFinding, rules: str) -> ChangeFinding:
        """A finding as JSON."""
        names, part = self.graph.names, self._part(finding)
        shown = self._document(finding.effect, finding.severity, part, finding.message, finding.rule, rules)
        shown["node"], shown["path"] = (names.name(iri) if iri else "" for iri in (finding.node, finding.path))
        shown["shape"] = finding.called or (names.name(finding.shape) if finding.shape else "")
        if finding.value is not None:
            shown["value"] = from_term(finding.value, names)
        return shown

    def _document(
        self, effect: ChangeEffect, severity: Severity, part: Part, message: str, rule: str, rules: str
    ) -> ChangeFinding:
        return {
            "effect": effect.value,
            "severity": severity.value,
            "part": part,
            "message": message,
            "node": "",
            "path": "",
            "rule": rule,
            "shape": "",
            "rules": rules,
        }

    def _part(self, finding: NodeFinding) -> Part:
        """The part of the statement that a finding is about."""
        quads = [quad for quad in (self.new, self.old) if quad is not None]
        if not finding.path and finding.value is not None and finding.value == quads[0].object:
            return "object"
        if finding.node in {_iri(quad.subject) for quad in quads}:
            if finding.path == _iri(quads[0].predicate) and finding.rule not in _OF_PREDICATE:
                return "object"
            return "predicate" if finding.path in {_iri(quad.predicate) for quad in quads} else "subject"
        return "object"


def _asked(call: OperationCall, given: StatementToCheck) -> _Change:
    """The change.

    Raises:
        CortexError: `not_found`: the statement to correct is not in the graph.
        InvalidArguments: a part is missing, or malformed.
    """
    graph = call.host.graph
    parts: dict[str, Any] = {part: getattr(given, part) for part in PARTS}
    if not given.triple:
        for part, value in parts.items():
            if value is None:
                raise invalid(part, "is missing", hint="give the three parts of a statement, or the id of one")
        return _Change(graph, None, graph.quad_of(graph.with_names(parts)))
    old_id, new = statement_in_place(call, StatementInPlace(given.triple, **parts))
    old = graph.index.find(old_id)
    return _Change(graph, old, None if all(value is None for value in parts.values()) else new)


def _evaluated(call: OperationCall, change: _Change) -> Iterator[tuple[str, CheckedNodes | None, str]]:
    """Each set of shapes by its name, what it finds, and why it was not evaluated."""
    from cortex_skills.features.proofs.logic.shacl_engine import ENGINE

    graph, limit_s = call.host.graph, call.host.config.skill_sandbox.proof_timeout_ms / 1000
    left_s = limit_s
    sources: dict[str, Callable[[], Iterable[RuleSet | None]]] = {
        f"namespace:{graph.namespace}": lambda: rule_sets(call.host, is_anonymous=call.caller.is_anonymous),
        IN_GRAPH: lambda: [shapes_in_graph(graph, change.nodes, change.new)],
    }
    for source, sets in sources.items():
        try:
            found = [rules for rules in sets() if rules is not None]
        except CortexError as error:
            yield source, None, _why_not(error)
            continue
        for rules in found:
            began = time.monotonic()
            try:
                ENGINE.prepare(limit_s, call.cancel)
                began = time.monotonic()  # the start of a process does not count
                yield rules.name, _checked(call, change, rules, left_s), ""
            except CortexError as error:
                yield rules.name, None, _why_not(error)
            left_s -= time.monotonic() - began


def _why_not(error: CortexError) -> str:
    """Why a set was not evaluated; raises an error that ends the operation."""
    if error.code not in _NOT_EVALUATED:
        raise error
    return safe_message(error.message)


def _checked(call: OperationCall, change: _Change, rules: RuleSet, left_s: float) -> CheckedNodes:
    """What a set of shapes finds.

    Raises:
        CortexError: it cannot be evaluated, or not now.
    """
    began, is_of_writers = time.monotonic(), rules.name == IN_GRAPH
    if left_s <= 0 or (is_of_writers and not _TURN.acquire(timeout=left_s)):
        raise CortexError("proof_timeout", "the time limit was used up by other shapes", hint="try again later")
    try:
        return check_nodes(
            change.graph,
            rules,
            change.nodes,
            removed=change.old,
            inserted=change.new,
            timeout_s=max(0.001, left_s - (time.monotonic() - began)),
            cancel=call.cancel,
        )
    finally:
        if is_of_writers:
            _TURN.release()


def _result(name: str, applied: int = 0, reason: str = "") -> CheckedRuleSet:
    return {"rules": name, "applied": applied, "evaluated": not reason, "reason": reason}


def _iri(term: object) -> str:
    return term.value if isinstance(term, NamedNode) else ""
