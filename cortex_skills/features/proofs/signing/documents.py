"""Reading JSON documents that may be hostile.

Rules kept here:
- the length of the text, its depth and the number of its values are bounded;
- a repeated key, `null`, `NaN`, an integer that JavaScript cannot represent, and text that is not Unicode are refused:
  two readers could read two different documents.
"""

from __future__ import annotations

import math
from typing import Any

from cortex_skills.safe_io.strict_json import read_json

MAX_CHARACTERS = 256 << 10
MAX_DEPTH = 24
MAX_VALUES = 4000
_EXACT = 2**53 - 1  # the largest integer that a JavaScript reader represents exactly (RFC 8259, §6)


class MalformedError(Exception):
    """The document does not conform to its standard: its proof is refuted."""


class UnsupportedError(Exception):
    """The document uses a feature that is not supported here: its proof is not evaluated."""


def read_document(text: str | bytes) -> dict[str, Any]:
    """Read a JSON object; bytes are UTF-8.

    Raises:
        MalformedError: the text is not a JSON object, or breaks a rule of this file.
    """
    if len(text) > MAX_CHARACTERS * (1 if isinstance(text, str) else 4):
        raise MalformedError(f"the document has more than {MAX_CHARACTERS} characters")
    try:
        document = read_json(text)
    except ValueError as error:
        raise MalformedError(f"the document is not JSON: {str(error)[:200]}") from None
    check_document(document)
    assert isinstance(document, dict)  # noqa: S101 - just checked
    return document


def check_document(document: Any) -> None:
    """Check a JSON value against the rules of this file."""
    if not isinstance(document, dict):
        raise MalformedError("the document is not a JSON object")
    level: list[Any] = [document]
    seen = 0
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                below += [*value, *value.values()]
            elif isinstance(value, list):
                below += value
            else:
                _check_value(value)
        seen += len(below)
        if seen > MAX_VALUES:
            raise MalformedError(f"the document has more than {MAX_VALUES} values")
        if not below:
            return
        level = below
    raise MalformedError(f"the document is nested more than {MAX_DEPTH} levels deep")


def _check_value(value: Any) -> None:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise MalformedError("the document has a lone surrogate, which is not Unicode text") from None
    elif isinstance(value, int):
        if not -_EXACT <= value <= _EXACT:
            raise MalformedError("the document has an integer that not every reader represents; a text keeps it")
    elif not isinstance(value, float) or not math.isfinite(value):
        raise MalformedError(f"the document has {'null' if value is None else type(value).__name__}")
