"""A triple of a graph as a signed verifiable credential.

Rules kept here:
- a credential says one triple, in words that need no context but the standard's own: others verify it as it is;
- it names the triple's record (`cortex:proves`), and so its namespace and its hash, and who asserted it
  (`prov:wasAttributedTo`);
- its issuer is the `did:key` of the key that signs;
- what is signed is read back first: a triple that JSON-LD cannot say is not signed.

The standard: Verifiable Credentials Data Model 2.0 (§4).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.moments import date_time, to_milliseconds
from cortex_graph.vocabulary import ATTRIBUTED_TO, PROVES, STRING, TYPE, XSD
from cortex_skills.proofs.keys import Key
from cortex_skills.proofs.signing.contexts import CREDENTIALS_V2
from cortex_skills.proofs.signing.errors import MalformedError
from cortex_skills.proofs.signing.jsonld import Contexts, canonical_double, described
from cortex_skills.proofs.signing.suite import sign

KIND = "credential"
_CREDENTIALS = "https://www.w3.org/2018/credentials#"
_SUBJECT, _CLASS = NamedNode(f"{_CREDENTIALS}credentialSubject"), NamedNode(f"{_CREDENTIALS}VerifiableCredential")
_DOUBLE = NamedNode(f"{XSD}double")


@dataclass(frozen=True, slots=True)
class Claim:
    """What a credential says.

    Attributes:
        triple: the triple, as it is in the graph.
        record: the node of its record.
        attributed_to: the nodes of who asserted it.

    """

    triple: Quad
    record: NamedNode
    attributed_to: tuple[NamedNode, ...] = ()


def issue(claim: Claim, key: Key, now: datetime) -> dict[str, Any]:
    """A signed credential.

    Args:
        claim: what it says.
        key: its issuer's.
        now: the time that it carries, with its zone.

    Raises:
        MalformedError: the triple cannot be said so that every reader reads the same: a number that is not finite, a
            text with a direction.

    """
    triple = claim.triple
    if not isinstance(triple.subject, NamedNode):
        raise MalformedError("what has no name cannot be said in a credential")
    time = date_time(to_milliseconds(now))
    document: dict[str, Any] = {
        "@context": [CREDENTIALS_V2],
        "type": ["VerifiableCredential"],
        "issuer": key.did,
        "validFrom": time,
        "credentialSubject": {"id": triple.subject.value, triple.predicate.value: _written(_as_said(triple.object))},
        PROVES.value: {"id": claim.record.value},
    }
    if claim.attributed_to:
        document[ATTRIBUTED_TO.value] = [{"id": node.value} for node in claim.attributed_to]
    if not says(document, claim):
        raise MalformedError("the triple cannot be said in a credential")
    return sign(document, key, method_of(key.did), time)


def says(document: dict[str, Any], claim: Claim, contexts: Contexts | None = None) -> bool:
    """Whether a credential says a triple, as that of its record.

    Args:
        document: without its proof.
        claim: what it should say; who asserted it is not compared.
        contexts: as `described` takes them.

    Raises:
        MalformedError: the document is not well-formed.
        UnsupportedError: it uses a context that is not known here.

    """
    found = described(document, contexts)
    triple = claim.triple
    expected = (
        Quad(found.root, TYPE, _CLASS),
        Quad(found.root, _SUBJECT, triple.subject),
        Quad(found.root, PROVES, claim.record),
        Quad(triple.subject, triple.predicate, _as_said(triple.object)),
    )
    return all(quad in found.dataset for quad in expected)


def method_of(did: str) -> str:
    """The address of the one key of a `did:key`."""
    return f"{did}#{did.removeprefix('did:key:')}"


def _as_said(term: Any) -> NamedNode | Literal:
    """A term as a credential has it: a double in the text that every reader makes of it, which has 16 digits.

    The record that the credential names is that of the exact triple.
    """
    if isinstance(term, Literal) and term.datatype == _DOUBLE:
        text = canonical_double(term.value)
        if text is None:
            raise MalformedError("this number cannot be said in a credential")
        return Literal(text, datatype=_DOUBLE)
    if isinstance(term, Literal) and term.direction is not None:
        raise MalformedError("a text with a direction cannot be said in a credential")
    if not isinstance(term, NamedNode | Literal):
        raise MalformedError("what has no name cannot be said in a credential")
    return term


def _written(term: NamedNode | Literal) -> Any:
    if isinstance(term, NamedNode):
        return {"id": term.value}
    if term.language is not None:
        return {"@value": term.value, "@language": term.language}
    return term.value if term.datatype == STRING else {"@value": term.value, "@type": term.datatype.value}
