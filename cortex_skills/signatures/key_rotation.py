r"""The statement by which a publisher replaces its key: signed by the old key, and by the new one.

Rules kept here:
- both keys sign the publisher, the two keys and the time, so nobody moves a publisher to a key that is not its own, and
  no statement is used for another publisher;
- a statement is applied only to a publisher that is trusted with the old key. The old key is not accepted from then on,
  and never again: a statement that was applied, or that leads back to a former key, is refused;
- a revoked key replaces nothing, and nothing is replaced by a revoked key;
- the file is strict JSON of at most 4 KiB with exactly these keys.

The bytes that both sign, with `text` as in `statement`:

    "cortex-key-rotation/1\0" + text(publisher) + text(from) + text(to) + text(signed)
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from cortex_graph.checks.datetimes import date_time
from cortex_skills.errors import CortexError
from cortex_skills.keys import Key, public_of, verify
from cortex_skills.safe_io.schemas import shown
from cortex_skills.safe_io.strict_json import read_json
from cortex_skills.signatures.statement import is_time, prefixed
from cortex_skills.signatures.trust import AHEAD, PUBLISHER_NAME, Trust

FORMAT = "cortex-key-rotation/1"
MAX_STATEMENT = 4 << 10

_DOMAIN = b"cortex-key-rotation/1\0"
_KEYS = ("format", "publisher", "from", "to", "signed", "signature", "newSignature")


@dataclass(frozen=True, slots=True)
class KeyRotation:
    """A statement that a publisher replaces a key.

    Attributes:
        publisher: its name.
        old: the `did:key` that is replaced.
        new: the `did:key` that replaces it.
        signed: the time, as `xsd:dateTime` in UTC.
        signature: of the old key, 64 bytes.
        new_signature: of the new key, 64 bytes.
    """

    publisher: str
    old: str
    new: str
    signed: str
    signature: bytes
    new_signature: bytes

    def to_file(self) -> bytes:
        """The file of the statement."""
        values = (FORMAT, self.publisher, self.old, self.new, self.signed)
        document = dict(zip(_KEYS, (*values, self.signature.hex(), self.new_signature.hex()), strict=True))
        return json.dumps(document, indent=1).encode() + b"\n"


def rotate(publisher: str, old: Key, new: Key, now: datetime) -> KeyRotation:
    """The statement that a publisher replaces a key by another.

    Raises:
        CortexError: `invalid_arguments`: the publisher's name is malformed, or it is one key.
    """
    if not PUBLISHER_NAME.fullmatch(publisher):
        raise CortexError("invalid_arguments", f"{shown(publisher)} is not a valid name of a publisher")
    if old.did == new.did:
        raise CortexError("invalid_arguments", f"{old.name} and {new.name} are the same key", hint="create a new key")
    signed = date_time(now)
    message = _message(publisher, old.did, new.did, signed)
    return KeyRotation(publisher, old.did, new.did, signed, old.sign(message), new.sign(message))


def read_rotation(data: bytes) -> KeyRotation:
    """The statement in a file, whose signatures are verified.

    Raises:
        CortexError: `signature_invalid`.
    """
    try:
        document = read_json(data, max_size=MAX_STATEMENT, max_depth=1, floats=False)
    except ValueError as error:
        raise _refused(f"it is not JSON: {error}") from None
    if not isinstance(document, dict) or sorted(document) != sorted(_KEYS) or document["format"] != FORMAT:
        raise _refused(f"it is not {FORMAT}")
    if any(not isinstance(value, str) for value in document.values()):
        raise _refused("its values are not all texts")
    publisher, old, new, signed = (document[key] for key in ("publisher", "from", "to", "signed"))
    if not PUBLISHER_NAME.fullmatch(publisher) or not is_time(signed) or old == new:
        raise _refused("its publisher, its time or its keys are not valid")
    found = KeyRotation(publisher, old, new, signed, _hex(document["signature"]), _hex(document["newSignature"]))
    message = _message(publisher, old, new, signed)
    for key, signature in ((old, found.signature), (new, found.new_signature)):
        if not verify(_public(key), message, signature):
            raise _refused(f"it was not signed with {shown(key)}")
    return found


def rotated(trust: Trust, rotation: KeyRotation, now: datetime) -> Trust:
    """The new state after a valid statement.

    Args:
        trust: the known state.
        rotation: the statement, from `read_rotation`.
        now: the current time, with its zone.

    Raises:
        CortexError: `signature_invalid`.
    """
    known = trust.publishers.get(rotation.publisher)
    if known is None:
        hint = f"trust the publisher with its new key: cortex-skills trust add {rotation.publisher} {rotation.new}"
        raise _refused(f"{rotation.publisher} is not a trusted publisher", hint)
    for key in (rotation.old, rotation.new):
        trust.check_not_revoked(key, rotation.publisher)
    if rotation.old in known.former:
        raise _refused(f"{rotation.publisher} has replaced that key already", "nothing is left to do, if you did it")
    if rotation.old not in known.keys:
        raise _refused(f"it is not signed with a key with which {rotation.publisher} is trusted")
    if rotation.new in known.former:
        raise _refused(f"it leads {rotation.publisher} back to a key that was replaced", "ask for one with a new key")
    if datetime.fromisoformat(rotation.signed) > now + AHEAD:
        raise _refused(f"it is from the future, {rotation.signed}", "correct this machine's clock")
    keys = dict.fromkeys(rotation.new if key == rotation.old else key for key in known.keys)
    first, *more = keys
    publisher = replace(known, key=first, more=tuple(more), former=(*known.former, rotation.old))
    return replace(trust, publishers={**trust.publishers, rotation.publisher: publisher})


def _message(*parts: str) -> bytes:
    return _DOMAIN + b"".join(map(prefixed, parts))


def _public(did: str) -> bytes:
    try:
        return public_of(did)
    except ValueError as error:
        raise _refused(f"{shown(did)} is not a key: {error}") from None


def _hex(text: Any) -> bytes:
    try:
        signature = bytes.fromhex(text)
    except ValueError:
        signature = b""
    if len(signature) != 64 or signature.hex() != text:
        raise _refused("a signature is not 128 lower-case hexadecimal digits")
    return signature


def _refused(problem: str, hint: str = "ask the publisher for the statement again") -> CortexError:
    return CortexError("signature_invalid", f"the statement of a new key cannot be used: {problem}", hint=hint)
