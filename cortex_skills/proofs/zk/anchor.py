"""The anchor of a commitment: somebody whom the verifier trusts signed that it stands where the proof says.

Without one, a proof is about a number that the prover made up. Rules kept here:
- an anchor is a verifiable credential that says the very triple: of this subject, with this predicate, this commitment;
- its issuer is one whom the verifier named beforehand; it is signed by that issuer, and valid now;
- a commitment that no such credential speaks of is `unanchored`: not evaluated, whatever the mathematics say. One
  credential that holds is enough, and what else is shown beside it changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from cortex_skills.escaping import shown_name
from cortex_skills.proofs.signing import MalformedError, UnsupportedError, check_credential, issuer_of
from cortex_skills.proofs.signing.jsonld import described
from cortex_skills.proofs.verdict import Check, Verdict
from cortex_skills.proofs.zk.claims import Commitment

UNANCHORED = "unanchored"
MAX_CREDENTIALS = 16

_SUBJECT = NamedNode("https://www.w3.org/2018/credentials#credentialSubject")
_NOT = "that what the issuer committed to is true of the subject: it is the issuer's word"


def anchor(
    commitment: Commitment, credentials: Iterable[dict[str, Any]], trusted: Collection[str], now: datetime
) -> Check:
    """Whether a commitment is anchored.

    Args:
        commitment: with the triple that it stands in.
        credentials: what is shown for it, as `signing.read_document` gives them.
        trusted: the issuers that the verifier trusts, as `did:key`.
        now: the time to go by, with its zone.

    """
    reasons = []
    for credential in list(credentials)[:MAX_CREDENTIALS]:
        problems = list(_problems(credential, commitment, trusted, now))
        if not problems:
            who = f"{issuer_of(credential)}, whom the verifier trusts, signed that this is the commitment to the"
            about = f"{commitment.predicate} of {commitment.subject}"
            return Check("anchor", Verdict.VERIFIED, f"{who} {about}", _NOT)
        reasons += problems
    establishes = "an issuer whom the verifier trusts signed the commitment"
    reasons = reasons or ["no credential of the commitment was shown, and none is in this graph"]
    told = (f"{UNANCHORED}: {reasons[0]}", *reasons[1:])
    return Check("anchor", Verdict.NOT_EVALUATED, establishes, _NOT, told)


def _problems(
    credential: dict[str, Any], commitment: Commitment, trusted: Collection[str], now: datetime
) -> Iterator[str]:
    """Why a credential is no anchor; nothing when it is one."""
    issuer = issuer_of(credential)
    if issuer not in trusted:
        name = "nobody" if issuer is None else shown_name(issuer[:120])
        yield f"a credential is issued by {name}, who is not among the trusted issuers"
        return
    try:
        if not _says(credential, commitment):
            yield f"a credential of {issuer} is about something else"
            return
    except (MalformedError, UnsupportedError) as error:
        yield f"a credential of {issuer} cannot be read: {error}"
        return
    for check in check_credential(credential, now):
        if check.verdict is not Verdict.VERIFIED:
            yield f"a credential of {issuer}: {' '.join(check.reasons)}"


def _says(credential: dict[str, Any], commitment: Commitment) -> bool:
    found = described({key: value for key, value in credential.items() if key != "proof"})
    subject = NamedNode(commitment.subject)
    triple = Quad(subject, NamedNode(commitment.predicate), Literal(commitment.text))
    return triple in found.dataset and Quad(found.root, _SUBJECT, subject) in found.dataset
