"""Reads many provenance records at once.

Rules kept here:
- a store on this machine is asked for one record after the other, a server for all of them at once;
- a time that is no instant (no `xsd:dateTime`, no time zone, out of the range of Python) counts as unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Protocol, cast, runtime_checkable

from pyoxigraph import Literal, NamedNode, Quad, QueryResultsFormat, QuerySolution, QuerySolutions, parse_query_results

from cortex_graph.naming.names import Names
from cortex_graph.naming.vocabulary import DATE_TIME, GENERATED_AT
from cortex_graph.store import Dataset, GraphStore, Pattern
from cortex_graph.store_access.gathered import gathered

QUERY_S = 30.0


@runtime_checkable
class SelfQuerying(GraphStore, Protocol):
    """A store that checks the queries of users, and evaluates those of this package without these checks."""

    def own_rows(self, text: str, dataset: Dataset, timeout_s: float) -> list[QuerySolution]:
        """Return the rows of a SELECT of this package."""


def select(
    store: GraphStore,
    graph: NamedNode | tuple[()],
    text: str,
    *,
    named: tuple[NamedNode, ...] = (),
    timeout_s: float = QUERY_S,
) -> list[QuerySolution]:
    """Return the rows of a query of this package over one graph, or over the graphs that the query names.

    Raises:
        QueryTimeout: it took longer than its time limit, in seconds.
    """
    dataset = Dataset((graph,) if isinstance(graph, NamedNode) else (), named)
    if isinstance(store, SelfQuerying):
        return store.own_rows(text, dataset, timeout_s)
    answer = store.query(text, dataset, results=QueryResultsFormat.JSON, timeout_s=timeout_s)
    found = parse_query_results(b"".join(answer.chunks), QueryResultsFormat.JSON)
    return list(found) if isinstance(found, QuerySolutions) else []


def read_records(store: GraphStore, names: Names, nodes: Iterable[NamedNode]) -> dict[NamedNode, list[Quad]]:
    """Return the quads of some records, without those that do not exist."""
    nodes = list(dict.fromkeys(nodes))
    records = gathered(store, [Pattern(names.provenance_graph, node) for node in nodes])
    return {node: record for node, record in zip(nodes, records, strict=True) if record}


def read_times(store: GraphStore, names: Names, nodes: Iterable[NamedNode]) -> dict[NamedNode, Literal]:
    """Return when some nodes of the provenance graph were made: the earliest time of each that has one."""
    found: dict[NamedNode, Literal] = {}
    for quads in gathered(store, [Pattern(names.provenance_graph, node, GENERATED_AT) for node in nodes]):
        for quad in quads:
            node, time = cast(NamedNode, quad.subject), quad.object
            if isinstance(time, Literal) and (node not in found or time.value < found[node].value):
                found[node] = time
    return found


def assertion_times(store: GraphStore, names: Names, triple_ids: Iterable[str]) -> dict[str, str]:
    """Return when some triples were asserted, by their ids, without those that have no record."""
    records = {names.record(triple_id): triple_id for triple_id in triple_ids}
    return {records[node]: time.value for node, time in read_times(store, names, records).items()}


def read_instants(store: GraphStore, names: Names, nodes: Iterable[NamedNode]) -> dict[NamedNode, datetime]:
    """Return when some nodes of the provenance graph were made, without those of an unknown time."""
    times = read_times(store, names, nodes)
    return {node: moment for node, time in times.items() if (moment := instant(time)) is not None}


def instant(term: object) -> datetime | None:
    """Return the moment that a term states, in UTC; None for any other term."""
    if not isinstance(term, Literal) or term.datatype != DATE_TIME:
        return None
    try:
        moment = datetime.fromisoformat(term.value)
        return None if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
