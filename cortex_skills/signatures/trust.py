"""Trusted publishers and seen versions: decisions over data.

Rules kept here:
- the functions are pure: the known state in, the new state out, or an error;
- a publisher is trusted when it is listed with the key that signed. Trust on first use lists an unknown publisher if it
  is enabled, and never accepts another key for a known publisher;
- a skill keeps the publisher from which it was first seen;
- a version older than a seen one is refused, and so is an earlier signature of the same version: neither is an update;
- a statement must name the skill and the version of the folder that it is in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal

import semantic_version

from cortex_skills.errors import CortexError
from cortex_skills.signatures.statement import SignedStatement

How = Literal["listed", "first use"]
_AHEAD = timedelta(minutes=10)  # how far a publisher's clock may be ahead


@dataclass(frozen=True, slots=True)
class Publisher:
    """A trusted publisher: its name, its `did:key`, how and when it was listed."""

    name: str
    key: str
    how: How
    since: str


@dataclass(frozen=True, slots=True)
class Seen:
    """The newest accepted version of a skill: its publisher, version, time of signature, and digest."""

    skill: str
    publisher: str
    version: str
    signed: str
    digest: str


@dataclass(frozen=True, slots=True)
class Trust:
    """The known publishers and versions, by name."""

    publishers: Mapping[str, Publisher] = field(default_factory=dict)
    seen: Mapping[str, Seen] = field(default_factory=dict)

    def with_publisher(self, publisher: Publisher) -> Trust:
        """A copy with a listed publisher."""
        known = self.publishers.get(publisher.name)
        if known is not None and known.key != publisher.key:
            raise _changed_key(known, publisher.key)
        if known is not None:
            return self
        return replace(self, publishers={**self.publishers, publisher.name: publisher})

    def without_publisher(self, name: str) -> Trust:
        """A copy without a publisher and its seen skills."""
        return Trust(
            {key: value for key, value in self.publishers.items() if key != name},
            {key: value for key, value in self.seen.items() if value.publisher != name},
        )

    def without_skill(self, name: str) -> Trust:
        """A copy without the seen version of a skill."""
        return replace(self, seen={key: value for key, value in self.seen.items() if key != name})


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
    if statement.time > now + _AHEAD:
        raise CortexError(
            "signature_invalid",
            f"{statement.skill} has a signature from the future, {statement.signed}",
            hint="correct this machine's clock, or ask the publisher to correct theirs and sign again",
        )
    known = trust.publishers.get(statement.publisher)
    if known is None:
        if not first_use:
            raise CortexError(
                "signature_invalid",
                f"{statement.skill} is signed by {statement.publisher}, whom you do not trust",
                hint=f"to trust the publisher: cortex-skills trust add {statement.publisher} {statement.key}",
                details={"publisher": statement.publisher, "key": statement.key},
            )
        trust = trust.with_publisher(Publisher(statement.publisher, statement.key, "first use", statement.signed))
    elif known.key != statement.key:
        raise _changed_key(known, statement.key)
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
    order = _compared(statement.version, before.version)
    if order < 0:
        raise CortexError(
            "signature_invalid",
            f"{statement.skill} {statement.version or 'without a version'} is older than {before.version}, "
            "which was seen here",
            hint=forget,
        )
    is_later = statement.time > datetime.fromisoformat(before.signed)
    if order == 0 and statement.digest.hex() != before.digest and not is_later:
        raise CortexError(
            "signature_invalid",
            f"{statement.skill} {statement.version} was signed at {statement.signed}, not after the one seen here, "
            f"signed at {before.signed}",
            hint=forget,
        )


def _compared(left: str, right: str) -> int:
    """Compare two versions: -1, 0 or 1. No version is older than any version."""
    if not left or not right:
        return bool(left) - bool(right)
    first, second = semantic_version.Version(left), semantic_version.Version(right)
    return int(first.precedence_key > second.precedence_key) - int(first.precedence_key < second.precedence_key)


def _changed_key(known: Publisher, key: str) -> CortexError:
    return CortexError(
        "signature_invalid",
        f"{known.name} signs with another key than the trusted one",
        hint=f"if the publisher announced the new key: cortex-skills trust remove {known.name}, then trust add",
        details={"publisher": known.name, "trusted": known.key, "given": key},
    )
