"""Keeps an index of entities as its graph is: documents in files, and what changed since their last commit in memory.

Rules kept here:
- before each search the subjects that were written to since (`Following.changes_since`), by any process, are read again
  and kept in memory; a few hundred of them are moved to the files together. So a write is found at once, and costs no
  write to the disk;
- the files are those of all processes of a store: which position in the changes they have is in their last commit. A
  process that is killed leaves that commit, and the next one continues from it;
- when it is not known what changed, the files are made again in a thread. Until then the last ones are searched, and
  `reason` states that something may be missing. Files that are damaged are made again, those that cannot be written are
  made in the cache folder of the user, or in memory;
- a server does not state what changed: everything is read again when the index is older than `AGED_S`, and `reason`
  states its age.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import groupby, islice
from pathlib import Path
from typing import Any, cast
from weakref import WeakKeyDictionary

from pyoxigraph import NamedNode, Quad

from cortex_graph import GraphBusy, GraphError, GraphUnavailable, NamespacedGraph
from cortex_graph.naming.names import Names
from cortex_graph.store import Following, GraphStore, InFolder, Pattern
from cortex_skills.features.finder.entity_documents import (
    VERSION,
    DocumentsBusy,
    DocumentsDamaged,
    DocumentsState,
    EntityDocuments,
    remove_files,
)
from cortex_skills.features.finder.entity_texts import MAX_STATEMENTS, EntityTexts, entity_texts

log = logging.getLogger(__name__)

MOVED_AT = 200  # resources in memory, which are moved to the files then
AGED_S = 60.0
_SHARE = 20  # of the time may be spent on reading a server: one of so many parts
_MOST_ON_SERVER = 300_000  # triples, which are sorted in memory
_WAIT_S = 0.05  # between two looks at the lock of another process
_CHECKED = 64  # resources, after which the end of the process and of the store is noticed
_AGAIN_S = 2.0  # after a failure
_PLACE = ".find"


@dataclass(frozen=True, slots=True)
class EntityView:
    """An index as of one moment.

    Attributes:
        documents: the files; None when there are none.
        changed: what is not in them as it is: by IRI, None for what is gone.
        reason: what may be missing, and why; empty when nothing is.
    """

    documents: EntityDocuments | None
    changed: Mapping[str, EntityTexts | None] = field(default_factory=dict)
    reason: str = ""


_followers: WeakKeyDictionary[GraphStore, dict[str, EntityFollower]] = WeakKeyDictionary()
_making = threading.Lock()


def follower_of(graph: NamespacedGraph) -> EntityFollower:
    """The index of the graph of a namespace, which this process makes once for each store."""
    with _making:
        of_store = _followers.setdefault(graph.store, {})
        return of_store.setdefault(graph.names.graph.value, EntityFollower())


class EntityFollower:
    """An index of one graph. Safe to use from several threads. It does not refer to the store, which ends with it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._states_changes: bool | None = None  # whether the store does
        self._documents: EntityDocuments | None = None
        self._places: list[Path | None] = []
        self._changed: dict[str, EntityTexts | None] = {}
        self._position = ""  # of the files and what is in memory together
        self._committed = ""  # of the files
        self._thread: threading.Thread | None = None
        self._error = ""
        self._began = self._ended = float("-inf")

    def current(self, graph: NamespacedGraph, timeout_s: float) -> EntityView:
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
                    return EntityView(self._documents, self._changed, self._age())
                if self._error and self._thread is None and self._has_just_ended():
                    return EntityView(self._documents, {}, self._error)
                making = self._start(graph, self._make)
            making.join(max(0.0, until - time.monotonic()))
            if making.is_alive() or time.monotonic() > until:
                reason = "the names and texts are being indexed, and not all of them are searched: try again in a while"
                return EntityView(self._documents, {}, reason)

    def _has_just_ended(self) -> bool:
        return time.monotonic() - self._ended < _AGAIN_S

    def _follow(self, graph: NamespacedGraph) -> bool:
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
        subjects = changes.of(graph.names.graph)
        if subjects is None:
            self._reload(documents)
            changes = store.changes_since(self._position)
            subjects = changes.of(graph.names.graph)
        if subjects is None:
            return False
        if subjects:
            self._changed = self._changed | {iri: read_entity(graph, NamedNode(iri)) for iri in subjects}
        self._position = changes.position
        return True

    def _reload(self, documents: EntityDocuments) -> None:
        """Begin with the last commit, of any process."""
        with suppress(DocumentsDamaged):  # it is made again
            documents.reload()
        self._committed = self._position = documents.state.position
        self._changed = {}

    def _age(self) -> str:
        if self._states_changes:
            return ""
        return (
            f"the server was read {time.monotonic() - self._ended:.0f} s ago, and does not state what was written since"
        )

    def _open(self, graph: NamespacedGraph) -> None:
        """Open the files in the first place that can be used."""
        self._places = self._places or _places(graph)
        while self._documents is None and self._places:
            folder = self._places[0]
            try:
                self._documents = _opened(folder)
            except OSError as error:
                log.info("the index of names and texts is not kept in %s: %s", folder, error)
                self._places.pop(0)
        if self._documents is not None:
            self._committed = self._position = self._documents.state.position

    def _start(self, graph: NamespacedGraph, work: object) -> threading.Thread:
        """Start a thread that makes or moves documents, unless there is one."""
        if self._thread is None or not self._thread.is_alive():
            # Not a daemon: Python would end it inside foreign code. It looks for the end of the process itself.
            self._thread = threading.Thread(target=self._run, args=(graph, work), name="cortex-find-index")
            self._thread.start()
        return self._thread

    def _run(self, graph: NamespacedGraph, work: object) -> None:
        began = time.monotonic()
        error = ""
        try:
            work(graph)  # type: ignore[operator]
        except (GraphError, OSError, DocumentsDamaged) as failed:
            error = f"the names and texts could not be indexed: {failed}"
            log.warning(error)
        with self._lock:
            self._began, self._ended, self._error, self._thread = began, time.monotonic(), error, None

    def _make(self, graph: NamespacedGraph) -> None:
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
                log.warning("the index of names and texts in %s is not used: %s", self._places[0], error)
                with self._lock:
                    self._documents = None
                    if len(self._places) > 1:
                        self._places.pop(0)
                    self._open(graph)
            else:
                return

    def _make_in(self, documents: EntityDocuments, graph: NamespacedGraph) -> None:
        position = graph.store.changes_since("").position if isinstance(graph.store, Following) else "read"
        with documents.writing() as writer:
            writer.clear()
            with closing(every_entity(graph)) as entities:
                for number, entity in enumerate(entities):
                    if not number % _CHECKED:
                        _check_exit()
                    writer.put(entity, is_new=True)
            writer.commit(DocumentsState(position))
        with self._lock:
            self._reload(documents)

    def _was_made_elsewhere(self, documents: EntityDocuments, graph: NamespacedGraph) -> bool:
        with self._lock:
            self._reload(documents)
            return self._follow(graph)

    def _move(self, _: NamespacedGraph) -> None:
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
                for iri, entity in changed.items():
                    if entity is None:
                        writer.discard(iri)
                    else:
                        writer.put(entity)
                writer.commit(DocumentsState(position, documents.state.languages))
        except DocumentsBusy:
            return  # another process moves the same
        with self._lock:
            if self._committed == before:
                documents.reload()
                self._committed = position
                later = self._changed.items() - changed.items()
                self._changed = dict(later)

    def _is_last_commit(self, documents: EntityDocuments) -> bool:
        """Whether no other process has committed since; otherwise what it committed is used."""
        last = self._committed
        documents.reload()
        if documents.state.position == last:
            return True
        self._reload(documents)
        return False


