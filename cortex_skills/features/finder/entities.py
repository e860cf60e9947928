"""`EntityIndex`: finds the resources of a namespace by words of their names, labels and literals.

    found = EntityIndex(graph).find("muler oslo", limit=10)
    [(hit.label, hit.text, hit.score) for hit in found.hits], found.complete

Rules kept here:
- words are compared in any order, without case and diacritics, by stems of the language of a text; the last word may be
  the beginning of one (`entity_match.py`). Only when nothing matches so, one typo a word is allowed; only when that
  finds nothing either, resources with some of the words are found (`every_word` is false then);
- a name of the namespace or an IRI that is exactly that of a resource finds this one first;
- what a hit shows is read from the graph: what was deleted is never found;
- an answer that may lack something states it: `complete` is false, and `reason` states why.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from heapq import merge

from pyoxigraph import Literal, NamedNode

from cortex_graph import InvalidArguments, NamespacedGraph
from cortex_graph.as_of import today_of
from cortex_skills.features.finder.entity_follower import EntityFollower, read_entity
from cortex_skills.features.finder.entity_match import Match, QueryWord, match, query_words
from cortex_skills.features.finder.entity_texts import MAX_STATEMENTS, MAX_TEXT, EntityTexts
from cortex_skills.features.finder.index_follower import IndexView, follower_of

MAX_QUERY = 1_000  # characters
INDEX_TIMEOUT_S = 10.0
_MORE = 2  # documents beyond the limit, among which the best are chosen
_PASSES = ((False, False), (True, False), (False, True), (True, True))  # whether typos, and some words, are enough


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
        literal: that has the text; None if it is the name.

    """

    subject: NamedNode
    label: str | None
    classes: tuple[NamedNode, ...]
    predicate: NamedNode | None
    text: str
    score: float
    literal: Literal | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What was found.

    Attributes:
        hits: the best ones, best first.
        total: how many there are.
        complete: whether everything was searched.
        reason: why not; empty if it was.
        every_word: whether each hit has every word of the query.
        typos: whether words with a typo count.
        classes: of all that match, with how many are of each, the most frequent first; where they were asked for.

    """

    hits: tuple[EntityHit, ...]
    total: int
    complete: bool = True
    reason: str = ""
    every_word: bool = True
    typos: bool = False
    classes: tuple[tuple[NamedNode, int], ...] = ()

    @property
    def is_exact(self) -> bool:
        """Whether the hits have every word as it is, its stem, or the beginning of the last one."""
        return self.every_word and not self.typos


class EntityIndex:
    """Finds resources of a namespace. Safe to use from several threads, and made without cost.

    Args:
        graph: of the namespace; one as of a moment has what is there today and was then.
        timeout_s: how long a search waits for an index that is being made, in seconds.
    """

    def __init__(self, graph: NamespacedGraph, timeout_s: float = INDEX_TIMEOUT_S) -> None:
        self._graph = graph
        self._timeout_s = timeout_s
        self._today = today_of(graph)

    def find(
        self,
        text: str,
        *,
        class_: str | None = None,
        limit: int = 10,
        prefix: bool = True,
        offset: int = 0,
        classes: int = 0,
    ) -> Found:
        """The resources that match a text best.

        Args:
            text: words, a name or an IRI; of more than 1,000 characters the first count.
            class_: only instances of this class, a name or an IRI.
            limit: the largest number of hits, from 1 on.
            prefix: whether the last word may be the beginning of one.
            offset: how many better ones are left out: a multiple of the limit, so that each is on one page.
            classes: of how many classes the resources are counted.

        Raises:
            InvalidArguments: the class is no name.
            GraphError: the store cannot be read.
        """
        of_class = None if class_ is None else self._graph.node_of(class_, "class")
        words = query_words(text[:MAX_QUERY], prefix=prefix)
        given = follower_of(EntityFollower, self._today).current(self._today, self._timeout_s)
        exact = self._exact(text, of_class)
        view = given if exact is None else replace(given, changed={**given.changed, exact.subject.value: exact})
        found: list[_Matching] = []
        total, asked = 0, _Asked(words, of_class)
        for typos, fewer in _PASSES if words else ():
            found, total = self._matching(view, each := replace(asked, typos=typos, fewer=fewer), limit, offset + limit)
            if found:
                asked = each
                break
        if exact is not None:
            others = [each for each in found if each[0].subject != exact.subject]
            total += len(others) == len(found)
            found = [(exact, Match(exact.texts[0], 1.0)), *others]
        hits = tuple(_hit(*each) for each in found[offset : offset + limit])
        reason = given.reason or self._unsearched(given, whole=bool(found) and not asked.fewer)
        counted = _classes(view, asked, classes) if classes and found else ()
        return Found(hits, max(total, len(found)), not reason, reason, not asked.fewer, asked.typos, counted)

    def _matching(self, view: IndexView, asked: _Asked, limit: int, most: int) -> tuple[list[_Matching], int]:
        """The best matching resources, as many as asked for and some more, and how many match.

        The documents are sorted in blocks of a fixed size, so that the order does not depend on how many are read.
        """
        changed = [(entity, asked.match(entity)) for entity in view.changed.values() if entity is not None]
        found = sorted([(entity, matching) for entity, matching in changed if matching is not None], key=_order)
        if view.documents is None:
            return found, len(found)
        block = limit + _MORE
        keys, total = view.documents.search(
            asked.words, -(-most // block) * block, **asked.filters, of_class=asked.class_iri, without=view.changed
        )
        verified: list[_Matching] = []
        for start in range(0, len(keys), block):
            read = (self._read(key) for key in keys[start : start + block])
            pairs = [(entity, asked.match(entity)) for entity in read if entity is not None]
            verified += sorted([(entity, matching) for entity, matching in pairs if matching is not None], key=_order)
        total -= len(keys) - len(verified)
        if self._today is not self._graph:
            found = [each for each in found if self._read(each[0].subject.value) is not None]
        return list(merge(found, verified, key=_order)), total + len(found)

    def _read(self, iri: str) -> EntityTexts | None:
        return read_entity(self._graph, NamedNode(iri))

    def _exact(self, text: str, of_class: NamedNode | None) -> EntityTexts | None:
        """The resource of exactly this name."""
        try:
            node = self._graph.node_of(text.strip())
        except InvalidArguments:
            return None
        entity = read_entity(self._graph, node)
        return entity if entity is not None and of_class in (None, *entity.classes) else None

    def _unsearched(self, view: IndexView, *, whole: bool) -> str:
        """What was not searched, when that may be what was looked for."""
        if self._today is not self._graph:
            return "what was there at that moment and is not today is not searched"
        if whole or view.documents is None:
            return ""
        cut = view.documents.cut() + sum(entity is not None and entity.is_cut for entity in view.changed.values())
        if not cut:
            return ""
        return (
            f"{cut} resources have texts of more than {MAX_TEXT:,} characters or more than {MAX_STATEMENTS:,} "
            "statements, of which the first are searched"
        )


_Matching = tuple[EntityTexts, Match]


@dataclass(frozen=True, slots=True)
class _Asked:
    """One way to look: the words, and what is allowed."""

    words: list[QueryWord]
    of_class: NamedNode | None
    typos: bool = False
    fewer: bool = False

    @property
    def class_iri(self) -> str | None:
        """The IRI of the class."""
        return None if self.of_class is None else self.of_class.value

    @property
    def filters(self) -> dict[str, bool]:
        """What is allowed, as arguments."""
        return {"typos": self.typos, "fewer": self.fewer}

    def match(self, entity: EntityTexts) -> Match | None:
        """How well a resource matches; None if it does not, or is of another class."""
        if self.of_class is not None and self.of_class not in entity.classes:
            return None
        return match(entity, self.words, **self.filters)


def _order(each: _Matching) -> tuple[float, str, str]:
    entity, found = each
    return -found.score, entity.label() or "", entity.subject.value


def _classes(view: IndexView, asked: _Asked, most: int) -> tuple[tuple[NamedNode, int], ...]:
    """The classes of all resources that match, of any class."""
    anything = replace(asked, of_class=None)
    entities = [each for each in view.changed.values() if each is not None and anything.match(each) is not None]
    counts = Counter(each.value for entity in entities for each in entity.classes)
    if view.documents is not None and asked.words:
        counts.update(view.documents.classes(asked.words, most, **asked.filters, without=view.changed))
    best = sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:most]
    return tuple((NamedNode(iri), count) for iri, count in best)


def _hit(entity: EntityTexts, found: Match) -> EntityHit:
    text = found.text
    label = entity.label()
    return EntityHit(entity.subject, label, entity.classes, text.predicate, text.value, found.score, text.literal)
