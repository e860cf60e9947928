"""The messages of esbuild's service: bytes ↔ plain values.

Rules kept here:
- pure functions: no engine, no file;
- the output comes from a guest: lengths are checked, nesting is limited, and anything malformed is a `ValueError`.

The protocol is that of esbuild's own clients (`lib/shared/stdio_protocol.ts`, `cmd/esbuild/stdio_protocol.go`). The
service first writes its version: four bytes of length, then text. A packet is four bytes of length, four bytes of id
and a value; the first byte of a value is its type: 0 null, 1 boolean, 2 number, 3 text, 4 bytes, 5 list, 6 object.
Integers are little-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

_U32 = struct.Struct("<I")
_NULL, _BOOLEAN, _NUMBER, _TEXT, _BYTES, _LIST, _OBJECT = range(7)
_ID_BYTES = 4
_MAX_DEPTH = 16

OPTIONS = (
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
FOR_NODE = (*OPTIONS, "--platform=node")
"""The modules of Node.js are imported by the bundle, with `node:` and without."""


def build_request(
    entry: str, packages: Mapping[str, str] = MappingProxyType({}), folder: str = "/", options: Sequence[str] = OPTIONS
) -> bytes:
    """The packet that requests a bundle.

    Args:
        entry: the entry file, by its POSIX path relative to the folder.
        packages: files that are imported by the name of a package, by that name.
        folder: the absolute path of the folder that holds the files.
        options: of the command line of esbuild.
    """
    value = _encoded(
        {
            "command": "build",
            "key": 0,
            "entries": [["", f"./{entry}"]],
            "flags": [*options, *(f"--alias:{name}=./{path}" for name, path in packages.items())],
            "write": False,
            "stdinContents": None,
            "stdinResolveDir": None,
            "absWorkingDir": folder,
            "nodePaths": [],
            "context": False,
        }
    )
    return _U32.pack(len(value) + _ID_BYTES) + bytes(_ID_BYTES) + value


def decode_output(output: bytes) -> dict[str, Any]:
    """The response in the complete output of a service that received one request.

    Raises:
        ValueError: when the output is malformed.
    """
    try:
        _version, at = _piece(output, 0)
        packet, end = _piece(output, at)
        value, packet_end = _decoded(packet, _ID_BYTES, _MAX_DEPTH)
    except (IndexError, struct.error):
        raise ValueError("the output is truncated") from None
    if (end, packet_end) != (len(output), len(packet)) or not isinstance(value, dict):
        raise ValueError("the output is not one response")
    return value


def version_end(output: bytes | bytearray) -> int | None:
    """Where the version ends in the output of a service that has answered one request; None as long as it has not."""
    try:
        _version, start = _piece(output, 0)
        _piece(output, start)
    except (ValueError, struct.error):
        return None
    return start


def _encoded(value: Any) -> bytes:
    if value is None:
        return bytes([_NULL])
    if isinstance(value, bool):
        return bytes([_BOOLEAN, value])
    if isinstance(value, int):
        return bytes([_NUMBER]) + _U32.pack(value)
    if isinstance(value, str):
        return bytes([_TEXT]) + _sized(value)
    if isinstance(value, list):
        return bytes([_LIST]) + _U32.pack(len(value)) + b"".join(map(_encoded, value))
    items = (_sized(name) + _encoded(item) for name, item in value.items())
    return bytes([_OBJECT]) + _U32.pack(len(value)) + b"".join(items)


def _sized(text: str) -> bytes:
    raw = text.encode("utf-8", "replace")
    return _U32.pack(len(raw)) + raw


def _decoded(data: bytes, at: int, depth: int) -> tuple[Any, int]:
    """The value at a position, and the position after it."""
    if not depth:
        raise ValueError("the output is nested too deeply")
    kind, at = data[at], at + 1
    if kind == _NULL:
        return None, at
    if kind == _BOOLEAN:
        return data[at] != 0, at + 1
    if kind == _NUMBER:
        return _U32.unpack_from(data, at)[0], at + 4
    if kind in (_TEXT, _BYTES):
        raw, at = _piece(data, at)
        return raw.decode("utf-8", "replace") if kind == _TEXT else raw, at
    if kind not in (_LIST, _OBJECT):
        raise ValueError("the output has a value of an unknown type")
    (count,), at = _U32.unpack_from(data, at), at + 4
    if kind == _LIST:
        items = []
        for _ in range(count):
            item, at = _decoded(data, at, depth - 1)
            items.append(item)
        return items, at
    members = {}
    for _ in range(count):
        name, at = _piece(data, at)
        members[name.decode("utf-8", "replace")], at = _decoded(data, at, depth - 1)
    return members, at


def _piece(data: bytes | bytearray, at: int) -> tuple[bytes, int]:
    """Bytes that are preceded by their length, and the position after them."""
    (size,) = _U32.unpack_from(data, at)
    end = at + 4 + size
    if end > len(data):
        raise ValueError("the output is truncated")
    return bytes(data[at + 4 : end]), end
