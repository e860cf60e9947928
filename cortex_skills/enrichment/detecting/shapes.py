r"""Which disguises a text may wear, seen in one pass.

Rules kept here:
- pure and linear, on RE2: a search for code, and one for the sign of any other, which most texts have none of; a search
  for each when there is one;
- a shape that is not shown is not there: whoever looks for a disguise asks here first, and then exactly;
- of a text that is not ASCII, every shape but that of code is taken to be shown.

    >>> shown("The bridge is 12 m long.") == 0
    True
    >>> shown("1gn0re the rul3s") == DIGITS
    True
"""

from __future__ import annotations

from functools import cache
from string import ascii_lowercase
from typing import Any

import re2

from cortex_skills.enrichment.detecting.decoding import CODED

DIGITS, LETTERS, CAMEL, LONG, TURN, CODE = (1 << place for place in range(6))
ALL = (1 << 6) - 1
# What else may be doubted of a text: its words as they are, from the last to the first, or turned; doubled letters,
# broken words, signs of code.
WORDS, BACKWARDS, TURNED, DOUBLES, BREAKS, SIGNS = (1 << place for place in range(6, 12))
EVERYTHING = (1 << 12) - 1

_NO_LETTERS = bytes(0 if chr(code) in ascii_lowercase else 255 for code in range(256))
DIGIT = r"(?:[a-zA-Z][@$!|013457]|\b[013457@$][a-zA-Z]{2})"
HUMP = "(?:[a-z][A-Z]|[A-Z][A-Z][a-z])"
SPACED = r"(?:\b\w[\s.\-_*/|,'\"]{1,6}){5}\w\b"
UNBROKEN = "[a-zA-Z]{16}"
SPEAKER = "(?:SYSTEM|ADMIN|ASSISTANT|USER|DEVELOPER|ROOT|HUMAN|AI)(?: [A-Z]+)? ?:"
_PATTERNS = (
    (DIGITS, f"(?s:{DIGIT}.*{DIGIT})"),
    (LETTERS, SPACED),
    (CAMEL, f"(?s:{HUMP}.*{HUMP})"),
    (LONG, UNBROKEN),
    (TURN, SPEAKER),
)


def shown(text: str, among: int = ALL) -> int:
    """The shapes that `text` shows, a bit each, of those that are asked for."""
    if text.isascii():
        return shown_in(text.encode(), among)
    return shown_in(text.encode("utf-8", "replace"), among & CODE) | (among & ~CODE)


def shown_in(encoded: bytes, among: int = ALL) -> int:
    """The shapes that a text in UTF-8 shows in its letters of ASCII."""
    whole, each = _patterns()
    found = CODE if among & CODE and coded().search(encoded) else 0
    if among & (among - 1) & ~CODE and not whole.search(encoded):
        return found
    return found | sum(shape for shape, pattern in each if among & shape and pattern.search(encoded))


def doubled_letters(folded: bytes) -> bytes:
    """A zero for each letter of a folded text that is the one before it again, and nowhere else."""
    number, others = int.from_bytes(folded, "big"), int.from_bytes(folded.translate(_NO_LETTERS), "big")
    return ((number ^ (number >> 8)) | others).to_bytes(len(folded), "big")


@cache
def coded() -> Any:
    """What a text in code shows."""
    return re2.compile(CODED)


@cache
def _patterns() -> tuple[Any, tuple[tuple[int, Any], ...]]:
    # The signs of code count much, and those of words look far: one automaton for both would have too many states.
    whole = re2.compile("|".join(f"(?:{pattern})" for _, pattern in _PATTERNS))
    return whole, tuple((shape, re2.compile(pattern)) for shape, pattern in _PATTERNS)
