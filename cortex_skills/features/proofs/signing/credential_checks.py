"""Checking a credential.

Rules kept here:
- signature, validity and statement are three checks: a credential may be signed and expired, or state something else;
- an issuer is a `did:key`, and the signing key is that key: nothing is fetched;
- a signature for another purpose than `assertionMethod` is refuted;
- a credential that uses an unsupported feature, such as a status that its issuer could revoke, is `not checked`.

The standards: Verifiable Credentials Data Model 2.0 (§4.9, §7.1), Data Integrity 1.0 (§4.4).
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from cortex_graph.checks.datetimes import date_time
from cortex_skills.features.proofs.signing.contexts import CREDENTIALS_V2
from cortex_skills.features.proofs.signing.credentials import TripleClaim, method_of, states
from cortex_skills.features.proofs.signing.documents import MalformedError, UnsupportedError
from cortex_skills.features.proofs.signing.suite import PURPOSE, read_proof, read_time, verify_proof
from cortex_skills.features.proofs.verdict import Check, Verdict
from cortex_skills.keys import public_of

SKEW = timedelta(minutes=1)  # the difference between two clocks that is tolerated


def check_credential(document: dict[str, Any], now: datetime, claim: TripleClaim | None = None) -> list[Check]:
    """Check the signature of a credential, its validity, and, with a claim, its statement.

    Args:
        document: as `read_document` returns it.
        now: the current time, with its zone.
        claim: the expected content; None for any.
    """
    checks = [
        _check(
            "signature",
            lambda: _check_signature(document),
            f"the holder of the key {_shown(issuer_of(document))} signed exactly what the credential says",
            "who holds that key, or that what the credential says is true",
        ),
        _check(
            "validity",
            lambda: _check_times(document, now),
            f"the credential and its proof are valid at {date_time(now)}",
            "that the times in them are true: the issuer chose them",
        ),
    ]
    if claim is not None:
        statement = _check(
            "statement",
            lambda: _check_claim(document, claim),
            "the credential states this triple of this namespace",
            "that the triple is true",
        )
        checks.append(statement)
    return checks


def issuer_of(document: dict[str, Any]) -> str | None:
    """The issuer that a credential names; None when it names none."""
    issuer = document.get("issuer")
    issuer = issuer.get("id") if isinstance(issuer, dict) else issuer
    return issuer if isinstance(issuer, str) else None


def _check(part: str, check: Callable[[], None], establishes: str, does_not_establish: str) -> Check:
    try:
        check()
    except MalformedError as error:
        return Check(part, Verdict.REFUTED, establishes, does_not_establish, (str(error),))
    except UnsupportedError as error:
        return Check(part, Verdict.NOT_CHECKED, establishes, does_not_establish, (str(error),))
    return Check(part, Verdict.VERIFIED, establishes, does_not_establish)


def _check_signature(document: dict[str, Any]) -> None:
    types, context = document.get("type"), document.get("@context")
    if "VerifiableCredential" not in (types if isinstance(types, list) else [types]):
        raise MalformedError("it is not a VerifiableCredential")
    if context != CREDENTIALS_V2 and not (isinstance(context, list) and context[:1] == [CREDENTIALS_V2]):
        raise UnsupportedError(f"its first context is not {CREDENTIALS_V2}")
    proof = read_proof(document)
    issuer = issuer_of(document)
    if issuer is None:
        raise MalformedError("it has no issuer")
    if not issuer.startswith("did:key:"):
        raise UnsupportedError(f"its issuer is {_shown(issuer)}, and only did:key issuers are supported")
    try:
        public = public_of(issuer)
    except ValueError as error:
        raise UnsupportedError(f"the key of its issuer {_shown(issuer)} is not supported: {error}") from None
    if proof.method != method_of(issuer):
        raise MalformedError("its proof names another key than its issuer's")
    if proof.purpose != PURPOSE:
        raise MalformedError(f"its proof is for {proof.purpose[:60]!r}, not for {PURPOSE}")
    if not verify_proof(document, public):
        raise MalformedError("the signature is not valid: the credential was changed, or signed with another key")


def _check_times(document: dict[str, Any], now: datetime) -> None:
    proof = read_proof(document)
    times = {name: read_time(document[name], name) for name in ("validFrom", "validUntil") if name in document}
    if proof.created is not None and proof.created > now + SKEW:
        raise MalformedError(f"its proof was created in the future, at {date_time(proof.created)}")
    if proof.expires is not None and proof.expires <= now:
        raise MalformedError(f"its proof expired at {date_time(proof.expires)}")
    if "validFrom" in times and times["validFrom"] > now + SKEW:
        raise MalformedError(f"it is not valid before {date_time(times['validFrom'])}")
    if "validUntil" in times and times["validUntil"] <= now:
        raise MalformedError(f"it was valid until {date_time(times['validUntil'])}")
    if "credentialStatus" in document:
        raise UnsupportedError("its issuer may have revoked it: credentialStatus is not looked up")


def _check_claim(document: dict[str, Any], claim: TripleClaim) -> None:
    unsigned = {key: value for key, value in document.items() if key != "proof"}
    if not states(unsigned, claim):
        raise MalformedError("the credential is about another statement")


def _shown(text: str | None) -> str:
    return "nobody" if text is None else "".join(character for character in text[:120] if character.isprintable())
