"""An assertion with its record and its proof: written together, or not at all.

Rules kept here:
- the triple, its record, the proof and the rules that it applied go in one transaction of the store;
- whoever looked at the graph before gives the revision that they saw: where the store can tell (`Revisioned`), nothing
  is written when somebody has written to the graph since. Elsewhere others may write between the look and the write,
  and checking the proof again says so;
- a triple that is there already stays as it is, and gets the proof, and a record if it had none.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import Quad

from cortex_graph.namespaced import NamespacedGraph
from cortex_graph.proofs import StoredProof
from cortex_graph.provenance import Provenance, at_one_time, description_of, record_of
from cortex_graph.store import Pattern, Revisioned
from cortex_graph.vocabulary import TYPE


def revision_of(graph: NamespacedGraph) -> str | None:
    """What stands for the last write to the triples of a namespace; None when the store cannot tell."""
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
        quad: the triple, in the namespace's graph.
        provenance: where it comes from.
        proof: of this triple.
        rules: the texts of the rule sets that the proof names.
        instead: the ids of the proofs that this one takes the place of; they go in the same transaction.
        revision: what `revision_of` said before the graph was looked at; None when nobody looked.

    Returns:
        Whether the triple is new; None when the graph is at another revision, and nothing was written.

    Raises:
        GraphUnavailable: the store cannot write.

    """
    names, store = graph.names, graph.store
    triple_id = graph.index.identify(quad)
    record = names.record(triple_id)
    written = [*graph.proofs.quads(proof, [triple_id]), *graph.proofs.rule_quads(rules)]
    gone = [each for proof_id in instead if proof_id != proof.id for each in graph.proofs.all_quads(proof_id)]
    is_new = not store.contains(quad)
    if is_new or not store.count(Pattern(names.provenance_graph, record, TYPE), 1):
        provenance = at_one_time(provenance)
        written += [*record_of(quad, record, provenance, names), *description_of(provenance, names)]
    if revision is not None and isinstance(store, Revisioned):
        whole = [quad, *written] if is_new else written
        return is_new if store.apply_at(revision, [names.graph], whole, gone) else None
    if not is_new or gone:
        store.apply([quad, *written], gone)
        return is_new
    if store.insert([[quad, *written]])[0]:
        return True
    # Somebody else has just written the triple, with a record of theirs.
    return assert_proved(graph, quad, provenance, proof, rules)
