r"""The hash-chained, signed events of a stream: what they say, how one is appended, and what a verifier finds.

Rules kept here:
- no input or output: a stream keeps its events where it wants to;
- events of a stream are numbered from 1 without gaps, and each holds the hash of the one before (`prev_hash`), so that
  a changed, missing, inserted or reordered event is found;
- the hash of an event is over everything in it but the signature: stream, number, previous hash, kind, time, actor,
  attest level, key and the SHA-256 of its payload. The signature is over that hash, so a forged attest level, actor or
  time does not verify;
- the payload is canonical JSON (RFC 8785), so that its hash can be computed again from what is stored;
- an event without a key is `unsigned`, one signed with the key of the installation that wrote it `self_signed`, one
  with the key of a trusted publisher `publisher_signed`.

    hash      = SHA-256("cortex-event/1\0" + RFC 8785 JSON of {stream, sequence, prev_hash, kind, time, actor, attest,
                key, payload_hash})
    signature = Ed25519 (RFC 8032 §5.1) of "cortex-event-signature/1\0" + the 32 bytes of the hash
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Any, Protocol

from typing_extensions import TypedDict

from cortex_graph.checks.datetimes import date_time

ATTEST_LEVELS = ("unsigned", "self_signed", "publisher_signed")
FIRST = "0" * 64  # the previous hash of the first event

_DOMAIN = b"cortex-event/1\0"
_SIGNED_DOMAIN = b"cortex-event-signature/1\0"


class Signer(Protocol):
    """A key; `cortex_skills.keys.Key` is one."""

    did: str

    def sign(self, message: bytes) -> bytes:
        """The Ed25519 signature of a message."""


Verify = Callable[[str, bytes, bytes], bool]
"""Whether a signature of a message was made with the key of a did:key."""


class ChainEventView(TypedDict):
    """An event of a chain; its hash and its signature are of what is before them."""

    sequence: int
    kind: str
    time: str
    actor: str
    details: dict[str, Any]
    attest: str
    key: str | None
    prevHash: str
    hash: str
    signature: str | None


@dataclass(frozen=True, slots=True)
class ChainEvent:
    """One event.

    Attributes:
        stream: the name of its stream.
        sequence: its number, from 1.
        prev_hash: the hash of the event before; `FIRST` for the first one.
        kind: what happened, such as `skill.registered`.
        time: an `xsd:dateTime` in UTC.
        actor: who did it.
        payload: the details, as canonical JSON.
        attest: one of `ATTEST_LEVELS`.
        key: the `did:key` that signed it; empty for an unsigned event.
        hash: in hexadecimal.
        signature: in hexadecimal; empty for an unsigned event.
    """

    stream: str
    sequence: int
    prev_hash: str
    kind: str
    time: str
    actor: str
    payload: str
    attest: str = "unsigned"
    key: str = ""
    hash: str = ""
    signature: str = ""

    @property
    def details(self) -> dict[str, Any]:
        """The payload as JSON."""
        details: dict[str, Any] = json.loads(self.payload)
        return details

    def to_json(self) -> ChainEventView:
        """The event as a JSON object."""
        return {
            "sequence": self.sequence,
            "kind": self.kind,
            "time": self.time,
            "actor": self.actor,
            "details": self.details,
            "attest": self.attest,
            "key": self.key or None,
            "prevHash": self.prev_hash,
            "hash": self.hash,
            "signature": self.signature or None,
        }


@dataclass(frozen=True, slots=True)
class ChainFault:
    """The first thing that is wrong with a stream: the number of the event, and the problem."""

    sequence: int
    problem: str


def next_event(
    stream: str,
    before: ChainEvent | None,
    kind: str,
    actor: str,
    details: Mapping[str, Any],
    now: datetime,
    *,
    key: Signer | None = None,
    attest: str = "self_signed",
) -> ChainEvent:
    """The event after another one, hashed and signed.

    Args:
        stream: the name of the stream.
        before: the last event; None for the first one.
        kind: what happened.
        actor: who did it.
        details: JSON.
        now: the time, with its zone.
        key: signs the event; None leaves it unsigned.
        attest: the level of a signed event.
    """
    import rfc8785

    event = ChainEvent(
        stream=stream,
        sequence=1 if before is None else before.sequence + 1,
        prev_hash=FIRST if before is None else before.hash,
        kind=kind,
        time=date_time(now),
        actor=actor,
        payload=rfc8785.dumps(dict(details)).decode(),
        attest="unsigned" if key is None else attest,
        key="" if key is None else key.did,
    )
    event = replace(event, hash=hash_of(event))
    return event if key is None else replace(event, signature=key.sign(_message(event)).hex())


def hash_of(event: ChainEvent) -> str:
    """The hash that an event must have, in hexadecimal."""
    import rfc8785

    content: dict[str, Any] = {
        "stream": event.stream,
        "sequence": event.sequence,
        "prev_hash": event.prev_hash,
        "kind": event.kind,
        "time": event.time,
        "actor": event.actor,
        "attest": event.attest,
        "key": event.key,
        "payload_hash": sha256(event.payload.encode("utf-8", "surrogatepass")).hexdigest(),
    }
    return sha256(_DOMAIN + rfc8785.dumps(content)).hexdigest()


def first_fault(
    events: Iterable[ChainEvent],
    stream: str,
    verify: Verify,
    *,
    since: int = 1,
    level_of: Callable[[str], str] | None = None,
) -> ChainFault | None:
    """The first broken, missing, forged or reordered event of a stream; None when it is whole.

    Args:
        events: in the order of their numbers.
        stream: the name that they must have.
        verify: checks a signature.
        since: the number of the first event that is given; the one before it is not known.
        level_of: the highest attest level of a key; a higher one of an event is forged. None checks the form alone.
    """
    expected, before = since, FIRST if since == 1 else None
    for event in events:
        fault = _fault(event, stream, expected, before, verify, level_of)
        if fault:
            return ChainFault(expected, fault)
        expected, before = expected + 1, event.hash
    return None


def _fault(
    event: ChainEvent,
    stream: str,
    expected: int,
    before: str | None,
    verify: Verify,
    level_of: Callable[[str], str] | None,
) -> str:
    if event.sequence != expected:
        return f"is missing: the next event has the number {event.sequence}"
    if event.stream != stream:
        return "belongs to another stream"
    if event.attest not in ATTEST_LEVELS or (event.attest == "unsigned") != (not event.key and not event.signature):
        return "has an attest level that does not fit its signature"
    if hash_of(event) != event.hash:
        return "was changed: it does not have its hash"
    if before is not None and event.prev_hash != before:
        return "does not follow the event before it: an event was changed, removed or inserted"
    if event.key and not _is_signed(event, verify):
        return "has a signature that does not verify"
    if level_of is not None and ATTEST_LEVELS.index(event.attest) > ATTEST_LEVELS.index(level_of(event.key)):
        return "claims an attest level that its key does not have"
    return ""


def _is_signed(event: ChainEvent, verify: Verify) -> bool:
    try:
        signature = bytes.fromhex(event.signature)
    except ValueError:
        return False
    return verify(event.key, _message(event), signature)


def _message(event: ChainEvent) -> bytes:
    return _SIGNED_DOMAIN + bytes.fromhex(event.hash)
