"""Cursors: where a page of a pattern ended, as text that a client hands back.

Rules kept here:
- a cursor is bound to its pattern, graph included; with another one it is refused, not followed;
- it holds a position and the mark of the quad that was read last, and no data. One that was made up leads to a place
  in the pattern's own graph, or nowhere: the graph never comes out of a cursor;
- anything else is refused as `invalid_arguments`.
"""

from __future__ import annotations

import binascii
import hashlib
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

from pyoxigraph import Quad

from cortex_graph.errors import invalid
from cortex_graph.store import Pattern

_LAYOUT = struct.Struct(">B8sQ8s")
_VERSION = 1


@dataclass(frozen=True)
class Position:
    """After how many quads a page ended, and the mark of its last one."""

    offset: int
    mark: bytes


def mark_of(quad: Quad | bytes) -> bytes:
    """Eight bytes that tell a quad, or what `str` gives for it in UTF-8, from the others near it."""
    return hashlib.sha256(quad if isinstance(quad, bytes) else str(quad).encode()).digest()[:8]


def write_cursor(pattern: Pattern, position: Position) -> str:
    """The cursor for a position in a pattern."""
    packed = _LAYOUT.pack(_VERSION, _digest(pattern), position.offset, position.mark)
    return urlsafe_b64encode(packed).rstrip(b"=").decode()


def read_cursor(pattern: Pattern, cursor: str) -> Position:
    """The position that a cursor of this pattern stands for.

    Raises:
        InvalidArguments: it is no cursor, or one of another pattern.

    """
    try:
        version, digest, offset, mark = _LAYOUT.unpack(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, TypeError, binascii.Error, struct.error):
        raise _refused("is not one of ours") from None
    if version != _VERSION or not 0 < offset < 2**63:
        raise _refused("is not one of ours")
    if digest != _digest(pattern):
        raise _refused("belongs to another query")
    return Position(offset, mark)


def _refused(problem: str) -> Exception:
    return invalid("cursor", problem, hint="pass the `nextCursor` of the same query, or none to start over")


def _digest(pattern: Pattern) -> bytes:
    # The terms' N-Triples forms hold no line break, so that no two patterns run together.
    text = "\n".join(map(str, (pattern.graph, pattern.subject, pattern.predicate, pattern.object_)))
    return hashlib.sha256(text.encode()).digest()[:8]
