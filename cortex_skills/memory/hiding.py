"""What is remembered is no business of the graph tools.

Rules kept here:
- `graph: [read]` shows no triple of a memory: those are other agents' too. A skill that declares one of their
  predicates under `queries` or `assertions` sees that one, and its manifest says so to whoever approves it;
- the total of a page tells nothing of what is hidden on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from cortex_graph.names import Names
from cortex_graph.vocabulary import MEMORY_TERMS
from cortex_skills.manifest import Semantic


def without_memories(page: Mapping[str, Any], key: str, semantic: Semantic, names: Names) -> dict[str, Any]:
    """A page of triples as a skill may see it.

    Args:
        page: as `NamespacedGraph` answers it.
        key: under which the triples are.
        semantic: what the skill declares.
        names: of the namespace.

    """
    triples: list[dict[str, Any]] = page[key]
    terms = _terms(names)
    if terms.isdisjoint({triple["predicate"] for triple in triples}):
        return dict(page)
    declared = {*(a.predicate for a in semantic.assertions), *(q.predicate for q in semantic.queries)}
    terms -= {names.name(names.node(predicate).value) for predicate in declared}
    shown = [triple for triple in triples if triple["predicate"] not in terms]
    hidden = len(triples) - len(shown)
    exact = page["totalIsExact"] and (not hidden or page["nextCursor"] is None)
    return {**page, key: shown, "total": max(len(shown), page["total"] - hidden), "totalIsExact": exact}


@lru_cache(8)
def _terms(names: Names) -> frozenset[str]:
    """What the predicates of memories are called in a namespace."""
    return frozenset(names.name(term.value) for term in MEMORY_TERMS)
