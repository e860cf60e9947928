"""The triples that went through this process lately: by their lines as they are read, and by their ids as quads.

Rules kept here:
- a line tells all of a quad, so that what it reads as never changes: nothing here can be out of date;
- so many are remembered, none of them long; those that were not asked for again go first, all of a half at once;
- what is handed out is the caller's own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

from pyoxigraph import Quad, RdfFormat, parse

from cortex_graph.store import Triple

HALF = 4096  # triples in one half of the memory
_LONG = 1024  # bytes of a line; longer ones are not remembered
_SHA_256 = hashlib.sha256()  # to be copied: that takes half the time of making one

Row = dict[str, Any]


def hash_of(line: bytes) -> str:
    """The id of the quad that `str` gives this line for; see `index.py`."""
    digest = _SHA_256.copy()
    digest.update(line + b" .\n")
    return digest.hexdigest()


class Recent:
    """The recent triples of one graph. Safe to use from several threads: at worst something is remembered twice."""

    def __init__(self) -> None:
        self._rows: dict[bytes, Row | None] = {}
        self._ids: dict[str, bytes] = {}
        self._older: tuple[dict[bytes, Row | None], dict[str, bytes]] = {}, {}

    def __len__(self) -> int:
        return len(self._rows) + len(self._older[0])

    def identify(self, line: bytes) -> str:
        """The id of the quad that `str` gives this line for; it is remembered."""
        triple_id = hash_of(line)
        if line not in self._rows:
            self._remember(line, triple_id, None)
        return triple_id

    def quad(self, triple_id: str) -> Quad | None:
        """The quad of an id, if it is remembered."""
        line = self._ids.get(triple_id) or self._older[1].get(triple_id)
        return None if line is None else next(parse(line + b" .", RdfFormat.N_QUADS))

    def rows(self, triples: Iterable[Triple], lines: Iterable[bytes], read: Callable[[str, Triple], Row]) -> list[Row]:
        """Triples as they are read, each with its line; `read` makes those of an id and its terms that are new here."""
        rows, older = self._rows, self._older[0]
        found = []
        for triple, line in zip(triples, lines, strict=True):
            row = rows.get(line)
            if row is None:
                row = older.get(line)
                triple_id = hash_of(line) if row is None else row["id"]
                row = read(triple_id, triple) if row is None else row
                self._remember(line, triple_id, row)
                rows, older = self._rows, self._older[0]
            found.append(_copy(row))
        return found

    def _remember(self, line: bytes, triple_id: str, row: Row | None) -> None:
        if len(line) > _LONG:
            return
        if len(self._rows) >= HALF:
            self._older = self._rows, self._ids
            self._rows, self._ids = {}, {}
        self._rows[line] = row
        self._ids[triple_id] = line


def _copy(row: Row) -> Row:
    row = row.copy()
    if type(object_ := row["object"]) is dict:
        row["object"] = object_.copy()
    return row
