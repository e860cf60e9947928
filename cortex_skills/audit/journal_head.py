"""The head of a journal: where its last record is, in the file `head` that writers lock.

    cortex-audit/2 DAY SIZE NUMBER HASH SIGNED CHECKSUM

Rules kept here:
- it has one length, so that a new one replaces the old one in place, without space on the disk;
- the checksum is the first 16 hexadecimal digits of the SHA-256 of what is before it;
- it is a note for the next writer, who checks it against the last record: a head that is missing or damaged is None;
- the head of an earlier version, `cortex-audit/1` without a checksum, is read too, until the next record is written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256

from cortex_skills.audit.lines import FIRST, ChainedLine

NAME = "head"
LENGTH = 171

_FORM = re.compile(
    rb"(?P<checked>cortex-audit/(?P<version>[12]) (?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2}) (?P<size>[0-9]{20})"
    rb" (?P<seq>[0-9]{20}) (?P<hash>[0-9a-f]{64}) (?P<signed>[0-9]{20}))(?: (?P<checksum>[0-9a-f]{16}))?\n"
)


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
        content = f"cortex-audit/2 {self.day} {self.size:020d} {self.seq:020d} {self.hash} {self.signed:020d}".encode()
        return content + b" " + _checksum(content) + b"\n"

    def names(self, record: ChainedLine | None) -> bool:
        """Whether a record is the one that it names as the last."""
        return record is not None and (record.seq, record.hash) == (self.seq, self.hash)


def read_head(content: bytes) -> JournalHead | None:
    """The head in the content of its file; None if there is none, or it is damaged."""
    found = _FORM.fullmatch(content)
    if found is None or (found["version"] == b"2") != (found["checksum"] is not None):
        return None
    if found["checksum"] is not None and found["checksum"] != _checksum(found["checked"]):
        return None
    head = JournalHead(
        found["day"].decode(), int(found["size"]), int(found["seq"]), found["hash"].decode(), int(found["signed"])
    )
    return head if head.signed <= head.seq else None


def _checksum(content: bytes) -> bytes:
    return sha256(content).hexdigest()[:16].encode()
