"""Texts in the fields of a form that is sent back: what is invisible in them is written as its code.

Rules kept here:
- a character that hides, and a combining mark after four others, is `⟨U+202E⟩` in a field, and itself again in what the
  field sends; a line feed and a tab stay;
- a text that has such a code itself comes back unchanged, too: the `⟨` of the code is written as its code;
- every parameter of a page is read so, since fields send parameters; addresses are written so (`addresses.py`);
- a form sends its line ends as CR LF, which are line feeds here; what an action does with its fields, it does with what
  they stand for (`typed_in`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from itertools import groupby

from cortex_skills.safe_io.display import is_invisible

_MARKS = 4
_CODE = re.compile(r"⟨U\+([0-9A-F]{4,6})⟩")
_OPENED = re.compile(r"⟨(?=U\+[0-9A-F]{4,6}⟩)")
_WRITTEN = frozenset("|\n\t⟨")  # as codes, in a part of a line or before a code


def _is_mark(char: str) -> bool:
    return not char.isascii() and unicodedata.category(char) in ("Mn", "Me")


def _code(char: str) -> str:
    return f"⟨U+{ord(char):04X}⟩"


def with_own_codes(text: str) -> str:
    """A text whose own codes are not read as the characters that they name."""
    return _OPENED.sub(_code("⟨"), text)


def to_field(text: str, *, part: bool = False, typed: bool = False) -> str:
    """A text as a field shows it.

    Args:
        text: the text.
        part: whether it is a part of a line, in which a line feed, a tab and `|` are codes too.
        typed: whether it comes from a field, so that its codes are those of characters.
    """
    text = text if typed else with_own_codes(text)
    kept = frozenset() if part else frozenset("\n\t")
    written: list[str] = []
    for is_mark, chars in groupby(text, _is_mark):
        for place, char in enumerate(chars):
            hides = is_invisible(char) and char not in kept
            is_code = hides or (part and char in "|\n\t") or (is_mark and place >= _MARKS)
            written.append(_code(char) if is_code else char)
    return "".join(written)


def from_field(text: str) -> str:
    """The text that a field stands for."""

    def decoded(found: re.Match[str]) -> str:
        number = int(found[1], 16)
        if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
            return found[0]
        char = chr(number)
        return char if is_invisible(char) or char in _WRITTEN or _is_mark(char) else found[0]

    return _CODE.sub(decoded, text)


def with_line_feeds(text: str) -> str:
    """A text with line feeds as its only line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def typed_in(fields: Mapping[str, str]) -> dict[str, str]:
    """The texts that the fields of a form stand for."""
    return {name: from_field(with_line_feeds(text)) for name, text in fields.items()}
