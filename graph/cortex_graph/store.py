"""The interface of a triple store.

Rules kept here:
- every operation names its graph: no operation spans all graphs, and none reads the default graph;
- terms are those of pyoxigraph; stores know nothing of namespaces, names or JSON;
- an operation that changes data is atomic (the two bulk operations only where `bulk_is_atomic`), and returns when the
  change survives a crash of the process;
- every failure of a store is raised as a `GraphError`;
- a page is bounded by its size in bytes as well as by its number of quads, since the writer of a triple decides how
  long it is;
- a SPARQL query sees the graphs of its dataset only, its own `FROM` included, and has a time limit;
- a store may be used from several threads. A stream of quads is read in the thread that requested it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from pyoxigraph import Literal, NamedNode, Quad, QueryResultsFormat, RdfFormat

from cortex_graph.cancellation import Cancellation
from cortex_graph.exceptions import GraphCorrupt

# As N-Quads: several times the size of an ordinary page of 1,000 quads, and small enough for a small sandbox.
PAGE_BYTES = 1 << 20


@dataclass(frozen=True)
class Pattern:
    """Matches the quads of one graph that have these terms; None matches any term."""

    graph: NamedNode
    subject: NamedNode | None = None
    predicate: NamedNode | None = None
    object_: NamedNode | Literal | None = None


Triple = tuple[NamedNode, NamedNode, NamedNode | Literal]


@dataclass(frozen=True)
class Page:
    """A page of quads of one graph. It stores triples: making a quad takes as long as reading it.

    Attributes:
        graph: the graph of all quads.
        triples: in the order of the store.
        lines: the text (`str`) of each quad, in UTF-8.
        cursor: the cursor of the next page; None on the last page.
    """

    graph: NamedNode
    triples: list[Triple]
    lines: list[bytes]
    cursor: str | None

    @classmethod
    def of(cls, graph: NamedNode, quads: Iterable[Quad], cursor: str | None) -> Page:
        """Make a page of quads of one graph."""
        quads = list(quads)
        return cls(graph, [triple_of(quad) for quad in quads], [str(quad).encode() for quad in quads], cursor)

    @cached_property
    def quads(self) -> list[Quad]:
        """The triples as quads."""
        return [Quad(*triple, self.graph) for triple in self.triples]


@dataclass(frozen=True)
class Dataset:
    """The graphs that a SPARQL query sees: those whose union is its default graph, and its named graphs."""

    default: tuple[NamedNode, ...]
    named: tuple[NamedNode, ...] = ()


@dataclass(frozen=True)
class QueryAnswer:
    """The serialised result of a SPARQL query.

    Attributes:
        form: the format of `chunks`, which distinguishes rows and booleans from graphs.
        chunks: the bytes. Closing it ends the query; it raises `QueryTimeout` when the time limit is exceeded.
        warnings: what of the result may be wrong, and why.
    """

    form: QueryResultsFormat | RdfFormat
    chunks: Generator[bytes, None, None]
    warnings: tuple[str, ...] = ()


class Maintenance(AbstractContextManager[Any], Protocol):
    """A lock with the interface of `threading.Lock`."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Acquire the lock; returns whether it was acquired."""

    def release(self) -> None:
        """Release the lock."""


def triple_of(quad: Quad) -> Triple:
    """Return the terms of a quad without its graph."""
    return quad.subject, quad.predicate, quad.object  # type: ignore[return-value]  # no other terms are stored


class KnownByClass(type(Protocol)):  # type: ignore[misc]  # which has no public name
    """Protocols of which a class is asked once: `isinstance` of a protocol takes 100 µs on Python 3.11."""

    def __instancecheck__(cls, instance: object) -> bool:
        kind = instance.__class__
        known = _KNOWN.get((cls, kind))
        if known is None:
            known = _KNOWN[cls, kind] = super().__instancecheck__(instance)
        return known


_KNOWN: dict[tuple[type, type], bool] = {}


