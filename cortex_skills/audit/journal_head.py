"""The head of a journal: where its last record is, in the file `head` that writers lock.

Rules kept here:
- it has one length, so that a new one replaces the old one in place, without space on the disk;
- it is a note for the next writer, who checks it against the files: a head that is missing or malformed is None.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cortex_skills.audit.lines import FIRST

NAME = "head"
LENGTH = 154

_FORM = re.compile(rb"cortex-audit/1 ([0-9]{4}-[0-9]{2}-[0-9]{2}) ([0-9]{20}) ([0-9]{20}) ([0-9a-f]{64}) ([0-9]{20})\n")


@dataclass(frozen=True, slots=True)
class JournalHead:
    """The end of a journal.

    Attributes:
        day: of the last file: `2026-01-31`.
        size: of that file, in bytes.
        seq: the number of the last record; 0 for none.
        hash: of the last record.
        signed: the number of the last record that a signed head covers.

    """

    day: str
    size: int = 0
    seq: int = 0
    hash: str = FIRST
    signed: int = 0

    @property
    def file(self) -> str:
        """The name of the last file."""
        return f"{self.day}.ndjson"

    def to_bytes(self) -> bytes:
        """The content of the file."""
        return f"cortex-audit/1 {self.day} {self.size:020d} {self.seq:020d} {self.hash} {self.signed:020d}\n".encode()


def read_head(content: bytes) -> JournalHead | None:
    """The head in the content of its file; None if there is none."""
    found = _FORM.fullmatch(content)
    if found is None:
        return None
    return JournalHead(found[1].decode(), int(found[2]), int(found[3]), found[4].decode(), int(found[5]))
