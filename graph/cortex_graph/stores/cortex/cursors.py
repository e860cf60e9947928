"""The server's cursors, carried in ours.

Rules kept here:
- what the server calls a cursor means nothing here, and goes back to it as it came;
- ours is bound to its pattern, graph included, and to the server's text: with another one, or changed, it is refused
  before anything is asked;
- the graph never comes out of a cursor: one that was made up leads to a place in the pattern's own graph, or nowhere.
"""

from __future__ import annotations

import binascii
import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode

from cortex_graph.errors import InvalidArguments, invalid
from cortex_graph.store import Pattern

_SEAL = 8
LONGEST = 700  # of a server's cursor, so that ours still is one that a server like it takes


def wrap(pattern: Pattern, foreign: str) -> str:
    """Our cursor for a server's."""
    text = foreign.encode()
    return urlsafe_b64encode(_seal(pattern, text) + text).rstrip(b"=").decode()


def unwrap(pattern: Pattern, cursor: str) -> str:
    """The server's cursor in ours.

    Raises:
        InvalidArguments: it is no cursor, or one of another pattern.

    """
    try:
        packed = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        foreign = packed[_SEAL:].decode("ascii")
    except (ValueError, TypeError, binascii.Error):
        raise refused() from None
    if len(packed) <= _SEAL or wrap(pattern, foreign) != cursor:
        raise refused()
    return foreign


def refused() -> InvalidArguments:
    """The error for a cursor that leads nowhere."""
    hint = "pass the `nextCursor` of the same query, or none to start over"
    return invalid("cursor", "is not one of ours, or belongs to another query", hint=hint)


def _seal(pattern: Pattern, foreign: bytes) -> bytes:
    # The terms' N-Triples forms hold no line break, so that no two patterns run together.
    terms = "\n".join(map(str, (pattern.graph, pattern.subject, pattern.predicate, pattern.object_)))
    return hashlib.sha256(terms.encode() + b"\n" + foreign).digest()[:_SEAL]
