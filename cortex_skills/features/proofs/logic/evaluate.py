"""Evaluating rules on a statement: the core rules in this process, shapes in a confined one.

Rules kept here:
- a rule set without applicable rules is not checked, and does not count for the verdict;
- the core rules come first; shapes are not evaluated on a statement that the core rules refute;
- the verdict is that of the applicable rule sets. The core rules always apply, so a statement that no shape targets is
  well-formed, and its proof names the core rules alone;
- in the document of a proof the words for a result are those of its format: `verified`, `refuted`, `not_evaluated`;
- a message of a shape is reduced to one line of bounded length, and omitted when it reads like an instruction.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyoxigraph import Quad

from cortex_graph import NamespacedGraph
from cortex_skills.cancellation import CancelToken
from cortex_skills.features.proofs.logic import core
from cortex_skills.features.proofs.logic.findings import RuleFinding, Severity, safe_iri, safe_message
from cortex_skills.features.proofs.logic.premises import Premises, RecordingReader, premises_of
from cortex_skills.features.proofs.verdict import Verdict
from cortex_skills.skill_folder.rule_set import RuleSet, RuleSetId

CORE = RuleSetId(core.NAME, core.VERSION, core.digest())
_MAX_FINDINGS = 20


@dataclass(frozen=True, slots=True)
class RuleSetResult:
    """The result of one rule set.

    Attributes:
        rules: the rule set.
        applied: how many of its rules apply to the statement.
        findings: what they found.
    """

    rules: RuleSetId
    applied: int
    findings: tuple[RuleFinding, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict; only violations refute."""
        if not self.applied:
            return Verdict.NOT_CHECKED
        broken = any(finding.severity is Severity.VIOLATION for finding in self.findings)
        return Verdict.REFUTED if broken else Verdict.VERIFIED

    def to_json(self) -> dict[str, Any]:
        """The result in a proof."""
        return {
            **self.rules._asdict(),
            "applied": self.applied,
            "verdict": "not_evaluated" if self.verdict is Verdict.NOT_CHECKED else self.verdict.value,
            "findings": [finding.to_json() for finding in self.findings],
        }


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The results of all rule sets on a statement, and the premises that they read."""

    rule_sets: tuple[RuleSetResult, ...]
    premises: Premises

    @property
    def verdict(self) -> Verdict:
        """The verdict of the applicable rule sets."""
        applied = [result for result in self.rule_sets if result.applied]
        verdict = Verdict.of_all(result.verdict for result in applied)
        has_core_only = all(result.rules.name == CORE.name for result in applied)
        return Verdict.WELL_FORMED if verdict is Verdict.VERIFIED and has_core_only else verdict

    @property
    def stated(self) -> str:
        """The result in the document of a proof, which names the applied rules beside it."""
        return "verified" if self.verdict.holds else self.verdict.value

    @property
    def violations(self) -> list[tuple[str, RuleFinding]]:
        """All violations, each with the name of its rule set."""
        return [
            (result.rules.name, finding)
            for result in self.rule_sets
            for finding in result.findings
            if finding.severity is Severity.VIOLATION
        ]


def evaluate(
    quad: Quad,
    graph: NamespacedGraph,
    sets: Sequence[RuleSet],
    *,
    timeout_s: float,
    cancel: CancelToken | None = None,
    beside: Sequence[Quad] = (),
) -> Evaluation:
    """Evaluate the core rules and sets of shapes on a statement.

    Args:
        quad: the statement; it need not be in the graph.
        graph: its namespace.
        sets: the sets of shapes.
        timeout_s: the time limit of the shapes, in seconds.
        cancel: cancels the call.
        beside: statements that are asserted together with it.

    Raises:
        CortexError: `proof_timeout`, or `proof_failed`: the shapes cannot be applied.
    """
    core_result = RuleSetResult(
        CORE, len(core.RULES), tuple(core.check_core(core.AssertedStatement(quad, graph.names)))
    )
    if not sets or core_result.verdict is Verdict.REFUTED:
        return Evaluation((core_result,), premises_of(()))
    from cortex_skills.features.proofs.logic.shacl_engine import ENGINE

    reader = RecordingReader(graph, quad, beside=beside)
    if cancel is not None:
        reader.check = cancel.check
    texts = [each.text for each in sets]
    results = ENGINE.evaluate(f"{quad.triple} .", texts, reader, timeout_s=timeout_s, cancel=cancel)
    others = [
        RuleSetResult(each.named, result.applied, _findings(result.results, conforms=result.conforms))
        for each, result in zip(sets, results, strict=True)
    ]
    return Evaluation((core_result, *others), premises_of(reader.reads))


def _findings(results: Sequence[dict[str, str]], *, conforms: bool) -> tuple[RuleFinding, ...]:
    found = sorted(
        {
            RuleFinding(
                safe_message(str(result["rule"])),
                safe_message(str(result["message"])),
                Severity(result["severity"]),
                safe_iri(result["node"]),
                safe_iri(result["path"]),
            )
            for result in results
        },
        key=lambda finding: (list(Severity).index(finding.severity), json.dumps(finding.to_json(), sort_keys=True)),
    )
    if not conforms and not any(finding.severity is Severity.VIOLATION for finding in found):
        found.insert(0, RuleFinding("constraint", "the statement does not conform to the shapes"))
    return tuple(found[:_MAX_FINDINGS])
