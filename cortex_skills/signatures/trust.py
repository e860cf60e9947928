"""Trusted publishers, revoked keys and seen versions, of folders and of artifacts: decisions over data.

Rules kept here:
- the functions are pure: the known state in, the new state out, or an error;
- a publisher is trusted when it is listed with the key that signed. Trust on first use lists an unknown publisher if it
  is enabled, and never accepts another key for a known publisher;
- a revoked key verifies nothing, whoever uses it, and is not listed again. A revocation is final;
- a publisher that replaces its key by a statement of the old key (`key_rotation`) never gets a former key back;
- a skill keeps the publisher from which it was first seen;
- a version older than a seen one is refused, and so is an earlier signature of the same version: neither is an update;
- a statement must name the skill and the version of the folder that it is in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal

import semantic_version

from cortex_skills.errors import CortexError
from cortex_skills.signatures.statement import SignedStatement

How = Literal["listed", "first use"]
AHEAD = timedelta(minutes=10)  # how far a publisher's clock may be ahead

# The name of a publisher of folders or artifacts.
PUBLISHER_NAME = re.compile(r"[a-z0-9._:-]{1,256}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Publisher:
    """A trusted publisher.

    Attributes:
        name: its name.
        key: its `did:key`.
        how: how it was listed.
        since: when it was listed.
        more: other keys that it signs with now, as an imported store may list them.
        former: the keys that it has replaced.
    """

    name: str
    key: str
    how: How
    since: str
    more: tuple[str, ...] = ()
    former: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """All keys that it signs with now."""
        return (self.key, *self.more)


@dataclass(frozen=True, slots=True)
class Seen:
    """The newest accepted version of a skill: its publisher, version, time of signature, and digest.

    The time is empty for an artifact, whose signature does not cover one; its digest is its payload hash.
    """

    skill: str
    publisher: str
    version: str
    signed: str
    digest: str


@dataclass(frozen=True, slots=True)
class RevokedKey:
    """A revoked key: its `did:key`, why and when it was revoked."""

    key: str
    reason: str
    since: str


@dataclass(frozen=True, slots=True)
class Trust:
    """The known publishers and versions by name, and the revoked keys by their `did:key`."""

    publishers: Mapping[str, Publisher] = field(default_factory=dict)
    seen: Mapping[str, Seen] = field(default_factory=dict)
    revoked: Mapping[str, RevokedKey] = field(default_factory=dict)

    def with_publisher(self, publisher: Publisher) -> Trust:
        """A copy with a listed publisher; listing a publisher that was trusted on first use confirms it.

        Raises:
            CortexError: `signature_invalid`: a key is revoked, or the publisher is listed with another key.
        """
        for key in publisher.keys:
            self.check_not_revoked(key, publisher.name)
        known = self.publishers.get(publisher.name)
        if known is not None:
            other = [key for key in publisher.keys if key not in known.keys]
            if other:
                raise changed_key(known, other[0])
            if known.how == "listed" or publisher.how != "listed":
                return self
            publisher = replace(known, how="listed", since=publisher.since)
        return replace(self, publishers={**self.publishers, publisher.name: publisher})

    def without_publisher(self, name: str) -> Trust:
        """A copy without a publisher and its seen skills."""
        return replace(
            self,
            publishers={key: value for key, value in self.publishers.items() if key != name},
            seen={key: value for key, value in self.seen.items() if value.publisher != name},
        )

    def without_skill(self, name: str) -> Trust:
        """A copy without the seen version of a skill."""
        return replace(self, seen={key: value for key, value in self.seen.items() if key != name})

    def with_revoked(self, revoked: RevokedKey) -> Trust:
        """A copy with a revoked key; the first revocation of a key stays as it is."""
        if revoked.key in self.revoked:
            return self
        return replace(self, revoked={**self.revoked, revoked.key: revoked})

    def check_not_revoked(self, key: str, signer: str) -> None:
        """Refuse a revoked key.

        Raises:
            CortexError: `signature_invalid`.
        """
        revoked = self.revoked.get(key)
        if revoked is not None:
            why = f": {revoked.reason}" if revoked.reason else ""
            raise CortexError(
                "signature_invalid",
                f"the key of {signer} was revoked here on {revoked.since}{why}",
                hint="ask the publisher for a new key, and a version that is signed with it",
                details={"key": key, "revoked": revoked.since},
            )

    def trusted_keys(self) -> list[str]:
        """The keys of the trusted publishers that are not revoked."""
        keys = (key for publisher in self.publishers.values() for key in publisher.keys)
        return [key for key in keys if key not in self.revoked]


def check_is_about(statement: SignedStatement, skill: str, version: str) -> None:
    """Refuse a statement about another skill or another version."""
    if statement.skill != skill:
        raise CortexError(
            "signature_invalid",
            f"{skill} carries the signature of another skill, {statement.skill}",
            hint="ask its publisher for a signature of this skill",
        )
    if statement.version != version:
        raise CortexError(
            "signature_invalid",
            f"{skill} {version or 'without a version'} carries the signature of version {statement.version or 'none'}",
            hint="ask its publisher for a signature of this version",
        )


def accepted(statement: SignedStatement, trust: Trust, now: datetime, *, first_use: bool) -> Trust:
    """The new state after accepting a statement with a valid signature.

    Args:
        statement: the statement.
        trust: the known state.
        now: the current time, with its zone.
        first_use: whether to list an unknown publisher.
    """
    if statement.time > now + AHEAD:
        raise CortexError(
            "signature_invalid",
            f"{statement.skill} has a signature from the future, {statement.signed}",
            hint="correct this machine's clock, or ask the publisher to correct theirs and sign again",
        )
    trust.check_not_revoked(statement.key, statement.publisher)
    known = trust.publishers.get(statement.publisher)
    if known is None:
        if not first_use:
            raise unknown_publisher(statement.skill, statement.publisher, statement.key)
        trust = trust.with_publisher(Publisher(statement.publisher, statement.key, "first use", statement.signed))
    elif statement.key not in known.keys:
        raise changed_key(known, statement.key)
    return _not_older(statement, trust)


def _not_older(statement: SignedStatement, trust: Trust) -> Trust:
    now = Seen(statement.skill, statement.publisher, statement.version, statement.signed, statement.digest.hex())
    before = trust.seen.get(statement.skill)
    if before is not None:
        _check_follows(statement, before)
        if (before.version, before.digest) == (now.version, now.digest):
            return trust
    return replace(trust, seen={**trust.seen, statement.skill: now})


def _check_follows(statement: SignedStatement, before: Seen) -> None:
    forget = f"to accept this: cortex-skills trust forget {statement.skill}"
    if before.publisher != statement.publisher:
        raise CortexError(
            "signature_invalid",
            f"{statement.skill} was published by {before.publisher}, and is now signed by {statement.publisher}",
            hint=forget,
        )
    order = compared(statement.version, before.version)
    if order < 0:
        raise CortexError(
            "signature_invalid",
            f"{statement.skill} {statement.version or 'without a version'} is older than {before.version}, "
            "which was seen here",
            hint=forget,
        )
    is_later = not before.signed or statement.time > datetime.fromisoformat(before.signed)
    if order == 0 and statement.digest.hex() != before.digest and not is_later:
        raise CortexError(
            "signature_invalid",
            f"{statement.skill} {statement.version} was signed at {statement.signed}, not after the one seen here, "
            f"signed at {before.signed}",
            hint=forget,
        )


def compared(left: str, right: str) -> int:
    """Compare two versions: -1, 0 or 1. No version is older than any version."""
    if not left or not right:
        return bool(left) - bool(right)
    first, second = semantic_version.Version(left), semantic_version.Version(right)
    return int(first.precedence_key > second.precedence_key) - int(first.precedence_key < second.precedence_key)


def changed_key(known: Publisher, key: str) -> CortexError:
    """The error for another key of a known publisher."""
    former = key in known.former
    return CortexError(
        "signature_invalid",
        f"{known.name} signs with a key that it has replaced"
        if former
        else f"{known.name} signs with another key than the trusted one",
        hint="ask the publisher for a version that is signed with the new key"
        if former
        else f"apply the publisher's statement (cortex-skills trust rotate {known.name} --statement FILE); "
        f"without one, if you know that the new key is theirs: cortex-skills trust remove {known.name}, then trust add",
        details={"publisher": known.name, "trusted": known.key, "given": key},
    )


def unknown_publisher(skill: str, publisher: str, key: str) -> CortexError:
    """The error for a publisher that is not trusted."""
    return CortexError(
        "signature_invalid",
        f"{skill} is signed by {publisher}, whom you do not trust",
        hint=f"to trust the publisher: cortex-skills trust add {publisher} {key}",
        details={"publisher": publisher, "key": key},
    )
