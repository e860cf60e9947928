"""What a triple store must be able to do.

Rules kept here:
- every operation names its graph: there is none that reaches over graphs, and none that answers the default graph;
- the terms are pyoxigraph's; nothing here knows namespaces, names or JSON;
- an operation that changes something is atomic, the two bulk ones where `bulk_is_atomic`, and returns once the change
  is safe from a crash of the process;
- whatever goes wrong in a store leaves as a `GraphError`;
- a page is bounded by what it holds, not only by how many: whoever may write a triple decides how long it is;
- a SPARQL query sees the graphs that are given with it, whatever its own `FROM` says, and has a time that holds;
- a store may be used from several threads. A stream of quads is read to its end in the thread that asked for it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Protocol, runtime_checkable

from pyoxigraph import Literal, NamedNode, Quad, QueryResultsFormat, RdfFormat

from cortex_graph.stopping import Stop

# Of a page as N-Quads: several times an ordinary page of 1,000, and what a small sandbox can still take in.
PAGE_BYTES = 1 << 20


@dataclass(frozen=True)
class Pattern:
    """The quads of one graph that have these terms; None matches any."""

    graph: NamedNode
    subject: NamedNode | None = None
    predicate: NamedNode | None = None
    object_: NamedNode | Literal | None = None


Triple = tuple[NamedNode, NamedNode, NamedNode | Literal]


@dataclass(frozen=True)
class Page:
    """Some quads of a graph. Making a quad takes as long as reading it, so that a page holds what they are made of.

    Attributes:
        graph: of all of them.
        triples: in the store's order.
        lines: what `str` gives for each quad, in UTF-8.
        cursor: leads to those after them; None when there are none.

    """

    graph: NamedNode
    triples: list[Triple]
    lines: list[bytes]
    cursor: str | None

    @classmethod
    def of(cls, graph: NamedNode, quads: Iterable[Quad], cursor: str | None) -> Page:
        """A page of quads that all are of one graph."""
        quads = list(quads)
        return cls(graph, [triple_of(quad) for quad in quads], [str(quad).encode() for quad in quads], cursor)

    @cached_property
    def quads(self) -> list[Quad]:
        """The triples as quads."""
        return [Quad(*triple, self.graph) for triple in self.triples]


@dataclass(frozen=True)
class Dataset:
    """What a SPARQL query sees: the graphs that its default graph is the union of, and its named graphs."""

    default: tuple[NamedNode, ...]
    named: tuple[NamedNode, ...] = ()


@dataclass(frozen=True)
class Answer:
    """What a SPARQL query answers, serialised.

    Attributes:
        form: the format of `chunks`, which tells rows and booleans from graphs.
        chunks: the bytes, as they come. Closing it ends the query; it raises `QueryTimeout` when the time is over.

    """

    form: QueryResultsFormat | RdfFormat
    chunks: Generator[bytes, None, None]


class Maintenance(Protocol):
    """A lock, as `threading.Lock` is one."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take it; answer whether it was taken."""

    def release(self) -> None:
        """Give it back."""

    def __enter__(self) -> bool:
        """Take it, however long it takes."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Give it back."""


def triple_of(quad: Quad) -> Triple:
    """The terms of a quad, less its graph."""
    return quad.subject, quad.predicate, quad.object  # type: ignore[return-value]  # in a store of ours


class GraphStore(Protocol):
    """A triple store."""

    @property
    def maintenance(self) -> Maintenance:
        """Held by what rewrites much of a graph, so that two such things do not run at once, in whatever process."""

    bulk_is_atomic: bool
    """Whether a bulk operation that fails, or whose process is killed, has written nothing."""

    @property
    def keeps_order(self) -> bool:
        """Whether `quads` always comes in the same order, new ones among the others, and for as long as one reads."""

    def contains(self, quad: Quad) -> bool:
        """Whether this quad is there."""

    def insert(self, groups: Sequence[Sequence[Quad]]) -> list[bool]:
        """Write each group whose first quad is not there yet, all in one transaction; say which were written."""

    def remove(self, quad: Quad, about: Iterable[tuple[NamedNode, NamedNode]] = ()) -> bool:
        """Remove a quad and, in the same transaction, all quads with these (graph, subject); say if it was there."""

    def apply(self, insert: Iterable[Quad] = (), remove: Iterable[Quad] = ()) -> None:
        """Remove some quads, then insert some, in one transaction."""

    def match(self, pattern: Pattern, limit: int, cursor: str | None = None) -> Page:
        """Up to `limit` quads of a pattern, in the store's own order, from where the cursor of the last page ended.

        Fewer, when they would have more than `PAGE_BYTES` together; a quad that has more stands alone.

        A quad that is there from the first page to the last is never left out; while others write, one may be
        answered twice.

        Raises:
            InvalidArguments: the cursor is none, or one of another pattern.

        """

    def quads(self, pattern: Pattern) -> Iterator[Quad]:
        """All quads of a pattern, as they were when the first was read."""

    def count(self, pattern: Pattern, ceiling: int | None = None) -> int:
        """How many quads a pattern has; counts no further than `ceiling`."""

    def graph_names(self) -> list[NamedNode]:
        """The graphs that hold something."""

    def as_stored(self, literal: Literal) -> Literal:
        """The literal as this store gives it back: some keep the value of a number or a time, not its spelling."""

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
        stop: Stop | None = None,
    ) -> Answer:
        """Evaluate a SPARQL 1.1 query over a dataset.

        Whoever calls has seen to it that the text asks no other server (`SERVICE`); see `cortex_graph.sparql`.

        Args:
            text: the query.
            dataset: all that it sees.
            results: how to write the answer of SELECT and ASK.
            graphs: how to write the answer of CONSTRUCT and DESCRIBE.
            timeout_s: how long it may take until its last byte was read, in seconds.
            stop: ends it before that, from another thread: what it holds is free at once, and whoever waits for it, or
                for a piece of its answer, gets the error of the stop.

        Raises:
            InvalidArguments: the text is no query (`details`: line, column).
            QueryTimeout: it took longer.

        """

    def snapshot(self, folder: Path) -> bool:
        """Put a copy of the whole store, as it is at one moment, into a new folder that an embedded store can open.

        Cheap: its files are hard links where the file system has them. Others may write meanwhile.

        Args:
            folder: must not be there yet; on a machine that the store's own files are on.

        Returns:
            Whether that was done; False, with nothing made, for a store that has no files of its own.

        """

    def flush(self) -> None:
        """Put on the disk whatever is not there yet."""

    def close(self) -> None:
        """Let go of what the store holds; every later call raises `GraphUnavailable`."""


@runtime_checkable
class Revisioned(GraphStore, Protocol):
    """A store that can tell whether graphs were written to."""

    def revision(self, graphs: Iterable[NamedNode]) -> str:
        """What stands for the last write to one of these graphs."""

    def apply_at(self, revision: str, graphs: Iterable[NamedNode], insert: list[Quad], remove: list[Quad]) -> bool:
        """As `GraphStore.apply`, if these graphs are still at that revision; answer whether they were."""


@runtime_checkable
class Identifying(Protocol):
    """A store that finds triples by their ids itself, and keeps the index that this takes, if it takes one."""

    def find(self, graph: NamedNode, triple_id: str) -> Quad | None:
        """The triple of a namespace's graph that has this id; see `index.py` for what that is.

        Raises:
            GraphBusy: it takes longer.

        """
