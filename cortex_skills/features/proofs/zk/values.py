"""The values that can be committed to, as scalars.

Rules kept here:
- a whole number from -2^63 to 2^64 - 1 is its own scalar, modulo the order of the group: the order is so large that no
  calculation of a proof wraps around;
- the scalar of a text is its hash, so texts can be compared for equality and membership, and are not ordered;
- other values are refused: a boolean is not a number, and a fraction must be scaled to a whole number.
"""

from __future__ import annotations

from hashlib import sha512

from cortex_skills.features.proofs.zk.group import L, NotCanonicalError
from cortex_skills.features.proofs.zk.transcript import frame

Value = int | str

MIN_NUMBER = -(2**63)
MAX_NUMBER = 2**64 - 1
MAX_TEXT = 4096  # bytes in UTF-8

_TEXT_DOMAIN = b"cortex-skills/zk/edwards25519-sha512/text"


def checked_value(value: object) -> Value:
    """Check a value."""
    if type(value) is int and MIN_NUMBER <= value <= MAX_NUMBER:
        return value
    if type(value) is str and len(text_bytes(value)) <= MAX_TEXT:
        return value
    raise NotCanonicalError(
        f"a value is not a whole number from -2^63 to 2^64 - 1, nor a text of at most {MAX_TEXT} bytes"
    )


def value_scalar(value: Value) -> int:
    """The scalar of a value."""
    if isinstance(value, int):
        return value % L
    return int.from_bytes(sha512(frame(_TEXT_DOMAIN) + frame(text_bytes(value))).digest(), "little") % L


def value_bytes(value: Value) -> bytes:
    """A value in a transcript: `i` and its decimal digits, or `s` and its UTF-8."""
    return b"i%d" % value if isinstance(value, int) else b"s" + text_bytes(value)


def text_bytes(text: str) -> bytes:
    """A text in UTF-8."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise NotCanonicalError("a text has a lone surrogate") from None
