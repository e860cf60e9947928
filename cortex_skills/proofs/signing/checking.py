"""What holds of a credential that somebody shows.

Rules kept here:
- signature, time and statement are three checks: a credential may be signed and expired, or be about something else;
- an issuer is a `did:key`, and the key that signed is that key: nothing is looked up anywhere;
- a signature that was made for another purpose than asserting is refuted;
- what cannot be checked here, and what a credential carries that nothing here looks at (a status that its issuer could
  withdraw), is said: it is `not_evaluated`.

The standards: Verifiable Credentials Data Model 2.0 (§4.9, §7.1), Data Integrity 1.0 (§4.4).
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from cortex_graph.moments import date_time
from cortex_skills.proofs.keys import public_of
from cortex_skills.proofs.signing.contexts import CREDENTIALS_V2
from cortex_skills.proofs.signing.credentials import Claim, method_of, says
from cortex_skills.proofs.signing.errors import MalformedError, UnsupportedError
from cortex_skills.proofs.signing.jsonld import Contexts
from cortex_skills.proofs.signing.suite import PURPOSE, holds, read_proof, read_time
from cortex_skills.proofs.verdict import Check, Verdict

SKEW = timedelta(minutes=1)  # how far two clocks may be apart


def check_credential(
    document: dict[str, Any], now: datetime, claim: Claim | None = None, contexts: Contexts | None = None
) -> list[Check]:
    """What holds of a credential: its signature, its time, and, if asked, what it says.

    Args:
        document: as `read_document` gives it.
        now: the time to go by, with its zone.
        claim: what it is expected to say; that is not checked when left out.
        contexts: as `described` takes them.

    """
    checks = [
        _check(
            "signature",
            lambda: _check_signature(document, contexts),
            f"the holder of the key {_shown(issuer_of(document))} signed exactly what the credential says",
            "who holds that key, or that what the credential says is true",
        ),
        _check(
            "validity",
            lambda: _check_times(document, now),
            f"the credential and its proof were made to hold at {date_time(now)}",
            "that the times in them are true: they are the issuer's word",
        ),
    ]
    if claim is not None:
        about = _check(
            "statement",
            lambda: _check_claim(document, claim, contexts),
            "the credential says this triple, as the one of this namespace",
            "that the triple is true",
        )
        checks.append(about)
    return checks


def issuer_of(document: dict[str, Any]) -> str | None:
    """Who a credential says issued it; None when it does not say."""
    issuer = document.get("issuer")
    issuer = issuer.get("id") if isinstance(issuer, dict) else issuer
    return issuer if isinstance(issuer, str) else None


def _check(part: str, check: Callable[[], None], establishes: str, does_not_establish: str) -> Check:
    try:
        check()
    except MalformedError as error:
        return Check(part, Verdict.REFUTED, establishes, does_not_establish, (str(error),))
    except UnsupportedError as error:
        return Check(part, Verdict.NOT_EVALUATED, establishes, does_not_establish, (str(error),))
    return Check(part, Verdict.VERIFIED, establishes, does_not_establish)


def _check_signature(document: dict[str, Any], contexts: Contexts | None) -> None:
    types, context = document.get("type"), document.get("@context")
    if "VerifiableCredential" not in (types if isinstance(types, list) else [types]):
        raise MalformedError("it is no VerifiableCredential")
    if context != CREDENTIALS_V2 and not (isinstance(context, list) and context[:1] == [CREDENTIALS_V2]):
        raise UnsupportedError(f"its first context is not {CREDENTIALS_V2}")
    proof = read_proof(document)
    issuer = issuer_of(document)
    if issuer is None:
        raise MalformedError("it has no issuer")
    if not issuer.startswith("did:key:"):
        raise UnsupportedError(f"its issuer is {_shown(issuer)}, and only the keys of a did:key are known here")
    try:
        public = public_of(issuer)
    except ValueError as error:
        raise UnsupportedError(f"its issuer {_shown(issuer)} has no key that is known here: {error}") from None
    if proof.method != method_of(issuer):
        raise MalformedError("its proof names another key than its issuer's")
    if proof.purpose != PURPOSE:
        raise MalformedError(f"its proof is for {proof.purpose[:60]!r}, not for {PURPOSE}")
    if not holds(document, public, contexts):
        raise MalformedError("the signature does not hold: the credential was changed, or signed by another key")


def _check_times(document: dict[str, Any], now: datetime) -> None:
    proof = read_proof(document)
    times = {name: read_time(document[name], name) for name in ("validFrom", "validUntil") if name in document}
    if proof.created is not None and proof.created > now + SKEW:
        raise MalformedError(f"its proof was made in the future, at {date_time(proof.created)}")
    if proof.expires is not None and proof.expires <= now:
        raise MalformedError(f"its proof expired at {date_time(proof.expires)}")
    if "validFrom" in times and times["validFrom"] > now + SKEW:
        raise MalformedError(f"it is not valid before {date_time(times['validFrom'])}")
    if "validUntil" in times and times["validUntil"] <= now:
        raise MalformedError(f"it was valid until {date_time(times['validUntil'])}")
    if "credentialStatus" in document:
        raise UnsupportedError("its issuer may have withdrawn it: its credentialStatus is not looked up")


def _check_claim(document: dict[str, Any], claim: Claim, contexts: Contexts | None) -> None:
    unsigned = {key: value for key, value in document.items() if key != "proof"}
    if not says(unsigned, claim, contexts):
        raise MalformedError("the credential is about something else")


def _shown(text: str | None) -> str:
    return "nobody" if text is None else "".join(character for character in text[:120] if character.isprintable())
