"""Whether the publisher of an artifact is trusted: the step `trust` of its verification.

Rules kept here:
- an artifact is checked with the state of the trust store of today; the check changes nothing, and what was accepted is
  stored by `remember`, after the artifact is installed;
- a publisher that is listed is accepted with its keys only, and is never pinned again; an unknown one is pinned to its
  key on first use where that is switched on, or is accepted without trust where the caller allows it;
- a revoked key is refused in every case;
- a version older than the newest one that was seen, and other contents of that version, are refused, unless the caller
  allows a downgrade. The time in `signature.json` is not signed, and decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Literal

from cortex_graph.checks.datetimes import date_time
from cortex_skills.config.settings import Config
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.package import ArtifactManifest, ArtifactSignature, VerificationReport
from cortex_skills.features.artifacts.package.artifact_verification import TrustCheck
from cortex_skills.keys import did_of
from cortex_skills.safe_io.schemas import shown
from cortex_skills.signatures.named_keys import read_key
from cortex_skills.signatures.trust import (
    PUBLISHER_NAME,
    Publisher,
    Seen,
    Trust,
    changed_key,
    compared,
    unknown_publisher,
)
from cortex_skills.signatures.trust_file import TrustFile, trust_of

# How the publisher of an artifact is trusted, in the words of the origin of the format; `untrusted` is ours.
TrustDecision = Literal["allowlisted", "tofu_pinned", "tofu_newly_pinned", "untrusted"]


def artifact_trust(
    source: Config | TrustFile,
    *,
    trusted: Iterable[Publisher] = (),
    first_use: bool = False,
    allow_untrusted: bool = False,
    allow_downgrade: bool = False,
    now: datetime,
) -> TrustCheck:
    """The check of the publisher for `verify_artifact`; it returns the `TrustDecision`.

    An artifact that is verified again at execution was accepted already, in exactly this version: pass
    `allow_downgrade=True`, and `allow_untrusted=True` if it was installed as such. Revoked and changed keys are
    refused still.

    Args:
        source: the configuration, or the trust store.
        trusted: publishers to trust for this check, beside the listed ones; see `read_trusted`.
        first_use: whether an unknown publisher is pinned to the key that signed.
        allow_untrusted: whether an unknown publisher is accepted without trust.
        allow_downgrade: whether an older version than the newest one seen is accepted.
        now: the current time, with its zone.
    """
    listed = tuple(trusted)
    file = source if isinstance(source, TrustFile) else trust_of(source)

    def check(signature: ArtifactSignature, manifest: ArtifactManifest) -> str:
        state = file.trust()
        decision, _ = accepted_artifact(
            signature,
            manifest,
            _with_all(state, listed),
            now,
            first_use=first_use,
            allow_untrusted=allow_untrusted,
            allow_downgrade=allow_downgrade,
        )
        return decision

    return check


def remember(
    source: Config | TrustFile,
    report: VerificationReport,
    *,
    trusted: Iterable[Publisher] = (),
    first_use: bool = False,
    allow_untrusted: bool = False,
    allow_downgrade: bool = False,
    now: datetime,
) -> TrustDecision:
    """Store what a valid report accepted: the publisher, if it is new, and the newest version seen.

    The decision is made again, with the state of now; the arguments are those of `artifact_trust`.

    Raises:
        CortexError: `signature_invalid`: the publisher or the version is accepted no longer; `config_invalid`.
    """
    if not report.is_valid or report.manifest is None or report.signature is None:
        raise CortexError("artifact_invalid", "an artifact that is not valid is not remembered")
    listed, signature, manifest = tuple(trusted), report.signature, report.manifest
    file = source if isinstance(source, TrustFile) else trust_of(source)
    decisions: list[TrustDecision] = []

    def change(state: Trust) -> Trust:
        used = [publisher for publisher in listed if publisher.name == manifest.publisher]
        decision, new = accepted_artifact(
            signature,
            manifest,
            _with_all(state, used),
            now,
            first_use=first_use,
            allow_untrusted=allow_untrusted,
            allow_downgrade=allow_downgrade,
        )
        decisions.append(decision)
        return new

    file.change(change)
    return decisions[-1]


def accepted_artifact(
    signature: ArtifactSignature,
    manifest: ArtifactManifest,
    trust: Trust,
    now: datetime,
    *,
    first_use: bool = False,
    allow_untrusted: bool = False,
    allow_downgrade: bool = False,
) -> tuple[TrustDecision, Trust]:
    """How the publisher of an artifact is trusted, and the new state after accepting it.

    An artifact of an untrusted publisher leaves the state as it is.

    Args:
        signature: the signature, which is valid.
        manifest: the manifest of the same artifact.
        trust: the known state.
        now: the current time, with its zone.
        first_use: as for `artifact_trust`, like the others.
        allow_untrusted: likewise.
        allow_downgrade: likewise.

    Raises:
        CortexError: `signature_invalid`.
    """
    key = did_of(signature.public_key)
    trust.check_not_revoked(key, manifest.publisher)
    known = trust.publishers.get(manifest.publisher)
    decision: TrustDecision
    if known is not None:
        if key not in known.keys:
            raise changed_key(known, key)
        decision = "allowlisted" if known.how == "listed" else "tofu_pinned"
    elif first_use:
        decision = "tofu_newly_pinned"
        trust = trust.with_publisher(Publisher(manifest.publisher, key, "first use", date_time(now)))
    elif allow_untrusted:
        return "untrusted", trust
    else:
        raise unknown_publisher(manifest.skill_id, manifest.publisher, key)
    return decision, _newest(signature, manifest, trust, allow_downgrade)


def read_trusted(text: str, now: datetime) -> Publisher:
    """The publisher in `NAME=KEY`, where the key is hexadecimal or a `did:key`.

    Raises:
        CortexError: `invalid_arguments`.
    """
    name, separator, key = text.partition("=")
    if not separator or not PUBLISHER_NAME.fullmatch(name):
        hint = "write it as NAME=KEY, such as acme=8a88e3dd…, with the key in hexadecimal or as did:key:z6Mk…"
        raise CortexError("invalid_arguments", f"{shown(text)} is not a publisher and its key", hint=hint)
    return Publisher(name, read_key(key), "listed", date_time(now))


def _with_all(trust: Trust, publishers: Iterable[Publisher]) -> Trust:
    for publisher in publishers:
        trust = trust.with_publisher(publisher)
    return trust


def _newest(signature: ArtifactSignature, manifest: ArtifactManifest, trust: Trust, allow_downgrade: bool) -> Trust:
    """The state with the newest version seen."""
    skill, version, payload = manifest.skill_id, manifest.version, signature.payload_sha256
    now, before = Seen(skill, manifest.publisher, version, "", payload), trust.seen.get(skill)
    if before is not None:
        order = compared(version, before.version)
        if order < 0 and not allow_downgrade:
            raise _downgrade(f"{skill} {version} is older than {before.version}, which was seen here", before)
        if order == 0 and payload != before.digest and not allow_downgrade:
            raise _downgrade(f"{skill} {version} was seen here with other contents", before)
        if order < 0:
            return trust
    return replace(trust, seen={**trust.seen, skill: now})


def _downgrade(message: str, before: Seen) -> CortexError:
    return CortexError(
        "signature_invalid",
        message,
        hint="get the newest version from its publisher; to accept this one: --allow-downgrade",
        details={"seen": before.version, "seenPayload": before.digest},
    )
