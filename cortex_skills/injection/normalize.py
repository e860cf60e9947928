r"""Text as a reader perceives it: plain lower-case letters without styles, marks or invisible characters.

Rules kept here:
- compatibility forms (full-width, mathematical, circled) become plain letters (UAX #15, NFKD); combining marks, format
  and control characters, tags and variation selectors are removed; blanks become a space, line separators `\n`;
- `look_alike` replaces characters that are confusable with a Latin letter (UTS #39, `look_alikes.json`);
- all functions are pure and linear in the text.
"""

from __future__ import annotations

import json
import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

_FILLERS = "\u115f\u1160\u2800\u3164\uffa0"
_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_REMOVED = frozenset({"Mn", "Mc", "Me", "Cf", "Cc", "Cs", "Co", "Cn"})
_MOST_CACHED = 1 << 14

_TAGS = re.compile("(?<!\U0001f3f4)[\U000e0020-\U000e007e]")
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{2,6}\U000e007f")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}")
_ANSI = re.compile("\x1b\\[[0-9;]{0,20}[a-zA-Z]")
_ANSI_CONCEALED = re.compile("\x1b\\[(?:[0-9]{1,2};){0,8}8m")


class _Characters(dict[int, Any]):
    """A translation table that computes and caches the entry of a character on first use."""

    def __missing__(self, code: int) -> Any:
        char = chr(code)
        category = unicodedata.category(char)
        if char in _LINE_ENDS:
            value: Any = "\n"
        elif char in _FILLERS or char == "\t" or category == "Zs":
            value = " "
        else:
            value = None if category in _REMOVED else code
        if len(self) < _MOST_CACHED:
            self[code] = value
        return value


_CHARACTERS = _Characters()
_QUOTATION_MARKS = (("’", "'"), ("‘", "'"), ("“", '"'), ("”", '"'))  # the only letters of many texts beyond ASCII
_DECOMPOSED = _Characters(zip(map(ord, "’‘“”„«»ıłø"), "''" + '"' * 5 + "ilo", strict=True))


def fold(text: str) -> str:
    """Return `text` in plain lower-case letters, composed (NFC)."""
    for mark, plain in _QUOTATION_MARKS:
        text = text.replace(mark, plain)
    if text.isascii() and text.replace("\n", "").isprintable():
        return text.lower()
    if not text.isprintable() or any(filler in text for filler in _FILLERS):
        # Fillers decompose into letters, so they are replaced first.
        text = text.translate(_CHARACTERS)
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", text).casefold().translate(_DECOMPOSED))


def look_alike(folded: str) -> str:
    """Return a folded text in which each character that is confusable with a Latin letter is that letter."""
    if folded.isascii() or _look_alikes().keys().isdisjoint(map(ord, set(folded))):
        return folded
    return folded.translate(_look_alikes())


def has_hidden_text(text: str) -> bool:
    """Report whether a text carries characters that encode text invisibly: tags, selectors, concealed terminal text."""
    if "\x1b" in text and _ANSI_CONCEALED.search(text):
        return True
    if text.isascii():
        return False
    return bool(_SELECTORS.search(text) or _TAGS.search(_FLAG.sub("", text)))


def without_terminal_codes(text: str) -> str:
    """Return `text` without ANSI escape sequences."""
    return _ANSI.sub("", text) if "\x1b" in text else text


@cache
def _look_alikes() -> dict[int, str]:
    table = json.loads((Path(__file__).parent / "look_alikes.json").read_text(encoding="utf-8"))
    return {ord(char): letter for letter, chars in table.items() for char in chars}
