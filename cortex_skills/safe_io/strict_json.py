"""Strict JSON (RFC 8259), the only JSON reader for data from outside.

Rules kept here:
- an object has each key once, unless the caller allows repetition, so that all readers get the same document;
- `NaN` and `Infinity` are not JSON, and a number that is too large for a double (RFC 8259 §6) would be read as one;
- bytes are UTF-8 without a byte order mark; a border that must ignore one (RFC 8259 §8.1) uses `without_mark` first;
- every fault is a `ValueError`, also nesting that is too deep.
"""

from __future__ import annotations

import json
import math
from codecs import BOM_UTF8
from functools import cache
from typing import Any, NoReturn


def read_json(
    data: bytes | str,
    *,
    max_size: int | None = None,
    max_depth: int | None = None,
    floats: bool = True,
    repeated_keys: bool = False,
) -> Any:
    """Parse a JSON text.

    Args:
        data: the text, or its UTF-8 bytes.
        max_size: the maximum length of `data`, in bytes or characters.
        max_depth: the maximum number of nested arrays and objects; without it Python's recursion limit applies.
        floats: whether numbers with a fraction or an exponent are allowed.
        repeated_keys: whether an object may repeat a key; the last value counts.

    Raises:
        ValueError: the text is not JSON, or breaks a rule of this module.
    """
    if max_size is not None and len(data) > max_size:
        raise ValueError(f"it is longer than {max_size:,}")
    text = data if isinstance(data, str) else data.decode("utf-8")
    if text.startswith("\ufeff"):
        raise ValueError("it begins with a byte order mark")
    try:
        value = _decoder(floats, repeated_keys).decode(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if max_depth is not None and _is_deeper(value, max_depth):
        raise ValueError(f"it is nested more than {max_depth} levels deep")
    return value


@cache
def _decoder(floats: bool, repeated_keys: bool) -> json.JSONDecoder:
    return json.JSONDecoder(
        parse_float=_float if floats else _no_float,
        parse_constant=_no_constant,
        object_pairs_hook=None if repeated_keys else _unique,
    )


def without_mark(data: bytes) -> bytes:
    """A message without the byte order mark that some programs write before it."""
    return data.removeprefix(BOM_UTF8)


def _is_deeper(value: Any, max_depth: int) -> bool:
    level = [value]
    for _ in range(max_depth + 1):
        level = [item for item in level if isinstance(item, dict | list)]
        if not level:
            return False
        level = [inner for item in level for inner in (item.values() if isinstance(item, dict) else item)]
    return True


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("a key is given twice")
    return document


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:40]} is too large")
    return number


def _no_float(text: str) -> NoReturn:
    raise ValueError(f"{text[:40]} is not a whole number")


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")
