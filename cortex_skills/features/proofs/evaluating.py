"""`proofs.evaluate`: what the rules say of statements, which need not be in the graph.

Rules kept here:
- nothing is written, and no proof is made;
- the core rules apply, and the shapes of the namespace unless a rule set is named; the statements share one time limit.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cortex_graph import NamespacedGraph
from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.proving import prover_of
from cortex_skills.features.proofs.verdict import Verdict
from cortex_skills.operations.operation import OperationCall, operation

if TYPE_CHECKING:
    from pyoxigraph import Quad

    from cortex_skills.features.proofs.logic.evaluate import Evaluation
    from cortex_skills.skill_folder.rule_set import RuleSet

_CORE = "core"
_OUT_OF_TIME = "the time limit of a request for its proofs was used up"


@dataclass(frozen=True, slots=True)
class StatementsToEvaluate:
    """Statements as `subject`, `predicate` and `object`; a rule set by its name, or all."""

    statements: Sequence[dict[str, Any]]
    rule_set: str | None = None


@dataclass(frozen=True, slots=True)
class EvaluatedStatement:
    """A statement, and what the rules say of it; else why they were not evaluated."""

    quad: Quad
    evaluation: Evaluation | None
    why_not: str = ""

    @property
    def verdict(self) -> Verdict:
        """The verdict of the rules."""
        return Verdict.NOT_CHECKED if self.evaluation is None else self.evaluation.verdict


@dataclass(frozen=True, slots=True)
class EvaluatedStatements:
    """The statements in order; the id of a stored proof of the only one, with the same result."""

    statements: tuple[EvaluatedStatement, ...]
    proof: str | None


@operation("proofs.evaluate", effect="reads", permission="read")
def evaluate(call: OperationCall, given: StatementsToEvaluate) -> EvaluatedStatements:
    """Evaluate the rules on statements, which need not be in the graph."""
    graph = call.host.graph
    deadline = time.monotonic() + call.host.config.skill_sandbox.proof_timeout_ms / 1000
    quads = [graph.quad_of(each) for each in given.statements]
    sets = _rule_sets(call, given.rule_set)
    done = tuple(_judged(call, quad, sets, deadline) for quad in quads)
    return EvaluatedStatements(done, _proof_of(graph, done[0]) if len(done) == 1 else None)


def _rule_sets(call: OperationCall, name: str | None) -> list[RuleSet]:
    """The rule sets to evaluate, beside the core rules.

    Raises:
        CortexError: `invalid_arguments`: there is no rule set of that name.
    """
    own = call.part(prover_of).namespace_rules
    known: dict[str, list[RuleSet]] = {_CORE: []} | ({} if own is None else {own.name: [own]})
    if name is None:
        return [] if own is None else [own]
    if name not in known:
        hint = f"known: {', '.join(known)}; leave it out for all"
        details = {"field": "rule_set"}
        raise CortexError("invalid_arguments", "there is no rule set of this name", hint=hint, details=details)
    return known[name]


def _judged(call: OperationCall, quad: Quad, sets: list[RuleSet], deadline: float) -> EvaluatedStatement:
    from cortex_skills.features.proofs.logic.evaluate import evaluate as evaluate_rules

    if not call.part(prover_of).is_on:
        return EvaluatedStatement(quad, None, "verification.polValidation is off: no rules are evaluated")
    left = deadline - time.monotonic()
    if left <= 0:
        return EvaluatedStatement(quad, None, _OUT_OF_TIME)
    try:
        return EvaluatedStatement(quad, evaluate_rules(quad, call.host.graph, sets, timeout_s=left))
    except CortexError as error:
        if error.code not in ("proof_timeout", "proof_failed"):
            raise
        return EvaluatedStatement(quad, None, error.message)


def _proof_of(graph: NamespacedGraph, judged: EvaluatedStatement) -> str | None:
    """The id of a stored Proof of Logic of a statement with the same result as now."""
    from cortex_skills.features.proofs.logic.document import KIND
    from cortex_skills.features.proofs.logic.verify import still_holds

    quad, evaluation = judged.quad, judged.evaluation
    if evaluation is None or not evaluation.verdict.holds or not graph.store.contains(quad):
        return None
    stored = graph.current_proofs(graph.index.identify(quad), KIND)
    return next((proof.id for proof in stored if still_holds(proof, quad, evaluation)), None)
