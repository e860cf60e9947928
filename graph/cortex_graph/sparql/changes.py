"""The effect of an update on a namespace, as quads: the triples and their records, index entries and proofs.

Rules kept here:
- a removed triple takes its record and its entry of the index with it, and an inserted one gets them. A triple that has
  proofs is withdrawn: its record and its proofs stay (`withdrawals.py`);
- a blank node becomes a node of the namespace that it is written to first, `NS:genid:…` (RDF 1.1 §3.5), as in an
  import; written to another graph as well, it is the same node;
- literals are written in the form in which the store returns them, so that their ids stay valid.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from cortex_graph.assertion_records.provenance import Provenance, at_one_time, description_of, record_of, time_of
from cortex_graph.checks.size_limits import checked
from cortex_graph.exceptions import PermissionDenied, QueryLimit, invalid
from cortex_graph.index.triple_index import hash_line
from cortex_graph.memory_graphs import check_place
from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES
from cortex_graph.sparql.dataset import NamespaceView
from cortex_graph.store import GraphStore, Pattern

_STRINGS = frozenset(
    {
        f"{WELL_KNOWN_VOCABULARIES['xsd']}string",
        f"{WELL_KNOWN_VOCABULARIES['rdf']}langString",
        f"{WELL_KNOWN_VOCABULARIES['rdf']}dirLangString",
    }
)


class Skolem:
    """Names blank nodes, and converts literals to the form of the store, for one request."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self._stem = uuid.uuid4().hex
        self._nodes: dict[BlankNode, NamedNode] = {}
        self._literals: dict[Literal, Literal] = {}

    def quad(self, triple: Triple, graph: NamespaceView) -> Quad:
        """Return a triple as a quad of a namespace."""
        subject, object_ = triple.subject, triple.object
        if isinstance(subject, Triple) or isinstance(object_, Triple):
            raise invalid("query", f"writes a triple term, {triple}", hint="use reification (rdf:Statement)")
        if isinstance(subject, BlankNode):
            subject = self._node(subject, graph)
        if isinstance(object_, BlankNode):
            object_ = self._node(object_, graph)
        elif isinstance(object_, Literal) and object_.datatype.value not in _STRINGS:
            if object_ not in self._literals:
                self._literals[object_] = self._store.as_stored(object_)
            object_ = self._literals[object_]
        return Quad(subject, triple.predicate, object_, graph.names.graph)

    def _node(self, node: BlankNode, graph: NamespaceView) -> NamedNode:
        names = graph.names
        if node not in self._nodes:
            self._nodes[node] = names.node(f"{names.prefix}genid:{self._stem}-{len(self._nodes) + 1}")
        return self._nodes[node]


@dataclass
class Change:
    """The quads to remove from a namespace and to insert; a quad is in one of the two."""

    graph: NamespaceView
    remove: dict[Quad, None] = field(default_factory=dict)
    insert: dict[Quad, None] = field(default_factory=dict)

    def removed(self, quads: Iterable[Quad]) -> None:
        """Add quads to remove."""
        for quad in quads:
            self.insert.pop(quad, None)
            self.remove[quad] = None

    def inserted(self, quads: Iterable[Quad]) -> None:
        """Add quads to insert."""
        for quad in quads:
            self.remove.pop(quad, None)
            self.insert[quad] = None


@dataclass
class Effect:
    """The quads that a change writes and removes, with those about them, and the numbers of triples."""

    insert: list[Quad] = field(default_factory=list)
    remove: list[Quad] = field(default_factory=list)
    inserted: int = 0
    removed: int = 0


def effect_of(
    store: GraphStore, changes: Iterable[Change], provenance: Provenance | None, *, may_withdraw: bool = True
) -> Effect:
    """Return the effect of changes on the present content.

    Args:
        store: the store of the namespaces.
        changes: the changes of the namespaces.
        provenance: the source of new triples, and who withdraws removed ones; None records neither.
        may_withdraw: whether triples that have proofs may be removed.

    Raises:
        PermissionDenied: a removed triple has proofs, and may not be removed.
    """
    effect = Effect()
    by = at_one_time(provenance or Provenance())
    for change in changes:
        graph = change.graph
        gone = [quad for quad in change.remove if store.contains(quad)]
        new = [check_place(checked(quad), graph.names) for quad in change.insert if not store.contains(quad)]
        effect.removed += len(gone)
        effect.inserted += len(new)
        proved, plain = _divided(graph, gone)
        if proved and not may_withdraw:
            raise _is_proved(next(iter(proved.values())))
        effect.remove += plain
        effect.remove += _quads_about(store, graph, plain)
        for triple_id, quad in proved.items():
            insert, remove = graph.withdrawals.change(quad, triple_id, by)
            effect.insert += insert
            effect.remove += remove
        effect.insert += new
        effect.insert += _new_quads_about(graph, new, None if provenance is None else by)
    return effect


def check_size(changes: Iterable[Change], most: int) -> None:
    """Raise `QueryLimit` for changes of more triples than an update may change."""
    size = sum(len(change.insert) + len(change.remove) for change in changes)
    if size > most:
        raise too_many(most)


def too_many(most: int) -> QueryLimit:
    """Return the error for an update of too many triples."""
    return QueryLimit(
        f"the update changes more than {most} triples",
        hint="change fewer at once (a subselect with LIMIT), or use import",
        details={"triples": most},
    )


def too_large(most: int) -> QueryLimit:
    """Return the error for an update of triples that are too long together."""
    return QueryLimit(
        f"an operation of the update changes triples of more than {most >> 20} MiB together",
        hint="change fewer at once (a subselect with LIMIT), or use import",
        details={"bytes": most},
    )


def _divided(view: NamespaceView, quads: list[Quad]) -> tuple[dict[str, Quad], list[Quad]]:
    """Return the triples that have proofs, by their ids, and the others."""
    if not quads or view.proofs.is_empty():
        return {}, quads
    ids = [(hash_line(str(quad)), quad) for quad in quads]
    proved = {triple_id: quad for triple_id, quad in ids if view.proofs.has_any(triple_id)}
    return proved, [quad for triple_id, quad in ids if triple_id not in proved]


def _is_proved(quad: Quad) -> PermissionDenied:
    return PermissionDenied(
        f"the update removes a statement that has proofs, which only its author and the host may do: {str(quad)[:200]}",
        hint="exclude it, or use a token with the permission `provenance`",
    )


def _quads_about(store: GraphStore, view: NamespaceView, quads: list[Quad]) -> list[Quad]:
    names = view.names
    if not quads:
        return []
    used = [graph for graph in (names.provenance_graph, names.index_graph) if store.count(Pattern(graph), 1)]
    records = [names.record(hash_line(str(quad))) for quad in quads] if used else []
    return [quad for record in records for graph in used for quad in store.quads(Pattern(graph, record))]


def _new_quads_about(graph: NamespaceView, quads: list[Quad], provenance: Provenance | None) -> list[Quad]:
    if not quads:
        return []
    ids = [graph.index.identify(quad) for quad in quads]
    names = graph.names
    if provenance is not None:
        records = (
            record_of(quad, names.record(triple_id), provenance, names)
            for quad, triple_id in zip(quads, ids, strict=True)
        )
        about = [quad for record in records for quad in record]
        return [*description_of(provenance, names), *about, *graph.times.quads(time_of(provenance))]
    return list(map(graph.index.entry, ids, quads)) if graph.index.has_begun() else []
