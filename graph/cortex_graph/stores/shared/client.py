"""A store that another process owns, for as long as there is a process that does.

Rules kept here:
- a call that finds its owner gone is made again with the next one, whoever that is: making it twice is as good as once.
  After a takeover `insert` may answer False for what it wrote itself, and `remove` for what it removed, if the dead
  owner had done it and could not say so any more. `apply_at`, which is no such call, is an error then;
- what is made again is kept until it is answered: arguments that can be read only once are read before the first try;
- an upload is made again only as long as nothing of it was read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from pyoxigraph import Literal, NamedNode, Quad, QueryResultsFormat, RdfFormat

from cortex_graph.stopping import Stop
from cortex_graph.store import Answer, Dataset, Maintenance, Page, Pattern
from cortex_graph.stores.embedded import OxigraphStore
from cortex_graph.stores.shared.remote import Remote

_IN_MEMORY = OxigraphStore()  # knows how Oxigraph keeps a literal

Owner = OxigraphStore | Remote
Result = TypeVar("Result")


class Client:
    """Does with whoever owns the folder what a store does.

    Args:
        member: finds the owner, and finds the next one.

    """

    bulk_is_atomic = True
    keeps_order = True

    def __init__(self, member: Finder) -> None:
        self._member = member
        self._with_owner = member.with_owner

    @property
    def maintenance(self) -> Maintenance:
        """See `GraphStore`."""
        return self._member.maintenance

    def close(self) -> None:
        """See `GraphStore`; the member is let go of by those who share it."""

    def contains(self, quad: Quad) -> bool:
        """See `GraphStore`."""
        return self._with_owner(lambda owner: owner.contains(quad))

    def insert(self, groups: Sequence[Sequence[Quad]]) -> list[bool]:
        """See `GraphStore`."""
        return self._with_owner(lambda owner: owner.insert(groups))

    def remove(self, quad: Quad, about: Iterable[tuple[NamedNode, NamedNode]] = ()) -> bool:
        """See `GraphStore`."""
        pairs = list(about)
        return self._with_owner(lambda owner: owner.remove(quad, pairs))

    def apply(self, insert: Iterable[Quad] = (), remove: Iterable[Quad] = ()) -> None:
        """See `GraphStore`."""
        more, less = list(insert), list(remove)
        self._with_owner(lambda owner: owner.apply(more, less))

    def revision(self, graphs: Iterable[NamedNode]) -> str:
        """See `Revisioned`."""
        nodes = list(graphs)
        return self._with_owner(lambda owner: owner.revision(nodes))

    def apply_at(self, revision: str, graphs: Iterable[NamedNode], insert: list[Quad], remove: list[Quad]) -> bool:
        """See `Revisioned`. After a takeover no revision holds any more."""
        nodes = list(graphs)
        return self._with_owner(lambda owner: owner.apply_at(revision, nodes, insert, remove))

    def match(self, pattern: Pattern, limit: int, cursor: str | None = None) -> Page:
        """See `GraphStore`."""
        return self._with_owner(lambda owner: owner.match(pattern, limit, cursor))

    def quads(self, pattern: Pattern) -> Iterator[Quad]:
        """See `GraphStore`."""
        yield from self._with_owner(lambda owner: owner.quads(pattern))

    def count(self, pattern: Pattern, ceiling: int | None = None) -> int:
        """See `GraphStore`."""
        return self._with_owner(lambda owner: owner.count(pattern, ceiling))

    def graph_names(self) -> list[NamedNode]:
        """See `GraphStore`."""
        return self._with_owner(lambda owner: owner.graph_names())

    def as_stored(self, literal: Literal) -> Literal:
        """See `GraphStore`."""
        return _IN_MEMORY.as_stored(literal)

    def bulk_insert(self, quads: Iterable[Quad]) -> None:
        """See `GraphStore`."""
        unread = iter(quads)
        self._with_owner(lambda owner: owner.bulk_insert(unread))

    def bulk_load(self, path: Path, graph: NamedNode) -> None:
        """See `GraphStore`."""
        self._with_owner(lambda owner: owner.bulk_load(path, graph))

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
        """See `GraphStore`."""
        return self._with_owner(
            lambda owner: owner.query(text, dataset, results=results, graphs=graphs, timeout_s=timeout_s, stop=stop)
        )

    def snapshot(self, folder: Path) -> bool:
        """See `GraphStore`."""
        return self._with_owner(lambda owner: owner.snapshot(folder))

    def flush(self) -> None:
        """See `GraphStore`."""
        self._with_owner(lambda owner: owner.flush())


class Finder(Protocol):
    """Finds the owner of a folder."""

    @property
    def maintenance(self) -> Maintenance:
        """The lock over all processes."""

    def with_owner(self, work: Callable[[Owner], Result], /) -> Result:
        """Do something with whoever owns the folder, and with the next owner when that one has gone."""
