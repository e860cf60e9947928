"""The group of the suite: the prime-order group of edwards25519 (RFC 7748, §4.1; RFC 8032, §5.1), using libsodium.

Rules kept here:
- a scalar is 32 bytes, little-endian, less than the order `L`: the equivalent `s + L` is refused;
- a received point is 32 bytes, canonically encoded, in the prime-order group, and not the identity;
- a point is represented by its 32 bytes, a scalar by an integer from 0 to `L - 1`. Integer arithmetic is faster than
  libsodium's scalar functions, and Python gives constant time for neither;
- malformed data raises `NotCanonicalError`. `add` and `subtract` check only that points are on the curve; `read_point`
  and `times` check the group;
- libsodium is called through PyNaCl's compiled module: PyNaCl's own functions take 10 % longer for an addition. So this
  module checks the lengths before libsodium reads the bytes, and the return codes.
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
    """Bytes or text that are not a canonical encoding of the suite; the message names the part."""


def read_scalar(data: bytes) -> int:
    """Read a scalar of 32 bytes."""
    scalar = int.from_bytes(data, "little")
    if len(data) != BYTES or scalar >= L:
        raise NotCanonicalError("a scalar is not 32 bytes that encode a number below the order of the group")
    return scalar


def scalar_bytes(scalar: int) -> bytes:
    """A scalar as 32 bytes."""
    return scalar.to_bytes(BYTES, "little")


def read_point(data: bytes) -> bytes:
    """Check a received point."""
    if len(data) != BYTES or lib.crypto_core_ed25519_is_valid_point(data) != 1:
        raise NotCanonicalError(
            "a point is not the canonical encoding of an element of the group other than the identity"
        )
    return data


def add(one: bytes, other: bytes) -> bytes:
    """`one + other`."""
    result = _new(_POINT)
    if len(one) != BYTES or len(other) != BYTES or lib.crypto_core_ed25519_add(result, one, other):
        raise NotCanonicalError(_NOT_ON_THE_CURVE)
    return bytes(_read(result))


def subtract(one: bytes, other: bytes) -> bytes:
    """`one − other`."""
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
    """`scalar · point`; the point is checked as in `read_point`."""
    if not scalar:
        read_point(point)
        return IDENTITY
    result, data = _new(_POINT), scalar.to_bytes(BYTES, "little")
    if len(point) != BYTES or lib.crypto_scalarmult_ed25519_noclamp(result, data, point):
        raise NotCanonicalError("a point is not an element of the group other than the identity")
    return bytes(_read(result))


def to_text(data: bytes) -> str:
    """Bytes in JSON: base64url without padding (RFC 4648, §5)."""
    return urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def from_text(text: object, size: int) -> bytes:
    """Read `size` bytes; each sequence of bytes has exactly one text."""
    if isinstance(text, str) and len(text) == (size * 4 + 2) // 3 and text.isascii():
        try:
            data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except ValueError:
            data = b""
        if len(data) == size and to_text(data) == text:
            return data
    raise NotCanonicalError(f"a text is not {size} bytes in base64url without padding")
