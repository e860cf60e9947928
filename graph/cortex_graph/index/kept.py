"""`KeptSummary`: a summary of a namespace that is kept, not made when it is read.

Rules kept here:
- the last summary is kept with the revision that it was made at. Reading it costs one look at the revision, however
  large the graph is;
- when the graph was written to since, it is made again in the background. That takes at most a twentieth of the time:
  after one of 3 s the next one begins a minute later, also in another process;
- a summary that took long is kept in the index graph, too, so that the next process begins with it;
- with a summary is the position in the changes of the store from which on it may lack some;
- what is not known is never stated: a summary has the moment at which it was made, `is_current` is whether it is
  known that nothing was written since, and `is_exact` whether everything was read;
- on stores without revisions it is made again after a minute.
"""

from __future__ import annotations

import logging
import threading
import time
from abc import ABC, abstractmethod
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, ClassVar, Generic, TypeVar

import orjson
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.exceptions import GraphError
from cortex_graph.index.counting import UntilExit, until_exit
from cortex_graph.naming.names import Names
from cortex_graph.naming.vocabulary import VALUE
from cortex_graph.store import Following, GraphStore, Pattern, Revisioned

log = logging.getLogger(__name__)

_SHARE = 20  # of the time may be spent on it: one of so many parts
_AGED_S = 60.0
_WORTH_KEEPING_S = 2.0

S = TypeVar("S", bound=Any)  # a frozen dataclass with `is_exact`, `is_current` and `counted_at`


class KeptSummary(ABC, Generic[S]):
    """A summary of one namespace, kept by this process and for the next one. Safe to use from several threads."""

    name: ClassVar[str]
    """The last part of the IRI of the node in the index graph that keeps it."""

    def __init__(self, store: GraphStore, names: Names) -> None:
        self._store = store
        self._names = names
        self._node = NamedNode(f"{names.graph.value}/{self.name}")
        self._kept = Pattern(names.index_graph, self._node, VALUE)
        self._lock = threading.Lock()
        self._last: S | None = None
        self._revision: str | None = None
        self._position = ""  # in the changes of the store, before the last summary was begun
        self._began = self._ended = 0.0
        self._running: threading.Thread | None = None
        self._error: GraphError | None = None
        self._is_read = False
        self._is_of_another = False  # whether the summary was made by an earlier process

    @abstractmethod
    def _made(self, cancel: UntilExit) -> S:
        """Make the summary."""

    @abstractmethod
    def _first_look(self) -> S:
        """Return what is known at once, for a reader that does not wait for the first summary."""

    @abstractmethod
    def _document(self, summary: S) -> dict[str, Any]:
        """Return a summary as JSON, without the moment at which it was made."""

    @abstractmethod
    def _of_document(self, document: dict[str, Any], counted_at: datetime) -> S | None:
        """Return the summary of a document that `_document` returned; None, or an error, for any other one."""

    def latest(self, wait_s: float = 0.3, share: int | None = None) -> S:
        """Return the last summary, and have it made again if something was written since.

        Args:
            wait_s: how long to wait for one that has begun, in seconds. Nothing is waited for when there is a summary
                and making it took longer.
            share: of the time may be spent on it, one of so many parts; a twentieth by default.

        Raises:
            GraphUnavailable: the store does not answer.
        """
        revision = self._current_revision()
        if not self._is_read:
            self._read()
        with self._lock:
            if self._last is not None and self._is_current(revision):
                return self._last
            if self._running is None and self._is_due(wait_s, _SHARE if share is None else share):
                self._running = threading.Thread(target=self._make, args=(revision,), name=f"cortex-graph-{self.name}")
                self._running.start()
            running, known = self._running, self._last is not None
        if running is not None and not (known and self._ended - self._began > wait_s):
            running.join(wait_s)
        with self._lock:
            last, error = self._last, self._error
            is_current = self._is_current(revision)
        if last is not None:
            return last if is_current else replace(last, is_current=False)
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

    def _is_due(self, wait_s: float, share: int) -> bool:
        took = self._ended - self._began
        is_waited_for = self._is_of_another and wait_s > took
        return is_waited_for or time.monotonic() - self._ended >= share * took

    def _make(self, revision: str | None) -> None:
        began = time.monotonic()
        made, error, position = None, None, ""
        try:
            if isinstance(self._store, Following):
                position = self._store.changes_since("").position
            with until_exit() as cancel:
                made = self._made(cancel)
        except GraphError as failed:
            error = failed.with_traceback(None)
        with self._lock:
            self._began, self._ended = began, time.monotonic()
            self._error, self._running = error, None
            if made is not None:
                self._last, self._revision, self._position, self._is_of_another = made, revision, position, False
        if made is not None and self._ended - began >= _WORTH_KEEPING_S:
            self._keep(made, position, self._ended - began)

    def _read(self) -> None:
        """Begin with the summary that an earlier process has kept."""
        found = self._store.quads(self._kept) if self._store.keeps_order else ()
        kept = [read for quad in found if (read := self._read_text(quad.object)) is not None]
        with self._lock:
            self._is_read = True
            if not kept or self._last is not None:
                return
            last, position, took_s = max(kept, key=lambda each: each[0].counted_at)
            age = datetime.now(UTC) - last.counted_at
            self._last, self._position, self._is_of_another = last, position, True
            self._ended = time.monotonic() - max(0.0, age.total_seconds())
            self._began = self._ended - took_s

    def _keep(self, summary: S, position: str, took_s: float) -> None:
        """Keep a summary for the next process, in place of others."""
        if not self._store.keeps_order:
            return
        document = {
            **self._document(summary),
            "counted_at": summary.counted_at,
            "position": position,
            "took": took_s,
        }
        new = Quad(self._node, VALUE, Literal(orjson.dumps(document).decode()), self._names.index_graph)
        try:
            self._store.apply([new], [quad for quad in self._store.quads(self._kept) if quad != new])
        except GraphError as error:  # a store that can only be read
            log.debug("the %s of %s are not kept: %s", self.name, self._names.namespace, error)

    def _read_text(self, term: Any) -> tuple[S, str, float] | None:
        """Return what `_keep` wrote as a text: a summary, its position, how long it took; None for any other text."""
        try:
            document = orjson.loads(term.value)
            took_s, position = float(document.pop("took")), str(document.pop("position", ""))
            counted_at = datetime.fromisoformat(document.pop("counted_at")).astimezone(UTC)
            summary = self._of_document(document, counted_at)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, IndexError):
            return None
        return None if summary is None else (summary, position, took_s)
