"""How many calls of a journal began in each minute, how many of them were refused, and how much was cleaned.

Rules kept here:
- the numbers are those of the records: nothing is kept beside the journal that could be lost, damaged or out of date;
- a record is counted once: a later question reads only the records that were written since the one before;
- the records are read from the last one on, until one ended before the time that is asked for; of a record the members
  are read that are counted, and the whole of one that is not as this version writes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Lock

from cortex_skills.audit.lines import HEAD, ChainedLine, entry_of

_MOST_KEPT = 2_000  # minutes
_COUNTED = re.compile(
    rb'"code":(null|"[a-z0-9_]*"),"durationMs":([0-9.e+-]+),"approvalRequired":(?:true|false),"approvedBy":.{0,400}?'
    rb',"stripped":([0-9]+)'
)
_HEAD = b'"event":"%s"' % HEAD.encode()
_TIME = slice(len('{"timestamp":"'), len('{"timestamp":"2026-01-31T12:00:00.000+00:00'))
_LATEST = datetime.max.replace(tzinfo=UTC)


@dataclass(slots=True)
class MinuteCount:
    """The calls that began in one minute."""

    total: int = 0
    refused: int = 0
    cleaned: int = 0


class MinuteCounts:
    """The counts of one namespace. Safe to use from several threads.

    Args:
        namespace: whose records; None for all.
        newest_first: reads the records of the journal, the last one first.
    """

    def __init__(self, namespace: str | None, newest_first: Callable[[], Iterator[ChainedLine]]) -> None:
        self._newest_first = newest_first
        self._of_namespace = b"" if namespace is None else b'"namespace":%s' % json.dumps(namespace).encode()
        self._lock = Lock()
        self._counts: dict[int, MinuteCount] = {}
        self._last: tuple[int, str] = (0, "")  # the number and the hash of the last record that was counted
        self._begin: datetime | None = None  # from which moment on the counts are complete

    def since(self, begin: datetime, minutes: int) -> list[MinuteCount]:
        """The counts of some minutes.

        Args:
            begin: of the first minute, with a time zone.
            minutes: how many.
        """
        first = int(begin.timestamp() // 60)
        with self._lock:
            if self._begin is None or begin < self._begin or not self._read(self._last, begin):
                self._counts, self._begin = {}, begin
                self._read((0, ""), begin)
            self._forget(first)
            return [self._counts.get(first + place) or MinuteCount() for place in range(minutes)]

    def _read(self, last: tuple[int, str], begin: datetime) -> bool:
        """Count the records behind the last one; False if that is not in the journal any more."""
        newest = last
        for line in self._newest_first():
            if line.seq <= last[0]:
                if (line.seq, line.hash) != last:
                    return False
                break
            if newest == last:
                newest = line.seq, line.hash
            if self._of_namespace in line.body and self._count(line) < begin:
                break
        else:
            if last[0]:
                return False
        self._last = newest
        return True

    def _count(self, line: ChainedLine) -> datetime:
        """Count a record; returns when it ended."""
        read = _read_of(line)
        if read is None:
            return _LATEST
        began, ended, is_refused, cleaned = read
        count = self._counts.setdefault(int(began.timestamp() // 60), MinuteCount())
        count.total += 1
        count.refused += is_refused
        count.cleaned += cleaned
        return ended

    def _forget(self, first: int) -> None:
        if len(self._counts) > _MOST_KEPT:
            self._counts = {minute: count for minute, count in self._counts.items() if minute >= first}
            self._begin = datetime.fromtimestamp(first * 60, UTC)


def ended_before(line: ChainedLine, moment: datetime) -> bool:
    """Whether a record ended before a moment: so did all records before it."""
    read = _read_of(line)
    return read is not None and read[1] < moment


def _read_of(line: ChainedLine) -> tuple[datetime, datetime, bool, int] | None:
    """When a record began and ended, whether it was refused, and how much was cleaned; None for a signed head."""
    found = _COUNTED.findall(line.body)
    if len(found) == 1 and _HEAD not in line.body:
        code, took, cleaned = found[0]
        began = datetime.fromisoformat(line.body[_TIME].decode())
        return began, began + timedelta(milliseconds=float(took)), code != b"null", int(cleaned)
    document = line.document()
    entry = None if document is None else entry_of(document)
    if entry is None or entry.event == HEAD:
        return None
    began = datetime.fromisoformat(entry.time)
    return began, began + timedelta(milliseconds=entry.milliseconds), entry.is_refused, entry.stripped