def read_entity(graph: NamespacedGraph, subject: NamedNode) -> EntityTexts | None:
    """What of a resource is searched, as the graph is; None if it has no statements."""
    with closing(quads_of(graph.store, Pattern(graph.names.graph, subject))) as quads:
        statements = [(quad.predicate, quad.object) for quad in islice(quads, MAX_STATEMENTS + 1)]
    return entity_texts(subject, statements, graph.names) if statements else None


def every_entity(graph: NamespacedGraph) -> Generator[EntityTexts, None, None]:
    """What of each resource of a graph is searched, each once."""
    store, names = graph.store, graph.names
    with closing(quads_of(store, Pattern(names.graph))) as quads:
        if isinstance(store, InFolder):  # in the order of the subjects
            probe = Quad(names.graph, names.graph, names.graph, names.graph)
            for number, (subject, group) in enumerate(groupby(quads, lambda quad: quad.subject)):
                if not number % _CHECKED:  # whether the store was closed: what is read keeps its folder locked
                    store.contains(probe)
                yield entity_texts(subject, ((quad.predicate, quad.object) for quad in group), names)
            return
        if store.keeps_order:  # in memory
            subjects = dict.fromkeys(quad.subject for quad in quads)
        else:
            yield from _sorted_entities(quads, names)
            return
    for subject in subjects:
        if (entity := read_entity(graph, subject)) is not None:
            yield entity


def quads_of(store: GraphStore, pattern: Pattern) -> Generator[Any, None, None]:
    """The quads of a pattern, to be closed by the thread that reads them: the engine's iterators belong to it."""
    yield from store.quads(pattern)


def _sorted_entities(quads: Iterator[Any], names: Names) -> Iterator[EntityTexts]:
    some = sorted(islice(quads, _MOST_ON_SERVER + 1), key=lambda quad: quad.subject.value)
    if len(some) > _MOST_ON_SERVER:
        raise GraphUnavailable(f"the server has more than {_MOST_ON_SERVER:,} triples in this graph")
    for subject, group in groupby(some, lambda quad: quad.subject):
        yield entity_texts(subject, ((quad.predicate, quad.object) for quad in group), names)


def _places(graph: NamespacedGraph) -> list[Path | None]:
    """Where the files may be, the best place first; None for memory."""
    from platformdirs import user_cache_path

    store, of_graph = graph.store, graph.names.graph.value
    if not isinstance(store, InFolder):
        if isinstance(store, Following):
            return [None]
        where = repr(store)
    else:
        where = str(store.folder)
    cache = user_cache_path("cortex-skills", appauthor=False) / "find" / _key(f"{where} {of_graph}") / f"v{VERSION}"
    if isinstance(store, InFolder):
        return [store.folder / _PLACE / _key(of_graph) / f"v{VERSION}", cache, None]
    return [cache, None]


def _key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _opened(folder: Path | None) -> EntityDocuments:
    if folder is None:
        return EntityDocuments(None)
    try:
        return EntityDocuments(folder)
    except DocumentsDamaged as error:
        log.warning("the index of names and texts in %s is made again: %s", folder, error)
        remove_files(folder)
        try:
            return EntityDocuments(folder)
        except DocumentsDamaged as again:
            raise OSError(str(again)) from again


def _check_exit() -> None:
    if not threading.main_thread().is_alive():
        raise GraphBusy("the process ends", hint="the next one indexes again")
