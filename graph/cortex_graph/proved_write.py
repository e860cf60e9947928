"""Writes a triple with its record and its proof, all or nothing.

Rules kept here:
- the triple, its record, the proof and the rules that it applied are written in one transaction of the store;
- a caller that read the graph before passes the revision that it read: a store with revisions (`Revisioned`) writes
  nothing when the graph was changed since. On other stores the graph can change between the read and the write, which
  a later check of the proof detects;
- an existing triple is not changed; it gains the proof, and a record if it had none.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import Quad

from cortex_graph.namespaced import NamespacedGraph
from cortex_graph.proofs import StoredProof
from cortex_graph.provenance import Provenance, at_one_time, description_of, record_of, time_of
from cortex_graph.store import Pattern, Revisioned
from cortex_graph.vocabulary import TYPE


def revision_of(graph: NamespacedGraph) -> str | None:
    """Return the revision of the triples of a namespace; None when the store has no revisions."""
    return graph.store.revision([graph.names.graph]) if isinstance(graph.store, Revisioned) else None


def assert_proved(
    graph: NamespacedGraph,
    quad: Quad,
    provenance: Provenance,
    proof: StoredProof,
    rules: Iterable[str] = (),
    *,
    revision: str | None = None,
    instead: Iterable[str] = (),
) -> bool | None:
    """Write a triple with its record and its proof.

    Args:
        graph: the namespace.
        quad: the triple, in the graph of the namespace.
        provenance: its source.
        proof: a proof of this triple.
        rules: the texts of the rule sets that the proof names.
        revision: the result of `revision_of` before the graph was read; None when it was not read.
        instead: the ids of the proofs that this one replaces; they are removed in the same transaction.

    Returns:
        Whether the triple is new; None when the graph has another revision, and nothing was written.

    Raises:
        GraphUnavailable: the store cannot write.

    """
    names, store = graph.names, graph.store
    triple_id = graph.index.identify(quad)
    record = names.record(triple_id)
    written = [*graph.proofs.quads(proof, [triple_id]), *graph.proofs.rule_quads(rules)]
    gone = [each for proof_id in instead if proof_id != proof.id for each in graph.proofs.all_quads(proof_id)]
    is_new, time = not store.contains(quad), None
    if is_new or not store.count(Pattern(names.provenance_graph, record, TYPE), 1):
        provenance = at_one_time(provenance)
        written += [*record_of(quad, record, provenance, names), *description_of(provenance, names)]
        time = time_of(provenance)
        written += graph.times.quads(time)
    if revision is not None and isinstance(store, Revisioned):
        whole = [quad, *written] if is_new else written
        if not store.apply_at(revision, [names.graph], whole, gone):
            return None
    elif not is_new or gone:
        store.apply([quad, *written], gone)
    elif not store.insert([[quad, *written]])[0]:
        # Another writer has just written the triple, with a record.
        return assert_proved(graph, quad, provenance, proof, rules)
    if time is not None:
        graph.times.written(time)
    return is_new
