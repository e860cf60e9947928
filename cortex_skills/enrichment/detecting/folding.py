"""A text as it is read aloud: letters without style, case, marks or anything that cannot be seen.

Rules kept here:
- compatibility forms (full-width, mathematical, circled) become plain letters (UAX #15, NFKD); marks, format and
  control characters, tags, selectors and fillers go; blanks become a space, separators a line end;
- `look_alike` turns what Unicode calls confusable with a Latin letter into it (UTS #39, from `look_alikes.json`), and
  small capitals, turned and squared letters too;
- linear; a character's class is looked up once.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

_REMEMBERED = 1 << 14
# Of so few characters, each is looked up once.
_FEW = 64
_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_LINE_ENDS = frozenset("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
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
        is_plain = text.isprintable() or text.replace("\n", "").isprintable()
        return text.lower() if is_plain else text.lower().translate(_CLASSES)
    if not text.isprintable() or not _FILLERS.isdisjoint(text):
        # Fillers decompose into letters of their own, so they go first.
        text = text.translate(_CLASSES)
    bare = _translated(unicodedata.normalize("NFKD", text).casefold(), _DECOMPOSED)
    return bare if bare.isascii() else unicodedata.normalize("NFC", bare)


def _translated(text: str, table: Mapping[int, Any]) -> str:
    """What `text.translate` gives, where no character that is put in place of others has another put in its place."""
    different = set(text)
    if len(different) > _FEW:
        return text.translate(table)
    for char in different:
        try:
            meant = table[ord(char)]
        except KeyError:
            continue
        if meant != ord(char):
            text = text.replace(char, meant or "")
    return text


class _LookAlikes(dict[int, str]):
    """The table of `look_alikes.json`, read when it is first needed."""

    def ready(self) -> _LookAlikes:
        if not self:
            text = files(__package__).joinpath("look_alikes.json").read_text(encoding="utf-8")
            self.update({ord(char): letter for letter, chars in json.loads(text).items() for char in chars})
        return self


_LOOK_ALIKES = _LookAlikes()


def look_alike(folded: str) -> str:
    """A folded text with every letter that looks like a Latin one as that one."""
    return folded if folded.isascii() else _translated(folded, _LOOK_ALIKES.ready())
