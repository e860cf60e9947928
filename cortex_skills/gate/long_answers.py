"""`shortened`: a result that is not longer than the hosts of models take, which cut or refuse longer ones.

Rules kept here:
- text and details together have at most `LONGEST` bytes of JSON; a shorter result is unchanged;
- a long text loses its middle, so that its end, which may close a block or have a cursor, stays. Of the details the
  longest texts lose their ends first, then the longest arrays and objects their last members;
- nothing is cut in silence: each text names what it lacks, and `shortened` in the details counts both;
- only the interfaces that answer models shorten; a program gets the whole result.

>>> short = shortened(Result("three words long", {"outputs": {"content": "a" * 1000}}), most=400)
>>> short.details["shortened"]
{'texts': 1, 'members': 0}
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import orjson

from cortex_skills.gate.result import Result

LONGEST = 100_000  # bytes: 25,000 tokens
_LAST = 500  # characters of a text that stay at its end
_NOTE = 200  # bytes of what is added
_TEXTS = tuple(1 << power for power in range(16, 6, -1))  # characters of a text in the details
_MEMBERS = (1000, 300, 100, 30, 10, 3, 1)  # members of an array or object in the details


def shortened(result: Result, most: int = LONGEST) -> Result:
    """A result of at most so many bytes."""
    text, details = _size(result.text), _size(result.details)
    if text + details <= most:
        return result
    shown = _without_middle(result.text, max(most // 2, most - details) - _NOTE)
    return replace(result, text=shown, details=_short_details(result.details, most - _size(shown) - _NOTE))


def _without_middle(text: str, most: int) -> str:
    length = min(len(text), most)
    while length > 2 * _LAST and _size(text[:length]) > most - _LAST:
        length -= length // 16
    if length == len(text):
        return text
    missing = len(text) - length - _LAST
    if missing <= 0:
        return text
    note = f"(here {missing:,} characters are not shown, since the answer would be too long: ask for less)"
    return f"{text[:length]}\n{note}\n{text[-_LAST:]}"


def _short_details(details: dict[str, Any], most: int) -> dict[str, Any]:
    if _size(details) <= most:
        return details
    limits = [(length, None) for length in _TEXTS] + [(_TEXTS[-1], count) for count in _MEMBERS]
    for length, members in limits:
        cutter = _Cutter(length, members)
        shown = {name: cutter.cut(value) for name, value in details.items()}
        if _size(shown) <= most:
            break
    else:
        shown = {name: value for name, value in shown.items() if not isinstance(value, list | dict)}
    return {**shown, "shortened": {"texts": cutter.texts, "members": cutter.left_out}}


class _Cutter:
    """Cuts JSON: texts to a length, and arrays and objects to a number of members if there is one."""

    def __init__(self, length: int, members: int | None) -> None:
        self._length = length
        self._members = members
        self.texts = self.left_out = 0

    def cut(self, value: Any) -> Any:
        """The value with at most that much of each part."""
        if isinstance(value, str):
            if len(value) <= self._length + _NOTE:
                return value
            self.texts += 1
            return f"{value[: self._length]}… ({len(value) - self._length:,} more characters)"
        if isinstance(value, list | tuple):
            self.left_out += max(0, len(value) - (self._members or len(value)))
            return [self.cut(item) for item in value[: self._members]]
        if isinstance(value, dict):
            self.left_out += max(0, len(value) - (self._members or len(value)))
            return {name: self.cut(item) for name, item in list(value.items())[: self._members]}
        return value


def _size(value: Any) -> int:
    """The bytes of a value in JSON."""
    try:
        return len(orjson.dumps(value))
    except TypeError:  # an integer of more than 64 bits, half a surrogate pair
        return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="replace"))
