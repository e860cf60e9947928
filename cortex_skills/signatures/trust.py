"""Whose signatures count, and which versions were seen: decisions over data.

Rules kept here:
- pure: what is known goes in, what is known then comes out, or a refusal with its own message;
- a publisher counts when it is listed with the very key that signed. Trust on first use lists one that nobody knows,
  only where it is switched on, and never takes another key for a publisher that is known;
- a skill stays with the publisher that it was first seen from;
- a version older than one that was seen is refused, and so is an earlier signing of the same version: neither is an
  update;
- a statement says the name and the version of the skill that it lies in, or it is another skill's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal

import semantic_version

from cortex_skills.errors import CortexError
from cortex_skills.signatures.statement import Statement

How = Literal["listed", "first use"]
# How far a publisher's clock may be ahead of ours.
_AHEAD = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Publisher:
    """A publisher that is trusted: its name, its `did:key`, how it came to be, and when."""

    name: str
    key: str
    how: How
    since: str


@dataclass(frozen=True, slots=True)
class Seen:
    """The newest of a skill that was accepted: from whom, which version, when it was signed, and what it was."""

    skill: str
    publisher: str
    version: str
    signed: str
    digest: str


@dataclass(frozen=True, slots=True)
class Trust:
    """What is known, by name."""

    publishers: Mapping[str, Publisher] = field(default_factory=dict)
    seen: Mapping[str, Seen] = field(default_factory=dict)

    def with_publisher(self, publisher: Publisher) -> Trust:
        """The same with a publisher listed.

        Raises:
            CortexError: `signature_invalid`: it is known with another key.

        """
        known = self.publishers.get(publisher.name)
        if known is not None and known.key != publisher.key:
            raise _changed_key(known, publisher.key)
        if known is not None:
            return self
        return replace(self, publishers={**self.publishers, publisher.name: publisher})

    def without_publisher(self, name: str) -> Trust:
        """The same without a publisher, and without what was seen from it."""
        return Trust(
            {key: value for key, value in self.publishers.items() if key != name},
            {key: value for key, value in self.seen.items() if value.publisher != name},
        )

    def without_skill(self, name: str) -> Trust:
        """The same as if a skill had never been seen."""
        return replace(self, seen={key: value for key, value in self.seen.items() if key != name})


def check_is_about(said: Statement, skill: str, version: str) -> None:
    """Refuse a statement that is about another skill, or another version of this one.

    Raises:
        CortexError: `signature_invalid`.

    """
    if said.skill != skill:
        raise CortexError(
            "signature_invalid",
            f"{skill} carries the signature of another skill, {said.skill}",
            hint="ask its publisher for a signature of this one",
        )
    if said.version != version:
        raise CortexError(
            "signature_invalid",
            f"{skill} {version or 'without a version'} carries the signature of version {said.version or 'none'}",
            hint="ask its publisher for a signature of this version",
        )


def accepted(said: Statement, trust: Trust, now: datetime, *, first_use: bool) -> Trust:
    """What is known once a statement is accepted, whose signature holds.

    Args:
        said: the statement.
        trust: what is known.
        now: the time, with its zone.
        first_use: whether a publisher that nobody knows is listed.

    Raises:
        CortexError: `signature_invalid`: it is not to be trusted.

    """
    if said.time > now + _AHEAD:
        raise CortexError(
            "signature_invalid",
            f"{said.skill} was signed in the future, at {said.signed}",
            hint="set this machine's clock, or ask the publisher to set theirs and to sign again",
        )
    known = trust.publishers.get(said.publisher)
    if known is None:
        if not first_use:
            raise CortexError(
                "signature_invalid",
                f"{said.skill} is signed by {said.publisher}, whom nobody here trusts",
                hint=f"if you do: cortex-skills trust add {said.publisher} {said.key}",
                details={"publisher": said.publisher, "key": said.key},
            )
        trust = trust.with_publisher(Publisher(said.publisher, said.key, "first use", said.signed))
    elif known.key != said.key:
        raise _changed_key(known, said.key)
    return _not_older(said, trust)


def _not_older(said: Statement, trust: Trust) -> Trust:
    now = Seen(said.skill, said.publisher, said.version, said.signed, said.digest.hex())
    before = trust.seen.get(said.skill)
    if before is not None:
        _check_follows(said, before)
        if (before.version, before.digest) == (now.version, now.digest):
            return trust
    return replace(trust, seen={**trust.seen, said.skill: now})


def _check_follows(said: Statement, before: Seen) -> None:
    forget = f"if that is meant: cortex-skills trust forget {said.skill}"
    if before.publisher != said.publisher:
        raise CortexError(
            "signature_invalid",
            f"{said.skill} was published by {before.publisher} before, and is now signed by {said.publisher}",
            hint=forget,
        )
    order = _compared(said.version, before.version)
    if order < 0:
        raise CortexError(
            "signature_invalid",
            f"{said.skill} {said.version or 'without a version'} is older than {before.version}, which was seen here",
            hint=forget,
        )
    is_later = said.time > datetime.fromisoformat(before.signed)
    if order == 0 and said.digest.hex() != before.digest and not is_later:
        raise CortexError(
            "signature_invalid",
            f"{said.skill} {said.version} was signed at {said.signed}, not after the other {said.version} that was "
            f"seen here ({before.signed})",
            hint=forget,
        )


def _compared(left: str, right: str) -> int:
    """Which of two versions is older; one without a version is older than one with any."""
    if not left or not right:
        return bool(left) - bool(right)
    first, second = semantic_version.Version(left), semantic_version.Version(right)
    return int(first.precedence_key > second.precedence_key) - int(first.precedence_key < second.precedence_key)


def _changed_key(known: Publisher, key: str) -> CortexError:
    return CortexError(
        "signature_invalid",
        f"{known.name} signs with another key than the one that is trusted for that name",
        hint=f"if the publisher says so elsewhere: cortex-skills trust remove {known.name}, and add it anew",
        details={"publisher": known.name, "trusted": known.key, "given": key},
    )
