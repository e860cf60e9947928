"""Cursors: the end of a page of a pattern, as text that a client passes back.

Rules kept here:
- a cursor is bound to its pattern, the graph included; with another pattern it is refused;
- it contains a position and a mark of the last quad that was read, and no data. A forged cursor leads to a position in
  the graph of the pattern, or to none: the graph is never taken from a cursor;
- a cursor of a server is wrapped unchanged, and bound to its pattern in the same way;
- anything else is refused as `invalid_arguments`.
"""

from __future__ import annotations

import binascii
import hashlib
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

from pyoxigraph import Quad

from cortex_graph.exceptions import InvalidArguments, invalid
from cortex_graph.store import Pattern

_LAYOUT = struct.Struct(">B8sQ8s")
_VERSION = 1
_SEAL = 8
MAX_WRAPPED = 700  # bytes of a server's cursor, so that a Cortex server accepts the wrapped one


@dataclass(frozen=True)
class Position:
    """The number of quads before the end of a page, and the mark of the last one."""

    offset: int
    mark: bytes


def mark_of(quad: Quad | bytes) -> bytes:
    """Return eight bytes that distinguish a quad, or its text (`str`) in UTF-8, from its neighbours."""
    return hashlib.sha256(quad if isinstance(quad, bytes) else str(quad).encode()).digest()[:8]


def write_cursor(pattern: Pattern, position: Position) -> str:
    """Return the cursor of a position in a pattern."""
    packed = _LAYOUT.pack(_VERSION, _digest(pattern), position.offset, position.mark)
    return urlsafe_b64encode(packed).rstrip(b"=").decode()


def read_cursor(pattern: Pattern, cursor: str) -> Position:
    """Return the position of a cursor; raises `InvalidArguments` for one that is malformed or of another pattern."""
    try:
        version, digest, offset, mark = _LAYOUT.unpack(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, TypeError, binascii.Error, struct.error):
        raise _refused("is malformed") from None
    if version != _VERSION or not 0 < offset < 2**63:
        raise _refused("is malformed")
    if digest != _digest(pattern):
        raise _refused("belongs to another query")
    return Position(offset, mark)


def wrap_cursor(pattern: Pattern, foreign: str) -> str:
    """Wrap a cursor of a server."""
    text = foreign.encode()
    return urlsafe_b64encode(_digest(pattern, text) + text).rstrip(b"=").decode()


def unwrap_cursor(pattern: Pattern, cursor: str) -> str:
    """Return the cursor of the server; raises `InvalidArguments` for one that is malformed or of another pattern."""
    try:
        packed = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        foreign = packed[_SEAL:].decode("ascii")
    except (ValueError, TypeError, binascii.Error):
        raise foreign_cursor() from None
    if len(packed) <= _SEAL or wrap_cursor(pattern, foreign) != cursor:
        raise foreign_cursor()
    return foreign


def foreign_cursor() -> InvalidArguments:
    """Return the error for an invalid wrapped cursor."""
    return _refused("is malformed, or belongs to another query")


def _refused(problem: str) -> InvalidArguments:
    return invalid("cursor", problem, hint="pass the `nextCursor` of the same query, or none to start over")


def _digest(pattern: Pattern, foreign: bytes = b"") -> bytes:
    # N-Triples terms contain no line break, so the text is different for every pattern.
    text = "\n".join(map(str, (pattern.graph, pattern.subject, pattern.predicate, pattern.object_)))
    return hashlib.sha256(text.encode() + (b"\n" + foreign if foreign else b"")).digest()[:_SEAL]
