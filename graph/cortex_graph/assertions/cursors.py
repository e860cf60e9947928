"""The cursors of lists of assertions.

Rules kept here:
- a cursor is bound to its namespace and to its filters, and has the place of the last record: its time, and its name,
  or a place of the store among the records of that time;
- a cursor that is malformed, or of another query, is an error.
"""

from __future__ import annotations

import binascii
import hashlib
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

from cortex_graph.exceptions import InvalidArguments, invalid

OF_STORE = "@"  # begins a place of the store
ID = re.compile(r"(?:triple|withdrawn)/[0-9a-f]{64}")
_TIME = re.compile(r"-?\d{4,9}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,18})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_RECORD = re.compile(rf"{ID.pattern}|{OF_STORE}[A-Za-z0-9_-]*")
_SEAL = 8


@dataclass(frozen=True, slots=True)
class Place:
    """The end of a page.

    Attributes:
        time: of the last record, an `xsd:dateTime`.
        record: its name in the namespace; or `@` and the cursor of the store within the records of that time, or `@`
            alone after all of them.
    """

    time: str
    record: str

    @property
    def is_of_store(self) -> bool:
        """Whether it is a place among the records of one time in the order of the store."""
        return self.record.startswith(OF_STORE)


def cursor_of(place: Place, query: str) -> str:
    """Return the cursor of a place in a query."""
    text = f"{place.time}\n{place.record}".encode()
    return urlsafe_b64encode(_seal(query, text) + text).rstrip(b"=").decode()


def place_of(cursor: str, query: str) -> Place:
    """Return the place of a cursor.

    Raises:
        InvalidArguments: it is malformed, or of another query.
    """
    try:
        packed = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        time, record = packed[_SEAL:].decode("ascii").split("\n")
    except (ValueError, TypeError, binascii.Error):
        raise _foreign() from None
    if packed[:_SEAL] != _seal(query, packed[_SEAL:]) or not _TIME.fullmatch(time) or not _RECORD.fullmatch(record):
        raise _foreign()
    return Place(time, record)


def _seal(query: str, text: bytes) -> bytes:
    return hashlib.sha256(query.encode("utf-8", "surrogatepass") + b"\n" + text).digest()[:_SEAL]


def _foreign() -> InvalidArguments:
    return invalid(
        "cursor",
        "is malformed, or belongs to another query",
        hint="pass the `nextCursor` of the same query, or none to start over",
    )
