"""Reads ahead: what an operation reads of a server is asked for in one request.

Rules kept here:
- in a block, the patterns that it names were read at its beginning, in one request; a read of one of them, or of a part
  of one, is answered from memory. Other reads are requests, and are remembered until the block ends;
- what the thread writes in the block is seen by its later reads. A change that was not made, or of which that is not
  known, ends all that was remembered;
- a block is of one thread, and one within another one uses what that has read. A loop that waits for a change of
  others reads outside of a block;
- a decision on what was read ahead is made with a claim (`claims.py`) where two writers must not both make it;
- a store to which a request costs nothing reads as ever.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol, cast, runtime_checkable

from pyoxigraph import NamedNode, Quad

from cortex_graph.store import PAGE_BYTES, GraphStore, Page, Pattern


@dataclass(frozen=True)
class WholeSubjects:
    """All quads of the subjects that a pattern finds, or of its objects; an object that it has is a name or a text.

    Attributes:
        pattern: finds them.
        of_objects: whether it finds them as its objects.
        also: what each of the subjects has beside: predicates, each with an object, or with any for None.
        lacks: predicates that none of the subjects has.
    """

    pattern: Pattern
    of_objects: bool = False
    also: tuple[tuple[NamedNode, NamedNode | None], ...] = ()
    lacks: tuple[NamedNode, ...] = ()

    @property
    def is_restricted(self) -> bool:
        """Whether it has not all subjects that the pattern finds."""
        return self.of_objects or bool(self.also or self.lacks)


@dataclass(frozen=True)
class UpTo:
    """What a pattern finds, if that is not more than so many quads; else the reads in the block are requests."""

    of: Pattern | WholeSubjects
    most: int


Ahead = Pattern | WholeSubjects | UpTo
_NOTHING = nullcontext()
Gather = Callable[[Sequence[Ahead]], list[list[Quad] | None]]


@runtime_checkable
class ReadingAhead(GraphStore, Protocol):
    """A store that reads ahead, since each request to it takes longer than what it answers."""

    def reading_ahead(self, patterns: Sequence[Ahead]) -> AbstractContextManager[None]:
        """Do what `reading_ahead` of this module does."""

    def reading_now(self, forgets: bool) -> AbstractContextManager[None]:
        """Do what `reading_now` of this module does."""

    def subjects_ahead(self, wanted: WholeSubjects) -> list[NamedNode] | None:
        """Do what `subjects_ahead` of this module does."""


def reading_ahead(store: GraphStore, patterns: Callable[[], Iterable[Ahead] | None]) -> AbstractContextManager[None]:
    """Read patterns of a server in one request; they are for the reads in the block.

    Args:
        store: the store.
        patterns: returns what the block reads, if the store reads ahead; None to read as ever.

    Raises:
        GraphUnavailable: the store does not answer.
    """
    if not isinstance(store, ReadingAhead):
        return _NOTHING
    wanted = patterns()
    return _NOTHING if wanted is None else store.reading_ahead(list(wanted))


def reading_now(store: GraphStore, *, forgets: bool = True) -> AbstractContextManager[None]:
    """Read what the store has now, in a block within one that has read ahead.

    Args:
        store: the store.
        forgets: whether what was read before is forgotten; else it is used again after the block.
    """
    return store.reading_now(forgets) if isinstance(store, ReadingAhead) else _NOTHING


def subjects_ahead(store: GraphStore, wanted: WholeSubjects) -> list[NamedNode] | None:
    """Return the subjects that were read ahead in the block; None where they were not, or are too many."""
    return store.subjects_ahead(wanted) if isinstance(store, ReadingAhead) else None


class ReadAhead:
    """What the threads of a process have read ahead of one store."""

    def __init__(self) -> None:
        self._local = threading.local()

    @contextmanager
    def reading(self, patterns: Sequence[Ahead], gather: Gather) -> Iterator[None]:
        """Read patterns, and remember until the block ends."""
        is_outer = self._known is None
        if is_outer:
            self._local.known = {}
        try:
            wanted = [each for each in dict.fromkeys(patterns) if self._is_unknown(each)]
            if wanted:
                for each, quads in zip(wanted, gather(wanted), strict=True):
                    if quads is not None:
                        self._keep(each.of if isinstance(each, UpTo) else each, quads)
            yield
        finally:
            if is_outer:
                self._local.known = None

    @contextmanager
    def reading_now(self, forgets: bool) -> Iterator[None]:
        """See `reading_now` of this module."""
        before, self._local.known = self._known, None
        try:
            yield
        finally:
            self._local.known = {} if before is not None and forgets else before

    @property
    def is_reading(self) -> bool:
        """Whether the thread is in a block."""
        return self._known is not None

    def find(self, pattern: Pattern) -> list[Quad] | None:
        """Return the quads of a pattern, if they were read."""
        known = self._known
        if not known:
            return None
        subject, predicate, object_ = pattern.subject, pattern.predicate, pattern.object_
        for s in {subject, None}:
            for p in {predicate, None}:
                for o in {object_, None}:
                    found = known.get(Pattern(pattern.graph, s, p, o))
                    if found is not None:
                        return [quad for quad in found if _matches(quad, pattern)]
        return None

    def first_page(self, pattern: Pattern, limit: int) -> Page | None:
        """Return the first page of a pattern, if its quads were read, in the order of the store, and fit on it."""
        known = self._known
        found = None if known is None else known.get(pattern)
        if found is None or len(found) > limit:
            return None
        page = Page.of(pattern.graph, found, None)
        return page if sum(map(len, page.lines)) <= PAGE_BYTES else None

    def subjects(self, wanted: WholeSubjects) -> list[NamedNode] | None:
        """Return the subjects of what was read; None where it was not."""
        found = None if self._known is None else self._known.get(wanted)
        return None if found is None else list(dict.fromkeys(cast(NamedNode, quad.subject) for quad in found))

    def keep(self, pattern: Pattern, quads: list[Quad]) -> None:
        """Remember the quads of a pattern until the block ends, if the thread is in one."""
        if self._known is not None:
            self._known[pattern] = quads

    def keep_page(self, page: Page) -> Page:
        """Remember that the quads of a page are there; returns the page."""
        if self._known is not None:
            for quad in page.quads:
                self._known.setdefault(pattern_of(quad), [quad])
        return page

    def wrote(self, insert: Iterable[Quad], remove: Iterable[Quad]) -> None:
        """Take over a change that was made: first quads were removed, then others inserted."""
        known = self._known
        if known:
            inserted, removed = dict.fromkeys(insert), set(remove)
            for pattern, quads in list(known.items()):
                if not isinstance(pattern, Pattern):
                    del known[pattern]
                    continue
                kept = [quad for quad in quads if quad not in removed]
                there = set(kept)
                known[pattern] = kept + [q for q in inserted if q not in there and _matches(q, pattern)]

    def forget(self) -> None:
        """Forget what was read."""
        if self._known:
            self._known.clear()

    @property
    def _known(self) -> dict[Pattern | WholeSubjects, list[Quad]] | None:
        return cast("dict[Pattern | WholeSubjects, list[Quad]] | None", getattr(self._local, "known", None))

    def _is_unknown(self, wanted: Ahead) -> bool:
        wanted = wanted.of if isinstance(wanted, UpTo) else wanted
        if isinstance(wanted, Pattern):
            return self.find(wanted) is None
        if self._known is not None and wanted in self._known:
            return False
        found = None if wanted.is_restricted else self.find(wanted.pattern)
        return found is None or any(self.find(_subject_of(quad)) is None for quad in found)

    def _keep(self, wanted: Pattern | WholeSubjects, quads: list[Quad]) -> None:
        if isinstance(wanted, Pattern):
            self.keep(wanted, quads)
            return
        found, described = list(dict.fromkeys(quads)), defaultdict[Pattern, list[Quad]](list)
        for quad in found:
            described[_subject_of(quad)].append(quad)
        for pattern, of_subject in described.items():
            self.keep(pattern, of_subject)
        if self._known is not None:
            self._known[wanted] = found
        if not wanted.is_restricted:
            self.keep(wanted.pattern, [quad for quad in found if _matches(quad, wanted.pattern)])


def pattern_of(quad: Quad) -> Pattern:
    """Return the pattern that matches one quad."""
    return Pattern(*cast(Any, (quad.graph_name, quad.subject, quad.predicate, quad.object)))


def _matches(quad: Quad, pattern: Pattern) -> bool:
    return (
        quad.graph_name == pattern.graph
        and pattern.subject in (None, quad.subject)
        and pattern.predicate in (None, quad.predicate)
        and pattern.object_ in (None, quad.object)
    )


def _subject_of(quad: Quad) -> Pattern:
    return Pattern(cast(NamedNode, quad.graph_name), cast(NamedNode, quad.subject))
