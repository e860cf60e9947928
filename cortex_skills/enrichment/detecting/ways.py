"""The ways to write in code: where each may stand in a text, and how it is read.

Rules kept here:
- patterns cannot backtrack into each other (RE2);
- what asks for less is asked first: a pattern is only looked for where what it is made of is there;
- the reader looks for the same, and asks for no more (`reader/codes.h`): a way that is changed here is changed there;
- a run that says nothing is remembered as well as one that does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

import re2

from cortex_skills.enrichment.detecting import bases, numerals

_LONG_WORD, _SOLID_WORD, _LONG_85 = 12, 16, 20
_BASE64_LINES = r"[A-Za-z0-9+/_-]{12,}(?:[\s\"',]{1,4}[A-Za-z0-9+/_-]{8,})+(?:[\s\"',]{1,4}[A-Za-z0-9+/_-]{2,7})?={0,2}"
_BETWEEN = r"[ \t\r\n,;:.|/_+\"'\[\](){}-]"
_NUMBERS = rf"(?:\b|_)(?:(?:0[xXoObB])?[0-9a-fA-F]{{1,8}}[hH]?{_BETWEEN}{{1,4}}){{7,}}[0-9a-fA-FxXoObB]{{1,10}}"


class Way(NamedTuple):
    """A way to write in code.

    Attributes:
        pattern: what finds a run of it.
        decode: how it is read.
        spells: whether it spells a text letter by letter.
        is_word: whether `runs_of` finds it by its letters, without the pattern.

    """

    pattern: Any
    decode: Callable[[str], Iterator[str]]
    spells: bool = False
    is_word: bool = False


@cache
def ways() -> tuple[Way, ...]:
    """Where a code may stand, and how it is read, in the order in which they are tried."""
    return (
        Way(re2.compile(_NUMBERS), numerals.numbers, spells=True),
        Way(re2.compile(r"(?:[0-9]{1,2}[ ,;|/\n-]{1,3}){7,}[0-9]{1,2}"), numerals.places),
        Way(re2.compile(r"[01]{40,}"), numerals.binary, spells=True),
        Way(re2.compile(r"(?:0[3-9][0-9]|1[0-2][0-9]){8,}"), numerals.decimals, spells=True),
        Way(re2.compile(r"[0-9a-fA-F]{16,}(?:[\r\n ]{1,2}[0-9a-fA-F]{8,})*"), bases.hexadecimal),
        Way(re2.compile(r"[A-Z2-7]{16,}|[a-z2-7]{16,}|[0-9A-V]{16,}"), bases.base32),
        Way(None, bases.base64, is_word=True),
        Way(re2.compile(_BASE64_LINES), bases.base64),
        Way(re2.compile(r"[1-9A-HJ-NP-Za-km-z]{20,}"), bases.base58),
        Way(None, bases.base85, is_word=True),
        Way(re2.compile(r"(?:[.\-·•–—−]{1,6}[ /|\n]{1,3}){7,}[.\-·•–—−]{1,6}"), numerals.morse),
    )


_IN_ROWS = (numerals.numbers, numerals.places, numerals.morse)
_SOLID = (numerals.binary, numerals.decimals, bases.hexadecimal, bases.base32, bases.base58)


def ways_in(encoded: bytes, words: list[bytes]) -> Iterator[Way]:
    """Those of the ways in which something may be written in a text with these long words."""
    is_there: dict[Callable[[str], Iterator[str]], bool] = {}
    is_there[bases.base64] = bool(words)
    is_there[bases.base85] = bases.has_sign_of_85(encoded)
    is_there |= dict.fromkeys(_IN_ROWS, _row().search(encoded.translate(_AS_ROWS)) is not None)
    solid = b" ".join([word for word in words if len(word) >= _SOLID_WORD])
    is_there |= dict.fromkeys(_SOLID, bool(solid) and _solid().search(solid) is not None)
    return (way for way in ways() if is_there[way.decode])


def runs_of(way: Way, encoded: bytes, words: list[bytes]) -> Iterator[bytes]:
    """What is found of a way in a text with these long words."""
    if not way.is_word:
        return (match.group() for match in way.pattern.finditer(encoded))
    if way.decode is bases.base64:
        return iter(words)
    return (run for run in encoded.translate(_AS_BASE85).split() if len(run) >= _LONG_85)


def _blanked(letters: str) -> bytes:
    """A table that makes a blank of all bytes but some."""
    return bytes(code if chr(code) in letters else 32 for code in range(256))


_AS_BASE64 = _blanked("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-")
_AS_BASE85 = _blanked("".join(map(chr, range(33, 127))))


def words_in(encoded: bytes) -> list[bytes]:
    """The runs of letters of base64, but for those that are shorter than what is read."""
    return [word for word in encoded.translate(_AS_BASE64).split() if len(word) >= _LONG_WORD]


def _as_rows() -> bytes:
    """A table of what numbers and strokes in rows are made of: digits, what stands between them, strokes, all else."""
    kinds = dict.fromkeys(b"0123456789abcdefABCDEFxXoOhH", b"0") | dict.fromkeys(b"\t\r,;:_+\"'[](){}", b",")
    kinds |= dict.fromkeys(b" /|\n", b" ") | dict.fromkeys(b".-", b"-") | dict.fromkeys("·•–—−".encode(), b"~")
    return b"".join(kinds.get(code, b"x") for code in range(256))


_AS_ROWS = _as_rows()


@cache
def _row() -> Any:
    """Eight numbers or strokes in a row, as `_AS_ROWS` tells them: no pattern of `_IN_ROWS` asks for less."""
    return re2.compile("(?:0+[ ,-]+){7}0|(?:[~-]+ +){7}[~-]")


@cache
def _solid() -> Any:
    """What any of the patterns of `_SOLID` begins with, as one."""
    return re2.compile("[0-9a-fA-F]{16}|[A-Z2-7]{16}|[a-z2-7]{16}|[0-9A-V]{16}|[1-9A-HJ-NP-Za-km-z]{20}")


@lru_cache(maxsize=1024)
def read(decode: Callable[[str], Iterator[str]], run: bytes) -> tuple[str, ...]:
    """What a run says; it stands in a text, and in what that text is read together with."""
    return tuple(decode(run.decode("utf-8", "replace")))
