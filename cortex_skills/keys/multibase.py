r"""Bytes as base58btc multibase text, as `did:key` and Data Integrity proofs write them.

Rules kept here:
- each sequence of bytes has one text: `decode` refuses every text that `encode` does not produce, white space included;
- the caller gives the number of bytes, and a longer text is refused before it is decoded: decoding takes time with the
  square of the length.

The standard: multibase, and the Bitcoin alphabet of base 58 (draft-msporny-base58, §3 and §4).

>>> encode(b"\x00hi")
'z18wr'
>>> decode("z18wr", 3)
b'\x00hi'
"""

from __future__ import annotations

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_DIGITS = {character: value for value, character in enumerate(_ALPHABET)}
_PREFIX = "z"


def encode(data: bytes) -> str:
    """The bytes as multibase text: `z`, then base58btc."""
    number = int.from_bytes(data, "big")
    digits = []
    while number:
        number, digit = divmod(number, 58)
        digits.append(_ALPHABET[digit])
    zeros = len(data) - len(data.lstrip(b"\0"))
    return _PREFIX + _ALPHABET[0] * zeros + "".join(reversed(digits))


def decode(text: str, size: int) -> bytes:
    """The `size` bytes that a multibase text encodes.

    Raises:
        ValueError: the text is not base58btc multibase, or encodes another number of bytes.
    """
    if not text.startswith(_PREFIX):
        raise ValueError("it is not base58btc multibase text, which begins with z")
    digits = text[1:]
    if len(digits) > size * 2:  # a byte is 1.37 digits
        raise ValueError(f"it is longer than {size} bytes are")
    number = 0
    for character in digits:
        digit = _DIGITS.get(character)
        if digit is None:
            raise ValueError(f"{character!r} is not a base58btc digit")
        number = number * 58 + digit
    zeros = len(digits) - len(digits.lstrip(_ALPHABET[0]))
    data = bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8, "big")
    if len(data) != size:
        raise ValueError(f"it encodes {len(data)} bytes, not {size}")
    return data
