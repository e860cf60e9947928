"""Which triples of a page carry a Proof of Logic, cheaply enough for every answer.

Rules kept here:
- a triple is marked when its record links to a Proof of Logic of this very triple that a trusted key signed, and whose
  rules include all sets that the host requires for its predicate. Any client can attach proofs, so a link alone counts
  for nothing;
- a proof of an assertion that was withdrawn does not mark the triple when it is asserted again;
- nothing is evaluated again: whether the proof still holds is a question for `verify`;
- of a triple with many proofs a few are looked at, so a mark can be absent, and is never wrong;
- what a proof states is cached by its id, which is the hash of its content.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cortex_graph import NamespacedGraph
from cortex_graph.assertion_records.proofs import StoredProof
from cortex_skills.features.proofs.logic.document import KIND
from cortex_skills.features.proofs.logic.verify import read_stored
from cortex_skills.features.proofs.verdict import Verdict

if TYPE_CHECKING:
    from cortex_skills.config.settings import Config

_MAX_PROOFS = 16  # of one triple
_MAX_CACHED = 4096


@dataclass(frozen=True, slots=True)
class _Statement:
    """What a validly signed proof states: its signer, the id of its triple, and the names of its rule sets."""

    signer: str
    triple_id: str
    rules: frozenset[str]


_CACHE: dict[str, _Statement | None] = {}


def proved_triples(
    graph: NamespacedGraph,
    triples: Sequence[Mapping[str, Any]],
    config: Config,
    required: Callable[[str], Collection[str]],
) -> Set[int]:
    """The indexes of the triples that carry a Proof of Logic.

    Args:
        graph: their namespace.
        triples: `{id, predicate, …}` each.
        config: names the trusted keys.
        required: the names of the rule sets that the proof of a predicate must include.
    """
    from cortex_skills.features.proofs.assertions import trusted_signers

    prefix = graph.proofs.iri("0" * 64).value[:-64]
    found: set[int] = set()
    trusted: frozenset[str] | None = None
    links = [
        [iri.removeprefix(prefix) for iri in linked[:_MAX_PROOFS]]
        for linked in graph.all_proofs_of([triple["id"] for triple in triples])
    ]
    known = _statements(graph, {proof_id for linked in links for proof_id in linked})
    for place, (triple, linked) in enumerate(zip(triples, links, strict=True)):
        if linked and trusted is None:
            trusted = trusted_signers(config)
        for proof_id in linked:
            stated = known[proof_id]
            if (
                stated is not None
                and stated.triple_id == triple["id"]
                and stated.signer in (trusted or ())
                and stated.rules.issuperset(required(triple["predicate"]))
            ):
                found.add(place)
                break
    return found


def _statements(graph: NamespacedGraph, proof_ids: set[str]) -> dict[str, _Statement | None]:
    """What some proofs state, by their ids; None for one that is not there or states nothing."""
    known = {proof_id: _CACHE[proof_id] for proof_id in proof_ids & _CACHE.keys()}
    missing = sorted(proof_ids - known.keys())
    for proof_id, proof in zip(missing, graph.proofs.many(missing), strict=True):
        known[proof_id] = None if proof is None else _read(proof)
        if proof is not None:
            if len(_CACHE) >= _MAX_CACHED:
                _CACHE.clear()
            _CACHE[proof_id] = known[proof_id]
    return known


def _read(proof: StoredProof) -> _Statement | None:
    document = read_stored(proof) if proof.kind == KIND else None
    if document is None or not document.states_its_hash() or not document.signature_holds():
        return None
    if document.fields["verdict"] != Verdict.VERIFIED.value:
        return None
    rules = frozenset(result["name"] for result in document.fields["rules"])
    return _Statement(document.signer, document.fields["statementHash"], rules)
