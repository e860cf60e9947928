"""The records of one namespace as of a moment.

Rules kept here:
- a triple was in the graph at a moment if a record of it was made by then (`prov:generatedAtTime`) and was not
  withdrawn by then (`prov:invalidatedAtTime`); both include the moment itself;
- a record that was withdrawn after the moment was the record of its triple then: it is read as that, without what the
  withdrawal added;
- a triple or a withdrawn record without a time counts as there from the beginning, or is left out, as the reader wants;
- what was deleted has no record, and was never there; so were the proofs of a deleted triple;
- whatever is read here is bounded: records of the triples that are read, and those that were withdrawn since.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.assertion_records.provenance import recorded_triple
from cortex_graph.assertion_records.records import instant, read_instants, read_records, select
from cortex_graph.checks.datetimes import date_time
from cortex_graph.exceptions import QueryLimit
from cortex_graph.index.record_times import RecordTimes
from cortex_graph.naming.names import Names
from cortex_graph.naming.vocabulary import (
    DATE_TIME,
    GENERATED_AT,
    INVALIDATED_AT,
    PROOF,
    SPECIALIZATION_OF,
    WITHDRAWN_BY,
)
from cortex_graph.store import GraphStore, Pattern, Revisioned
from cortex_graph.store_access.recent_cache import hash_of

MAX_CHANGES = 50_000  # since the moment
_FEW = 1000
_OF_WITHDRAWALS = (INVALIDATED_AT, SPECIALIZATION_OF, WITHDRAWN_BY)


@dataclass(frozen=True, slots=True)
class RestoredTriple:
    """A triple that was there at the moment, and was withdrawn since.

    Attributes:
        quad: the triple.
        node: its withdrawn record.
        record: the record that it was then.
        is_dated: whether it is known when it was asserted.
    """

    quad: Quad
    node: NamedNode
    record: NamedNode
    is_dated: bool


class PastRecords:
    """The records of one namespace as of a moment. Safe to use from one thread at a time.

    Args:
        store: of today.
        names: of the namespace.
        moment: in UTC.
        undated: whether triples without a time are included.
    """

    def __init__(self, store: GraphStore, names: Names, moment: datetime, *, undated: bool) -> None:
        self.store = store
        self.names = names
        self.moment = moment.astimezone(UTC)
        self.undated = undated
        self._own = f"{names.graph.value}/"
        self._seen: object = None

    def refresh(self) -> None:
        """Drop what was read before the records were written to; on a store without revisions, a second ago."""
        if isinstance(self.store, Revisioned):
            seen: object = self.store.revision([self.names.provenance_graph])
        else:
            seen = int(time.monotonic())
        if seen != self._seen:
            self._seen = seen
            for read in ("restored", "withdrawn_since", "_withdrawn_records", "_known"):
                self.__dict__.pop(read, None)

    def shows(self, lines: Sequence[bytes]) -> list[bool]:
        """Return which triples of today were there by their present records.

        Args:
            lines: the texts of their quads.
        """
        nodes = [self.names.record(hash_of(line)) for line in lines]
        times = read_instants(self.store, self.names, nodes)
        return [self.undated if node not in times else times[node] <= self.moment for node in nodes]

    @cached_property
    def restored(self) -> dict[str, RestoredTriple]:
        """The triples that were withdrawn since, by their ids; a triple of today is among them if it was withdrawn.

        Raises:
            QueryLimit: too many were withdrawn since.
        """
        found = {}
        for node, record in self.withdrawn_since.items():
            if record is None:
                continue
            quads = self._withdrawn_records[node]
            quad = recorded_triple(quads, self.names.graph)
            is_dated = _time_of(quads) is not None
            if quad is not None and (is_dated or self.undated):
                triple_id = record.value.removeprefix(self.names.record("").value)
                found[triple_id] = RestoredTriple(quad, node, record, is_dated)
        return dict(sorted(found.items()))

    def since(self, predicate: NamedNode) -> list[NamedNode]:
        """Return the nodes with a later time of this predicate.

        Raises:
            QueryLimit: there are too many.
        """
        graph = self.names.provenance_graph
        page = self.store.match(Pattern(graph, None, predicate), _FEW)
        if page.cursor is None:
            rows = [(node, given) for node, _, given in page.triples]
        else:
            after = Literal(date_time(self.moment), datatype=DATE_TIME)
            text = f"SELECT ?n ?t {{ ?n {predicate} ?t FILTER(?t > {after}) }} LIMIT {MAX_CHANGES + 1}"
            answer = select(self.store, graph, text)
            rows = [(node, row["t"]) for row in answer if isinstance(node := row["n"], NamedNode)]
        if len(rows) > MAX_CHANGES:
            raise self._too_many()
        return [node for node, given in rows if (made := instant(given)) is not None and made > self.moment]

    def recorded_since(self) -> list[NamedNode]:
        """Return the records with a later time, and some proofs; costs as much as there are.

        Raises:
            QueryLimit: there are too many.
        """
        times = RecordTimes(self.store, self.names)
        if not times.is_complete():
            return self.since(GENERATED_AT)
        found: list[NamedNode] = []
        for each in times.latest_first():
            moment = instant(each)
            if moment is None or moment <= self.moment:
                break
            made = self.store.quads(Pattern(self.names.provenance_graph, None, GENERATED_AT, each))
            found += [quad.subject for quad in islice(made, MAX_CHANGES + 1) if isinstance(quad.subject, NamedNode)]
            if len(found) > MAX_CHANGES:
                raise self._too_many()
        return found

    def _too_many(self) -> QueryLimit:
        return QueryLimit(
            f"more than {MAX_CHANGES:,} changes were made in {self.names.namespace} since {date_time(self.moment)}",
            hint="ask as of a later moment, or query the records: `prov:generatedAtTime`, `prov:invalidatedAtTime`",
            details={"field": "asOf", "maxChanges": MAX_CHANGES},
        )

    def as_of(self, quads: Iterable[Quad]) -> Iterator[Quad]:
        """Return quads of the provenance graph as they were: some are left out, and some name another node."""
        rest = list(quads)
        self._learn(node for quad in rest for node in (quad.subject, quad.object) if isinstance(node, NamedNode))
        for quad in rest:
            node = self._past_node(quad.subject)
            if node is None or (quad.predicate == PROOF and self._past_node(quad.object) is None):
                continue
            if node == quad.subject:
                yield quad
            elif quad.predicate not in _OF_WITHDRAWALS:
                yield Quad(node, quad.predicate, quad.object, quad.graph_name)

    def read_as(self, nodes: Sequence[NamedNode]) -> list[NamedNode | None]:
        """Return as what some nodes of today are read: themselves, another record, or None if they were not there."""
        self.refresh()
        self._learn(nodes)
        return [self._past_node(node) for node in nodes]

    def nodes_read_as(self, node: NamedNode) -> list[NamedNode]:
        """Return the nodes of today that are read as a node: itself, and for a record withdrawn ones."""
        if not node.value.startswith(f"{self._own}triple/"):
            return [node]
        return [node, *(old for old, record in self.withdrawn_since.items() if record == node)]

    @cached_property
    def _withdrawn_records(self) -> dict[NamedNode, list[Quad]]:
        nodes = [node for node in self.since(INVALIDATED_AT) if node.value.startswith(f"{self._own}withdrawn/")]
        return read_records(self.store, self.names, nodes)

    @cached_property
    def withdrawn_since(self) -> dict[NamedNode, NamedNode | None]:
        """The records that were withdrawn since, and what they are read as; None for those that are left out."""
        found: dict[NamedNode, NamedNode | None] = {}
        for node, quads in self._withdrawn_records.items():
            made = _time_of(quads)
            of = [quad.object for quad in quads if quad.predicate == SPECIALIZATION_OF]
            is_there = (made is None or made <= self.moment) and len(of) == 1
            found[node] = of[0] if is_there and isinstance(of[0], NamedNode) else None
        return found

    @cached_property
    def _known(self) -> dict[NamedNode, bool]:
        """Whether a record or a proof was made by the moment."""
        return {}

    def _learn(self, nodes: Iterable[NamedNode]) -> None:
        kinds = tuple(f"{self._own}{kind}/" for kind in ("triple", "withdrawn", "proof"))
        new = [node for node in dict.fromkeys(nodes) if node.value.startswith(kinds) and node not in self._known]
        times = read_instants(self.store, self.names, new)
        self._known.update((node, node not in times or times[node] <= self.moment) for node in new)

    def _past_node(self, node: object) -> NamedNode | None:
        """Return as what a node is read; None if it was not there."""
        if not isinstance(node, NamedNode):
            return None
        if node in self.withdrawn_since:
            record = self.withdrawn_since[node]
            # Both were there only if one of them was dated back; then the present one counts.
            return None if record is None or self._is_present(record) else record
        return node if self._known.get(node, True) else None

    def _is_present(self, record: NamedNode) -> bool:
        self._learn([record])
        exists = self.store.count(Pattern(self.names.provenance_graph, record), 1) > 0
        return exists and self._known[record]


def _time_of(record: Iterable[Quad]) -> datetime | None:
    return next((instant(quad.object) for quad in record if quad.predicate == GENERATED_AT), None)
