"""A text as it is read aloud: letters without style, case, marks or anything that cannot be seen.

Rules kept here:
- compatibility forms (full-width, mathematical, circled) become plain letters (UAX #15, NFKD); marks, format and
  control characters, tags, selectors and fillers go; blanks become a space, separators a line end;
- `look_alike` turns what Unicode calls confusable with a Latin letter into it (UTS #39, from `look_alikes.json`), and
  small capitals, turned and squared letters too;
- linear; what a character becomes is worked out once. Long texts that are not of ASCII are folded by the reader, which
  is told of their characters (`reading.folded`); what is here says what it shall do.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection
from typing import Any

from cortex_skills.enrichment.detecting.sources import FOLDER

_REMEMBERED = 1 << 14
_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_LINE_ENDS = frozenset("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
# Letters of Hangul that are written apart may become one, and one mark is a letter in some texts.
_BY_NEIGHBOURS = re.compile(
    "[\u0345\u1100-\u11ff\u3130-\u318f\u3200-\u321e\u3260-\u327f\ua960-\ua97f\ud7b0-\ud7ff\uffa0-\uffdc]"
)
_BETWEEN = "|\n"  # what no character becomes, and what changes none: that which becomes a line end is no more
_GONE = frozenset({"Mn", "Mc", "Me", "Cf", "Cc", "Cs", "Co", "Cn"})


class _Classes(dict[int, Any]):
    """A translation table that fills itself."""

    def __missing__(self, code: int) -> Any:
        char = chr(code)
        if char in _LINE_ENDS:
            value: Any = "\n"
        elif char in _FILLERS or char == "\t":
            value = " "
        else:
            category = unicodedata.category(char)
            value = " " if category == "Zs" else None if category in _GONE else code
        if len(self) < _REMEMBERED:
            self[code] = value
        return value


_CLASSES = _Classes()
_DECOMPOSED = _Classes(zip(map(ord, "’‘“”„«»ıłø"), "''" + '"' * 5 + "ilo", strict=True))


def fold(text: str) -> str:
    """`text` in plain lower-case letters."""
    if text.isascii():
        return text.encode().translate(_ASCII, _GONE_OF_ASCII).decode()
    return _folded(text) if _BY_NEIGHBOURS.search(text) else text.translate(_FOLDED)


def folded_alone(chars: Collection[str]) -> list[str]:
    """What each of some characters becomes by itself."""
    # In lower case already, since one mark is a letter in it.
    return _folded(_BETWEEN.join(chars).casefold()).split(_BETWEEN) if chars else []


def folded_by_neighbours(text: str) -> set[str]:
    """The characters of a text that may become others beside others."""
    return set(_BY_NEIGHBOURS.findall(text))


def _folded(text: str) -> str:
    """The same, worked out for all characters together."""
    if not text.isprintable() or not _FILLERS.isdisjoint(text):
        # Fillers decompose into letters of their own, so they go first.
        text = text.translate(_CLASSES)
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", text).casefold().translate(_DECOMPOSED))


class _Folded(dict[int, str]):
    """What each character becomes, which nearly always depends on it alone."""

    def __missing__(self, code: int) -> str:
        value = _folded(chr(code))
        if len(self) < _REMEMBERED:
            self[code] = value
        return value


_FOLDED = _Folded()
_FOLDED_OF_ASCII = [_FOLDED[code] for code in range(128)]
_ASCII = "".join(folded or "\0" for folded in _FOLDED_OF_ASCII).encode() + bytes(range(128, 256))
_GONE_OF_ASCII = bytes(code for code, folded in enumerate(_FOLDED_OF_ASCII) if not folded)


class _LookAlikes(dict[int, str]):
    """The table of `look_alikes.json`, read when it is first needed."""

    def ready(self) -> _LookAlikes:
        if not self:
            text = (FOLDER / "look_alikes.json").read_text(encoding="utf-8")
            self.update({ord(char): letter for letter, chars in json.loads(text).items() for char in chars})
        return self


_LOOK_ALIKES = _LookAlikes()


def look_alike(folded: str) -> str:
    """A folded text with every letter that looks like a Latin one as that one."""
    return folded if folded.isascii() else folded.translate(_LOOK_ALIKES.ready())
