"""A triple of a graph as a signed verifiable credential.

Rules kept here:
- a credential states one triple, with terms that need only the standard's context, so every verifier can check it;
- it names the triple's record (`cortex:proves`), and with it the namespace and the hash, and who asserted the triple
  (`prov:wasAttributedTo`);
- its issuer is the `did:key` of the signing key;
- the document is read back before it is signed: a triple that JSON-LD cannot express is not signed;
- `sign_assertion` signs a triple that is in the graph, with the record that it has, and stores the credential as
  canonical JSON (RFC 8785).

The standard: Verifiable Credentials Data Model 2.0 (§4).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import rfc8785
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import NamespacedGraph
from cortex_graph.assertion_records.proofs import StoredProof
from cortex_graph.checks.datetimes import date_time, to_milliseconds
from cortex_graph.naming.vocabulary import ATTRIBUTED_TO, PROVES, STRING, TYPE, XSD
from cortex_graph.store import Pattern
from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.signing.contexts import CREDENTIALS_V2
from cortex_skills.features.proofs.signing.documents import MalformedError, UnsupportedError
from cortex_skills.features.proofs.signing.jsonld import canonical_double, to_rdf
from cortex_skills.features.proofs.signing.suite import sign
from cortex_skills.keys import Key

KIND = "credential"
_CREDENTIALS = "https://www.w3.org/2018/credentials#"
_SUBJECT, _CLASS = NamedNode(f"{_CREDENTIALS}credentialSubject"), NamedNode(f"{_CREDENTIALS}VerifiableCredential")
_DOUBLE = NamedNode(f"{XSD}double")


@dataclass(frozen=True, slots=True)
class TripleClaim:
    """The content of a credential.

    Attributes:
        triple: the triple, as it is in the graph.
        record: the node of its record.
        attributed_to: the nodes of those who asserted it.
    """

    triple: Quad
    record: NamedNode
    attributed_to: tuple[NamedNode, ...] = ()


def claim_of(graph: NamespacedGraph, quad: Quad) -> TripleClaim:
    """The content of a credential for a triple of this namespace."""
    record = graph.names.record(graph.index.identify(quad))
    quads = graph.store.quads(Pattern(graph.names.provenance_graph, record, ATTRIBUTED_TO))
    who = sorted(each.object.value for each in quads if isinstance(each.object, NamedNode))
    return TripleClaim(quad, record, tuple(map(NamedNode, who)))


def sign_assertion(graph: NamespacedGraph, triple_id: str, key: Key, now: datetime) -> StoredProof:
    """Sign a triple as a credential, and store the credential beside the triple's record.

    Args:
        graph: the namespace.
        triple_id: the id of the triple.
        key: the signing key.
        now: the time of the credential, with its zone.

    Raises:
        CortexError: `invalid_arguments`: there is no such triple; `proof_failed`: a credential cannot express it.
    """
    quad = graph.index.find(triple_id)
    if quad is None:
        hint = "give the hash of an assertion, or another namespace"
        raise CortexError("invalid_arguments", f"{graph.namespace} has no triple with the id {triple_id}", hint=hint)
    try:
        credential = issue(claim_of(graph, quad), key, now)
    except (MalformedError, UnsupportedError) as error:
        raise CortexError("proof_failed", f"nothing was signed: {error}") from None
    proof = StoredProof(KIND, rfc8785.dumps(credential).decode(), date_time(to_milliseconds(now)), (triple_id,))
    graph.proofs.add(proof)
    return proof


def issue(claim: TripleClaim, key: Key, now: datetime) -> dict[str, Any]:
    """A signed credential.

    Args:
        claim: its content.
        key: the issuer's key.
        now: the time of the credential, with its zone.

    Raises:
        MalformedError: not every reader would read the same triple: it has a number that is not finite, or a text with
            a direction.
    """
    triple = claim.triple
    if not isinstance(triple.subject, NamedNode):
        raise MalformedError("a credential cannot express a blank node")
    time = date_time(to_milliseconds(now))
    document: dict[str, Any] = {
        "@context": [CREDENTIALS_V2],
        "type": ["VerifiableCredential"],
        "issuer": key.did,
        "validFrom": time,
        "credentialSubject": {"id": triple.subject.value, triple.predicate.value: _json(_expressible(triple.object))},
        PROVES.value: {"id": claim.record.value},
    }
    if claim.attributed_to:
        document[ATTRIBUTED_TO.value] = [{"id": node.value} for node in claim.attributed_to]
    if not states(document, claim):
        raise MalformedError("a credential cannot express this triple")
    return sign(document, key, method_of(key.did), time)


def states(document: dict[str, Any], claim: TripleClaim) -> bool:
    """Whether a credential states a triple and names its record."""
    found = to_rdf(document)
    triple = claim.triple
    expected = (
        Quad(found.root, TYPE, _CLASS),
        Quad(found.root, _SUBJECT, triple.subject),
        Quad(found.root, PROVES, claim.record),
        Quad(triple.subject, triple.predicate, _expressible(triple.object)),
    )
    return all(quad in found.dataset for quad in expected)


def method_of(did: str) -> str:
    """The verification method of a `did:key`: the identifier with its one fragment."""
    return f"{did}#{did.removeprefix('did:key:')}"


def _expressible(term: Any) -> NamedNode | Literal:
    """A term as a credential states it: a double in the 16 digits that every JSON-LD reader writes.

    The record that the credential names is the record of the exact triple.
    """
    if isinstance(term, Literal) and term.datatype == _DOUBLE:
        text = canonical_double(term.value)
        if text is None:
            raise MalformedError("a credential cannot express this number")
        return Literal(text, datatype=_DOUBLE)
    if isinstance(term, Literal) and term.direction is not None:
        raise MalformedError("a credential cannot express a text with a direction")
    if not isinstance(term, NamedNode | Literal):
        raise MalformedError("a credential cannot express a blank node")
    return term


def _json(term: NamedNode | Literal) -> Any:
    if isinstance(term, NamedNode):
        return {"id": term.value}
    if term.language is not None:
        return {"@value": term.value, "@language": term.language}
    return term.value if term.datatype == STRING else {"@value": term.value, "@type": term.datatype.value}
