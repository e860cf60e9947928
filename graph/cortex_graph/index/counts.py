"""How much a namespace has, and of what: kept, not counted when it is read (`kept.py`)."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Any

from pyoxigraph import NamedNode, Quad

from cortex_graph.index.counting import AsserterCount, NamespaceCounts, PredicateCount, UntilExit, count_namespace
from cortex_graph.index.kept import KeptSummary
from cortex_graph.naming.names import Names
from cortex_graph.store import Following, GraphStore, Pattern

_LOOKED_AT = 10_000  # triples that are counted at once while nothing is known
_READ_AGAIN = 10_000  # subjects that were written to, and their triples, which are read again at most


@dataclass(frozen=True, slots=True)
class _InUse:
    """The predicates in use, as of a position in the changes of the store, or a later one.

    Attributes:
        position: in the changes.
        predicates: each with a subject that has it; None where that was not looked up.
    """

    position: str
    predicates: Mapping[NamedNode, str | None]


class KeptCounts(KeptSummary[NamespaceCounts]):
    """The counts of one namespace."""

    name = "counts"

    def __init__(self, store: GraphStore, names: Names) -> None:
        super().__init__(store, names)
        self._in_use: _InUse | None = None

    def predicates(self) -> list[NamedNode] | None:
        """Return the predicates in use, sorted: those of the last call or count, with what was written since.

        Returns:
            None if one may be missing, so that all triples have to be read.

        Raises:
            GraphUnavailable: the store does not answer.
        """
        store = self._store
        if not isinstance(store, Following):
            return None
        found = None if self._in_use is None else self._followed(store, self._in_use)
        if found is None:
            now = store.changes_since("").position
            counts = self.latest(wait_s=0.0)
            with self._lock:
                last, position = self._last or counts, self._position
            if counts is last and counts.is_current:
                position = now  # also where the changes before are no longer known
            if last.is_exact and last.predicate_total <= len(last.predicates):
                found = self._followed(store, _InUse(position, {each.predicate: None for each in last.predicates}))
        self._in_use = found
        return None if found is None else sorted(found.predicates, key=lambda each: each.value)

    def _followed(self, store: Following, known: _InUse) -> _InUse | None:
        """Return the predicates with what was written since; None if that is not known, or is too much."""
        changes = store.changes_since(known.position)
        changed = changes.of(self._names.graph)
        if not changed:
            return None if changed is None else replace(known, position=changes.position)
        seen: dict[NamedNode, str] = {}
        room = _READ_AGAIN - len(changed)
        for subject in changed:
            if room <= 0:
                return None
            with closing(self._quads(Pattern(self._names.graph, NamedNode(subject)))) as quads:
                read = [quad.predicate for quad in islice(quads, room)]
            seen |= dict.fromkeys(read, subject)
            room -= len(read)
        if room <= 0:
            return None
        in_use = {}
        for predicate, has_it in {**known.predicates, **seen}.items():
            is_known = predicate in seen or (has_it is not None and has_it not in changed)
            if (subject_of := has_it if is_known else self._subject_of(predicate)) is not None:
                in_use[predicate] = subject_of
        return _InUse(changes.position, in_use)

    def _subject_of(self, predicate: NamedNode) -> str | None:
        """Return a subject that has a predicate; None if none has."""
        with closing(self._quads(Pattern(self._names.graph, None, predicate))) as quads:
            found = next(quads, None)
        return None if found is None else str(found.subject.value)  # type: ignore[union-attr]

    def _quads(self, pattern: Pattern) -> Generator[Quad, None, None]:
        yield from self._store.quads(pattern)

    def _made(self, cancel: UntilExit) -> NamespaceCounts:
        return count_namespace(self._store, self._names, cancel)

    def _first_look(self) -> NamespaceCounts:
        triples = self._store.count(Pattern(self._names.graph), _LOOKED_AT)
        return NamespaceCounts(triples=triples, is_exact=False)

    def _document(self, summary: NamespaceCounts) -> dict[str, Any]:
        document = asdict(summary)
        document["predicates"] = [[each.predicate.value, each.triples] for each in summary.predicates]
        document["asserters"] = [[each.node.value, each.assertions, each.withdrawn] for each in summary.asserters]
        return document

    def _of_document(self, document: dict[str, Any], counted_at: datetime) -> NamespaceCounts | None:
        predicates = tuple(PredicateCount(NamedNode(node), int(n)) for node, n in document.pop("predicates"))
        asserters = tuple(AsserterCount(NamedNode(node), int(n), int(w)) for node, n, w in document.pop("asserters"))
        if not all(type(number) in (int, bool) for number in document.values()):
            return None
        return NamespaceCounts(predicates=predicates, asserters=asserters, counted_at=counted_at, **document)
