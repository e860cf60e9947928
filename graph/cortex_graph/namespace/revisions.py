"""Corrects statements: each is withdrawn and another one asserted in its place, all or nothing.

Rules kept here:
- a withdrawal and the assertion that follows it are written in one transaction of the store; on a store without
  revisions (`Revisioned`) the graph can change between the read and the write;
- the record of the new statement has `prov:wasRevisionOf` the withdrawn record (PROV-O, 2013). A statement that is in
  the graph already keeps its record as it is;
- who corrects is who withdraws and who asserts, at one time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyoxigraph import NamedNode, Quad

from cortex_graph.assertion_records.provenance import Provenance, at_one_time, description_of, record_of, time_of
from cortex_graph.exceptions import GraphBusy, invalid
from cortex_graph.namespace.namespaced import NamespacedGraph
from cortex_graph.naming.vocabulary import REVISION_OF
from cortex_graph.store import Pattern, Revisioned

_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Revision:
    """A statement and the one in its place, with their ids; `is_new` is False if that was in the graph before."""

    old: Quad
    old_id: str
    new: Quad
    new_id: str
    is_new: bool


@dataclass(slots=True)
class _Change:
    insert: list[Quad] = field(default_factory=list)
    remove: list[Quad] = field(default_factory=list)
    done: list[Revision] = field(default_factory=list)


def revise(
    graph: NamespacedGraph, changes: Mapping[str, Quad], by: Provenance, also: Sequence[Quad] = ()
) -> list[Revision] | None:
    """Put statements in the place of others.

    Args:
        graph: of the namespace, of today.
        changes: the new statement by the id of the old one.
        by: who corrects them.
        also: further statements to assert, that follow from no other.

    Returns:
        What was done; None if an old one is not in the graph, and then nothing is.

    Raises:
        InvalidArguments: a new statement is the old one, or a part of `by` is invalid.
        GraphBusy: the namespace is written to repeatedly meanwhile.
        GraphUnavailable: the store cannot write.
    """
    by, names = at_one_time(by), graph.names
    graphs = [names.graph, names.provenance_graph, names.index_graph]
    store = graph.store if isinstance(graph.store, Revisioned) else None
    for _ in range(_ATTEMPTS):
        revision = "" if store is None else store.revision(graphs)
        change = _change(graph, changes, by, also)
        if change is None:
            return None
        if store is None:
            graph.store.apply(change.insert, change.remove)
        elif not store.apply_at(revision, graphs, change.insert, change.remove):
            continue
        graph.times.written(time_of(by))
        return change.done
    raise GraphBusy("the graph is written to repeatedly, and nothing was corrected", hint="try again later")


def revision_for(graph: NamespacedGraph, old_id: str, new: Quad) -> Revision | None:
    """What a correction would do; None if the old statement is not in the graph.

    Raises:
        InvalidArguments: the new statement is the old one.
    """
    old = graph.index.find(old_id)
    if old is None:
        return None
    if old == new:
        raise invalid("object", "is as it was", hint="change a part of the statement")
    return Revision(old, old_id, new, graph.index.identify(new), not graph.store.contains(new))


def _change(
    graph: NamespacedGraph, changes: Mapping[str, Quad], by: Provenance, also: Sequence[Quad]
) -> _Change | None:
    change, asserted = _Change(), dict[Quad, list[NamedNode]]()
    for old_id, new in changes.items():
        revision = revision_for(graph, old_id, new)
        if revision is None:
            return None
        insert, remove = graph.withdrawals.change(revision.old, old_id, by)
        change.insert += insert
        change.remove += remove
        change.done.append(revision)
        withdrawn = insert[0].subject
        if revision.is_new and isinstance(withdrawn, NamedNode):
            asserted.setdefault(new, []).append(withdrawn)
    for quad in also:
        if not graph.store.contains(quad):
            asserted.setdefault(quad, [])
    for quad, withdrawn_nodes in asserted.items():
        change.insert += _asserted(graph, quad, by, withdrawn_nodes)
    change.insert += [*description_of(by, graph.names), *graph.times.quads(time_of(by))]
    return change


def _asserted(graph: NamespacedGraph, quad: Quad, by: Provenance, withdrawn: list[NamedNode]) -> list[Quad]:
    names, triple_id = graph.names, graph.index.identify(quad)
    record, provenance = names.record(triple_id), names.provenance_graph
    known = next(graph.store.quads(Pattern(provenance, record)), None)
    quads = [quad] if known is not None else [quad, *record_of(quad, record, by, names)]
    quads += [Quad(record, REVISION_OF, node, provenance) for node in withdrawn]
    return [*quads, graph.index.entry(triple_id, quad)] if graph.index.has_begun() else quads
