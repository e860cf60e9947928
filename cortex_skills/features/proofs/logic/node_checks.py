"""What shapes find at nodes, before a change of statements and after it.

Rules kept here:
- nothing is written: the graph after the change is read as the graph before it, without and with the statements;
- a finding of both is one that stays: it is of the same shape, rule, node, path and value, whatever its message is;
- the messages, and the names of shapes, come from their author: they are reduced as those of proofs are.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import NamespacedGraph
from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.logic.findings import Severity, safe_iri, safe_message
from cortex_skills.features.proofs.logic.premises import RecordingReader, term_of
from cortex_skills.skill_folder.rule_set import RuleSet

if TYPE_CHECKING:
    from cortex_skills.cancellation import CancelToken

_OF_NAME = 100  # characters of the name of a shape


class ChangeEffect(StrEnum):
    """What a change does to a finding."""

    BRINGS = "brings"
    KEEPS = "keeps"
    RESOLVES = "resolves"


@dataclass(frozen=True, slots=True)
class NodeFinding:
    """What a shape finds at a node.

    Attributes:
        effect: whether the change brings it.
        severity: of the shape.
        rule: the name of the constraint component.
        message: a text for people.
        node: the IRI of the node; empty for a literal.
        path: the predicate; empty for another path, or none.
        value: the value; None where there is none, or a long one.
        shape: the IRI of the shape, or of the one that it is a part of; may be empty.
        called: what its author calls it; may be empty.
    """

    effect: ChangeEffect
    severity: Severity
    rule: str
    message: str
    node: str
    path: str
    value: NamedNode | Literal | None
    shape: str
    called: str

    @property
    def key(self) -> tuple[str, ...]:
        """What is the same before and after."""
        return (self.severity, self.rule, self.node, self.path, str(self.value), self.shape, self.called)


@dataclass(frozen=True, slots=True)
class CheckedNodes:
    """What a set of shapes finds.

    Attributes:
        applied: how many of its shapes target one of the nodes after the change.
        findings: those that the change brings first, then those that stay, then those that it resolves.
        is_cut: whether there are more findings than a process returns, so that some may be named wrongly.
    """

    applied: int
    findings: tuple[NodeFinding, ...]
    is_cut: bool = False


def check_nodes(
    graph: NamespacedGraph,
    rules: RuleSet,
    nodes: Sequence[NamedNode | Literal],
    *,
    removed: Quad | None,
    inserted: Quad | None,
    timeout_s: float,
    cancel: CancelToken | None = None,
) -> CheckedNodes:
    """Evaluate shapes at nodes, before a change and after it.

    Args:
        graph: the namespace.
        rules: the shapes.
        nodes: at which they are evaluated, if they are targets.
        removed: the statement that is removed, if one is.
        inserted: the statement that is inserted, if one is.
        timeout_s: the time limit of both together, in seconds.
        cancel: cancels the call.

    Raises:
        CortexError: `proof_timeout`; `proof_failed`: the shapes cannot be evaluated, or read too much; `cancelled`;
            `graph_unavailable`; `config_invalid`: the extra `shacl` is not installed.
    """
    from cortex_skills.features.proofs.logic.shacl_engine import ENGINE

    deadline = time.monotonic() + timeout_s
    states = []
    after = () if inserted is None else (inserted,)
    for without, beside in ((None, ()), (removed, after)):
        reader = RecordingReader(graph, without, beside=beside)
        if cancel is not None:
            reader.check = cancel.check
        left = deadline - time.monotonic()
        if left <= 0:
            raise CortexError("proof_timeout", f"the shapes took longer than {timeout_s:.3g} s")
        states += ENGINE.evaluate("", [rules.text], reader, timeout_s=left, cancel=cancel, nodes=nodes)
    found = [[_finding(each) for each in state.results] for state in states]
    return CheckedNodes(states[1].applied, tuple(_compared(*found)), any(state.is_cut for state in states))


def _finding(result: Mapping[str, str]) -> NodeFinding:
    return NodeFinding(
        ChangeEffect.KEEPS,
        Severity(result["severity"]),
        safe_message(result["rule"]),
        safe_message(result["message"]),
        safe_iri(result["node"]),
        safe_iri(result["path"]),
        term_of(result["value"]) if result["value"] else None,
        safe_iri(result["shape"]),
        safe_message(result["called"], _OF_NAME),
    )


def _compared(before: Sequence[NodeFinding], after: Sequence[NodeFinding]) -> list[NodeFinding]:
    """What the change brings, keeps and resolves, the most severe first in each."""
    earlier: dict[tuple[str, ...], list[NodeFinding]] = defaultdict(list)
    for each in before:
        earlier[each.key].append(each)
    kept = []
    brought: list[NodeFinding] = []
    # Those with the same message first: of several findings of one shape, the one that is new is named.
    for each in sorted(after, key=lambda one: one not in earlier.get(one.key, ())):
        same = earlier.get(each.key)
        if not same:
            brought.append(replace(each, effect=ChangeEffect.BRINGS))
            continue
        same.remove(each if each in same else same[0])
        kept.append(each)
    resolved = [replace(each, effect=ChangeEffect.RESOLVES) for rest in earlier.values() for each in rest]
    order = list(Severity)
    return [
        each
        for some in (brought, kept, resolved)
        for each in sorted(some, key=lambda one: (order.index(one.severity), one.key, one.message))
    ]
