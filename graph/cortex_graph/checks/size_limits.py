"""The maximum length of a triple, which every format can export and import.

Rules kept here:
- a triple that is written to a namespace has at most `MOST_BYTES` as a line of N-Quads. The JSON-LD parser of Oxigraph
  refuses a term of 8 MiB, and all its parsers refuse one of 16 MiB: such a triple could be exported and backed up, but
  not imported, copied or restored;
- stored triples of any length are read and exported.
"""

from __future__ import annotations

import mmap

from pyoxigraph import Quad

from cortex_graph.exceptions import InvalidArguments, invalid

MOST_BYTES = 7 << 20
_MOST_A_CHARACTER = 4  # bytes, in UTF-8


def checked(quad: Quad) -> Quad:
    """Return a quad that is to be written."""
    line = str(quad)
    if len(line) > MOST_BYTES // _MOST_A_CHARACTER and len(line.encode()) > MOST_BYTES:
        raise too_long("triple", "has")
    return quad


def too_long(field: str, verb: str) -> InvalidArguments:
    """Return the error for an argument that is, or contains, a triple that is too long."""
    problem = f"{verb} more than {MOST_BYTES >> 20} MiB, as a line of N-Quads"
    return invalid(field, problem, hint="split it, or store it elsewhere and write its address")


def long_line(content: bytes | mmap.mmap) -> int | None:
    """Return the position of the first line that is longer than `MOST_BYTES`; None when there is none."""
    at = 0
    while len(content) - at > MOST_BYTES:
        end = content.rfind(b"\n", at, at + MOST_BYTES + 1)
        if end < 0:
            return at
        at = end + 1
    return None
