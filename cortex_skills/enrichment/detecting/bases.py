"""Bytes that are written in base 16, 32, 58, 64 or 85, as text.

Rules kept here:
- pure, never raises, and gives nothing unless the bytes are a text that can be read, in UTF-8 or UTF-16;
- what was cut off at its end counts as far as it goes;
- what begins with no character of UTF-8 in base 85 is told by its first letters, before it is decoded;
- the reader asks for no more before it tells of a code (`reader/codes.h`): what is changed here is changed there.
"""

from __future__ import annotations

import base64 as coding
import binascii
import re
from collections.abc import Iterator

_READABLE, _SHORTEST, _LONG = 0.7, 4, 16
_NOT_PLAIN = re.compile("[A-Z0-9+]")
_BLANKS = re.compile(r"[\s\"',]+")
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
# Its digits are worked out all at once, which takes the square of their number.
_LONGEST_BASE58 = 1024
_OF_85 = frozenset("&*$@#^<>{}~`!;%?")
_ADOBE = bytes(range(ord("!"), ord("u") + 1)) + b"z"
_GIT = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
# Four bytes without an error in UTF-8, as far as a byte says whether it goes on with another.
_BEGINNING = re.compile(rb"[\0-\x7f]{4}|[\0-\x7f]{3}[\xc0-\xf7]|[\0-\x7f]{0,2}[\xc0-\xf7][\x80-\xbf]")
_SIGNS = frozenset(" \n.,:;'\"!?-")


def text_of(data: bytes) -> Iterator[str]:
    """`data` as text, when it is one."""
    if len(data) < _SHORTEST:
        return
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return
    if "\0" in text:
        # As Windows writes it.
        try:
            text = data[: len(data) // 2 * 2].decode("utf-16-le" if data[1:2] == b"\0" else "utf-16-be")
        except UnicodeDecodeError:
            return
    # What was cut may end within a letter.
    text = text if text[-1:].isprintable() else text[:-1]
    if not text.replace("\n", "").replace("\r", "").replace("\t", "").isprintable():
        return
    if sum(char.isalnum() or char in _SIGNS for char in text) >= _READABLE * len(text):
        yield text


def _may_be_text(data: bytes) -> bool:
    """Whether what is no UTF-8 in some bytes stands at their end."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.end > len(data) - 4
    return True


def hexadecimal(run: str) -> Iterator[str]:
    """Bytes in base 16, blanks between them or none."""
    words = run.split()
    found = [*_of_digits("".join(words))]
    # What stands beside others may say something by itself.
    yield from found or (text for word in words if _LONG <= len(word) < len(run) for text in _of_digits(word))


def _of_digits(digits: str) -> Iterator[str]:
    return text_of(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def base32(run: str) -> Iterator[str]:
    """RFC 4648, section 6 and 7, in either case."""
    bare = run.rstrip("=").upper()
    if not set(bare) - set("ABCDEFGHIJKLMNOPQRSTUVWXYZ") and run.islower():
        return
    # What is no whole number of bytes was cut.
    bare = bare[: len(bare) - (len(bare) % 8 in (1, 3, 6))]
    for decode in (coding.b32decode, coding.b32hexdecode):
        try:
            yield from text_of(decode(bare + "=" * (-len(bare) % 8)))
        except binascii.Error:
            continue


def base64(run: str) -> Iterator[str]:
    """RFC 4648, section 4 and 5, also cut, in lines, or written backwards; plain words say nothing in it."""
    if not _NOT_PLAIN.search(run, 1):
        return
    whole = _BLANKS.sub("", run).replace("-", "+").replace("_", "/")
    for letters in (whole, whole[::-1]):
        bare = letters.rstrip("=")
        if len(bare) % 4 == 1:
            bare = bare[:-1]
        try:
            data = coding.b64decode(bare + "=" * (-len(bare) % 4))
        except binascii.Error:
            return
        # A run may begin or end within a character, or have been cut.
        for end in range(len(data), max(len(data) - 4, 0), -1) if _may_be_text(data) else ():
            for text in text_of(data[:end]):
                yield text
                return


def base58(run: str) -> Iterator[str]:
    """As Bitcoin writes it."""
    if len(run) > _LONGEST_BASE58:
        return
    number = 0
    for char in run:
        number = number * 58 + _BASE58.index(char)
    yield from text_of(number.to_bytes((number.bit_length() + 7) // 8, "big"))


def base85(run: str) -> Iterator[str]:
    """As Adobe writes it, or as git does."""
    if _OF_85.isdisjoint(run) or "://" in run:
        return
    bare = run.removeprefix("<~").split("~>")[0].encode()
    for decode, letters in ((coding.a85decode, _ADOBE), (coding.b85decode, _GIT)):
        try:
            yield from text_of(decode(bare)) if _may_be_base85(bare, letters) else ()
        except ValueError:
            continue


def _may_be_base85(run: bytes, letters: bytes) -> bool:
    """Whether a run has no other letters, and the first four bytes may be those of a text."""
    if run.translate(None, letters):
        return False
    first = run[:5]
    if len(first) < 5 or b"z" in first:
        return True
    number = 0
    for letter in first:
        number = number * 85 + letters.index(letter)
    return number < 1 << 32 and _BEGINNING.match(number.to_bytes(4)) is not None
