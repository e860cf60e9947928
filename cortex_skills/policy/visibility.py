"""Which triples of a page the graph tools and a skill's code may see.

Rules kept here:
- `graph: [read]` shows no triple of a memory, because memories of other agents are in the same graph. A skill that
  declares a predicate of memories under `queries` or `assertions` sees triples with that predicate;
- the total of a page does not reveal how many triples were hidden.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from cortex_graph.names import Names
from cortex_graph.vocabulary import MEMORY_TERMS
from cortex_skills.manifest import Semantic


def without_memories(page: Mapping[str, Any], key: str, semantic: Semantic, names: Names) -> dict[str, Any]:
    """The part of a page of triples that a skill may see; the triples are under `key` of the page."""
    triples: list[dict[str, Any]] = page[key]
    terms = _memory_names(names)
    if terms.isdisjoint({triple["predicate"] for triple in triples}):
        return dict(page)
    declared = {*(a.predicate for a in semantic.assertions), *(q.predicate for q in semantic.queries)}
    terms -= {names.name(names.node(predicate).value) for predicate in declared}
    shown = [triple for triple in triples if triple["predicate"] not in terms]
    hidden = len(triples) - len(shown)
    exact = page["totalIsExact"] and (not hidden or page["nextCursor"] is None)
    return {**page, key: shown, "total": max(len(shown), page["total"] - hidden), "totalIsExact": exact}


@lru_cache(8)
def _memory_names(names: Names) -> frozenset[str]:
    return frozenset(names.name(term.value) for term in MEMORY_TERMS)
