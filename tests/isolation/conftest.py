"""Fixtures: sandboxes of both kinds, and programs that run as separate hosts."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cortex_sandbox import Limits, ProcessSandbox, Protection, protections

if sys.platform != "linux":
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture
def process_box() -> Iterator[ProcessSandbox]:
    """A `ProcessSandbox` with a short time limit."""
    with ProcessSandbox(Limits(timeout_s=5.0)) as box:
        yield box


@pytest.fixture
def pid_of() -> Callable[[ProcessSandbox], int]:
    """The process id of a worker, from its process descriptor."""

    def ask(box: ProcessSandbox) -> int:
        reported = Path(f"/proc/self/fdinfo/{box._worker._link._process}").read_text()
        return next(int(line.split()[1]) for line in reported.splitlines() if line.startswith("Pid:"))

    return ask


@pytest.fixture(scope="session")
def in_force() -> dict[str, Protection]:
    """The protections that are in force on this kernel."""
    return {protection.name: protection for protection in protections()}


@pytest.fixture
def run_host() -> Callable[..., str]:
    """Runs Python code as a separate program; its output."""

    def run(code: str, *arguments: str) -> str:
        command = [sys.executable, "-W", "error", "-c", code, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    return run


def _parents() -> dict[int, int]:
    """The parent of every process."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            found[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    return found


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.fixture
def processes() -> Callable[..., set[int]]:
    """The template and the workers of a process, by default of this one."""

    def below(pid: int | None = None) -> set[int]:
        parent = _parents()
        found: set[int] = set()
        above = {pid or os.getpid()}
        while more := {child for child, its in parent.items() if its in found | above} - found:
            found |= more
        return {pid for pid in found if b"cortex_sandbox.isolation.template" in _command(pid)}

    return below


@pytest.fixture
def soon() -> Callable[[Callable[[], bool]], bool]:
    """Whether a condition becomes true within a minute."""

    def wait(condition: Callable[[], bool]) -> bool:
        until = time.monotonic() + 60
        while not condition() and time.monotonic() < until:
            time.sleep(0.01)
        return condition()

    return wait
