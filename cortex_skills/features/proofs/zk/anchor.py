"""The anchor of a commitment: a credential in which a trusted issuer signed the commitment.

Without an anchor, a proof is about a number that the prover chose. Rules kept here:
- an anchor is a verifiable credential that states the triple of the commitment: this subject, predicate and commitment;
- its issuer is trusted by the verifier, signed it, and it is valid now;
- a commitment without such a credential is `unanchored`: not evaluated, even when the proof is mathematically valid.
  One valid credential is sufficient, whatever the others are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from cortex_skills.features.proofs.signing import MalformedError, UnsupportedError, check_credential, issuer_of
from cortex_skills.features.proofs.signing.jsonld import to_rdf
from cortex_skills.features.proofs.verdict import Check, Verdict
from cortex_skills.features.proofs.zk.claims import Commitment
from cortex_skills.safe_io.display import shown_name

UNANCHORED = "unanchored"
MAX_CREDENTIALS = 16

_SUBJECT = NamedNode("https://www.w3.org/2018/credentials#credentialSubject")
_NOT = "that the committed value is true of the subject: the issuer states it"


def anchor(
    commitment: Commitment, credentials: Iterable[dict[str, Any]], trusted: Collection[str], now: datetime
) -> Check:
    """Check that a commitment is anchored."""
    reasons = []
    for credential in list(credentials)[:MAX_CREDENTIALS]:
        problems = list(_problems(credential, commitment, trusted, now))
        if not problems:
            signed = f"{issuer_of(credential)}, whom the verifier trusts, signed that this is the commitment to the"
            about = f"{commitment.predicate} of {commitment.subject}"
            return Check("anchor", Verdict.VERIFIED, f"{signed} {about}", _NOT)
        reasons += problems
    establishes = "an issuer whom the verifier trusts signed the commitment"
    first, *more = reasons or ["no credential of the commitment was given, and none is in this graph"]
    return Check("anchor", Verdict.NOT_CHECKED, establishes, _NOT, (f"{UNANCHORED}: {first}", *more))


def _problems(
    credential: dict[str, Any], commitment: Commitment, trusted: Collection[str], now: datetime
) -> Iterator[str]:
    """Why a credential is not an anchor; empty when it is."""
    issuer = issuer_of(credential)
    if issuer not in trusted:
        name = "nobody" if issuer is None else shown_name(issuer[:120])
        yield f"a credential is issued by {name}, who is not among the trusted issuers"
        return
    try:
        if not _states(credential, commitment):
            yield f"a credential of {issuer} is about another statement"
            return
    except (MalformedError, UnsupportedError) as error:
        yield f"a credential of {issuer} cannot be read: {error}"
        return
    for check in check_credential(credential, now):
        if check.verdict is not Verdict.VERIFIED:
            yield f"a credential of {issuer}: {' '.join(check.reasons)}"


def _states(credential: dict[str, Any], commitment: Commitment) -> bool:
    found = to_rdf({key: value for key, value in credential.items() if key != "proof"})
    subject = NamedNode(commitment.subject)
    triple = Quad(subject, NamedNode(commitment.predicate), Literal(commitment.text))
    return triple in found.dataset and Quad(found.root, _SUBJECT, subject) in found.dataset
