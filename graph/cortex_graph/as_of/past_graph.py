"""`as_of`: the graph of a namespace as of a moment, with the reads of a `NamespacedGraph`.

Rules kept here:
- a moment is a `datetime` with a time zone, or a text (`checks.moments`);
- triples without a record have no time. They are included unless the reader excludes them, and `undated_among` says
  which of some triples they are;
- memories have no records, so they are not read as of a moment;
- nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from pyoxigraph import Literal, NamedNode

from cortex_graph.as_of.past_records import PastRecords
from cortex_graph.as_of.past_store import PastStore
from cortex_graph.assertion_records.records import read_instants, select
from cortex_graph.checks.datetimes import date_time
from cortex_graph.checks.moments import check_moment
from cortex_graph.exceptions import invalid
from cortex_graph.namespace.namespaced import NamespacedGraph
from cortex_graph.naming.vocabulary import DATE_TIME, GENERATED_AT

UNDATED = ("include", "exclude")


class PastGraph(NamespacedGraph):
    """The triples of one namespace as of a moment; `as_of` returns it."""

    def __init__(self, today: NamespacedGraph, store: PastStore) -> None:
        self._use(store, today.names)
        self.prefixes = today.prefixes
        self.today = today
        self.past = store
        self.moment = store.records[0].moment

    def settle(self) -> None:
        """Do what `NamespacedGraph.settle` does, for the graph of today."""
        self.today.settle()

    def dated(self) -> int:
        """Count the triples whose time of assertion is known; takes longer the more records there are.

        Raises:
            QueryTimeout: it took too long.
        """
        (records,) = self.past.records
        start, until = f"{self.names.graph.value}/triple/", Literal(date_time(self.moment), datatype=DATE_TIME)
        text = (
            f"SELECT (COUNT(*) AS ?n) {{ ?r {GENERATED_AT} ?t "
            f'FILTER(?t <= {until}) FILTER(STRSTARTS(STR(?r), "{start}")) }}'
        )
        (row,) = select(self.past.base, self.names.provenance_graph, text)
        present = row["n"]
        restored = sum(each.is_dated for each in records.restored.values())
        return restored + (int(present.value) if isinstance(present, Literal) else 0)

    def frequent_predicates(self) -> list[NamedNode]:
        """Return the frequent predicates of today."""
        return self.today.frequent_predicates()


def today_of(graph: NamespacedGraph) -> NamespacedGraph:
    """Return the graph of today of a graph as of a moment; of any other, itself."""
    return graph.today if isinstance(graph, PastGraph) else graph


def as_of(graph: NamespacedGraph, moment: datetime | str, undated: str = "include") -> PastGraph:
    """Return the graph of a namespace as of a moment, to be read by one thread.

    Args:
        graph: of today.
        moment: as the rules of this module say.
        undated: `include` or `exclude` triples whose time of assertion is not known.

    Raises:
        InvalidArguments: an argument is invalid, or the graph is one of memories.
    """
    return as_of_graphs([graph], moment, undated)[0]


def as_of_graphs(graphs: Sequence[NamespacedGraph], moment: Any, undated: Any = "include") -> list[PastGraph]:
    """Return several graphs of one store as of a moment; they share a store, over which a query sees all of them."""
    if undated not in UNDATED:
        raise invalid("undated", f"is {undated!r:.80}", hint="`include` or `exclude`")
    then = check_moment(moment, "asOf")
    if any(graph.names.owner is not None for graph in graphs):
        raise invalid("asOf", "is given for memories, which have no records of their times", hint="omit it")
    records = [PastRecords(graph.store, graph.names, then, undated=undated == "include") for graph in graphs]
    store = PastStore(graphs[0].store, records)
    return [PastGraph(graph, store) for graph in graphs]


def undated_among(graph: NamespacedGraph, triple_ids: Iterable[str]) -> int:
    """Return how many of some triples have no time of assertion."""
    records = {graph.names.record(triple_id) for triple_id in triple_ids}
    return len(records) - len(read_instants(graph.store, graph.names, records))
