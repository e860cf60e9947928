"""What a writer does with the end of a journal that does not fit its head.

Rules kept here:
- a head is believed only where the record that it names is; otherwise the last record is the end of the chain, and a
  record reports what the head stated;
- whole lines that continue the chain behind the head are kept: their writer was killed before it wrote the head;
- bytes without a line end behind them are the torn line of a crash: they are removed, and their beginning is kept in
  the record of the repair;
- other bytes, and a file that was cut while it was open, were changed by others: nothing is removed, and the chain
  continues, so that `audit verify` names them.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from cortex_skills.audit.bounded import bounded_text
from cortex_skills.audit.journal_files import MAX_LINE, day_files, lines_backwards, lines_in
from cortex_skills.audit.journal_head import JournalHead
from cortex_skills.audit.lines import ChainedLine, read_line

_MOST = 64 << 20  # bytes behind a head that are read
_USUAL = 1 << 14  # bytes in which the last record mostly is


def record_before(fd: int, end: int) -> ChainedLine | None:
    """The record whose line ends at a place of a file, as it states itself; None if there is none."""
    for most in (_USUAL, MAX_LINE):
        size = min(most, end)
        piece = _read(fd, end - size, size)
        begin = piece.rfind(b"\n", 0, -1) + 1
        if begin or size == end:
            return read_line(piece[begin:])
    return None


def continues(path: Path, head: JournalHead) -> bool:
    """Whether the first record of a file follows the last one of a head."""
    line = next(lines_in(path), b"")
    found = read_line(line)
    return found is not None and (found.seq, found.prev_hash) == (head.seq + 1, head.hash) and found.is_whole


def last_head(folder: Path, today: str) -> JournalHead | None:
    """The end of a journal by its records alone; None if it has no file.

    A record that does not follow the one before it is not the end: it was put there.

    Args:
        folder: of the journal.
        today: files of later days without a record are not of the journal.

    Raises:
        OSError: the files cannot be read.
    """
    files = day_files(folder)
    for path in reversed(files):
        if (found := _last_record(path)) is not None:
            record, end = found
            last = max(each.stem for each in files if each.stem <= max(today, path.stem))
            return JournalHead(last, end if path.stem == last else 0, record.seq, record.hash)
    known = [each.stem for each in files if each.stem <= today]
    return JournalHead(known[-1]) if known else None


def _last_record(path: Path) -> tuple[ChainedLine, int] | None:
    """The last record of a file, and where its line ends."""
    size = path.stat().st_size
    end = size - _torn(path, size)
    last: tuple[ChainedLine, int] | None = None
    for line in lines_backwards(path):
        found = read_line(line)
        if last is not None and (found is None or found.hash == last[0].prev_hash):
            break
        last = (found, end) if found is not None and found.is_whole else None
        end -= len(line)
    return last


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


def unfit(content: bytes, head: JournalHead | None, last: JournalHead | None) -> dict[str, Any] | None:
    """What is reported about a head that does not name the last record; None if nothing was written yet.

    Args:
        content: of its file.
        head: what was read from it.
        last: the end of the journal by its records.
    """
    seq = 0 if last is None else last.seq
    if not seq and not (content if head is None else head.seq):
        return None
    if head is None:
        return {"problem": "the head was damaged" if content else "the head was lost"}
    if head.seq <= seq:
        return {"problem": "the head names a record that is not here", "headSeq": head.seq, "headHash": head.hash}
    problem = f"the head names record {head.seq:,}, and the last one is {seq:,}"
    return {"problem": problem, "headSeq": head.seq, "headHash": head.hash, "missing": head.seq - seq}


def repaired(fd: int, head: JournalHead) -> tuple[JournalHead, dict[str, Any] | None]:
    """The head after the repair of the last file, and what was found; None if only a head was missing.

    Args:
        fd: the last file, open for reading and appending.
        head: as this process noted it, or as the records show it.

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
