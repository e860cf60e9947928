"""Reads which subjects of which graphs were written to since a position (`change_log.py`).

Rules kept here:
- a position is the generation of the log and the number of a change; no other text is one;
- when it is not known what was written, everything may have been: that is the answer, never a part.
"""

from __future__ import annotations

import os
import threading
import uuid
from collections import deque
from collections.abc import Iterable
from pathlib import Path

from cortex_graph.exceptions import GraphCorrupt
from cortex_graph.store import Changes
from cortex_graph.stores.change_counter import read_record
from cortex_graph.stores.change_log import NAME, Entry, Touched, parse_lines, parse_log

_IN_MEMORY = 20_000  # transactions


class ChangeReader:
    """Reads the file of a store that this or another process writes. Safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._inode = 0
        self._offset = 0
        self._generation = ""
        self._entries: list[Entry] = []

    def since(self, position: str) -> Changes:
        """See `Following.changes_since`."""
        with self._lock:
            return self._since(position)

    def _since(self, position: str) -> Changes:
        answered = self._answered()  # before the lines: of later ones nothing can be read yet
        try:
            self._read()
        except (OSError, ValueError, IndexError, TypeError):
            self._inode, self._generation, self._entries = 0, "", []
            now = f"?{answered}"  # without lines nothing changes, or an earlier version writes
            return Changes(now, {} if now == position else None)
        generation, _, number = position.partition(":")
        now = f"{self._generation}:{answered}"
        if now == position:
            return Changes(now, {})
        if generation != self._generation or not number.isdecimal() or int(number) > answered:
            return Changes(now, None)
        return Changes(now, _between(self._entries, int(number), answered))

    def _answered(self) -> int:
        try:
            record = read_record(self._folder)
        except GraphCorrupt:
            return 0
        return 0 if record is None else record.changes

    def _read(self) -> None:
        """Read the lines that were written since the last time."""
        with (self._folder / NAME).open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_ino == self._inode and status.st_size >= self._offset:
                file.seek(self._offset)
                rest = file.read()
                whole = rest.rfind(b"\n") + 1
                self._entries += parse_lines(rest[:whole].splitlines())
                self._offset += whole
                return
            data = file.read()
        data = data[: data.rfind(b"\n") + 1]
        self._generation, self._entries = parse_log(data)
        self._inode, self._offset = status.st_ino, len(data)


def _between(entries: Iterable[Entry], after: int, until: int) -> dict[str, frozenset[str] | None] | None:
    """Return what the changes after one number, up to another, wrote to; None if that is not known."""
    found: dict[str, set[str] | None] = {}
    covered = after
    for first, last, graphs in entries:
        if last <= after or first > until:
            continue
        if first > covered + 1 or graphs is None:
            return None
        covered = max(covered, last)
        _merge(found, graphs)
    if covered < until:
        return None
    return {graph: None if subjects is None else frozenset(subjects) for graph, subjects in found.items()}


def _merge(found: dict[str, set[str] | None], graphs: Touched) -> None:
    for graph, subjects in graphs.items():
        known = found.setdefault(graph, set())
        if subjects is None:
            found[graph] = None
        elif known is not None:
            known.update(subjects)


class ChangesInMemory:
    """The same for a store in memory."""

    def __init__(self) -> None:
        self._generation = uuid.uuid4().hex
        self._entries: deque[Entry] = deque(maxlen=_IN_MEMORY)
        self._count = 0

    def wrote(self, touched: Touched | None) -> None:
        """Note a change; called when it is made, before it is answered."""
        self._entries.append((self._count + 1, self._count + 1, touched))
        self._count += 1

    def since(self, position: str) -> Changes:
        """See `Following.changes_since`."""
        count = self._count
        generation, _, number = position.partition(":")
        now = f"{self._generation}:{count}"
        if generation != self._generation:
            return Changes(now, None)
        return Changes(now, {} if now == position else _between(list(self._entries), int(number), count))
