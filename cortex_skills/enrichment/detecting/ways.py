"""The ways to write in code: where each may stand in a text, and how it is read.

Rules kept here:
- patterns cannot backtrack into each other (RE2);
- the reader is asked first which kinds may stand in a text, and asks for no more (`reader/codes.h`): a way that is
  changed here is changed there;
- a run that says nothing is remembered as well as one that does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

import re2

from cortex_skills.enrichment.detecting import bases, numerals

# What the reader tells of a line: escapes, entities of HTML, runs in some base, in base 85 or of rot47, rows of
# numbers, strokes or groups.
ESCAPES, ENTITIES, BASES, SIGNED, NUMBERS, STROKES, GROUPS = (1 << place for place in range(7))
EVERY_KIND = (1 << 7) - 1

_LONG_WORD, _SOLID_WORD, _LONG_85 = 12, 16, 20
_BASE64_LINES = r"[A-Za-z0-9+/_-]{12,}(?:[\s\"',]{1,4}[A-Za-z0-9+/_-]{8,})+(?:[\s\"',]{1,4}[A-Za-z0-9+/_-]{2,7})?={0,2}"
_BETWEEN = r"[ \t\r\n,;:.|/_+\"'\[\](){}-]"
_NUMBERS = rf"(?:\b|_)(?:(?:0[xXoObB])?[0-9a-fA-F]{{1,8}}[hH]?{_BETWEEN}{{1,4}}){{7,}}[0-9a-fA-FxXoObB]{{1,10}}"


class Way(NamedTuple):
    """A way to write in code.

    Attributes:
        kind: what the reader tells of a line in which a run of it may stand.
        pattern: what finds a run of it.
        decode: how it is read.
        spells: whether it spells a text letter by letter.
        is_word: whether `runs_of` finds it by its letters, without the pattern.

    """

    kind: int
    pattern: Any
    decode: Callable[[str], Iterator[str]]
    spells: bool = False
    is_word: bool = False


@cache
def ways() -> tuple[Way, ...]:
    """Where a code may stand, and how it is read, in the order in which they are tried."""
    return (
        Way(NUMBERS, re2.compile(_NUMBERS), numerals.numbers, spells=True),
        Way(NUMBERS, re2.compile(r"(?:[0-9]{1,2}[ ,;|/\n-]{1,3}){7,}[0-9]{1,2}"), numerals.places),
        Way(BASES, re2.compile(r"[01]{40,}"), numerals.binary, spells=True),
        Way(BASES, re2.compile(r"(?:0[3-9][0-9]|1[0-2][0-9]){8,}"), numerals.decimals, spells=True),
        Way(BASES, re2.compile(r"[0-9a-fA-F]{16,}(?:[\r\n ]{1,2}[0-9a-fA-F]{8,})*"), bases.hexadecimal),
        Way(BASES, re2.compile(r"[A-Z2-7]{16,}|[a-z2-7]{16,}|[0-9A-V]{16,}"), bases.base32),
        Way(BASES, None, bases.base64, is_word=True),
        Way(BASES, re2.compile(_BASE64_LINES), bases.base64),
        Way(BASES, re2.compile(r"[1-9A-HJ-NP-Za-km-z]{20,}"), bases.base58),
        Way(SIGNED, None, bases.base85, is_word=True),
        Way(STROKES, re2.compile(r"(?:[.\-·•–—−]{1,6}[ /|\n]{1,3}){7,}[.\-·•–—−]{1,6}"), numerals.morse),
    )


_SOLID = (numerals.binary, numerals.decimals, bases.hexadecimal, bases.base32, bases.base58)


def ways_in(kinds: int, words: list[bytes]) -> Iterator[Way]:
    """Those of some kinds of ways in which something may be written in a text with these long words."""
    solid = b" ".join([word for word in words if len(word) >= _SOLID_WORD])
    is_solid = bool(solid) and _solid().search(solid) is not None
    return (way for way in ways() if way.kind & kinds and (is_solid or way.decode not in _SOLID))


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


@cache
def _solid() -> Any:
    """What any of the patterns of `_SOLID` begins with, as one."""
    return re2.compile("[0-9a-fA-F]{16}|[A-Z2-7]{16}|[a-z2-7]{16}|[0-9A-V]{16}|[1-9A-HJ-NP-Za-km-z]{20}")


@lru_cache(maxsize=1024)
def read(decode: Callable[[str], Iterator[str]], run: bytes) -> tuple[str, ...]:
    """What a run says; it stands in a text, and in what that text is read together with."""
    return tuple(decode(run.decode("utf-8", "replace")))
