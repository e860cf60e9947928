"""Reads a journal: pages of calls, the newest first, for the server, the explorer and the command line.

Rules kept here:
- a reader needs no lock: a line without its end is left out, and so is one that is not a record;
- an id is `HASH-NUMBER` with the first eight digits of the record's hash, so that an id of another journal is refused;
- a page searches at most `MAX_SEARCHED` bytes; its cursor leads on, also when it found nothing;
- signed heads are no calls, and are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from cortex_skills.audit.call_records import AuditRecord
from cortex_skills.audit.journal_files import day_files, lines_backwards, lines_in
from cortex_skills.audit.lines import HEAD, ChainedLine, entry_of, read_line
from cortex_skills.audit.minute_counts import MinuteCount, MinuteCounts, ended_before
from cortex_skills.audit.recent_calls import (
    CAPACITY,
    EVERY,
    MAX_PAGE,
    CallCounts,
    CallFilter,
    CallPage,
    RecentCall,
    counted,
    refused_cursor,
    refused_limit,
)

MAX_SEARCHED = 64 << 20

_ID = re.compile(r"([0-9a-f]{8})-([0-9]{1,15})")


class JournalReader:
    """The records of one namespace in the journal of a folder.

    Args:
        folder: of the journal.
        namespace: whose records; None for all.
    """

    def __init__(self, folder: Path, namespace: str | None) -> None:
        self._folder = folder
        self._namespace = namespace
        self._minutes = MinuteCounts(namespace, lambda: (line for line, _ in self._backwards(None)))

    def get(self, call_id: str) -> RecentCall | None:
        """The call with this id; None if it is not kept any more, or never was."""
        found = _ID.fullmatch(call_id)
        if found is None:
            return None
        line = self._find(int(found[2]))
        call = None if line is None or line.hash[:8] != found[1] else _call(line, self._namespace)
        return None if call is None or call[1] else call[0]

    def page(self, wanted: CallFilter = EVERY, *, limit: int = 100, cursor: str | None = None) -> CallPage:
        """The newest calls that match, or those that follow a page.

        Args:
            wanted: which calls.
            limit: how many, 1 to `MAX_PAGE`.
            cursor: `next_cursor` of the page before, with the same filter.

        Raises:
            CortexError: `invalid_arguments`: the limit is out of range, or the cursor is not one of this journal.
        """
        if not 1 <= limit <= MAX_PAGE:
            raise refused_limit()
        before = None
        if cursor is not None:
            found = _ID.fullmatch(cursor)
            line = None if found is None else self._find(int(found[2]))
            if found is None or line is None or line.hash[:8] != found[1]:
                raise refused_cursor("begin without a cursor: the record may have been deleted since")
            before = line.seq
        calls: list[RecentCall] = []
        searched, last = 0, None
        texts = _texts(wanted, self._namespace)
        for line, size in self._backwards(before):
            if searched > MAX_SEARCHED:
                return CallPage(tuple(calls), last)
            searched += size
            last = _id(line)
            if wanted.since is not None and ended_before(line, wanted.since):
                break
            if all(text in line.body for text in texts) and (call := _call(line, self._namespace)) is not None:
                if call[1] or not wanted.matches(call[0].record):
                    continue
                if len(calls) == limit:
                    return CallPage(tuple(calls), calls[-1].id)
                calls.append(call[0])
        return CallPage(tuple(calls), None)

    def by_minute(self, begin: datetime, minutes: int) -> list[MinuteCount]:
        """Count the calls that began in each of some minutes, from one with a time zone on."""
        return self._minutes.since(begin, minutes)

    def counts(self) -> CallCounts:
        """Count the latest `CAPACITY` calls."""
        records: list[AuditRecord] = []
        searched = 0
        for line, size in self._backwards(None):
            searched += size
            if searched > MAX_SEARCHED or len(records) == CAPACITY:
                break
            if (call := _call(line, self._namespace)) is not None and not call[1]:
                records.append(call[0].record)
        return counted(records)

    def oldest(self) -> str | None:
        """The time of the oldest record that is kept, of any namespace; None if there is none."""
        for path in day_files(self._folder):
            if (first := _first(path)) is not None:
                document = first.document()
                entry = None if document is None else entry_of(document)
                return None if entry is None else entry.time
        return None

    def _backwards(self, before: int | None) -> Iterator[tuple[ChainedLine, int]]:
        """The records, the newest first, or those with a lower number; with the length of their lines."""
        files = day_files(self._folder)
        for path in reversed(files):
            end = None
            if before is not None:
                first = _first(path)
                if first is None or first.seq >= before:
                    continue
                end = _end_before(path, before)
                before = None
            for content in lines_backwards(path, end):
                if (line := read_line(content)) is not None:
                    yield line, len(content)

    def _find(self, seq: int) -> ChainedLine | None:
        for path in reversed(day_files(self._folder)):
            first = _first(path)
            if first is not None and first.seq <= seq:
                for content in lines_backwards(path, _end_before(path, seq + 1)):
                    line = read_line(content)
                    if line is not None:
                        return line if line.seq == seq else None
                return None
        return None


def _call(line: ChainedLine, namespace: str | None) -> tuple[RecentCall, bool] | None:
    """A record, and whether it is a signed head; None if it is malformed, or of another namespace."""
    document = line.document()
    entry = None if document is None else entry_of(document)
    if document is None or entry is None or namespace not in (None, document["details"].get("namespace")):
        return None
    return RecentCall(_id(line), entry), entry.event == HEAD


def _id(line: ChainedLine) -> str:
    return f"{line.hash[:8]}-{line.seq}"


def _texts(wanted: CallFilter, namespace: str | None) -> list[bytes]:
    """Texts that the line of every record that matches has: others are not parsed."""
    given = {
        "event": wanted.event,
        "skillId": wanted.skill,
        "agent": wanted.agent,
        "action": wanted.tool,
        "namespace": namespace,
        "session": wanted.session,
    }
    texts = [
        b'"%s":%s' % (name.encode(), json.dumps(value).encode()) for name, value in given.items() if value is not None
    ]
    if wanted.about is not None:
        texts.append(json.dumps(wanted.about).encode())
    if wanted.outcome is not None:
        texts.append(b'"success":true' if wanted.outcome == "ok" else b'"success":false')
    return texts


def _first(path: Path) -> ChainedLine | None:
    for content in lines_in(path):
        if (line := read_line(content)) is not None:
            return line
    return None


def _end_before(path: Path, seq: int) -> int:
    """Where the lines of a file end that have a lower number; found by halves, since numbers grow."""
    with path.open("rb") as file:
        low, high = 0, file.seek(0, 2)
        while low < high:
            middle = (low + high) // 2
            line = _from(file, middle)[1]
            if line is not None and line.seq < seq:
                low = middle + 1
            else:
                high = middle
        return _from(file, low)[0]


def _from(file: BinaryIO, place: int) -> tuple[int, ChainedLine | None]:
    """The first record that begins at a place or behind it, and where it begins; None at the end."""
    file.seek(max(place - 1, 0))
    if place:
        file.readline()
    begin = file.tell()
    for content in iter(file.readline, b""):
        if (line := read_line(content)) is not None:
            return begin, line
        begin += len(content)
    return begin, None
