"""Whether a statement of the graph may be removed, and how.

Rules kept here:
- the rule is `permissions.check_may_remove`; here are read what it depends on: the record and the proofs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cortex_graph import NamespacedGraph
from cortex_skills.manifest import Semantic
from cortex_skills.policy.declared_predicates import DeclaredPredicates
from cortex_skills.policy.permissions import check_may_assert, check_may_remove


def is_author(graph: NamespacedGraph, agent: str, triple_id: str) -> bool:
    """Whether an agent asserted a statement, without a skill."""
    record = graph.provenance_of(triple_id) or {}
    return record.get("agent") == agent and record.get("skill") is None


def is_withdrawn(
    triple: Mapping[str, Any],
    graph: NamespacedGraph,
    skill: str,
    semantic: Semantic,
    required: DeclaredPredicates,
    *,
    strict: bool,
) -> bool:
    """Whether a statement that a skill removes is withdrawn, which keeps its record and its proofs.

    Args:
        triple: as the graph returns it.
        graph: of the namespace.
        skill: the name of the acting skill.
        semantic: the semantic block of its manifest.
        required: the predicates for which an active skill requires a proof.
        strict: whether a predicate must be declared.

    Raises:
        CortexError: `undeclared_predicate`, `proof_required` or `permission_denied`: the skill may not remove it.
    """
    predicate, triple_id = triple["predicate"], triple["id"]
    return check_may_remove(
        predicate,
        skill,
        (graph.provenance_of(triple_id) or {}).get("skill"),
        needs_proof=check_may_assert(predicate, skill, semantic, required, graph.names, strict=strict),
        has_proofs=graph.proofs.has_any(triple_id),
    )
