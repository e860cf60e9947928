"""JSON text as a document that may be hostile.

Rules kept here:
- the text is bounded: its length, its depth, how many values it holds;
- a key given twice, `null`, `NaN`, a number that JavaScript would read as another one, and text that is not Unicode
  are refused: two readers could take them for two documents.
"""

from __future__ import annotations

import math
from typing import Any

from cortex_skills.proofs.signing.errors import MalformedError
from cortex_skills.strict_json import read_json

MAX_CHARACTERS = 256 << 10
MAX_DEPTH = 24
MAX_VALUES = 4000
_EXACT = 2**53 - 1  # the largest integer that a JavaScript reader keeps (RFC 8259, §6)


def read_document(text: str | bytes) -> dict[str, Any]:
    """A JSON object.

    Args:
        text: the JSON; bytes are UTF-8.

    Raises:
        MalformedError: it is none, or breaks one of the rules.

    """
    if len(text) > MAX_CHARACTERS * (1 if isinstance(text, str) else 4):
        raise MalformedError(f"the document has more than {MAX_CHARACTERS} characters")
    try:
        document = read_json(text)
    except ValueError as error:
        raise MalformedError(f"the document is no JSON: {str(error)[:200]}") from None
    check_document(document)
    assert isinstance(document, dict)  # noqa: S101 - just checked
    return document


def check_document(document: Any) -> None:
    """Check what was read elsewhere against the rules of this file.

    Raises:
        MalformedError: it breaks one of them.

    """
    if not isinstance(document, dict):
        raise MalformedError("the document is no JSON object")
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
            raise MalformedError(f"the document holds more than {MAX_VALUES} values")
        if not below:
            return
        level = below
    raise MalformedError(f"the document is nested more than {MAX_DEPTH} levels deep")


def _check_value(value: Any) -> None:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise MalformedError("the document holds a lone surrogate, which is no Unicode text") from None
    elif isinstance(value, int):
        if not -_EXACT <= value <= _EXACT:
            raise MalformedError("the document holds an integer that not every reader keeps: write it as text")
    elif not isinstance(value, float) or not math.isfinite(value):
        raise MalformedError(f"the document holds {'null' if value is None else type(value).__name__}")
