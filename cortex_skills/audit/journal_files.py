"""The files of a journal: `YYYY-MM-DD.ndjson`, one for each day.

Rules kept here:
- other files in the folder are not the journal's;
- files are read in pieces of limited size; a line that is longer than `MAX_LINE` is none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from cortex_skills.audit.lines import ChainedLine, read_line

MAX_LINE = 1 << 20

_PIECE = 1 << 16
_NAME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\.ndjson")


@dataclass(frozen=True, slots=True)
class CutFile:
    """What a file held that was deleted."""

    name: str
    size: int
    digest: str
    first: int
    last: int
    hash: str

    def to_json(self) -> dict[str, Any]:
        """As a record of the cut has it."""
        return {
            "name": self.name,
            "bytes": self.size,
            "sha256": self.digest,
            "first": self.first,
            "last": self.last,
            "lastHash": self.hash,
        }


@lru_cache(maxsize=8)
def day_name(day: int) -> str:
    """The date of a day in UTC; days are numbered from the epoch."""
    return (date(1970, 1, 1) + timedelta(days=day)).isoformat()


def day_files(folder: Path) -> list[Path]:
    """The files of a journal, the oldest first: no links, folders or pipes with such a name.

    Raises:
        OSError: the folder cannot be read; a missing one has no files.
    """
    try:
        with os.scandir(folder) as entries:
            files = [each.name for each in entries if each.is_file(follow_symlinks=False)]
    except FileNotFoundError:
        return []
    return [folder / name for name in sorted(files) if _NAME.fullmatch(name)]


def lines_in(path: Path, end: int | None = None) -> Iterator[bytes]:
    """The lines of a file with their line ends; the last one may have none.

    Args:
        path: the file.
        end: read this many bytes; None for all.
    """
    with path.open("rb") as file:
        left = end if end is not None else 1 << 62
        while left > 0 and (line := file.readline(min(MAX_LINE, left))):
            left -= len(line)
            yield line


def lines_backwards(path: Path, end: int | None = None) -> Iterator[bytes]:
    """The lines of a file with their line ends, the last one first; what follows the last line end is left out."""
    with path.open("rb") as file:
        place = file.seek(0, 2) if end is None else end
        parts: list[bytes] = []  # of a line whose beginning was not read yet, the last part first
        is_end = True
        while place > 0:
            size = min(_PIECE, place)
            place -= size
            file.seek(place)
            *others, last = (piece := file.read(size).split(b"\n"))
            if len(piece) == 1:
                parts.append(last)
                continue
            if not is_end:
                yield b"".join([last, *reversed(parts)]) + b"\n"
            is_end = False
            for line in reversed(others[1:]):
                yield line + b"\n"
            parts = [others[0]]
        if parts and not is_end:
            yield b"".join(reversed(parts)) + b"\n"


def about(path: Path) -> CutFile | None:
    """What a file holds; None if there is no record in it."""
    digest, size = sha256(), 0
    first: ChainedLine | None = None
    last: ChainedLine | None = None
    for line in lines_in(path):
        digest.update(line)
        size += len(line)
        if (found := read_line(line)) is not None:
            first, last = first or found, found
    if first is None or last is None:
        return None
    return CutFile(path.name, size, digest.hexdigest(), first.seq, last.seq, last.hash)
