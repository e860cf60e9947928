"""Credentials of the triples of a graph: made there, kept beside them, and checked against them.

Rules kept here:
- what is signed is a triple that is there, with the record that it has;
- a credential is kept as its canonical JSON (RFC 8785), as every proof is.
"""

from __future__ import annotations

from datetime import datetime

import rfc8785
from pyoxigraph import NamedNode, Quad

from cortex_graph import NamespacedGraph
from cortex_graph.moments import date_time, to_milliseconds
from cortex_graph.proofs import StoredProof
from cortex_graph.store import Pattern
from cortex_graph.vocabulary import ATTRIBUTED_TO
from cortex_skills.errors import CortexError
from cortex_skills.proofs.keys import Key
from cortex_skills.proofs.signing.checking import check_credential
from cortex_skills.proofs.signing.credentials import KIND, Claim, issue
from cortex_skills.proofs.signing.documents import read_document
from cortex_skills.proofs.signing.errors import MalformedError, UnsupportedError
from cortex_skills.proofs.verdict import Check, Verdict


def sign_assertion(graph: NamespacedGraph, triple_id: str, key: Key, now: datetime) -> StoredProof:
    """Sign a triple as a credential, and keep it beside the triple's record.

    Args:
        graph: the namespace.
        triple_id: the id of the triple.
        key: the signer's.
        now: the time that the credential carries, with its zone.

    Raises:
        CortexError: `invalid_arguments`: there is no such triple; `proof_failed`: it cannot be said in a credential.

    """
    quad = graph.index.find(triple_id)
    if quad is None:
        hint = "give the hash of an assertion, or another namespace"
        raise CortexError("invalid_arguments", f"no triple of {graph.namespace} has the id {triple_id}", hint=hint)
    try:
        credential = issue(claim_of(graph, quad), key, now)
    except (MalformedError, UnsupportedError) as error:
        raise CortexError("proof_failed", f"nothing was signed: {error}") from None
    proof = StoredProof(KIND, rfc8785.dumps(credential).decode(), date_time(to_milliseconds(now)), (triple_id,))
    graph.proofs.add(proof)
    return proof


def claim_of(graph: NamespacedGraph, quad: Quad) -> Claim:
    """What a credential of a triple of this namespace says."""
    record = graph.names.record(graph.index.identify(quad))
    said = graph.store.quads(Pattern(graph.names.provenance_graph, record, ATTRIBUTED_TO))
    who = sorted(each.object.value for each in said if isinstance(each.object, NamedNode))
    return Claim(quad, record, tuple(map(NamedNode, who)))


def check_stored(content: str, now: datetime, claim: Claim | None) -> list[Check]:
    """What holds of a credential as it is kept, or as a file has it.

    Args:
        content: its JSON.
        now: the time to go by, with its zone.
        claim: what it is expected to say; nothing in particular when left out.

    """
    try:
        document = read_document(content)
    except MalformedError as error:
        return [Check("signature", Verdict.REFUTED, "somebody signed this credential", "anything else", (str(error),))]
    return check_credential(document, now, claim)
