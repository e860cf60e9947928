"""Copies of stores as they were at a moment, over which a query is evaluated.

Rules kept here:
- of a store in a folder a snapshot is taken, which costs little, and the changes since the moment are undone in it: the
  cost follows their number, not the size of the store;
- of any other store, and when triples without a time are left out, the triples are copied, up to a number;
- the records are changed only when the query can read them;
- all queries as of a moment share a few processes, which outlive the copies; more queries wait, and then are
  `graph_busy`;
- a copy is in a folder that only this user can read, and is removed with the answer. What a killed process leaves is
  removed by the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from itertools import islice

from pyoxigraph import NamedNode, Quad

from cortex_graph.as_of.past_records import PastRecords
from cortex_graph.assertion_records.provenance import recorded_triple
from cortex_graph.assertion_records.records import read_records
from cortex_graph.exceptions import QueryLimit
from cortex_graph.index.triple_index import hash_line
from cortex_graph.naming.vocabulary import GENERATED_AT, PROOF
from cortex_graph.sparql.query_run import query_pool
from cortex_graph.store import GraphStore, InFolder, Pattern
from cortex_graph.stores.embedded import OxigraphStore
from cortex_graph.stores.shared.rendezvous import FOLDER
from cortex_graph.workers.processes import ProcessPool
from cortex_graph.workers.scratch import scratch_folder

Read = Callable[[Pattern], Iterable[Quad]]

MAX_COPIED = 100_000  # triples, and twenty times as many statements about them
_OF_RECORDS = 20
_CHUNK = 5_000


@contextmanager
def copied(base: GraphStore, past: Sequence[PastRecords], read: Read, *, with_records: bool) -> Iterator[GraphStore]:
    """Return a store that is as another was; it is removed after the block.

    Args:
        base: the store of today.
        past: the records of each of its namespaces as of the moment.
        read: returns the quads of a pattern as of the moment.
        with_records: whether the provenance graphs are needed as of the moment, too.

    Raises:
        QueryLimit: too much was changed since, or there is too much to copy.
    """
    if isinstance(base, InFolder) and not base.is_read_only and all(each.undated for each in past):
        with scratch_folder(base.folder / FOLDER) as scratch:
            files = scratch / "store"
            if base.snapshot(files):
                with closing(OxigraphStore(files)) as copy:
                    for records in past:
                        _undo(copy, records, with_records=with_records)
                with closing(OxigraphStore.read_only(files, _workers())) as copy:
                    yield copy
                return
    with closing(OxigraphStore(workers=_workers())) as copy:
        for records in past:
            names = records.names
            _fill(copy, read, names.graph, MAX_COPIED)
            if with_records:
                _fill(copy, read, names.provenance_graph, MAX_COPIED * _OF_RECORDS)
        yield copy


@cache
def _workers() -> ProcessPool:
    """Return the processes that evaluate queries as of a moment."""
    return query_pool()


def _fill(copy: GraphStore, read: Read, graph: NamedNode, most: int) -> None:
    quads = islice(read(Pattern(graph)), most + 1)
    counted = 0
    while some := list(islice(quads, _CHUNK)):
        counted += len(some)
        if counted > most:
            raise QueryLimit(
                f"the graph {graph} had more than {most:,} statements, which are not copied for a query as of a moment",
                hint="keep the store in a folder, include triples without a time, or read by patterns",
                details={"field": "asOf", "maxTriples": most},
            )
        copy.bulk_insert(some)


def _undo(copy: GraphStore, past: PastRecords, *, with_records: bool) -> None:
    """Undo the changes since the moment in a copy."""
    names = past.names
    restored = past.restored
    later = past.since(GENERATED_AT) if with_records else past.recorded_since()
    start = names.record("").value
    added = read_records(copy, names, later)
    gone = (recorded_triple(record, names.graph) for node, record in added.items() if node.value.startswith(start))
    _apply(copy, remove=(quad for quad in gone if quad is not None and hash_line(str(quad)) not in restored))
    _apply(copy, insert=(each.quad for each in restored.values()))
    if with_records:
        changed = [*later, *past.withdrawn_since]
        links = (quad for node in later for quad in copy.quads(Pattern(names.provenance_graph, None, PROOF, node)))
        before = [quad for record in read_records(copy, names, changed).values() for quad in record]
        before += links
        after = list(past.as_of(before))
        _apply(copy, remove=before)
        _apply(copy, insert=after)


def _apply(copy: GraphStore, *, insert: Iterable[Quad] = (), remove: Iterable[Quad] = ()) -> None:
    inserted, removed = iter(insert), iter(remove)
    while some := list(islice(removed, _CHUNK)):
        copy.apply(remove=some)
    while some := list(islice(inserted, _CHUNK)):
        copy.apply(insert=some)
