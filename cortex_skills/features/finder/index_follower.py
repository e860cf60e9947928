"""Keeps an index of a graph as the graph is: documents in files, and what changed since their last commit in memory.

Rules kept here:
- before each search what was written to since (`Following.changes_since`), by any process, is read again and kept in
  memory; a few hundred documents are moved to the files together. So a write is found at once, and costs no write to
  the disk;
- the files are those of all processes of a store: which position in the changes they have is in their last commit. A
  process that is killed leaves that commit, and the next one continues from it;
- when it is not known what changed, the files are made again in a thread. Until then the last ones are searched, and
  `reason` states that something may be missing. Files that are damaged are made again, those that cannot be written are
  made in the cache folder of the user, or in memory;
- files of an earlier version are removed when those of this one are opened; those of a later version stay;
- a server does not state what changed: everything is read again when the index is older than `AGED_S`, and `reason`
  states its age;
- a process has one follower of a kind for each namespace of a store.
"""

from __future__ import annotations

import hashlib
import logging
import re
import shutil
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping
from contextlib import closing, suppress
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar, cast
from weakref import WeakKeyDictionary

from cortex_graph import GraphBusy, GraphError
from cortex_graph.naming.names import Names
from cortex_graph.store import Changes, Following, GraphStore, InFolder
from cortex_skills.errors import CortexError
from cortex_skills.features.finder.kept_documents import (
    DocumentsBusy,
    DocumentsDamaged,
    DocumentsState,
    KeptDocuments,
    remove_files,
)

log = logging.getLogger(__name__)

MOVED_AT = 200  # documents in memory, which are moved to the files then
AGED_S = 60.0
_SHARE = 20  # of the time may be spent on reading a server: one of so many parts
_WAIT_S = 0.05  # between two looks at the lock of another process
_CHECKED = 64  # documents, after which the end of the process is noticed
_AGAIN_S = 2.0  # after a failure
_PLACE = ".find"


@dataclass(frozen=True, slots=True)
class IndexView:
    """An index as of one moment.

    Attributes:
        documents: of the last commit; None when there is none. They do not change.
        changed: what is not in them as it is: by key, None for what is gone.
        reason: what may be missing, and why; empty when nothing is.
        generation: another number after each change of the files.
    """

    documents: Any
    changed: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    generation: int = 0


class Indexed(Protocol):
    """What an index is made of: a part of a namespace of a store."""

    @property
    def store(self) -> GraphStore:
        """The store."""

    @property
    def names(self) -> Names:
        """The namespace."""


G = TypeVar("G", bound=Indexed)


