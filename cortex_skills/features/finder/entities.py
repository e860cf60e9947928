"""`EntityIndex`: finds the resources of a namespace by words of their names, labels and literals.

    found = EntityIndex(graph).find("muler oslo", limit=10)
    [(hit.label, hit.text, hit.score) for hit in found.hits], found.complete

Rules kept here:
- words are compared in any order, without case and diacritics, by stems of the language of a text; the last word may be
  the beginning of one (`entity_match.py`). Only when nothing matches so, one typo a word is allowed; only when that
  finds nothing either, resources with some of the words are found (`every_word` is false then);
- a name of the namespace or an IRI that is exactly that of a resource finds this one first;
- what a hit shows is read from the graph: what was deleted is never found;
- an answer that may lack something says so: `complete` is false, and `reason` states why.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from pyoxigraph import Literal, NamedNode

from cortex_graph import InvalidArguments, NamespacedGraph
from cortex_graph.store import Pattern, Triple, triple_of
from cortex_skills.features.finder.entity_match import Match, QueryWord, match, query_words
from cortex_skills.features.finder.entity_texts import EntityTexts, entity_texts

MAX_QUERY = 1_000  # characters


@dataclass(frozen=True, slots=True)
class EntityHit:
    """A resource that was found.

    Attributes:
        subject: the resource.
        label: its label; None without one.
        classes: its classes, sorted.
        predicate: that has the best matching text; None if that is the name of the resource itself.
        text: the best matching text: a name, or at most 1,000 characters of a literal.
        score: from 0 to 1; 1 for a resource of exactly this name.

    """

    subject: NamedNode
    label: str | None
    classes: tuple[NamedNode, ...]
    predicate: NamedNode | None
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Found:
    """What was found.

    Attributes:
        hits: the best ones, best first.
        total: how many there are.
        complete: whether everything was searched.
        reason: why not; empty if it was.
        every_word: whether each hit has every word of the query.

    """

    hits: tuple[EntityHit, ...]
    total: int
    complete: bool = True
    reason: str = ""
    every_word: bool = True


class EntityIndex:
    """Finds resources of a namespace. Safe to use from several threads.

    Args:
        graph: of the namespace.

    """

    def __init__(self, graph: NamespacedGraph) -> None:
        self._graph = graph

    def find(self, text: str, *, class_: str | None = None, limit: int = 10, prefix: bool = True) -> Found:
        """The resources that match a text best.

        Args:
            text: words, a name or an IRI; of more than 1,000 characters the first count.
            class_: only instances of this class, a name or an IRI.
            limit: the largest number of hits, from 1 on.
            prefix: whether the last word may be the beginning of one.

        Raises:
            InvalidArguments: the class is no name.
            GraphError: the store cannot be read.

        """
        of_class = None if class_ is None else self._graph.names.node(class_, "class")
        query = query_words(text[:MAX_QUERY], prefix=prefix)
        for typos, fewer in ((False, False), (True, False), (False, True), (True, True)):
            found = [*self._matching(query, of_class, typos=typos, fewer=fewer)] if query else []
            if found:
                break
        found = self._with_exact(text, of_class, found)
        found.sort(key=lambda pair: (-pair[1].score, pair[0].label() or "", pair[0].subject.value))
        return Found(tuple(_hit(*pair) for pair in found[:limit]), len(found), every_word=not fewer)

    def _matching(
        self, query: list[QueryWord], of_class: NamedNode | None, *, typos: bool, fewer: bool
    ) -> Iterator[tuple[EntityTexts, Match]]:
        names = self._graph.names
        triples = map(triple_of, self._graph.store.quads(Pattern(names.graph)))
        for subject, group in groupby(sorted(triples, key=lambda each: each[0].value), lambda each: each[0]):
            entity = entity_texts(subject, _statements(group), names)
            if of_class is None or of_class in entity.classes:
                found = match(entity, query, typos=typos, fewer=fewer)
                if found is not None:
                    yield entity, found

    def _with_exact(
        self, text: str, of_class: NamedNode | None, found: list[tuple[EntityTexts, Match]]
    ) -> list[tuple[EntityTexts, Match]]:
        """The same with the resource of exactly this name."""
        try:
            node = self._graph.names.node(text.strip())
        except InvalidArguments:
            return found
        pattern = Pattern(self._graph.names.graph, node)
        statements = map(triple_of, self._graph.store.quads(pattern))
        entity = entity_texts(node, _statements(statements), self._graph.names)
        if not self._graph.store.count(pattern, 1) or (of_class is not None and of_class not in entity.classes):
            return found
        return [(entity, Match(entity.texts[0], 1.0)), *(pair for pair in found if pair[0].subject != node)]


def _statements(triples: Iterator[Triple]) -> Iterator[tuple[NamedNode, NamedNode | Literal]]:
    return ((predicate, object_) for _, predicate, object_ in triples)


def _hit(entity: EntityTexts, found: Match) -> EntityHit:
    text = found.text
    return EntityHit(entity.subject, entity.label(), entity.classes, text.predicate, text.value, found.score)
