"""What esbuild's service is asked and what it answers: packets of bytes ↔ plain values.

Rules kept here:
- pure functions: no engine, no file; the build of this package uses them too;
- an answer is data from a guest: its lengths are checked, its depth is limited, and what is not of the form agreed on
  is a `ValueError`.

The protocol is that of esbuild's own clients (`lib/shared/stdio_protocol.ts`, `cmd/esbuild/stdio_protocol.go`): after
four bytes of length and four of number, a value: 0 nothing, 1 true or false, 2 a number, 3 a text, 4 bytes, 5 a list,
6 names with values. Everything is little-endian.
"""

from __future__ import annotations

import struct
from typing import Any

_U32 = struct.Struct("<I")
_NOTHING, _BOOLEAN, _NUMBER, _TEXT, _BYTES, _LIST, _NAMES = range(7)
_MAX_DEPTH = 16
HEADER_BYTES = 8
# What the image of esbuild is prepared for: the file that a skill begins with, with all options checked.
PREPARED_KEY, PREPARED_ENTRY = 1, "skill.ts"

_OPTIONS = (
    "--bundle",
    "--external:data:*",
    "--format=esm",
    "--target=es2023",
    "--charset=ascii",
    "--sourcemap=inline",
    "--sources-content=false",
    "--tsconfig-raw={}",
    "--color=false",
    "--log-level=silent",
    "--log-limit=20",
)


def build_request(key: int, entry: str, *, prepare: bool = False) -> bytes:
    """A packet that asks for the module whose first file is `entry`, a path in the root folder.

    Args:
        key: what tells builds apart that one instance does.
        entry: a relative POSIX path.
        prepare: only check the options, for a later `prepared_request` with the same key; no file is read yet.

    """
    return _request(
        {
            "command": "build",
            "key": key,
            "entries": [["", f"./{entry}"]],
            "flags": list(_OPTIONS),
            "write": False,
            "stdinContents": None,
            "stdinResolveDir": None,
            "absWorkingDir": "/",
            "nodePaths": [],
            "context": prepare,
        }
    )


def prepared_request(key: int) -> bytes:
    """A packet that asks for what was prepared under this key."""
    return _request({"command": "rebuild", "key": key})


def _request(names: dict[str, Any]) -> bytes:
    value = _encoded(names)
    return _U32.pack(len(value) + 4) + _U32.pack(0) + value


def answer_length(head: bytes | bytearray) -> int | None:
    """How many bytes an answer has in all, by its first ones; None when they are too few to tell."""
    return 4 + int(_U32.unpack_from(head)[0]) if len(head) >= _U32.size else None


def decode_answer(packet: bytes) -> dict[str, Any]:
    """The value of an answer; what was prepared is answered by a request of the service's own, of the same form.

    Raises:
        ValueError: when it is not one.

    """
    try:
        value, end = _decoded(packet, HEADER_BYTES, _MAX_DEPTH)
    except (IndexError, struct.error):
        raise ValueError("the answer breaks off") from None
    if end != len(packet) or not isinstance(value, dict):
        raise ValueError("the answer is not of the form agreed on")
    return value


def _encoded(value: Any) -> bytes:
    if value is None:
        return bytes([_NOTHING])
    if isinstance(value, bool):
        return bytes([_BOOLEAN, value])
    if isinstance(value, int):
        return bytes([_NUMBER]) + _U32.pack(value)
    if isinstance(value, str):
        return bytes([_TEXT]) + _sized(value)
    if isinstance(value, list):
        return bytes([_LIST]) + _U32.pack(len(value)) + b"".join(map(_encoded, value))
    items = (_sized(name) + _encoded(item) for name, item in value.items())
    return bytes([_NAMES]) + _U32.pack(len(value)) + b"".join(items)


def _sized(text: str) -> bytes:
    raw = text.encode("utf-8", "replace")
    return _U32.pack(len(raw)) + raw


def _decoded(data: bytes, at: int, depth: int) -> tuple[Any, int]:
    """The value at a position, and the position after it."""
    if not depth:
        raise ValueError("the answer is nested too deeply")
    kind, at = data[at], at + 1
    if kind == _NOTHING:
        return None, at
    if kind == _BOOLEAN:
        return data[at] != 0, at + 1
    if kind == _NUMBER:
        return _U32.unpack_from(data, at)[0], at + 4
    if kind in (_TEXT, _BYTES):
        raw, at = _piece(data, at)
        return raw.decode("utf-8", "replace") if kind == _TEXT else raw, at
    if kind not in (_LIST, _NAMES):
        raise ValueError("the answer holds a value of no known kind")
    (count,), at = _U32.unpack_from(data, at), at + 4
    if kind == _LIST:
        items = []
        for _ in range(count):
            item, at = _decoded(data, at, depth - 1)
            items.append(item)
        return items, at
    named = {}
    for _ in range(count):
        name, at = _piece(data, at)
        named[name.decode("utf-8", "replace")], at = _decoded(data, at, depth - 1)
    return named, at


def _piece(data: bytes, at: int) -> tuple[bytes, int]:
    (size,) = _U32.unpack_from(data, at)
    end = at + 4 + size
    if end > len(data):
        raise ValueError("the answer breaks off")
    return data[at + 4 : end], end
