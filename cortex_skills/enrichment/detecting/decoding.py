"""What is written in code within a text: base64, hexadecimal, percent, entities, escapes, numbers.

Rules kept here:
- only what decodes to a text that can be read is given back; a hash, a key or a picture is none;
- each kind of code is looked for once, with patterns that cannot backtrack into each other (RE2);
- what is decoded is shorter than what it came from, so decoding again and again ends.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any
from urllib.parse import unquote_to_bytes

import re2

_MOST_RUNS = 8
_READABLE, _SHORTEST = 0.85, 4
# Something that is no word of a language: digits or capitals within a long one, escapes, digits in even groups.
CODED = (
    r"\\[xu]|[A-Za-z+/_-]{3,}[0-9+/=][A-Za-z0-9+/_-]{7,}|[0-9][A-Za-z0-9+/_-]{11,}|[a-z][A-Z][A-Za-z0-9+/_-]{6,}"
    r"|[A-Z2-7]{16}|(?:[0-9a-fA-F]{2}[ :,-]){7}|[01]{8}[ ,]?[01]{8}|(?:[0-9]{2,3}[ ,;]{1,2}){6}"
    r"|[A-Z]{2}[a-z][A-Za-z0-9+/_-]{9,}"
)
_BASE64_LINES = r"[A-Za-z0-9+/_-]{12,}(?:[\s\"',]{1,4}[A-Za-z0-9+/_-]{8,})+(?:[\s\"',]{1,4}[A-Za-z0-9+/_-]{2,7})?={0,2}"
_BLANKS = re.compile(r"[\s\"',]+")


@cache
def _patterns() -> tuple[tuple[Any, Callable[[str], str | None]], ...]:
    return tuple(
        (re2.compile(pattern), decode)
        for pattern, decode in (
            (r"(?:\\x[0-9a-fA-F]{2}){4,}", _hexadecimal),
            (r"(?:\\u\{?[0-9a-fA-F]{4,6}\}?){3,}", _escapes),
            (r"(?:0x)?(?:[0-9a-fA-F]{2}[ :,-]?){8,}", _hexadecimal),
            (r"(?:[01]{8}[ ,]?){5,}", _binary),
            (r"(?:\b1?[0-9]{2}[ ,;]{1,2}){6,}1?[0-9]{2}\b", _decimal),
            (r"\b[A-Z2-7]{16,}={0,6}", _base32),
            (r"[A-Za-z0-9+/_-]{12,}={0,2}", _base64),
            (_BASE64_LINES, _base64),
        )
    )


def decoded(text: str, shows_code: bool) -> Iterator[str]:
    """Every text that is written in code within `text`; `CODED` says whether it shows any."""
    if "%" in text:
        plain = unquote_to_bytes(text).decode("utf-8", "replace")
        if plain != text:
            yield plain
    if "&" in text:
        plain = html.unescape(text)
        if plain != text:
            yield plain
    if not shows_code:
        return
    encoded = text.encode("utf-8", "replace")
    for pattern, decode in _patterns():
        for count, run in enumerate(pattern.finditer(encoded)):
            if count == _MOST_RUNS:
                break
            plain_run = decode(run.group().decode())
            if plain_run is not None:
                yield plain_run


def _text_of(data: bytes) -> str | None:
    """`data` as text, when it is one."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    letters = sum(char.isalnum() or char in " \n.,:;'\"!?-" for char in text)
    return (
        text if len(text) >= 4 and text.replace("\n", "").isprintable() and letters >= _READABLE * len(text) else None
    )


def _hexadecimal(run: str) -> str | None:
    digits = re.sub(r"\\x|0x|[ :,-]", "", run)
    return _text_of(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _escapes(run: str) -> str | None:
    codes = [int(code, 16) for code in re.findall("[0-9a-fA-F]{4,6}", run)]
    text = "".join(map(chr, (code for code in codes if code < 0x110000)))
    return _text_of(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode())


def _binary(run: str) -> str | None:
    digits = re.sub("[ ,]", "", run)
    return _text_of(bytes(int(digits[at : at + 8], 2) for at in range(0, len(digits) - 7, 8)))


def _decimal(run: str) -> str | None:
    return _text_of(bytes(int(number) for number in re.findall("[0-9]+", run)))


def _base32(run: str) -> str | None:
    bare = run.rstrip("=")
    try:
        return _text_of(base64.b32decode(bare + "=" * (-len(bare) % 8)))
    except binascii.Error:
        return None


def _base64(run: str) -> str | None:
    bare = _BLANKS.sub("", run).rstrip("=").replace("-", "+").replace("_", "/")
    if len(bare) % 4 == 1:
        bare = bare[:-1]
    try:
        data = base64.b64decode(bare + "=" * (-len(bare) % 4))
    except binascii.Error:
        return None
    # A run may begin or end within a character, or have been cut.
    for end in range(len(data), max(len(data) - 4, 0), -1):
        text = _text_of(data[:end])
        if text is not None:
            return text
    return None