class IndexFollower(ABC, Generic[G]):
    """An index of what one namespace has. Safe to use from several threads. It does not refer to the store."""

    documents: ClassVar[type[KeptDocuments]]
    contents: ClassVar[str]
    """What is indexed, for messages and the names of threads."""
    kind: ClassVar[str] = ""
    """What is added to the name of its folder."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._states_changes: bool | None = None  # whether the store does
        self._documents: KeptDocuments | None = None
        self._generation = 0
        self._shown: tuple[int, KeptDocuments | None] = (-1, None)
        self._places: list[Path | None] = []
        self._changed: dict[str, Any] = {}
        self._position = ""  # of the files and what is in memory together
        self._committed = ""  # of the files
        self._thread: threading.Thread | None = None
        self._error = ""
        self._began = self._ended = float("-inf")

    @abstractmethod
    def changed_in(self, graph: G, changes: Changes) -> dict[str, Any] | None:
        """What changed, as it is now: documents by their keys, None for what is gone; None if it may be anything."""

    @abstractmethod
    def every(self, graph: G) -> Generator[Any, None, None]:
        """All documents, each once."""

    def summary_of_all(self, _graph: G, _position: str) -> bytes:
        """A summary of the documents that `every` has yielded, which began at a position in the changes."""
        return b""

    def summary_with(self, _documents: Any, _changed: Mapping[str, Any]) -> bytes:
        """The summary of documents with what changed."""
        return b""

    def current(self, graph: G, timeout_s: float) -> IndexView:
        """The index as the graph is now.

        Args:
            graph: the graph, always the same one.
            timeout_s: how long to wait for an index that is being made, in seconds.

        Raises:
            GraphError: the store cannot be read.
        """
        until = time.monotonic() + timeout_s
        while True:
            with self._lock:
                if self._documents is None and self._thread is None:
                    self._open(graph)
                is_known = self._follow(graph)
                if is_known:
                    if len(self._changed) > MOVED_AT and not (self._error and self._has_just_ended()):
                        self._start(graph, self._move)
                    return IndexView(self._snapshot(), self._changed, self._age(), self._generation)
                if self._error and self._thread is None and self._has_just_ended():
                    return IndexView(self._snapshot(), {}, self._error, self._generation)
                making = self._start(graph, self._make)
            making.join(max(0.0, until - time.monotonic()))
            if making.is_alive() or time.monotonic() > until:
                reason = (
                    f"the {self.contents} are being indexed, and not all of them are searched: try again in a while"
                )
                return IndexView(self._snapshot(), {}, reason, self._generation)

    def complete(self, graph: G, timeout_s: float) -> IndexView:
        """Do what `current` does, for who must have all of it.

        Raises:
            CortexError: `graph_busy`: it is being made.
        """
        view = self.current(graph, timeout_s)
        if view.reason:
            raise CortexError("graph_busy", view.reason, hint="try again in a while")
        return view

    def _snapshot(self) -> KeptDocuments | None:
        """The documents of the last commit, which stay as they are."""
        if self._shown[0] != self._generation:
            self._shown = self._generation, copy(self._documents)
        return self._shown[1]

    def _has_just_ended(self) -> bool:
        return time.monotonic() - self._ended < _AGAIN_S

    def _follow(self, graph: G) -> bool:
        """Read what changed since the last time; returns whether that is known."""
        documents, store = self._documents, graph.store
        if documents is None:
            return False
        if self._states_changes is None:
            self._states_changes = isinstance(store, Following)
        if not self._states_changes:
            age, took = time.monotonic() - self._ended, self._ended - self._began
            return bool(self._position) and age < max(AGED_S, _SHARE * took)
        store = cast(Following, store)
        changes = store.changes_since(self._position)
        changed = self.changed_in(graph, changes)
        if changed is None:
            self._reload(documents)
            changes = store.changes_since(self._position)
            changed = self.changed_in(graph, changes)
        if changed is None:
            return False
        if changed:
            self._changed = self._changed | changed
        self._position = changes.position
        return True

    def _reload(self, documents: KeptDocuments) -> None:
        """Begin with the last commit, of any process."""
        with suppress(DocumentsDamaged):  # it is made again
            documents.reload()
        self._committed = self._position = documents.state.position
        self._changed = {}
        self._generation += 1

    def _age(self) -> str:
        if self._states_changes:
            return ""
        return (
            f"the server was read {time.monotonic() - self._ended:.0f} s ago, and does not state what was written since"
        )

    def _open(self, graph: G) -> None:
        """Open the files in the first place that can be used."""
        self._places = self._places or _places(graph, self.kind, self.documents.version)
        while self._documents is None and self._places:
            folder = self._places[0]
            try:
                self._documents = self._opened(folder)
                _remove_earlier(folder, self.documents.version)
            except OSError as error:
                log.info("the index of %s is not kept in %s: %s", self.contents, folder, error)
                self._places.pop(0)
        self._generation += 1
        if self._documents is not None:
            self._committed = self._position = self._documents.state.position

    def _start(self, graph: G, work: object) -> threading.Thread:
        """Start a thread that makes or moves documents, unless there is one."""
        if self._thread is None or not self._thread.is_alive():
            # Not a daemon: Python would end it inside foreign code. It looks for the end of the process itself.
            self._thread = threading.Thread(target=self._run, args=(graph, work), name="cortex-find-index")
            self._thread.start()
        return self._thread

    def _run(self, graph: G, work: object) -> None:
        began = time.monotonic()
        error = ""
        try:
            work(graph)  # type: ignore[operator]
        except (GraphError, OSError, DocumentsDamaged) as failed:
            error = f"the {self.contents} could not be indexed: {failed}"
            log.warning(error)
        with self._lock:
            self._began, self._ended, self._error, self._thread = began, time.monotonic(), error, None

    def _make(self, graph: G) -> None:
        """Index everything, in the first place that can be written to."""
        while (documents := self._documents) is not None:
            try:
                self._make_in(documents, graph)
            except DocumentsBusy:
                if self._was_made_elsewhere(documents, graph):
                    return
                time.sleep(_WAIT_S)
                _check_exit()
            except (DocumentsDamaged, OSError) as error:
                log.warning("the index of %s in %s is not used: %s", self.contents, self._places[0], error)
                with self._lock:
                    self._documents = None
                    if len(self._places) > 1:
                        self._places.pop(0)
                    self._open(graph)
            else:
                return

    def _make_in(self, documents: KeptDocuments, graph: G) -> None:
        position = graph.store.changes_since("").position if isinstance(graph.store, Following) else "read"
        with documents.writing() as writer:
            writer.clear()
            with closing(self.every(graph)) as entities:
                for number, entity in enumerate(entities):
                    if not number % _CHECKED:
                        _check_exit()
                    writer.put(entity, is_new=True)
            writer.commit(DocumentsState(position, summary=self.summary_of_all(graph, position)))
        with self._lock:
            self._reload(documents)

    def _was_made_elsewhere(self, documents: KeptDocuments, graph: G) -> bool:
        with self._lock:
            self._reload(documents)
            return self._follow(graph)

    def _move(self, _: G) -> None:
        """Move what is in memory to the files."""
        documents = self._documents
        if documents is None:
            return
        with self._lock:
            changed, position = self._changed, self._position
        try:
            with documents.writing() as writer:
                with self._lock:
                    before = self._committed
                    if not self._is_last_commit(documents):
                        return
                for key, document in changed.items():
                    if document is None:
                        writer.discard(key)
                    else:
                        writer.put(document)
                summary = self.summary_with(documents, changed)
                writer.commit(DocumentsState(position, documents.state.languages, summary))
        except DocumentsBusy:
            return  # another process moves the same
        with self._lock:
            if self._committed == before:
                documents.reload()
                self._generation += 1
                self._committed = position
                later = {key: each for key, each in self._changed.items() if changed.get(key, self) is not each}
                self._changed = later

    def _opened(self, folder: Path | None) -> KeptDocuments:
        try:
            return self.documents(folder)
        except DocumentsDamaged as error:
            if folder is None:
                raise
            log.warning("the index of %s in %s is made again: %s", self.contents, folder, error)
            remove_files(folder)
            try:
                return self.documents(folder)
            except DocumentsDamaged as again:
                raise OSError(str(again)) from again

    def _is_last_commit(self, documents: KeptDocuments) -> bool:
        """Whether no other process has committed since; otherwise what it committed is used."""
        last = self._committed
        documents.reload()
        if documents.state.position == last:
            return True
        self._reload(documents)
        return False


_followers: WeakKeyDictionary[GraphStore, dict[tuple[type, str], Any]] = WeakKeyDictionary()
_making = threading.Lock()
F = TypeVar("F", bound=IndexFollower[Any])


def follower_of(kind: type[F], graph: Indexed) -> F:
    """The index of a namespace, which this process makes once for each store."""
    with _making:
        of_store = _followers.setdefault(graph.store, {})
        found: F = of_store.setdefault((kind, graph.names.graph.value), kind())
        return found


def _places(graph: Indexed, kind: str, version: int) -> list[Path | None]:
    """Where the files may be, the best place first; None for memory."""
    from platformdirs import user_cache_path

    store, of_graph = graph.store, f"{graph.names.graph.value}{kind}"
    if not isinstance(store, InFolder):
        if isinstance(store, Following):
            return [None]
        where = repr(store)
    else:
        where = str(store.folder)
    cache = user_cache_path("cortex-skills", appauthor=False) / "find" / _key(f"{where} {of_graph}") / f"v{version}"
    if not isinstance(store, InFolder):
        return [cache, None]
    own = store.folder / _PLACE / _key(of_graph) / f"v{version}"
    if (link := next((part for part in (*own.parents[:2], own) if part.is_symlink()), None)) is None:
        return [own, cache, None]
    log.warning("the index is not kept in %s, which is a symbolic link: files elsewhere would be removed with it", link)
    return [cache, None]


def _remove_earlier(folder: Path | None, version: int) -> None:
    for path in () if folder is None else folder.parent.glob("v*"):
        if (found := re.fullmatch(r"v(\d{1,9})", path.name)) and int(found[1]) < version:
            shutil.rmtree(path, ignore_errors=True)


def _key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _check_exit() -> None:
    if not threading.main_thread().is_alive():
        raise GraphBusy("the process ends", hint="the next one indexes again")
