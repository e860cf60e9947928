"""Writes triples with their records and their proofs, all or nothing.

Rules kept here:
- the triples, their records, the proofs and the rules that these applied are written in one transaction of the store;
- a caller that read the graph before passes the revision that it read: a store with revisions (`Revisioned`) writes
  nothing when the graph was changed since. On other stores the graph can change between the read and the write, which
  a later check of the proof detects;
- an existing triple is not changed; it gains the proof, and a record if it had none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyoxigraph import Quad

from cortex_graph.assertion_records.proofs import StoredProof
from cortex_graph.assertion_records.provenance import Provenance, at_one_time, description_of, record_of, time_of
from cortex_graph.namespace.namespaced import NamespacedGraph
from cortex_graph.naming.vocabulary import TYPE
from cortex_graph.store import Pattern, Revisioned


def revision_of(graph: NamespacedGraph) -> str | None:
    """Return the revision of the triples of a namespace; None when the store has no revisions."""
    return graph.store.revision([graph.names.graph]) if isinstance(graph.store, Revisioned) else None


@dataclass(frozen=True, slots=True)
class ProvedTriple:
    """A triple to write.

    Attributes:
        quad: the triple, in the graph of the namespace.
        proof: a proof of this triple; None for none.
        rules: the texts of the rule sets that the proof names.
        instead: the ids of the proofs that this one replaces; they are removed in the same transaction.
    """

    quad: Quad
    proof: StoredProof | None
    rules: Sequence[str] = ()
    instead: Sequence[str] = ()


def assert_proved(
    graph: NamespacedGraph,
    quad: Quad,
    provenance: Provenance,
    proof: StoredProof,
    rules: Sequence[str] = (),
    *,
    revision: str | None = None,
    instead: Sequence[str] = (),
) -> bool | None:
    """Write one triple; arguments, result and errors are those of `assert_all_proved` and `ProvedTriple`."""
    new = assert_all_proved(graph, [ProvedTriple(quad, proof, rules, instead)], provenance, revision=revision)
    return None if new is None else new[0]


def assert_all_proved(
    graph: NamespacedGraph, triples: Sequence[ProvedTriple], provenance: Provenance, *, revision: str | None = None
) -> list[bool] | None:
    """Write triples with their records and their proofs.

    Args:
        graph: the namespace.
        triples: at least one.
        provenance: their source.
        revision: the result of `revision_of` before the graph was read; None when it was not read.

    Returns:
        Whether each triple is new; None when the graph has another revision, and nothing was written.

    Raises:
        GraphUnavailable: the store cannot write.
    """
    names, store = graph.names, graph.store
    provenance = at_one_time(provenance)
    written: list[Quad] = []
    gone: list[Quad] = []
    new: dict[Quad, None] = {}
    are_new, is_recorded = [], False
    for each in triples:
        triple_id = graph.index.identify(each.quad)
        record = names.record(triple_id)
        if each.proof is not None:
            written += [*graph.proofs.quads(each.proof, [triple_id]), *graph.proofs.rule_quads(each.rules)]
            replaced = (proof_id for proof_id in each.instead if proof_id != each.proof.id)
            gone += [quad for proof_id in replaced for quad in graph.proofs.all_quads(proof_id)]
        is_new = each.quad not in new and not store.contains(each.quad)
        are_new.append(is_new)
        if is_new:
            new[each.quad] = None
        if is_new or (each.proof and not store.count(Pattern(names.provenance_graph, record, TYPE), 1)):
            written += record_of(each.quad, record, provenance, names)
            is_recorded = True
    time = time_of(provenance) if is_recorded else None
    if time is not None:
        written += [*description_of(provenance, names), *graph.times.quads(time)]
    if revision is not None and isinstance(store, Revisioned):
        if not store.apply_at(revision, [names.graph], [*new, *written], gone):
            return None
    elif gone or len(new) != 1 or len(triples) != 1:
        store.apply([*new, *written], gone)
    elif not store.insert([[*new, *written]])[0]:
        # Another writer has just written the triple, with a record.
        return assert_all_proved(graph, triples, provenance)
    if time is not None:
        graph.times.written(time)
    return are_new
