"""What a writer does with the end of a journal that does not fit its head.

Rules kept here:
- whole lines that continue the chain behind the head are kept: their writer was killed before it wrote the head;
- bytes without a line end behind them are the torn line of a crash: they are removed, and their beginning is kept in
  the record of the repair;
- other bytes, and a file that is shorter than its head, were changed by others: nothing is removed, and the chain
  continues from the head, so that `audit verify` names what is missing;
- without a head, the last line with its hash is the end of the chain.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from cortex_skills.audit.bounded import bounded_text
from cortex_skills.audit.journal_files import day_files, lines_backwards
from cortex_skills.audit.journal_head import JournalHead
from cortex_skills.audit.lines import read_line

_MOST = 64 << 20  # bytes behind a head that are read


def found_head(folder: Path) -> JournalHead | None:
    """The head of a journal whose file `head` is lost; None if the journal is empty.

    Raises:
        OSError: the files cannot be read.

    """
    files = day_files(folder)
    for path in reversed(files):
        behind = 0  # bytes behind the last record
        with path.open("rb") as file:
            size = file.seek(0, 2)
        for line in lines_backwards(path):
            if (found := read_line(line)) is not None and found.is_whole:
                last = files[-1]
                of_last = path == last
                end = size - behind - _torn(path, size) if of_last else 0
                return JournalHead(last.stem, end, found.seq, found.hash)
            behind += len(line)
    return JournalHead(files[-1].stem) if files else None


def _torn(path: Path, size: int) -> int:
    """How many bytes follow the last line end of a file."""
    with path.open("rb") as file:
        place, behind = size, 0
        while place > 0:
            step = min(1 << 16, place)
            place -= step
            file.seek(place)
            piece = file.read(step)
            if (found := piece.rfind(b"\n")) >= 0:
                return behind + step - found - 1
            behind += step
    return behind


def repaired(fd: int, head: JournalHead) -> tuple[JournalHead, dict[str, Any] | None]:
    """The head after the repair of the last file, and what was found; None if only a head was missing.

    Args:
        fd: the last file, open for reading and appending.
        head: as it was noted.

    Raises:
        OSError: the file cannot be repaired.

    """
    size = os.fstat(fd).st_size
    if size < head.size:
        _end_line(fd, size)
        problem = f"the file has {head.size - size:,} bytes less than its head states"
        return replace(head, size=os.fstat(fd).st_size), {"problem": problem, "bytes": head.size - size}
    rest = _read(fd, head.size, min(size - head.size, _MOST))
    while end := rest.find(b"\n") + 1:
        line = read_line(rest[:end])
        if line is None or line.seq != head.seq + 1 or line.prev_hash != head.hash or not line.is_whole:
            break
        head = replace(head, size=head.size + end, seq=line.seq, hash=line.hash)
        rest = rest[end:]
    if not rest:
        return head, None
    if b"\n" not in rest and size - head.size == len(rest):
        os.ftruncate(fd, head.size)
        beginning = bounded_text(rest.decode("ascii", "replace"))
        return head, {"problem": "the last line was torn, and removed", "bytes": len(rest), "removed": beginning}
    _end_line(fd, size)
    problem = f"{size - head.size:,} bytes behind the last record are not of this journal"
    return replace(head, size=os.fstat(fd).st_size), {"problem": problem, "bytes": size - head.size}


def _end_line(fd: int, size: int) -> None:
    if size and _read(fd, size - 1, 1) != b"\n":
        os.write(fd, b"\n")


def _read(fd: int, place: int, count: int) -> bytes:
    parts = []
    while count > 0 and (part := os.pread(fd, count, place)):
        parts.append(part)
        place += len(part)
        count -= len(part)
    return b"".join(parts)
