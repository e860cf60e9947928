"""JSON at the border between host and guest.

Rules kept here:
- values of the host must be JSON values; nothing is converted silently, such as a dataclass or a date. NaN and
  infinities become `null`, as `JSON.stringify` does;
- values of the guest are plain values: a key named `__proto__` is refused, nesting and size are limited, and a lone
  surrogate becomes U+FFFD;
- integers beyond 64 bits are passed as they are; the guest reads every number as a double.
"""

from __future__ import annotations

import json
from typing import Any

import orjson

from cortex_sandbox.errors import SandboxError

_STRICT = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS

# The size of an empty list and dictionary in Python: the two bytes of `[]` grow forty times.
_LIST_BYTES, _DICT_BYTES = 72, 240
_GROWTH = 16
# Instead of positions: the whole list, unchanged.
_WHOLE = [-1]


def to_json(value: Any) -> bytes:
    """A value of the host as JSON, for the guest.

    Raises:
        TypeError: it contains a value that is not a JSON value.
        ValueError: it is nested too deeply, or contains itself.
    """
    try:
        return orjson.dumps(value, option=_STRICT)
    except orjson.JSONEncodeError:
        pass  # an integer beyond 64 bits or a lone surrogate, which the standard library supports; or not a JSON value
    try:
        text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except RecursionError:
        raise ValueError("the value is nested too deeply") from None
    return text.encode()


def from_json(text: bytes, transfer_bytes: int = 1 << 20) -> Any:
    """A value of the guest.

    Args:
        text: the JSON.
        transfer_bytes: the size limit of the text; the values may take `_GROWTH` times as much.

    Raises:
        SandboxError: it is nested too deeply, is not JSON, has a key named `__proto__`, or would take too much memory.
    """
    if text.count(b"{") * _DICT_BYTES + text.count(b"[") * _LIST_BYTES > transfer_bytes * _GROWTH:
        raise SandboxError("the value has too many objects and arrays", "RangeError")
    if b'"__proto__":' in text:
        raise SandboxError('a key named "__proto__" is not allowed in a value for the host', "TypeError")
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if b"\\ud" not in text and b"\\uD" not in text:
            raise SandboxError(f"the value is not JSON, or is nested too deeply: {error}", "TypeError") from None
    try:  # lone surrogates, which QuickJS escapes and orjson refuses
        escaped = json.dumps(json.loads(text), ensure_ascii=False)
        return json.loads(escaped.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    except (ValueError, RecursionError) as error:
        raise SandboxError(f"the value is not JSON, or is nested too deeply: {error}", "TypeError") from None


def with_own(answer: Any, given: Any, shared: str) -> Any:
    """The answer, with the host's objects instead of their positions.

    Raises:
        SandboxError: when a position does not exist.
    """
    own = given.get(shared) if isinstance(given, dict) else None
    places = answer.get(shared) if isinstance(answer, dict) else None
    if not isinstance(own, list) or not isinstance(places, list):
        return answer
    if places == _WHOLE:
        return {**answer, shared: list(own)}
    items = []
    for place in places:
        if isinstance(place, list) and len(place) == 1:
            items.append(place[0])
        elif type(place) is int and 0 <= place < len(own):
            items.append(own[place])
        else:
            raise SandboxError(f"the list {shared!r} of the answer is malformed", "TypeError")
    return {**answer, shared: items}
