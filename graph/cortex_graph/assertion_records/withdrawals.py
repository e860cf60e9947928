"""Withdrawn assertions: a triple leaves the graph of its namespace, and the record of its assertion stays.

Rules kept here:
- a withdrawal moves the record of a triple, `{base}NS/triple/HASH`, to a node `{base}NS/withdrawn/ID` in the same
  graph, with all its statements and its links to proofs. It gains `prov:invalidatedAtTime`, `cortex:withdrawnBy` (the
  agent and the version of the skill that withdrew it) and `prov:specializationOf` the record of the triple;
- so asserting the triple again makes a new record, in the same way as for any other triple, and a triple has one
  withdrawn record for each time that it was withdrawn. What was asserted at a moment follows from the times of both
  kinds of records (`prov:generatedAtTime`, `prov:invalidatedAtTime`);
- a triple without a record can be withdrawn: its withdrawn record has no time of assertion;
- proofs are not changed: each names the record of its triple, also when that is withdrawn;
- the ID is the SHA-256, in hexadecimal, of the record at its withdrawal. It is a name, and verifies nothing: the record
  is not signed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from pyoxigraph import NamedNode, Quad

from cortex_graph.assertion_records.provenance import (
    Provenance,
    as_json,
    attributed_to,
    description_of,
    recorded_triple,
    skill_of,
    time_of,
)
from cortex_graph.naming.names import Names
from cortex_graph.naming.vocabulary import (
    ATTRIBUTED_TO,
    ENTITY,
    GENERATED_AT,
    INVALIDATED_AT,
    OBJECT,
    PREDICATE,
    PROOF,
    SPECIALIZATION_OF,
    STATEMENT,
    SUBJECT,
    TYPE,
    WITHDRAWN_BY,
)
from cortex_graph.store import GraphStore, Pattern
from cortex_graph.store_access.read_ahead import Ahead, UpTo, WholeSubjects, reading_ahead, subjects_ahead
from cortex_graph.store_access.recent_cache import hash_of

_MAX_READ = 10_000  # records of one subject that are searched for withdrawn ones

Origin = dict[str, str | None]  # `{agent, skill, skillVersion, time}`; None for unknown


@dataclass(frozen=True)
class Withdrawal:
    """A withdrawn assertion.

    Attributes:
        triple_id: the id of the triple.
        quad: the triple, in the graph of its namespace.
        asserted: who asserted it: `{agent, skill, skillVersion, time}`; None for unknown.
        withdrawn: who withdrew it, in the same form.
        proofs: the IRIs of the proofs that its record linked to, sorted.
    """

    triple_id: str
    quad: Quad
    asserted: Origin
    withdrawn: Origin
    proofs: tuple[str, ...]


class Withdrawals:
    """The withdrawn assertions of one namespace."""

    def __init__(self, store: GraphStore, names: Names) -> None:
        self._store = store
        self._names = names
        self._prefix = f"{names.graph.value}/withdrawn/"

    def of(self, triple_id: str) -> list[Withdrawal]:
        """Return the withdrawals of a triple, the latest first; it may have been asserted again since."""
        return self._sorted(self.records_of(triple_id))

    def records_of(self, triple_id: str) -> list[NamedNode]:
        """Return the withdrawn records of a triple, in no order."""
        record = self._names.record(triple_id)
        links = self._store.quads(Pattern(self._names.provenance_graph, None, SPECIALIZATION_OF, record))
        found = (quad.subject for quad in islice(links, _MAX_READ))
        return [node for node in found if isinstance(node, NamedNode) and node.value.startswith(self._prefix)]

    def matching(self, pattern: Pattern) -> list[Withdrawal]:
        """Return the withdrawals of the triples that match a pattern, the latest first.

        Without an object only the first 10,000 records of the subject are searched.

        Args:
            pattern: of the graph of the namespace, with a subject and a predicate.
        """
        subject, predicate, object_ = pattern.subject, pattern.predicate, pattern.object_
        if subject is None or predicate is None:
            raise ValueError("a pattern without a subject or a predicate matches too much")
        if object_ is not None:
            return self.of(hash_of(str(Quad(subject, predicate, object_, pattern.graph)).encode()))
        withdrawn = self._whole(subject, predicate)
        with reading_ahead(self._store, lambda: [UpTo(withdrawn, _MAX_READ)]):
            nodes: Iterable[object] | None = subjects_ahead(self._store, withdrawn)
            if nodes is None:
                links = self._store.quads(Pattern(self._names.provenance_graph, None, SUBJECT, subject))
                nodes = (quad.subject for quad in islice(links, _MAX_READ))
            found = self._sorted(nodes)
        return [withdrawal for withdrawal in found if withdrawal.quad.predicate == predicate]

    def ahead(self, pattern: Pattern) -> Ahead:
        """What `matching` reads of a server, for a pattern with a subject and a predicate."""
        subject, predicate, object_ = pattern.subject, pattern.predicate, pattern.object_
        if subject is None or predicate is None:
            raise ValueError("a pattern without a subject or a predicate matches too much")
        if object_ is None:
            return UpTo(self._whole(subject, predicate), _MAX_READ)
        record = self._names.record(hash_of(str(Quad(subject, predicate, object_, pattern.graph)).encode()))
        return WholeSubjects(Pattern(self._names.provenance_graph, None, SPECIALIZATION_OF, record))

    def _whole(self, subject: NamedNode, predicate: NamedNode) -> WholeSubjects:
        """The withdrawn records of the triples with a subject and a predicate."""
        records = Pattern(self._names.provenance_graph, None, SUBJECT, subject)
        return WholeSubjects(records, also=((PREDICATE, predicate), (SPECIALIZATION_OF, None)))

    def change(self, quad: Quad, triple_id: str, by: Provenance) -> tuple[list[Quad], list[Quad]]:
        """Return the quads that a withdrawal of an existing triple inserts and removes.

        Args:
            quad: the triple.
            triple_id: its id.
            by: who withdraws it, and when.

        Raises:
            InvalidArguments: a part of `by` is invalid.
        """
        names, read = self._names, self._store.quads
        graph, record = names.provenance_graph, names.record(triple_id)
        old = list(read(Pattern(graph, record)))
        moved = {(each.predicate, each.object) for each in old}
        moved |= {(TYPE, STATEMENT), (TYPE, ENTITY)}
        moved |= {(SUBJECT, quad.subject), (PREDICATE, quad.predicate), (OBJECT, quad.object)}
        moved |= {(WITHDRAWN_BY, node) for node in attributed_to(by, names)}
        moved |= {(INVALIDATED_AT, time_of(by)), (SPECIALIZATION_OF, record)}
        content = "\n".join(sorted(f"{predicate} {object_}" for predicate, object_ in moved))
        node = NamedNode(self._prefix + hashlib.sha256(content.encode()).hexdigest())
        insert = [Quad(node, predicate, object_, graph) for predicate, object_ in moved]
        return [*insert, *description_of(by, names)], [quad, *old, *read(Pattern(names.index_graph, record))]

    def _sorted(self, nodes: Iterable[object]) -> list[Withdrawal]:
        found = [each for node in dict.fromkeys(nodes) if (each := self._read(node)) is not None]
        return sorted(found, key=lambda each: each.withdrawn["time"] or "", reverse=True)

    def _read(self, node: object) -> Withdrawal | None:
        if not isinstance(node, NamedNode) or not node.value.startswith(self._prefix):
            return None
        graph = self._names.provenance_graph
        quads = list(self._store.quads(Pattern(graph, node)))
        quad = recorded_triple(quads, self._names.graph)
        records, proofs = _linked(quads, SPECIALIZATION_OF), _linked(quads, PROOF)
        if quad is None or len(records) != 1:
            return None
        triple_id = records[0].removeprefix(self._names.record("").value)
        return Withdrawal(triple_id, quad, self._origin(quads), self._origin(as_record(quads)), proofs)

    def _origin(self, record: Iterable[Quad]) -> Origin:
        record = list(record)
        skill = skill_of(record, self._names)
        graph = self._names.provenance_graph
        return as_json(record, [] if skill is None else self._store.quads(Pattern(graph, skill)), self._names)


def _linked(quads: Iterable[Quad], predicate: NamedNode) -> tuple[str, ...]:
    nodes = [quad.object for quad in quads if quad.predicate == predicate]
    return tuple(sorted(node.value for node in nodes if isinstance(node, NamedNode)))


def as_record(quads: Iterable[Quad]) -> Iterator[Quad]:
    """Yield who withdrew a record, and when, as a record states who asserted it."""
    for quad in quads:
        for given, read in ((WITHDRAWN_BY, ATTRIBUTED_TO), (INVALIDATED_AT, GENERATED_AT)):
            if quad.predicate == given:
                yield Quad(quad.subject, read, quad.object, quad.graph_name)