class GraphStore(Protocol, metaclass=KnownByClass):
    """A triple store."""

    @property
    def maintenance(self) -> Maintenance:
        """The lock for operations that rewrite much of a graph; one of them runs at a time, in all processes."""

    bulk_is_atomic: bool
    """Whether a bulk operation writes nothing when it fails or its process is killed."""

    @property
    def keeps_order(self) -> bool:
        """Whether `quads` has a stable order while quads are added, and reads a snapshot."""

    def contains(self, quad: Quad) -> bool:
        """Return whether the store has this quad."""

    def insert(self, groups: Sequence[Sequence[Quad]]) -> list[bool]:
        """Write each group whose first quad is new, in one transaction; returns which groups were written."""

    def remove(self, quad: Quad, about: Iterable[tuple[NamedNode, NamedNode]] = ()) -> bool:
        """Remove a quad and, in one transaction, all quads with these (graph, subject); returns whether it existed."""

    def apply(self, insert: Iterable[Quad] = (), remove: Iterable[Quad] = ()) -> None:
        """Remove quads, then insert quads, in one transaction."""

    def match(self, pattern: Pattern, limit: int, cursor: str | None = None) -> Page:
        """Return up to `limit` quads of a pattern, in the order of the store, from the cursor of the previous page.

        A page has fewer quads when they would exceed `PAGE_BYTES` together; a longer quad has its own page. A quad that
        exists from the first page to the last is on one of them; during writes a quad can be on two.

        Raises:
            InvalidArguments: the cursor is malformed, or belongs to another pattern.
        """

    def quads(self, pattern: Pattern) -> Iterator[Quad]:
        """Iterate over all quads of a pattern, as they were when the first one was read."""

    def count(self, pattern: Pattern, ceiling: int | None = None) -> int:
        """Count the quads of a pattern, up to `ceiling`."""

    def graph_names(self) -> list[NamedNode]:
        """Return the graphs that are not empty."""

    def as_stored(self, literal: Literal) -> Literal:
        """Return the literal as this store returns it: some stores keep the value of a number, not its lexical form."""

    def bulk_insert(self, quads: Iterable[Quad]) -> None:
        """Write many quads fast; after a failure some may have been written, unless `bulk_is_atomic`."""

    def bulk_load(self, path: Path, graph: NamedNode) -> None:
        """Write an N-Triples file to a graph, fast; after a failure as with `bulk_insert`."""

    def query(
        self,
        text: str,
        dataset: Dataset,
        *,
        results: QueryResultsFormat = QueryResultsFormat.JSON,
        graphs: RdfFormat = RdfFormat.N_TRIPLES,
        timeout_s: float = 30.0,
        cancel: Cancellation | None = None,
    ) -> QueryAnswer:
        """Evaluate a SPARQL 1.1 query over a dataset.

        The caller ensures that the text queries no other server (`SERVICE`); see `cortex_graph.sparql`.

        Args:
            text: the query.
            dataset: the graphs that it sees.
            results: the format of the result of SELECT and ASK.
            graphs: the format of the result of CONSTRUCT and DESCRIBE.
            timeout_s: the time until the last byte of the result is read, in seconds.
            cancel: cancels the call from another thread; its resources are released at once, and the reader of
                the result gets the error of the cancellation.

        Raises:
            InvalidArguments: the text is not a query (`details`: line, column).
            QueryTimeout: the time limit is exceeded.
        """

    def snapshot(self, folder: Path) -> bool:
        """Copy the store, as it is at one moment, into a new folder that an embedded store can open.

        The copy is cheap: its files are hard links where the file system has them. Other processes may write meanwhile.

        Args:
            folder: must not exist; on the machine that has the files of the store.

        Returns:
            Whether the copy was made; False for a store that has no files.
        """

    def flush(self) -> None:
        """Write all data to the disk."""

    def close(self) -> None:
        """Release the resources of the store; every later call raises `GraphUnavailable`."""


@runtime_checkable
class Revisioned(GraphStore, Protocol):
    """A store that detects whether graphs were written to."""

    def revision(self, graphs: Iterable[NamedNode]) -> str:
        """Return an identifier of the last write to any of these graphs."""

    def apply_at(self, revision: str, graphs: Iterable[NamedNode], insert: list[Quad], remove: list[Quad]) -> bool:
        """Do what `GraphStore.apply` does if these graphs still have this revision; returns whether they have."""


@dataclass(frozen=True)
class Changes:
    """What was written to a store since a position.

    Attributes:
        position: of the last change that this has.
        subjects: those that were written to, by the IRI of their graph; of a graph None if it may be any. None as a
            whole: of all graphs it may be any.

    """

    position: str
    subjects: Mapping[str, frozenset[str] | None] | None

    def of(self, graph: NamedNode) -> frozenset[str] | None:
        """Return the subjects of one graph; None if it may be any."""
        return None if self.subjects is None else self.subjects.get(graph.value, frozenset())


@runtime_checkable
class Following(GraphStore, Protocol):
    """A store that states what was written to it, by any process."""

    def changes_since(self, position: str) -> Changes:
        """Return what was written since a position of an earlier answer; everything for another text.

        Each write that was answered before the call is in it; more subjects may be in it than were changed.
        """


@runtime_checkable
class InFolder(GraphStore, Protocol):
    """A store in a folder of this machine."""

    @property
    def folder(self) -> Path:
        """The folder."""

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be written to it, by any process."""

    @property
    def damage(self) -> GraphCorrupt | None:
        """What it has lost, if acknowledged writes are missing and it can only be read."""


@runtime_checkable
class Identifying(Protocol, metaclass=KnownByClass):
    """A store that finds triples by their ids, and maintains the index for that itself."""

    def find(self, graph: NamedNode, triple_id: str) -> Quad | None:
        """Return the triple with this id in the graph of a namespace; `triple_index.py` defines ids.

        Raises:
            GraphBusy: the search takes longer.
        """
