"""The processes of the soak: starts, kills and stops them, and follows what they write (`soak_worker.py`).

Rules kept here:
- a process that was killed or has ended on request is replaced; one that ends unexpectedly breaks the invariant;
- a process that is neither stopped nor ended and writes nothing for `HANG_S` breaks the invariant, and is killed;
- errors that faults cause are counted by their code; any other breaks the invariant. The error of a
  damaged store is kept in `damage`.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from .soak_ledger import Ledger

HANG_S = 180.0  # generous: an owner may be opened for a minute, after a lock of a stopped process
_END_S = 120.0
_EXPECTED = frozenset({"graph_busy", "graph_unavailable", "store_locked"})
_DAMAGED = "orrupt"  # in messages of RocksDB and of the store
ROOT = Path(__file__).parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in [str(ROOT), *sys.path] if path)}


class SoakProcess:
    """One process, and the thread that follows it."""

    def __init__(self, store: Path, scratch: Path, name: str, seed: str, on_line: Callable[..., None]) -> None:
        self.name = name
        scratch.mkdir()
        self._errors = scratch / "errors"
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "fuzz.soak_worker", str(store), str(scratch), name, seed],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**ENVIRONMENT, "TMPDIR": str(scratch)},
                cwd=ROOT,
            )
        self.pid = self._process.pid
        self.is_opened = self.is_ending = False
        self.stopped_until = 0.0
        self.heard = time.monotonic()
        self.longest_s = 0.0
        self._on_line = on_line
        self._thread = threading.Thread(target=self._follow)
        self._thread.start()

    def is_running(self) -> bool:
        """Return whether it has not ended."""
        return self._process.poll() is None

    def stop(self, until: float) -> None:
        """Stop it until `resume`."""
        self.stopped_until = until
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it continue."""
        self._process.send_signal(signal.SIGCONT)
        self.heard, self.stopped_until = time.monotonic(), 0.0

    def ask_to_end(self) -> None:
        """Let it end in order."""
        self.is_ending = True
        if self.stopped_until:
            self.resume()
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def kill(self) -> None:
        """Kill it, and wait for what it has written."""
        self.is_ending = True
        self._process.kill()
        self.join()

    def join(self, timeout_s: float | None = None) -> str:
        """Wait for its end; returns why it ended, if that was not requested."""
        try:
            code = self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()
            return f"process {self.name} did not end within {timeout_s} s after it was asked to"
        self._thread.join()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with contextlib.suppress(OSError):
                stream.close()
        if self.is_ending and code in (0, -signal.SIGKILL):
            return ""
        return f"process {self.name} ended with {code}:\n{self._errors.read_text(errors='replace')[-3000:]}"

    def _follow(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            now = time.monotonic()
            if self.is_opened and not self.stopped_until:
                self.longest_s = max(self.longest_s, now - self.heard)
            self.heard = now
            if line.endswith(b"\n"):  # a killed process leaves half a line
                self._on_line(self, *json.loads(line))


class WorkerGroup:
    """The processes of a run.

    Args:
        store: the folder that they share.
        scratch: a folder for their other files.
        count: how many there are at once.
        seed: of their operations.
        counts: what is counted.
        report: called with what breaks the invariant.
        log: receives every line of every process.

    """

    def __init__(
        self,
        store: Path,
        scratch: Path,
        count: int,
        seed: int,
        counts: Counter[str],
        report: Callable[[str], None],
        log: IO[str] | None,
    ) -> None:
        self.ledger = Ledger()
        self.damage = ""
        self.missing: list[str] = []  # what answers lacked; reported when the store is damaged
        self.longest_call_s = 0.0
        self._store, self._scratch, self._count, self._seed = store, scratch, count, seed
        self._counts, self._report, self._log = counts, report, log
        self._begun = time.monotonic()
        self._running: list[SoakProcess] = []
        self._started = 0
        self._lock = threading.Lock()
        self._backups: list[tuple[str, Ledger]] = []

    def note(self, *words: object) -> None:
        """Write a line of the log."""
        if self._log is not None:
            print(f"{time.monotonic() - self._begun:.2f}", *words, file=self._log, flush=True)

    def start(self) -> None:
        """Start the processes that are missing."""
        while len(self._running) < self._count:
            self._started += 1
            name = f"p{self._started}"
            self._running.append(
                SoakProcess(self._store, self._scratch / name, name, f"{self._seed} {name}", self._follow)
            )

    def wait_until_opened(self, timeout_s: float) -> bool:
        """Wait until a process has opened the store, or reported that it is damaged."""
        end = time.monotonic() + timeout_s
        while not self.damage and not any(process.is_opened for process in self._running):
            if time.monotonic() > end:
                return False
            self.keep_running(time.monotonic())
            time.sleep(0.05)
        return True

    def pids(self) -> list[int]:
        """Return the process ids."""
        return [process.pid for process in self._running]

    def keep_running(self, now: float) -> None:
        """Resume those whose time is over, and replace those that have ended."""
        for process in list(self._running):
            if process.stopped_until:
                if now > process.stopped_until:
                    process.resume()
            elif not process.is_running():
                self._remove(process)
            elif now - process.heard > HANG_S:
                self._report(f"process {process.name} has written nothing for {HANG_S:.0f} s")
                process.kill()
                self._remove(process)
        self.start()

    def kill_one(self, dice: random.Random, *, owner: bool) -> bool:
        """Kill a process, and replace it; returns whether there was one."""
        process = self._choose(dice, owner=owner)
        if process is None:
            return False
        self.note(process.name, "is killed")
        process.kill()
        self._remove(process)
        return True

    def stop_one(self, dice: random.Random, until: float, *, owner: bool) -> bool:
        """Stop a process; returns whether there was one."""
        process = self._choose(dice, owner=owner)
        if process is None or process.stopped_until:
            return False
        self.note(process.name, f"is stopped for {until - time.monotonic():.1f} s")
        process.stop(until)
        return True

    def end_owner(self) -> None:
        """End the owner in order; it is replaced."""
        for process in self._running:
            if process.pid == self._owner():
                process.ask_to_end()

    def end(self) -> None:
        """End all in order."""
        for process in self._running:
            process.ask_to_end()
        for process in list(self._running):
            self._remove(process, _END_S)

    def kill(self) -> None:
        """Kill all."""
        for process in list(self._running):
            process.kill()
            self._remove(process)

    def new_backups(self) -> list[tuple[str, Ledger]]:
        """Return the complete backups since the last call, with what must be in them."""
        with self._lock:
            backups, self._backups = self._backups, []
        return backups

    def _remove(self, process: SoakProcess, timeout_s: float | None = None) -> None:
        if problem := process.join(timeout_s):
            self._report(problem)
        self.longest_call_s = max(self.longest_call_s, process.longest_s)
        self._running.remove(process)

    def _choose(self, dice: random.Random, *, owner: bool) -> SoakProcess | None:
        chosen = dice.choice(self._running)
        if not owner:
            return chosen
        pid = self._owner()
        return next((process for process in self._running if process.pid == pid), None)

    def _owner(self) -> int | None:
        with contextlib.suppress(OSError, ValueError, KeyError):
            return int(json.loads((self._store / ".owner" / "record.json").read_bytes())["pid"])
        return None

    def _follow(self, process: SoakProcess, kind: str, *words: Any) -> None:
        self.note(process.name, kind, *words)
        with self._lock:
            if kind == "begin":
                self.ledger.begin(words[0])
            elif kind == "there":
                self.ledger.there(*words)
                self._counts["acknowledged changes"] += 1
                self._counts["acknowledged triples"] += words[1]
            elif kind == "gone":
                self.ledger.there(words[0], 0)
                self._counts["acknowledged changes"] += 1
            elif kind == "backing up":
                self.ledger.begin_backup(words[0])
            elif kind == "backed up":
                self._counts["backups"] += 1
                if (ledger := self.ledger.take_backup(words[0])) is not None:
                    self._backups.append((words[0], ledger))
            elif kind == "opened":
                process.is_opened = True
            elif kind == "error":
                self._follow_error(process, *words)
            elif kind == "missing":
                self.missing.append(f"process {process.name}: its acknowledged triple {words[0]} is missing")
            elif kind == "unexpected":
                self._report(f"process {process.name}: {words[0]}")
            else:
                self._counts[kind] += 1

    def _follow_error(self, process: SoakProcess, code: str, message: str) -> None:
        self._counts[f"error {code}"] += 1
        if _DAMAGED in message or _DAMAGED in code:
            self.damage = self.damage or f"{code}: {message}"
        elif code not in _EXPECTED and "cannot be written" not in message:
            self._report(f"process {process.name}: error {code}: {message}")
