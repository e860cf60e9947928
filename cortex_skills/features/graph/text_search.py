"""What a text may mean in a namespace: names and ids, and resources whose names or texts have its words.

Rules kept here:
- exact names, ids, predicates and asserters are those of `cortex_graph.find`; words are found by the index of the
  namespace (`finder.entities`). A hit of a text has the triple with the text;
- a text that names something exactly, or is an id, is not also looked for with typos or by some of its words.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyoxigraph import Quad

from cortex_graph import NamespacedGraph
from cortex_graph.find import FindHit, FindResult, find, hit_of_triple
from cortex_skills.features.finder.entities import EntityIndex, Found

_LIMIT = 20


def search(graph: NamespacedGraph, text: str, *, limit: int = _LIMIT) -> FindResult:
    """What a text may mean, the nearest first.

    Args:
        graph: the graph of a namespace.
        text: 1 to 200 characters.
        limit: the largest number of hits of each kind, 1 to 1,000.

    Raises:
        InvalidArguments: an argument is invalid.
    """
    named = find(graph, text, limit=limit)
    by_words = EntityIndex(graph).find(text, limit=limit)
    hits = list(named.hits)
    reason = by_words.reason or named.reason
    if by_words.is_exact or not any(hit.where in ("name", "id") for hit in hits):
        known = {(hit.node, hit.triple_id) for hit in hits if hit.where != "predicate"}
        hits += [hit for hit in _hits(graph, by_words) if (hit.node, hit.triple_id) not in known]
        if by_words.total > len(by_words.hits) and not reason:
            reason = f"there are {by_words.total:,} resources with these words"
    return FindResult(tuple(hits), not reason, reason)


def _hits(graph: NamespacedGraph, found: Found) -> Iterator[FindHit]:
    for hit in found.hits:
        if hit.predicate is None or hit.literal is None:
            yield FindHit("begins", hit.subject)
        else:
            yield hit_of_triple("text", Quad(hit.subject, hit.predicate, hit.literal, graph.names.graph))
