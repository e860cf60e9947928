"""How much a namespace has, and of what: kept, not counted when it is read.

Rules kept here:
- the last counts are kept with the revision that they were counted at. Reading them costs one look at the revision,
  however large the graph is;
- when the graph was written to since, they are counted again in the background (`counting.py`). Counting takes at most
  a twentieth of the time: after a count of 3 s the next one begins a minute later, also in another process;
- counts that took long are kept in the index graph, too, so that the next process begins with them;
- what is not known is never stated: counts have the moment at which they were made, `is_current` says whether it is
  known that nothing was written since, and `is_exact` whether everything was counted;
- stores without revisions are counted again after a minute.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

import orjson
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.counting import AsserterCount, NamespaceCounts, PredicateCount, count_namespace, until_exit
from cortex_graph.exceptions import GraphError
from cortex_graph.names import Names
from cortex_graph.store import GraphStore, Pattern, Revisioned
from cortex_graph.vocabulary import VALUE

log = logging.getLogger(__name__)

_SHARE = 20  # of the time may be spent on counting: one of so many parts
_AGED_S = 60.0
_LOOKED_AT = 10_000  # triples that are counted at once while nothing is known
_WORTH_KEEPING_S = 2.0


class KeptCounts:
    """The counts of one namespace, kept by this process and for the next one. Safe to use from several threads."""

    def __init__(self, store: GraphStore, names: Names) -> None:
        self._store = store
        self._names = names
        self._kept = Pattern(names.index_graph, _node(names), VALUE)
        self._lock = threading.Lock()
        self._counts: NamespaceCounts | None = None
        self._revision: str | None = None
        self._began = self._ended = 0.0
        self._running: threading.Thread | None = None
        self._error: GraphError | None = None
        self._is_read = False
        self._is_of_another = False  # whether the counts were made by an earlier process

    def latest(self, wait_s: float = 0.3) -> NamespaceCounts:
        """Return the last counts, and have them counted again if something was written since.

        Args:
            wait_s: how long to wait for a count that has begun, in seconds. Nothing is waited for when there are counts
                and counting them took longer.

        Raises:
            GraphUnavailable: the store does not answer.
        """
        revision = self._current_revision()
        if not self._is_read:
            self._read()
        with self._lock:
            if self._counts is not None and self._is_current(revision):
                return self._counts
            if self._running is None and self._is_due(wait_s):
                self._running = threading.Thread(target=self._count, args=(revision,), name="cortex-graph-counts")
                self._running.start()
            running, known = self._running, self._counts is not None
        if running is not None and not (known and self._ended - self._began > wait_s):
            running.join(wait_s)
        with self._lock:
            counts, error = self._counts, self._error
            is_current = self._is_current(revision)
        if counts is not None:
            return counts if is_current else replace(counts, is_current=False)
        if error is not None and running is not None and not running.is_alive():
            raise error
        return self._first_look()

    def _current_revision(self) -> str | None:
        if not isinstance(self._store, Revisioned):
            return None
        return self._store.revision([self._names.graph, self._names.provenance_graph])

    def _is_current(self, revision: str | None) -> bool:
        if revision is None:
            return time.monotonic() - self._ended < _AGED_S
        return revision == self._revision

    def _is_due(self, wait_s: float) -> bool:
        took = self._ended - self._began
        is_waited_for = self._is_of_another and wait_s > took
        return is_waited_for or time.monotonic() - self._ended >= _SHARE * took

    def _count(self, revision: str | None) -> None:
        began = time.monotonic()
        counts, error = None, None
        try:
            with until_exit() as cancel:
                counts = count_namespace(self._store, self._names, cancel)
        except GraphError as failed:
            error = failed.with_traceback(None)
        with self._lock:
            self._began, self._ended = began, time.monotonic()
            self._error, self._running = error, None
            if counts is not None:
                self._counts, self._revision, self._is_of_another = counts, revision, False
        if counts is not None and self._ended - began >= _WORTH_KEEPING_S:
            self._keep(counts, self._ended - began)

    def _read(self) -> None:
        """Begin with the counts that an earlier process has kept."""
        found = self._store.quads(self._kept) if self._store.keeps_order else ()
        kept = [read for quad in found if (read := _read(quad.object)) is not None]
        with self._lock:
            self._is_read = True
            if not kept or self._counts is not None:
                return
            counts, took_s = max(kept, key=lambda each: each[0].counted_at or datetime.min.replace(tzinfo=UTC))
            age = datetime.now(UTC) - (counts.counted_at or datetime.now(UTC))
            self._counts, self._is_of_another = counts, True
            self._ended = time.monotonic() - max(0.0, age.total_seconds())
            self._began = self._ended - took_s

    def _keep(self, counts: NamespaceCounts, took_s: float) -> None:
        """Keep counts for the next process, in place of others."""
        if not self._store.keeps_order:
            return
        new = Quad(_node(self._names), VALUE, Literal(_written(counts, took_s)), self._names.index_graph)
        try:
            self._store.apply([new], [quad for quad in self._store.quads(self._kept) if quad != new])
        except GraphError as error:  # a store that can only be read
            log.debug("the counts of %s are not kept: %s", self._names.namespace, error)

    def _first_look(self) -> NamespaceCounts:
        """Return lower bounds, for a reader that does not wait for the first count."""
        triples = self._store.count(Pattern(self._names.graph), _LOOKED_AT)
        return NamespaceCounts(triples=triples, is_exact=False)


def _node(names: Names) -> NamedNode:
    return NamedNode(f"{names.graph.value}/counts")


def _written(counts: NamespaceCounts, took_s: float) -> str:
    """Return counts as JSON, with how long counting took, in seconds."""
    document = asdict(counts)
    document["predicates"] = [[each.predicate.value, each.triples] for each in counts.predicates]
    document["asserters"] = [[each.node.value, each.assertions, each.withdrawn] for each in counts.asserters]
    return orjson.dumps({**document, "took": took_s}).decode()


def _read(term: Any) -> tuple[NamespaceCounts, float] | None:
    """Return the counts of a text that `_written` has made; None for any other text."""
    try:
        document = orjson.loads(term.value)
        took_s = float(document.pop("took"))
        predicates = tuple(PredicateCount(NamedNode(node), int(n)) for node, n in document.pop("predicates"))
        asserters = tuple(AsserterCount(NamedNode(node), int(n), int(w)) for node, n, w in document.pop("asserters"))
        counted_at = datetime.fromisoformat(document.pop("counted_at")).astimezone(UTC)
        if not all(type(number) in (int, bool) for number in document.values()):
            return None
        counts = NamespaceCounts(predicates=predicates, asserters=asserters, counted_at=counted_at, **document)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return None
    return counts, took_s
