"""How long a triple may be: so long that every format brings back what was written.

Rules kept here:
- what comes into a namespace has at most `MOST_BYTES` as a line. A term of 8 MiB is more than Oxigraph's parser of
  JSON-LD takes, and one of 16 MiB more than any of its parsers: it could be exported and backed up, but never imported,
  copied or restored;
- what is there already is read and exported whatever its length.
"""

from __future__ import annotations

import mmap

from pyoxigraph import Quad

from cortex_graph.errors import InvalidArguments, invalid

MOST_BYTES = 7 << 20
_MOST_A_CHARACTER = 4  # bytes, in UTF-8


def checked(quad: Quad) -> Quad:
    """A quad that is to be written.

    Raises:
        InvalidArguments: it is too long.

    """
    line = str(quad)
    if len(line) > MOST_BYTES // _MOST_A_CHARACTER and len(line.encode()) > MOST_BYTES:
        raise too_long("triple", "has")
    return quad


def too_long(field: str, verb: str) -> InvalidArguments:
    """The error for an argument that is, or holds, a triple that is too long."""
    problem = f"{verb} more than {MOST_BYTES >> 20} MiB, as a line of N-Quads"
    return invalid(field, problem, hint="keep it in parts, or elsewhere, and say here where it is")


def long_line(content: bytes | mmap.mmap) -> int | None:
    """Where the first line begins that has more than `MOST_BYTES`; None when there is none.

    It looks at the end of each stretch of so many bytes alone, however long the content is.
    """
    at = 0
    while len(content) - at > MOST_BYTES:
        end = content.rfind(b"\n", at, at + MOST_BYTES + 1)
        if end < 0:
            return at
        at = end + 1
    return None
