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
from typing import cast

from pyoxigraph import NamedNode, Quad

from cortex_graph.store import GraphStore, Pattern


@dataclass(frozen=True)
class WholeSubjects:
    """All quads of the subjects that a pattern finds, or of its objects; an object that it has is a name or a text."""

    pattern: Pattern
    of_objects: bool = False


Ahead = Pattern | WholeSubjects
Gather = Callable[[Sequence[Ahead]], list[list[Quad]]]


def reading_ahead(store: GraphStore, patterns: Callable[[], Iterable[Ahead] | None]) -> AbstractContextManager[None]:
    """Read patterns of a server in one request; they are for the reads in the block.

    Args:
        store: the store.
        patterns: returns what the block reads, if the store reads ahead; None to read as ever.

    Raises:
        GraphUnavailable: the store does not answer.
    """
    ahead: Callable[[Sequence[Ahead]], AbstractContextManager[None]] | None
    ahead = getattr(store, "reading_ahead", None)  # `isinstance` of a protocol costs more than a read from memory
    wanted = None if ahead is None else patterns()
    return nullcontext() if ahead is None or wanted is None else ahead(list(wanted))


def reading_now(store: GraphStore, *, forgets: bool = True) -> AbstractContextManager[None]:
    """Read what the store has now, in a block within one that has read ahead.

    Args:
        store: the store.
        forgets: whether what was read before is forgotten; else it is used again after the block.
    """
    now: Callable[[bool], AbstractContextManager[None]] | None = getattr(store, "reading_now", None)
    return nullcontext() if now is None else now(forgets)


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
                    self._keep(each, quads)
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

    def keep(self, pattern: Pattern, quads: list[Quad]) -> None:
        """Remember the quads of a pattern until the block ends, if the thread is in one."""
        if self._known is not None:
            self._known[pattern] = quads

    def wrote(self, insert: Iterable[Quad], remove: Iterable[Quad]) -> None:
        """Take over a change that was made: first quads were removed, then others inserted."""
        known = self._known
        if known:
            inserted, removed = dict.fromkeys(insert), set(remove)
            for pattern, quads in known.items():
                kept = [quad for quad in quads if quad not in removed]
                there = set(kept)
                known[pattern] = kept + [q for q in inserted if q not in there and _matches(q, pattern)]

    def forget(self) -> None:
        """Forget what was read."""
        if self._known:
            self._known.clear()

    @property
    def _known(self) -> dict[Pattern, list[Quad]] | None:
        return cast("dict[Pattern, list[Quad]] | None", getattr(self._local, "known", None))

    def _is_unknown(self, wanted: Ahead) -> bool:
        if isinstance(wanted, Pattern):
            return self.find(wanted) is None
        found = None if wanted.of_objects else self.find(wanted.pattern)
        return found is None or any(self.find(_subject_of(quad)) is None for quad in found)

    def _keep(self, wanted: Ahead, quads: list[Quad]) -> None:
        if isinstance(wanted, Pattern):
            self.keep(wanted, quads)
            return
        described: dict[Pattern, list[Quad]] = defaultdict(list)
        for quad in quads:
            described[_subject_of(quad)].append(quad)
        for pattern, of_subject in described.items():
            self.keep(pattern, list(dict.fromkeys(of_subject)))
        if wanted.of_objects:
            return
        self.keep(wanted.pattern, [quad for quad in dict.fromkeys(quads) if _matches(quad, wanted.pattern)])


def _matches(quad: Quad, pattern: Pattern) -> bool:
    return (
        quad.graph_name == pattern.graph
        and pattern.subject in (None, quad.subject)
        and pattern.predicate in (None, quad.predicate)
        and pattern.object_ in (None, quad.object)
    )


def _subject_of(quad: Quad) -> Pattern:
    return Pattern(cast(NamedNode, quad.graph_name), cast(NamedNode, quad.subject))
