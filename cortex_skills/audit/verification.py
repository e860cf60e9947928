"""Verifies a journal: the first changed, missing or reordered record, and who signed it.

Rules kept here:
- all files are read in their order, as long as they were under the lock of the head, so that writers are not disturbed;
- the head must name the last record, or one before it whose writer was killed; a head that is missing or damaged, or
  names another record, is a fault, also where no record is left, and so is a record of a repair that found records
  missing;
- the beginning of a record at the end of the last file is the torn line of a writer that was killed, and no fault:
  the next writer removes it;
- a fault hides no other: reading goes on behind it, and further faults are counted;
- the first record has the number 1, or follows a record of what was cut that a signed head covers;
- a signed head must be of a given key, if keys are given: a signature of a stranger is a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cortex_skills.audit.journal_files import lines_in
from cortex_skills.audit.journal_head import NAME, JournalHead, read_head
from cortex_skills.audit.journal_state import state_of
from cortex_skills.audit.lines import (
    BEGINNING,
    CUT,
    FIRST,
    HEAD,
    REPAIRED,
    ChainedLine,
    entry_of,
    read_line,
    signed_message,
)
from cortex_skills.config.host_identity import HostIdentity
from cortex_skills.safe_io.display import one_line

Verify = Callable[[str, bytes, bytes], bool]
"""Whether a signature of a message was made with the key of a did:key."""


@dataclass(frozen=True, slots=True)
class JournalFault:
    """Something wrong: the number of the record, the file and line (from 1), and the problem."""

    seq: int
    file: str
    line: int
    problem: str

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {"seq": self.seq, "file": self.file, "line": self.line, "problem": self.problem}


@dataclass(frozen=True, slots=True)
class JournalReport:
    """What verification found.

    Attributes:
        records: how many were read.
        first: the number of the first one; 0 for none.
        last: the number of the last one.
        hash: of the last one: note it elsewhere, to find out later whether the end was removed.
        signed: the number of the last record that a signature covers.
        keys: the keys that signed, as `did:key`.
        fault: the first fault; None when the journal is whole.
        faults: how many there are.
        waiting: bytes behind the head, of a writer that was killed; the next one repairs them.
        repairs: how many records of the journal report a repair.
        host: the installation that wrote the last record; None if it names none.
    """

    records: int
    first: int
    last: int
    hash: str
    signed: int
    keys: tuple[str, ...]
    fault: JournalFault | None
    faults: int
    waiting: int
    repairs: int = 0
    host: HostIdentity | None = None

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "records": self.records,
            "first": self.first,
            "last": self.last,
            "hash": self.hash,
            "signed": self.signed,
            "keys": list(self.keys),
            "fault": None if self.fault is None else self.fault.to_json(),
            "faults": self.faults,
            "bytesBehindHead": self.waiting,
            "repairs": self.repairs,
            "host": None if self.host is None else self.host.to_json(),
        }


def verify_journal(
    folder: Path, verify: Verify, *, keys: Collection[str] | None = None, noted: str | None = None, since: int = 1
) -> JournalReport:
    """Verify the journal in a folder.

    Args:
        folder: the folder.
        verify: checks a signature.
        keys: those that may sign; None for any.
        noted: the hash of a record that must be there.
        since: report no fault of a record before this number.

    Raises:
        OSError: a file cannot be read.
    """
    state = state_of(folder)
    head = read_head(state.content or b"")
    reading = _Reading(verify, None if keys is None else frozenset(keys), noted, since, head)
    waiting = 0
    filled = [path for path, size in state.sizes.items() if size]
    for path, size in state.sizes.items():
        is_last = path == filled[-1] if filled else False
        end = 0
        for number, line in enumerate(lines_in(path, size), 1):
            end += len(line)
            if is_last and end == size and _is_torn(line):
                waiting = len(line)
            else:
                reading.line(path.name, number, line, end)
        if is_last and head is not None and head.file == path.name:
            waiting = max(waiting, size - head.size)
    return reading.report(state.content, waiting)


def _stated(data: Mapping[str, Any]) -> str:
    return one_line(str(data.get("problem", "")))[:200]


def _host(line: ChainedLine | None) -> HostIdentity | None:
    document = None if line is None else line.document()
    entry = None if document is None else entry_of(document)
    return None if entry is None else entry.host


def _is_torn(line: bytes) -> bool:
    """Whether it is the beginning of a record."""
    return not line.endswith(b"\n") and (line.startswith(BEGINNING) or BEGINNING.startswith(line))


@dataclass(slots=True)
class _Reading:
    verify: Verify
    keys_allowed: frozenset[str] | None
    noted: str | None
    since: int
    head: JournalHead | None
    records: int = 0
    first: ChainedLine | None = None
    last: ChainedLine | None = None
    signed: int = 0
    keys: dict[str, None] = field(default_factory=dict)
    cuts: list[tuple[int, int, str]] = field(default_factory=list)  # number, first number kept, hash before it
    fault: JournalFault | None = None
    faults: int = 0
    is_noted: bool = False
    is_head: bool = False  # whether the head names a record that is where it states
    repairs: int = 0
    expected: int = 1
    place: tuple[str, int] = ("", 0)

    def line(self, file: str, number: int, content: bytes, end: int) -> None:
        """Check one line, which ends at a place of its file."""
        self.place = (file, number)
        found = read_line(content)
        if found is None:
            self._faulty(self.expected, "was changed: the line is not a record")
            self.expected += 1
            self.last = None
            return
        if problem := self._problem(found):
            self._faulty(found.seq if "order" in problem else self.expected, problem)
        self.records += 1
        self.first = self.first or found
        self.last = found
        self.expected = found.seq + 1
        self.is_noted = self.is_noted or found.hash == self.noted
        if self.head is not None and self.head.names(found):
            self.is_head = (self.head.file, self.head.size) == (file, end)
        if found.is_of_audit:
            self._read_own(found)

    def _problem(self, found: ChainedLine) -> str:
        if self.first is None and found.seq > 1 and self.expected == 1:
            return "" if found.is_whole else "was changed: it does not have its hash"
        if found.seq > self.expected:
            last = f" to {found.seq - 1:,}" if found.seq - 1 > self.expected else ""
            return f"is missing{last}: the next record has the number {found.seq:,}"
        if found.seq < self.expected:
            return f"is out of order: the record before it has the number {self.expected - 1:,}"
        if not found.is_whole:
            return "was changed: it does not have its hash"
        before = FIRST if found.seq == 1 else None if self.last is None else self.last.hash
        if before is not None and found.prev_hash != before:
            return "does not follow the record before it: that one was replaced"
        return ""

    def _read_own(self, found: ChainedLine) -> None:
        document = found.document() or {}
        try:
            event, data = document["event"], document["details"].get("data") or {}
            if event == CUT and document["details"]["namespace"] == "" and data["firstKept"]:
                self.cuts.append((found.seq, int(data["firstKept"]), str(data["prevHash"])))
            if event == REPAIRED and document["details"]["namespace"] == "":
                self.repairs += 1
                if int(data.get("missing", 0)) > 0:
                    self._faulty(found.seq, f"reports a repair after which records were missing: {_stated(data)}")
            if event == HEAD:
                self._signature(found, str(data["key"]), str(data["signature"]))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            self._faulty(found.seq, "is a malformed record of the audit")

    def _signature(self, found: ChainedLine, key: str, signature: str) -> None:
        if not self.verify(key, signed_message(found.prev_hash), bytes.fromhex(signature)):
            self._faulty(found.seq, "has a signature that does not verify")
            return
        self.keys[key] = None
        if self.keys_allowed is not None and key not in self.keys_allowed:
            self._faulty(found.seq, f"is signed with another key: {key}")
            return
        self.signed = found.seq

    def _faulty(self, seq: int, problem: str) -> None:
        if seq < self.since:
            return
        self.fault = self.fault or JournalFault(seq, *self.place, problem)
        self.faults += 1

    def report(self, content: bytes | None, waiting: int) -> JournalReport:
        """The result, after the last line."""
        first = self.first
        if first is not None and first.seq > 1:
            known = (first.seq, first.prev_hash)
            if not any(known == (kept, before) and seq <= self.signed for seq, kept, before in self.cuts):
                last = f" to {first.seq - 1:,}" if first.seq > 2 else ""
                problem = f"is missing{last}: no signed record reports that it was cut"
                self._ahead(JournalFault(1, "", 0, problem))
        seq, digest = (0, FIRST) if self.last is None else (self.last.seq, self.last.hash)
        if wrong := self._problem_of_head(content, seq):
            self.place = (NAME, 1)
            self._faulty(max(wrong[0], self.since), wrong[1])
        if self.noted is not None and not self.is_noted:
            self._faulty(max(seq, self.since), "is the last: the noted hash is not in the journal")
        return JournalReport(
            self.records,
            0 if first is None else first.seq,
            seq,
            digest,
            self.signed,
            tuple(self.keys),
            self.fault,
            self.faults,
            waiting,
            self.repairs,
            _host(self.last),
        )

    def _problem_of_head(self, content: bytes | None, seq: int) -> tuple[int, str] | None:
        """What is wrong with the head, and the number of the record, beside a last one; None if nothing is."""
        here = "is the last one here" if self.records else "is not here"
        hides = "nothing shows whether more followed"
        if not self.records and (not content or (self.head is not None and self.head.seq == 0)):
            return None  # nothing was written yet
        if content is None:
            return seq, f"{here}, and the head is missing: {hides}"
        if self.head is None:
            return seq, f"{here}, and the head is damaged: {hides}"
        if self.head.seq > seq:
            return seq + 1, f"is missing to {self.head.seq:,}: the head of the journal counts it"
        if not self.is_head:
            return (
                seq,
                f"{here}, and the head names a record {self.head.seq:,} that is not where it states",
            )
        return None

    def _ahead(self, fault: JournalFault) -> None:
        """A fault before all others."""
        if self.since == 1:
            self.fault, self.faults = fault, self.faults + 1
