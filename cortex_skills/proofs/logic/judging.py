"""Judging a statement by rules: the core rules here, shapes where they can do no harm.

Rules kept here:
- a rule set of which nothing applies to the statement is `not_evaluated`, and so counts for nothing in the whole;
- the core rules come first; what they refuse is not shown to any shape;
- the whole is what those rule sets say that applied. The core rules always apply, so a statement that they let pass and
  no shape speaks of is verified by them alone, and the proof says that it was them;
- what a shape says goes no further than a line of a bounded length, without instructions.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyoxigraph import Quad

from cortex_graph import NamespacedGraph
from cortex_skills.escaping import one_line
from cortex_skills.proofs.logic import core
from cortex_skills.proofs.logic.findings import Finding, Severity, told
from cortex_skills.proofs.logic.premises import Looker, Premises, premises_of
from cortex_skills.proofs.logic.rules import Named, RuleSet
from cortex_skills.proofs.verdict import Verdict
from cortex_skills.stopping import Stop

CORE = Named(core.NAME, core.VERSION, core.digest())
_MAX_FINDINGS = 20


@dataclass(frozen=True, slots=True)
class Ruling:
    """What one rule set says.

    Attributes:
        rules: which.
        applied: how many of its rules had something to say of the statement.
        findings: what they found.

    """

    rules: Named
    applied: int
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> Verdict:
        """What comes of it: a warning refutes nothing."""
        if not self.applied:
            return Verdict.NOT_EVALUATED
        broken = any(finding.severity is Severity.VIOLATION for finding in self.findings)
        return Verdict.REFUTED if broken else Verdict.VERIFIED

    def to_json(self) -> dict[str, Any]:
        """The ruling as a proof has it."""
        return {
            **self.rules._asdict(),
            "applied": self.applied,
            "verdict": self.verdict.value,
            "findings": [finding.to_json() for finding in self.findings],
        }


@dataclass(frozen=True, slots=True)
class Judgement:
    """What all rule sets say of a statement, and what they looked at."""

    rulings: tuple[Ruling, ...]
    premises: Premises

    @property
    def verdict(self) -> Verdict:
        """The verdict of the rule sets that applied."""
        verdicts = (ruling.verdict for ruling in self.rulings)
        return Verdict.of_all(verdict for verdict in verdicts if verdict is not Verdict.NOT_EVALUATED)

    @property
    def violations(self) -> list[tuple[str, Finding]]:
        """What speaks against the statement, with the name of the rule set."""
        return [
            (ruling.rules.name, finding)
            for ruling in self.rulings
            for finding in ruling.findings
            if finding.severity is Severity.VIOLATION
        ]

    @property
    def applied_shapes(self) -> bool:
        """Whether more than the core rules had something to say."""
        return any(ruling.applied for ruling in self.rulings if ruling.rules.name != core.NAME)


def judge(
    quad: Quad,
    graph: NamespacedGraph,
    sets: Sequence[RuleSet],
    *,
    timeout_s: float,
    stop: Stop | None = None,
) -> Judgement:
    """What the core rules and some shapes say of a statement in its graph.

    Args:
        quad: the statement; it need not be in the graph.
        graph: the namespace that it is of.
        sets: the shapes.
        timeout_s: how long the shapes may take, in seconds.
        stop: ends it early.

    Raises:
        CortexError: `proof_timeout`, or `proof_failed`: the shapes cannot be applied.

    """
    ours = Ruling(CORE, len(core.RULES), tuple(core.check_core(core.Statement(quad, graph.names))))
    if not sets or ours.verdict is Verdict.REFUTED:
        return Judgement((ours,), premises_of(()))
    from cortex_skills.proofs.logic.engine import ENGINE

    looker = Looker(graph, quad) if stop is None else Looker(graph, quad, stop.check)
    said = ENGINE.evaluate(f"{quad.triple} .", [each.text for each in sets], looker, timeout_s=timeout_s, stop=stop)
    rulings = [
        Ruling(each.named, answer.applied, _findings(answer.results, conforms=answer.conforms))
        for each, answer in zip(sets, said, strict=True)
    ]
    return Judgement((ours, *rulings), premises_of(looker.reads))


def _findings(results: Sequence[dict[str, str]], *, conforms: bool) -> tuple[Finding, ...]:
    found = sorted(
        {
            Finding(
                told(str(result["rule"])),
                told(str(result["message"])),
                Severity(result["severity"]),
                _iri(result["node"]),
                _iri(result["path"]),
            )
            for result in results
        },
        key=lambda finding: (list(Severity).index(finding.severity), json.dumps(finding.to_json(), sort_keys=True)),
    )
    if not conforms and not any(finding.severity is Severity.VIOLATION for finding in found):
        found.insert(0, Finding("constraint", "the shapes are not kept"))
    return tuple(found[:_MAX_FINDINGS])


def _iri(text: str) -> str:
    return "" if len(text) > core.MAX_IRI or one_line(text) != text else text
