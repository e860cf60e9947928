"""Processes that share a data folder, started and ended by the tests.

with owner_of(folder) as owner:     # a process that owns the folder, and does nothing else
    store = open_store(folder)      # a client of it
    owner.kill()
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from cortex_graph.stores.shared.rendezvous import FOLDER

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
END_S = 250  # generous: only so that a test ends

KEEPER = "import sys; from cortex_graph.stores.shared.owner_main import main; main(sys.argv[1])"


started: list[subprocess.Popen[str]] = []


def python(code: str, *arguments: object) -> subprocess.Popen[str]:
    """A Python process that runs some code; its streams are pipes of text."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )
    started.append(process)
    return process


def end(process: subprocess.Popen[str]) -> None:
    """End a process if it is still there, and close its streams."""
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        with suppress(OSError):
            if stream is not None:
                stream.close()


def line_of(process: subprocess.Popen[str]) -> str:
    """The next line that a process writes."""
    assert process.stdout is not None
    return process.stdout.readline().rstrip("\n")


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Close a process's input and wait for it: its exit code and the rest of its output and errors."""
    out, errors = process.communicate(timeout=END_S)
    return process.returncode, out, errors


@contextmanager
def running(code: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A process that has written its first line, and is ended at the end."""
    process = python(code, *arguments)
    try:
        if not line_of(process):
            pytest.fail(f"the process did not start: {ended(process)}")
        yield process
    finally:
        if process.poll() is None:
            try:
                process.communicate(timeout=END_S)
            except subprocess.TimeoutExpired:
                process.kill()
        process.communicate()


@contextmanager
def owner_of(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that owns a folder."""
    with running(KEEPER, folder) as process:
        yield process


@contextmanager
def stopped(process: subprocess.Popen[str]) -> Iterator[None]:
    """A process that does nothing for a while."""
    process.send_signal(signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)  # until it has stopped
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


def record_of(folder: Path) -> dict[str, Any] | None:
    """What the owner of a folder has written there."""
    try:
        said: dict[str, Any] = json.loads((folder / FOLDER / "record.json").read_text())
    except OSError:
        return None
    return said


class Lines:
    """The lines that a process writes, as they come; wakes those who wait for more."""

    def __init__(self, process: subprocess.Popen[str], more: threading.Condition) -> None:
        self.process = process
        self.lines: list[str] = []
        self._more = more
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def end(self) -> int:
        """Wait for the process; its exit code. What it complained of is shown with a test that fails."""
        self._thread.join(END_S)
        code = self.process.wait(END_S)
        if code > 0 and self.process.stderr is not None and (complaint := self.process.stderr.read()):
            sys.stderr.write(f"process {self.process.pid} ended with {code}:\n{complaint}")
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        return code

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.endswith("\n"):  # a killed process leaves half a line
                with self._more:
                    self.lines.append(line.rstrip("\n"))
                    self._more.notify_all()
        with self._more:
            self._more.notify_all()
