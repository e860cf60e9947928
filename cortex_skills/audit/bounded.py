"""What a record holds of inputs, outputs and data: redacted (`safe_io.redaction`), and of limited size.

Rules kept here:
- facts are what this program states: ids, digests, versions, names of states. They are cut, and never redacted;
- a value is cut before it is redacted, and redacted before it is written: at most `MAX_PARTS` members and items at all
  depths, and about `MAX_CHARACTERS` characters; what is left out is `...`;
- the time is limited by these numbers, not by the size of the value;
- what is not JSON becomes its type in angle brackets, and a number that JSON does not have a text.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cortex_skills.safe_io.redaction import MAX_DEPTH, redacted, redacted_text
from cortex_skills.safe_io.secret_shapes import MASK

Fact = str | int | bool | None | Sequence[str] | Mapping[str, Sequence[str]]
Facts = Mapping[str, Fact]
"""What the program states about an event, by name."""

MAX_PARTS = 100
MAX_CHARACTERS = 4_000
MAX_OUTPUT = 200  # characters of the text of a result
LEFT_OUT = "..."

_MAX_NAME = 100
_MAX_INTEGER = 1 << 63


def bounded(value: object) -> Any:
    """A value as redacted JSON of at most about 10 KB."""
    return redacted(_Cut().of(value, 0))


def bounded_facts(facts: Facts) -> dict[str, Any]:
    """Facts of limited size, as they are."""
    return {name: _Cut().of(value, 0) for name, value in facts.items()}


def bounded_output(output: object, hidden: Iterable[str] = ()) -> Any:
    """A result: the beginning of its text, or an object with the beginning of each of its texts."""
    masked = tuple(hidden)
    return bounded_text(output, masked) if isinstance(output, str) else redacted(_CutOutput(masked).of(output, 0))


def bounded_text(text: str, hidden: Iterable[str] = ()) -> str:
    """The beginning of a text, redacted, without hidden ones."""
    return redacted_text(_beginning(text, hidden))


def _beginning(text: str, hidden: Iterable[str]) -> str:
    """The beginning of a text without hidden ones: whole words, as half a secret may not look like one."""
    text = text[:MAX_CHARACTERS]
    for secret in hidden:
        text = text.replace(secret, MASK)
    if len(text) > MAX_OUTPUT:
        text = f"{text[:MAX_OUTPUT].rpartition(' ')[0]}{LEFT_OUT}"
    return text


class _Cut:
    """Copies JSON until the limits are reached."""

    def __init__(self) -> None:
        self._parts = MAX_PARTS
        self._characters = MAX_CHARACTERS

    def of(self, value: object, depth: int) -> Any:
        """The copy of a value."""
        self._parts -= 1
        if isinstance(value, str):
            return self._text(value)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return value if -_MAX_INTEGER <= value < _MAX_INTEGER else "<int>"
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        if isinstance(value, dict) and depth < MAX_DEPTH:
            return self._members(value, depth)
        if isinstance(value, list | tuple) and depth < MAX_DEPTH:
            return self._items(value, depth)
        return LEFT_OUT if isinstance(value, dict | list | tuple) else f"<{type(value).__name__}>"

    def _members(self, value: dict[Any, Any], depth: int) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for name, member in value.items():
            if self._parts <= 0:
                kept[LEFT_OUT] = f"{len(value) - len(kept)} more"
                break
            known = name if isinstance(name, str) else f"<{type(name).__name__}>"
            kept[known if len(known) <= _MAX_NAME else self._text(known)] = self.of(member, depth + 1)
        return kept

    def _items(self, value: list[Any] | tuple[Any, ...], depth: int) -> list[Any]:
        kept: list[Any] = []
        for item in value:
            if self._parts <= 0:
                kept.append(f"{LEFT_OUT} {len(value) - len(kept)} more")
                break
            kept.append(self.of(item, depth + 1))
        return kept

    def _text(self, text: str) -> str:
        """A text, cut where `redacted_text` cuts it too, so that a secret is not split before it is found."""
        if self._characters <= 0:
            return LEFT_OUT
        self._characters -= min(len(text), MAX_CHARACTERS)
        return text


class _CutOutput(_Cut):
    """Copies outputs: of each text the beginning."""

    def __init__(self, hidden: tuple[str, ...]) -> None:
        super().__init__()
        self._hidden = hidden

    def _text(self, text: str) -> str:
        return _beginning(super()._text(text), self._hidden)
