"""JSON as RFC 8259 has it, read strictly.

Rules kept here:
- a key stands once in an object, so that two readers never see two documents;
- `NaN` and `Infinity` are no JSON; bytes are UTF-8, without a byte order mark;
- whatever is wrong is a `ValueError`, nesting that is too deep included.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn


def read_json(data: bytes | str) -> Any:
    """The value that a JSON text stands for.

    Raises:
        ValueError: it is no JSON, or breaks a rule of this file.

    """
    text = data if isinstance(data, str) else data.decode("utf-8")
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("a key is given twice")
    return document


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")
