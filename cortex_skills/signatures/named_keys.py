"""The public keys that a person names: as `did:key`, as 64 hexadecimal digits, or by their id.

Rules kept here:
- every form becomes a `did:key`, the only form in the trust store;
- an id is the start of a hash, so it names a key only among the keys that are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from cortex_skills.errors import CortexError
from cortex_skills.keys import did_of, is_public, key_id, public_of
from cortex_skills.safe_io.schemas import shown

_HEX = re.compile(r"[0-9a-fA-F]{64}", re.ASCII)
_ID = re.compile(r"ed25519:[0-9a-f]{16}", re.ASCII)


def read_key(text: str, known: Iterable[str] = ()) -> str:
    """The `did:key` of a key.

    Args:
        text: `did:key:z6Mk…`, 64 hexadecimal digits, or `ed25519:` and 16 hexadecimal digits.
        known: the keys that an id can name.

    Raises:
        CortexError: `invalid_arguments`: it is no key, or the id of no known key.
    """
    if _ID.fullmatch(text):
        found = sorted({did for did in known if id_of(did) == text})
        if len(found) == 1:
            return found[0]
        hint = "give the key itself: did:key:z6Mk…, or its 64 hexadecimal digits"
        raise CortexError("invalid_arguments", f"{text} is the id of no key that is known here", hint=hint)
    try:
        if _HEX.fullmatch(text):
            public = bytes.fromhex(text)
            if not is_public(public):
                raise ValueError("it is not a valid Ed25519 key")
            return did_of(public)
        public_of(text)
    except ValueError as error:
        hint = "the publisher's `cortex-skills key export NAME` prints it"
        raise CortexError("invalid_arguments", f"{shown(text)} is not a key: {error}", hint=hint) from None
    return text


@lru_cache(maxsize=1_000)
def id_of(did: str) -> str:
    """The id of the key of a `did:key`, for display; empty if it is none."""
    try:
        return key_id(public_of(did))
    except ValueError:
        return ""
