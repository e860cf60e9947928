"""Literals as the JavaScript engine reads them.

Rules kept here:
- escapes are those of ECMAScript (§12.9.4); a line continuation is nothing, an unknown escape is its character;
- text longer than a constant may be is unknown (None).
"""

from __future__ import annotations

import re

from cortex_skills.scanner.values import TEXT_LIMIT

_ESCAPE = re.compile(
    r"\\(?:u\{0*([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([0-3]?[0-7]{1,2})|(\r\n|.))", re.DOTALL
)
_SINGLE = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_CONTINUATIONS = frozenset({"\n", "\r", "\r\n", "\u2028", "\u2029"})
_LONGEST_SOURCE = 8 * TEXT_LIMIT
_LONGEST_NUMBER = 32


def string_value(source: str) -> str | None:
    """What the inside of a quoted string or a piece of a template stands for."""
    if len(source) > _LONGEST_SOURCE:
        return None
    text = _ESCAPE.sub(_unescape, source) if "\\" in source else source
    return text if len(text) <= TEXT_LIMIT else None


def number_value(source: str) -> int | float | None:
    """What a number literal stands for; None for a BigInt or one written with more than 32 characters."""
    if len(source) > _LONGEST_NUMBER:
        return None
    digits = source.replace("_", "")
    try:
        if digits[:1] == "0" and digits[1:2] in tuple("xXoObB"):
            return int(digits, 0)
        number = float(digits)
    except ValueError:
        return None
    return int(number) if number.is_integer() else number


def _unescape(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code is not None:
        return chr(int(code, 16)) if int(code, 16) <= 0x10FFFF else "�"
    if match[4] is not None:
        return chr(int(match[4], 8))
    single = match[5]
    return "" if single in _CONTINUATIONS else _SINGLE.get(single, single)
