"""The group of the suite: the prime-order group of edwards25519 (RFC 7748, §4.1; RFC 8032, §5.1), by libsodium.

Rules kept here:
- a scalar is 32 bytes, little-endian, less than the order `L`: `s + L` is refused, though it means the same;
- a point that is received is 32 bytes, canonically encoded, in the prime-order group, and not the identity;
- a point is kept as its 32 bytes, a scalar as an integer from 0 to `L - 1`. Scalars are calculated with as integers:
  that is faster than libsodium's calls, and Python promises constant time for neither;
- libsodium is called as it is: through PyNaCl's functions an addition takes a tenth longer. So it is here that lengths
  are checked, before libsodium reads that many bytes, and that what it refuses is refused.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode

import nacl.bindings  # noqa: F401 - it makes libsodium ready
from nacl._sodium import ffi, lib

L = 2**252 + 27742317777372353535851937790883648493
BYTES = 32
IDENTITY = (1).to_bytes(BYTES, "little")
BASE = bytes([0x58]) + bytes([0x66]) * 31

_POINT = ffi.typeof(f"unsigned char[{BYTES}]")
_new = ffi.new
_read = ffi.buffer
_NOT_ON_THE_CURVE = "a point is not 32 bytes that encode one of the curve"


class NotCanonicalError(ValueError):
    """Bytes or text that encode nothing, or not as the suite writes it; the message says what."""


def read_scalar(data: bytes) -> int:
    """The scalar that 32 bytes encode.

    Raises:
        NotCanonicalError: another length, or not reduced.

    """
    scalar = int.from_bytes(data, "little")
    if len(data) != BYTES or scalar >= L:
        raise NotCanonicalError("a scalar is not 32 bytes that encode a number below the order of the group")
    return scalar


def scalar_bytes(scalar: int) -> bytes:
    """A scalar as the suite writes it."""
    return scalar.to_bytes(BYTES, "little")


def read_point(data: bytes) -> bytes:
    """The point itself, when the bytes are one that may be received.

    Raises:
        NotCanonicalError: another length, not canonical, not on the curve, not in the group, or the identity.

    """
    if len(data) != BYTES or lib.crypto_core_ed25519_is_valid_point(data) != 1:
        raise NotCanonicalError("a point is not the canonical encoding of an element of the group beside the identity")
    return data


def add(one: bytes, other: bytes) -> bytes:
    """`one + other`.

    Raises:
        NotCanonicalError: one of them is not on the curve. That it is in the group is for `read_point` and `times`.

    """
    result = _new(_POINT)
    if len(one) != BYTES or len(other) != BYTES or lib.crypto_core_ed25519_add(result, one, other):
        raise NotCanonicalError(_NOT_ON_THE_CURVE)
    return bytes(_read(result))


def subtract(one: bytes, other: bytes) -> bytes:
    """`one − other`.

    Raises:
        NotCanonicalError: as for `add`.

    """
    result = _new(_POINT)
    if len(one) != BYTES or len(other) != BYTES or lib.crypto_core_ed25519_sub(result, one, other):
        raise NotCanonicalError(_NOT_ON_THE_CURVE)
    return bytes(_read(result))


def times_base(scalar: int) -> bytes:
    """`scalar · B`."""
    if not scalar:
        return IDENTITY
    result = _new(_POINT)
    if lib.crypto_scalarmult_ed25519_base_noclamp(result, scalar.to_bytes(BYTES, "little")):
        raise NotCanonicalError("a scalar is a multiple of the order of the group")
    return bytes(_read(result))


def times(scalar: int, point: bytes) -> bytes:
    """`scalar · point`; the point is checked as `read_point` does, by libsodium or here.

    Raises:
        NotCanonicalError: it is none that may be received.

    """
    if not scalar:
        read_point(point)
        return IDENTITY
    result, data = _new(_POINT), scalar.to_bytes(BYTES, "little")
    if len(point) != BYTES or lib.crypto_scalarmult_ed25519_noclamp(result, data, point):
        raise NotCanonicalError("a point is not an element of the group beside the identity")
    return bytes(_read(result))


def to_text(data: bytes) -> str:
    """Bytes as the suite writes them in JSON: base64url without padding (RFC 4648, §5)."""
    return urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def from_text(text: object, size: int) -> bytes:
    """The `size` bytes that a text stands for; no other text stands for them.

    Raises:
        NotCanonicalError: it is none, stands for another number of bytes, or is not how they are written.

    """
    if isinstance(text, str) and len(text) == (size * 4 + 2) // 3 and text.isascii():
        try:
            data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except ValueError:
            data = b""
        if len(data) == size and to_text(data) == text:
            return data
    raise NotCanonicalError(f"a text is not {size} bytes in base64url without padding")
