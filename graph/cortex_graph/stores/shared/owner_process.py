"""Starts and ends a process that owns a folder on behalf of a process that must not open the store.

Rules kept here:
- the process (`owner_main.py`) ends when this process closes its standard input, or ends;
- it takes part in the election like every other process.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from cortex_graph.exceptions import GraphUnavailable

_END_S = 15.0
_START = (
    "import sys; sys.path[:0] = sys.argv[2:]; from cortex_graph.stores.shared.owner_main import main; main(sys.argv[1])"
)


class OwnerProcess:
    """A process that owns a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def wake(self) -> None:
        """Start the process if it does not run, and ask it to find or become the owner of the folder."""
        if self._process is not None and self._process.poll() is None and self._process.stdin is not None:
            try:
                self._process.stdin.write(b"\n")
                self._process.stdin.flush()
            except OSError:
                self.end()
            else:
                return
        if not sys.executable or getattr(sys, "frozen", False):
            raise self._refused("there is no Python interpreter to start")
        package = Path(__file__).parents[3]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, and a folder as its argument
                [sys.executable, "-c", _START, os.fspath(self._folder.absolute()), os.fspath(package)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise self._refused(str(error)) from error

    def end(self) -> None:
        """End the process; it is killed after `_END_S` seconds."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _refused(self, problem: str) -> GraphUnavailable:
        return GraphUnavailable(
            f"no process owns the store in {self._folder}, and a forked process cannot own it: {problem}",
            hint="open the store in a process that was not forked from one that had it open",
            details={"folder": str(self._folder)},
        )
