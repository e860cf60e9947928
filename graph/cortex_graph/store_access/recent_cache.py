"""The triples that this process used recently: rows by the line of a quad, and quads by their ids.

Rules kept here:
- a line determines its quad, so no entry is ever stale;
- the cache is bounded, and long lines are not cached; entries that were not used again are dropped first, half of the
  cache at once;
- the caller gets copies.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

from pyoxigraph import Quad, RdfFormat, parse

from cortex_graph.store import Triple

HALF = 4096  # triples in one half of the cache
_LONG = 1024  # bytes of a line; longer ones are not cached
_SHA_256 = hashlib.sha256()  # copying it takes half the time of a new one

Row = dict[str, Any]


def hash_of(line: bytes) -> str:
    """Return the id of the quad whose text (`str`) is `line`; `triple_index.py` defines ids."""
    digest = _SHA_256.copy()
    digest.update(line + b" .\n")
    return digest.hexdigest()


class RecentTriples:
    """The recent triples of one graph. Safe to use from several threads; an entry may be added twice."""

    def __init__(self) -> None:
        self._rows: dict[bytes, Row | None] = {}
        self._ids: dict[str, bytes] = {}
        self._older: tuple[dict[bytes, Row | None], dict[str, bytes]] = {}, {}

    def __len__(self) -> int:
        return len(self._rows) + len(self._older[0])

    def identify(self, line: bytes) -> str:
        """Return the id of the quad with this line, and cache it."""
        triple_id = hash_of(line)
        if line not in self._rows:
            self._add(line, triple_id, None)
        return triple_id

    def quad(self, triple_id: str) -> Quad | None:
        """Return the quad with an id, if it is cached."""
        line = self._ids.get(triple_id) or self._older[1].get(triple_id)
        return None if line is None else next(parse(line + b" .", RdfFormat.N_QUADS))

    def rows(self, triples: Iterable[Triple], lines: Iterable[bytes], read: Callable[[str, Triple], Row]) -> list[Row]:
        """Return triples as rows; `read` makes the row of an id and its terms when it is not cached."""
        rows, older = self._rows, self._older[0]
        found = []
        for triple, line in zip(triples, lines, strict=True):
            row = rows.get(line)
            if row is None:
                row = older.get(line)
                triple_id = hash_of(line) if row is None else row["id"]
                row = read(triple_id, triple) if row is None else row
                self._add(line, triple_id, row)
                rows, older = self._rows, self._older[0]
            row = row.copy()
            if type(object_ := row["object"]) is dict:
                row["object"] = object_.copy()
            found.append(row)
        return found

    def _add(self, line: bytes, triple_id: str, row: Row | None) -> None:
        if len(line) > _LONG:
            return
        if len(self._rows) >= HALF:
            self._older = self._rows, self._ids
            self._rows, self._ids = {}, {}
        self._rows[line] = row
        self._ids[triple_id] = line
