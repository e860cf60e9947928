"""`Journal`: the audit on disk: a file of lines for each day, which many processes append to.

    journal = Journal(folder, lambda: signing_key(config))
    journal.append(document)                  # returns when the line is written
    journal.close()                           # signs what was written

Rules kept here:
- a writer holds the lock of the file `head`, reads it, appends one line to the file of the day (UTC), and writes the
  head again: so all processes make one chain, and a process that is killed leaves a line without a head, or nothing;
- a head that this process did not write itself is checked against the last record, which alone is believed (`repair`);
- a line is written as a whole or not at all: one that does not fit on the disk is taken back, and raises `OSError`;
- the file of the day is the last one: a clock that goes back appends to the same file. One of a day that is more than a
  day ahead gets the name of today as soon as no other file has that or a later one;
- a file of a future day that does not continue the chain is not of this journal, and is left alone;
- what `append` has returned survives the end of the process; a power cut may lose what was written after the last
  `fsync`: of each record with `always`, of each signed head with `minute`;
- the chain is signed each minute in which something was written, and at the end (`audit.head`);
- files are deleted after `keep_days`, behind a record of what they held (`audit.cut`), which is signed.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from cortex_skills.audit import journal_host, lines, repair
from cortex_skills.audit.call_records import of_event
from cortex_skills.audit.chain import Signer
from cortex_skills.audit.journal_files import CutFile, about, day_files, day_name
from cortex_skills.audit.journal_head import LENGTH, NAME, JournalHead, read_head
from cortex_skills.audit.journal_state import NO_FOLLOW
from cortex_skills.config.host_identity import HostIdentity
from cortex_skills.errors import CortexError
from cortex_skills.safe_io.private_files import lock, make_private_folder, sync_folder, unlock

log = logging.getLogger(__name__)

Fsync = Literal["never", "minute", "always"]
SIGN_AFTER_S = 60.0
OWN_NAMESPACE = ""  # of the records of the audit about itself

_DAY_S = 86_400
_AGENT = "cortex-skills"


class Journal:
    """The journal in a folder. Safe for several threads and processes.

    Args:
        folder: created with mode 0700 at the first record.
        signer: opens the key that signs; called at the first signed head.
        fsync: when what was written is flushed to the disk.
        keep_days: how long files are kept; 0 for ever.
        clock: the time in seconds since the epoch.
        sign_after: seconds from a record to the next signed head.
        host: returns the installation that writes; called before the first record.
        of_one_host: whether another host may have the folder too, and is refused (`journal_host`).
    """

    def __init__(
        self,
        folder: Path,
        signer: Callable[[], Signer | None] | None = None,
        *,
        fsync: Fsync = "minute",
        keep_days: int = 0,
        clock: Callable[[], float] = time.time,
        sign_after: float = SIGN_AFTER_S,
        host: Callable[[], HostIdentity] | None = None,
        of_one_host: bool = False,
    ) -> None:
        self.folder = folder
        self._signer = signer
        self._fsync = fsync
        self._keep_days = keep_days
        self._clock = clock
        self._sign_after = sign_after
        self._host = host
        self._of_one_host = of_one_host
        self._lock = threading.RLock()
        self._head_fd = self._fd = -1
        self._file = ""  # the name of the file that is open
        self._known: tuple[bytes, JournalHead] | None = None
        self._process = 0
        self._timer: threading.Timer | None = None

    @cached_property
    def host(self) -> HostIdentity | None:
        """The installation that writes."""
        return None if self._host is None else self._host()

    def append(self, document: Mapping[str, Any], *, sync: bool = False) -> tuple[int, str]:
        """Append a record.

        Args:
            document: as `lines.document_of` makes it.
            sync: whether it is flushed to the disk, unless `fsync` is `never`.

        Returns:
            Its number and its hash.

        Raises:
            OSError: it was not written.
        """
        body = lines.body_of(document)
        with self._lock:
            self._acquire()
            try:
                new = self._write(self._current(), body)
                if self._fsync == "always" or (sync and self._fsync != "never"):
                    os.fsync(self._fd)
            finally:
                unlock(self._head_fd)
            if self._timer is None and self._signer is not None:
                self._timer = threading.Timer(self._sign_after, self._sign_later)
                self._timer.daemon, self._timer.name = True, "cortex-audit-sign"
                self._timer.start()
            return new.seq, new.hash

    def sign(self) -> None:
        """Sign what is not signed yet.

        Raises:
            OSError: the signed head was not written.
        """
        with self._lock:
            key = self._key()
            if key is None or not day_files(self.folder):
                return
            self._acquire()
            try:
                head = self._current()
                if head.signed < head.seq:
                    self._write_signed(head, key)
            finally:
                unlock(self._head_fd)

    def close(self) -> None:
        """Sign what is not signed yet, and close the files. Closing twice has no effect."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if self._head_fd >= 0:
                self._sign_quietly()
            self._close_files()

    # --- under the lock

    def _acquire(self) -> None:
        """Wait for the lock of the head; of the file that has its name when the lock is held."""
        while True:
            self._open_head()
            lock(self._head_fd)
            if os.fstat(self._head_fd).st_nlink:
                self._claim()
                return
            self._close_files()

    def _claim(self) -> None:
        if self._of_one_host and self._known is None and self.host is not None:
            try:
                journal_host.claim(self.folder, self.host)
            except OSError:
                self._close_files()
                raise

    def check_host(self) -> None:
        """Refuse a journal of another host (`config_invalid`)."""
        if self._of_one_host and self.host is not None:
            journal_host.check(self.folder, self.host)

    def _current(self) -> JournalHead:
        """The head, checked; the file of the day is open then, and an old end is repaired."""
        day = int(self._clock()) // _DAY_S
        today = day_name(day)
        content = os.pread(self._head_fd, LENGTH + 1, 0)
        if self._known is not None and content == self._known[0]:
            head: JournalHead | None = self._known[1]
        else:
            head = self._checked(content, today)
        is_new = head is None or today > head.day
        if head is None:
            head = JournalHead(today)
        state = os.fstat(self._fd) if self._file == head.file else None
        if state is None or state.st_nlink == 0:
            self._open_day(head.file)
            state = os.fstat(self._fd)
        if state.st_size != head.size:
            head = self._repaired(head)
        if is_new:
            head = self._next_day(head, today)
        elif head.day > day_name(day + 1):
            head = self._renamed(head, today)
        return head

    def _checked(self, content: bytes, today: str) -> JournalHead | None:
        """The head as another writer left it, if the record that it names is there; else as the records show it."""
        noted = read_head(content)
        is_open = noted is not None and noted.file == self._file and os.fstat(self._fd).st_nlink > 0
        names = [self._file] if is_open else [path.name for path in day_files(self.folder)]
        if noted is not None and noted.seq and noted.file in names:
            if not is_open:
                self._open_day(noted.file)
            if noted.names(repair.record_before(self._fd, noted.size)):
                self._known = content, noted
                return self._continued(noted, [name for name in names if name > noted.file], today)
        last = repair.last_head(self.folder, today)
        found = repair.unfit(content, noted, last)
        if len(content) > LENGTH:
            os.ftruncate(self._head_fd, 0)
        if last is None and found is None:
            return None
        head = last or JournalHead(today)
        self._open_day(head.file)
        return self._repaired(head, found)

    def _continued(self, head: JournalHead, newer: list[str], today: str) -> JournalHead:
        """The head behind the files of later days, whose writer was killed before it wrote the head."""
        for name in newer:
            if name > f"{today}.ndjson" and not repair.continues(self.folder / name, head):
                continue
            if os.fstat(self._fd).st_size != head.size:
                head = self._repaired(head)
            self._open_day(name)
            head = self._repaired(replace(head, day=name.removesuffix(".ndjson"), size=0))
        return head

    def _write(self, head: JournalHead, body: bytes) -> JournalHead:
        """Append one line, and note the new head."""
        line, digest = lines.line_of(body, head.seq + 1, head.hash)
        try:
            written = os.write(self._fd, line)
            if written < len(line):
                raise OSError(28, "No space left on device")
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._fd, head.size)
            raise
        return self._note(JournalHead(head.day, head.size + len(line), head.seq + 1, digest, head.signed))

    def _note(self, head: JournalHead) -> JournalHead:
        """Write the head."""
        content = head.to_bytes()
        os.pwrite(self._head_fd, content, 0)
        self._known = content, head
        return head

    def _write_event(self, head: JournalHead, event: str, data: Mapping[str, Any]) -> JournalHead:
        entry = of_event(event, _AGENT, data=dict(data))
        return self._write(head, lines.body_of(lines.document_of(entry, OWN_NAMESPACE, self.host)))

    def _write_signed(self, head: JournalHead, key: Signer) -> JournalHead:
        signature = key.sign(lines.signed_message(head.hash)).hex()
        head = self._write_event(head, lines.HEAD, {"key": key.did, "signature": signature})
        head = self._note(replace(head, signed=head.seq))
        if self._fsync != "never":
            os.fsync(self._fd)
        return head

    def _repaired(self, head: JournalHead, found: Mapping[str, Any] | None = None) -> JournalHead:
        """The head after a writer was killed, or a file was changed: what is found is kept, and a record reports it.

        The head is written behind that record, so that a writer that is killed before it leaves it to the next one.

        Args:
            head: the end of the chain.
            found: what was found about the head already.
        """
        head, behind = repair.repaired(self._fd, head)
        if found is None and behind is None:
            return self._note(head)
        problems = [each["problem"] for each in (found, behind) if each is not None]
        data = {"file": head.file, **(found or {}), **(behind or {}), "problem": "; ".join(problems)}
        log.warning("the audit journal %s was repaired: %s", self.folder / head.file, data["problem"])
        return self._write_event(head, lines.REPAIRED, data)

    def _next_day(self, head: JournalHead, today: str) -> JournalHead:
        """Begin the file of a new day, and delete the old ones."""
        if today != head.day:
            self._open_day(f"{today}.ndjson")
            head = replace(head, day=today, size=0)
            if os.fstat(self._fd).st_size:
                head = self._repaired(head)
        if self._keep_days:
            head = self._cut(head)
        return head

    def _renamed(self, head: JournalHead, today: str) -> JournalHead:
        """Give the file of a future day, of a clock that was wrong, the name of today, if that is the last one then."""
        path = self.folder / f"{today}.ndjson"
        others = (each.stem for each in day_files(self.folder) if each.name != head.file)
        if os.path.lexists(path) or any(day > today for day in others):
            return head
        (self.folder / head.file).rename(path)
        sync_folder(self.folder)
        self._file = path.name
        problem = f"the file of a future day, {head.file}, has the name of today now"
        return self._write_event(replace(head, day=today), lines.REPAIRED, {"file": path.name, "problem": problem})

    def _cut(self, head: JournalHead) -> JournalHead:
        """Delete files that are older than they are kept, behind a signed record."""
        oldest = day_name(int(self._clock()) // _DAY_S - self._keep_days)
        old = [path for path in day_files(self.folder) if path.stem < min(oldest, head.day)]
        cut = [found for found in map(about, old) if found is not None]
        if not old:
            return head
        head = self._write_event(head, lines.CUT, _cut_data(cut))
        if (key := self._key()) is not None:
            head = self._write_signed(head, key)
        os.fsync(self._fd)
        for path in old:
            path.unlink()
        return head

    # --- files

    def _open_head(self) -> None:
        """Open the file that is locked; again in a process that was forked."""
        if self._head_fd >= 0 and self._process == os.getpid():
            return
        self._close_files()
        if not self.folder.exists():
            make_private_folder(self.folder)
        self._head_fd = os.open(self.folder / NAME, os.O_RDWR | os.O_CREAT | NO_FOLLOW, 0o600)
        self._process = os.getpid()

    def _open_day(self, name: str) -> None:
        path = self.folder / name
        is_new = not path.exists()
        fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | NO_FOLLOW, 0o600)
        if self._fd >= 0:
            os.close(self._fd)
        self._fd, self._file = fd, name
        if is_new and self._fsync != "never":
            sync_folder(self.folder)

    def _close_files(self) -> None:
        for fd in (self._fd, self._head_fd):
            if fd >= 0:
                os.close(fd)
        self._fd = self._head_fd = -1
        self._file = ""

    # --- signing

    def _key(self) -> Signer | None:
        if self._signer is None:
            return None
        try:
            return self._signer()
        except CortexError as error:
            log.warning("the audit journal is not signed: %s", error.message)
            return None

    def _sign_later(self) -> None:
        with self._lock:
            if self._timer is None:
                return
            self._timer = None
            self._sign_quietly()

    def _sign_quietly(self) -> None:
        try:
            self.sign()
        except OSError as error:
            log.warning("the audit journal %s cannot be signed: %s", self.folder, error.strerror)


def _cut_data(cut: list[CutFile]) -> dict[str, Any]:
    return {
        "files": [found.to_json() for found in cut],
        "firstKept": cut[-1].last + 1 if cut else None,
        "prevHash": cut[-1].hash if cut else None,
    }
