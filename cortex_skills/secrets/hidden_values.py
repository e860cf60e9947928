"""Replaces the values of secrets in everything that leaves this process.

    HIDDEN.add("hunter2-hunter2")
    without_secrets({"answer": "the key is hunter2-hunter2"})  # {'answer': 'the key is [secret]'}

Rules kept here:
- a value that this process has read is hidden until the process ends: in answers, errors, log lines, audit records;
- values of `SHORTEST` characters and more are found anywhere: as they are, as a JSON string, in Base64 (both alphabets,
  at each of the three offsets), in hexadecimal and in URL encoding; its lines and, in JSON, its texts too. Shorter
  ones are found as whole words only, for they occur in other texts;
- texts and the names of members are searched, at every depth.

>>> hidden = HiddenValues()
>>> hidden.add("correct horse")
>>> hidden.cleaned({"a": ["correct%20horse", 7], "b": "Y29ycmVjdCBob3JzZQ=="})
{'a': ['[secret]', 7], 'b': '[secret]Q=='}
"""

from __future__ import annotations

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from threading import Lock
from typing import Any
from urllib.parse import quote, quote_plus

MASK = "[secret]"
SHORTEST = 8
_SHORTEST_LINE = 16


class HiddenValues:
    """The values that are hidden. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._values: frozenset[str] = frozenset()
        self._pattern: re.Pattern[str] | None = None

    def __bool__(self) -> bool:
        """Whether any value is hidden."""
        return self._pattern is not None

    def add(self, value: str) -> None:
        """Hide a value from now on; an empty one is ignored."""
        if not value or value in self._values:
            return
        with self._lock:
            self._values |= {value, *_texts_in(value)}
            forms = {form for each in self._values for form in _forms(each)}
            self._pattern = re.compile("|".join(sorted(forms, key=lambda form: (-len(form), form))))

    def text(self, text: str) -> str:
        """A text without the values."""
        return text if self._pattern is None else self._pattern.sub(MASK, text)

    def cleaned(self, value: Any) -> Any:
        """A JSON value without the values."""
        return value if self._pattern is None else self._cleaned(value)

    def _cleaned(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self._cleaned(name): self._cleaned(member) for name, member in value.items()}
        if isinstance(value, list | tuple):
            return [self._cleaned(item) for item in value]
        return value


def _texts_in(value: str) -> Iterator[str]:
    """The texts in a value that is JSON, such as a key with its description."""
    try:
        pending: list[Any] = [json.loads(value)]
    except (ValueError, RecursionError):
        return
    while pending:
        item = pending.pop()
        if isinstance(item, str) and len(item) >= SHORTEST:
            yield item
        elif isinstance(item, dict | list):
            pending += item.values() if isinstance(item, dict) else item


def _forms(value: str) -> Iterator[str]:
    """Patterns of the forms of a value."""
    if len(value) < SHORTEST:
        yield rf"(?<!\w){re.escape(value)}(?!\w)"
        return
    data = value.encode("utf-8", "surrogatepass")
    yield re.escape(value)
    yield from (re.escape(json.dumps(value, ensure_ascii=is_ascii)[1:-1]) for is_ascii in (True, False))
    yield from (re.escape(line) for line in map(str.strip, value.splitlines()) if len(line) >= _SHORTEST_LINE)
    yield f"(?i:{data.hex()})"
    for encoded in (quote(data, safe=""), quote(data), quote_plus(data)):
        yield re.sub("%[0-9A-F]{2}", lambda found: f"(?i:{found[0]})", re.escape(encoded).replace(r"\%", "%"))
    for offset in range(3):
        for encode in (b64encode, urlsafe_b64encode):
            encoded = encode(b"\0" * offset + data).decode()
            yield re.escape(encoded[offset + (offset > 0) : (offset + len(data)) * 8 // 6])


HIDDEN = HiddenValues()  # of this process


def without_secrets(value: Any) -> Any:
    """A JSON value without the secrets that this process has read."""
    return HIDDEN.cleaned(value)
