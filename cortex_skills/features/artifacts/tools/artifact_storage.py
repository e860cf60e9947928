"""What an artifact keeps between calls: keys and bytes, in one SQLite file of its own.

Rules kept here:
- an artifact reaches the keys below its granted folders only, and writes below `write_roots` only; no key is a path of
  the file system;
- a write is one transaction, also with other processes, and never exceeds the quota of the artifact;
- versions of an artifact share their storage; removing one does not delete it;
- the file is private, and is created by the first write.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from cortex_sandbox import remaining_s
from cortex_sandbox.wasm import HostRefusal
from cortex_skills.safe_io.private_files import make_private_folder
from cortex_skills.safe_io.schemas import shown

MAX_KEY = 512
MAX_LISTED = 1_000
MAX_WAIT_S = 5.0
_SCHEMA = "CREATE TABLE IF NOT EXISTS kept (path TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"
_ROOT = "*"


class ArtifactStorage:
    """The storage of one artifact. Safe to use from several threads and processes.

    Args:
        path: the file.
        most_bytes: how much keys and values may have together.
    """

    def __init__(self, path: Path, most_bytes: int) -> None:
        self.path = path
        self._most_bytes = most_bytes

    def read(self, prefix: str, key: str) -> bytes:
        """The value of a key.

        Raises:
            HostRefusal: `not_found`, `invalid_key` or `storage_failed`.
        """
        path = _path(prefix, key)
        with self._opened() as database:
            row = (
                None
                if database is None
                else database.execute("SELECT value FROM kept WHERE path = ?", (path,)).fetchone()
            )
        if row is None:
            raise HostRefusal("not_found", f"nothing is stored under {shown(key)}")
        return bytes(row[0])

    def write(self, prefix: str, key: str, value: bytes) -> None:
        """Store a value; an empty one removes the key.

        Raises:
            HostRefusal: `storage_full`, `invalid_key` or `storage_failed`.
        """
        path = _path(prefix, key)
        with self._opened(creates=True) as database:
            if database is None:
                raise HostRefusal("storage_failed", "the storage cannot be opened")
            database.execute("BEGIN IMMEDIATE")
            others = database.execute(
                "SELECT coalesce(sum(length(CAST(path AS BLOB)) + length(value)), 0) FROM kept WHERE path <> ?", (path,)
            ).fetchone()[0]
            if value and others + len(path.encode()) + len(value) > self._most_bytes:
                raise HostRefusal("storage_full", f"an artifact may store {self._most_bytes:,} bytes")
            if value:
                database.execute("INSERT OR REPLACE INTO kept VALUES (?, ?)", (path, value))
            else:
                database.execute("DELETE FROM kept WHERE path = ?", (path,))
            database.execute("COMMIT")

    def listed(self, prefix: str, start: str) -> list[str]:
        """The first `MAX_LISTED` keys that start with a text, sorted.

        Raises:
            HostRefusal: `invalid_key` or `storage_failed`.
        """
        folder = "" if prefix == _ROOT else f"{prefix}/"
        if len(start) > MAX_KEY:
            raise _invalid(start)
        with self._opened() as database:
            if database is None:
                return []
            rows = database.execute(
                "SELECT path FROM kept WHERE substr(path, 1, length(?1)) = ?1 ORDER BY path LIMIT ?2",
                (folder + start, MAX_LISTED),
            ).fetchall()
        return [row[0][len(folder) :] for row in rows]

    @contextmanager
    def _opened(self, *, creates: bool = False) -> Iterator[sqlite3.Connection | None]:
        """The database; None when there is none and it is not created."""
        try:
            if creates:
                make_private_folder(self.path.parent)
                os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600))
            elif not self.path.exists():
                yield None
                return
            wait_s = max(0.0, min(MAX_WAIT_S, remaining_s()))
            with closing(sqlite3.connect(self.path, timeout=wait_s, isolation_level=None)) as database:
                if creates:
                    database.execute(_SCHEMA)
                yield database
        except (sqlite3.Error, OSError) as error:
            raise HostRefusal("storage_failed", f"the storage cannot be used: {type(error).__name__}") from error


def _path(prefix: str, key: str) -> str:
    parts = key.split("/")
    if not 0 < len(key) <= MAX_KEY or not key.isprintable() or "\\" in key or {"", ".", ".."} & set(parts):
        raise _invalid(key)
    return key if prefix == _ROOT else f"{prefix}/{key}"


def _invalid(key: str) -> HostRefusal:
    return HostRefusal("invalid_key", f"{shown(key)} is not a key: 1 to {MAX_KEY} characters, without . and .. parts")
