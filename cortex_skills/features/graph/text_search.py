"""What a text may mean in a namespace: names and ids, and resources whose names or texts have its words.

Rules kept here:
- exact names, ids, predicates and asserters are those of `cortex_graph.find`; words are found by the index of the
  namespace (`finder.entities`). A hit of a text has the triple with the text;
- a text that names something exactly, or is an id, is not also looked for with typos or by some of its words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyoxigraph import NamedNode, Quad

from cortex_graph import NamespacedGraph
from cortex_graph.find import FindHit, find, hit_of_triple
from cortex_skills.features.finder.entities import EntityIndex, Found

_LIMIT = 20


@dataclass(frozen=True, slots=True)
class TextFound:
    """What was found, the nearest first.

    Attributes:
        hits: those of names and ids first, of which the first page alone has any.
        by_words: how many resources have the words.
        classes: of these, with how many are of each; where they were asked for.
        reason: why something may be missing; empty if nothing is.
    """

    hits: tuple[FindHit, ...]
    by_words: int
    classes: tuple[tuple[NamedNode, int], ...]
    reason: str


def search(
    graph: NamespacedGraph,
    text: str,
    *,
    limit: int = _LIMIT,
    offset: int = 0,
    class_: str | None = None,
    classes: int = 0,
) -> TextFound:
    """What a text may mean, the nearest first.

    Args:
        graph: the graph of a namespace.
        text: 1 to 200 characters.
        limit: the largest number of hits of each kind, 1 to 1,000.
        offset: how many resources with the words are left out, a multiple of the limit.
        class_: only resources with the words that are of this class.
        classes: of how many classes the resources are counted.

    Raises:
        InvalidArguments: an argument is invalid.
    """
    named = find(graph, text, limit=limit)
    words = EntityIndex(graph).find(text, class_=class_, limit=limit, offset=offset, classes=classes)
    hits = [] if offset or class_ is not None else list(named.hits)
    if not words.is_exact and any(hit.where in ("name", "id") for hit in hits):
        return TextFound(tuple(hits), 0, (), words.reason or named.reason)
    known = {(hit.node, hit.triple_id) for hit in hits if hit.where != "predicate"}
    hits += [hit for hit in _hits(graph, words) if (hit.node, hit.triple_id) not in known]
    return TextFound(tuple(hits), words.total, words.classes, words.reason or named.reason)


def _hits(graph: NamespacedGraph, found: Found) -> Iterator[FindHit]:
    for hit in found.hits:
        if hit.predicate is None or hit.literal is None:
            yield FindHit("begins", hit.subject)
        else:
            yield hit_of_triple("text", Quad(hit.subject, hit.predicate, hit.literal, graph.names.graph))
