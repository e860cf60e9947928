"""Start programs on a pseudo-terminal.

Rules kept here:
- the pseudo-terminal is the controlling terminal of the program, so that Ctrl-C typed on it raises SIGINT.
"""

from __future__ import annotations

import fcntl
import os
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

WAIT_S = 60
# Makes standard input the controlling terminal, and restores the signals that nohup ignores.
_ATTACH = """
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])
"""


def started(
    command: list[str], environment: Mapping[str, str], *, folder: Path | None = None, size: tuple[int, int] = (24, 80)
) -> tuple[subprocess.Popen[bytes], int]:
    """Start a program on a terminal.

    Args:
        command: program and arguments.
        environment: environment variables.
        folder: working directory.
        size: rows and columns of the terminal.

    Returns:
        The process, and the file descriptor of the other end of its terminal.

    """
    controller, terminal = os.openpty()
    fcntl.ioctl(controller, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", _ATTACH, *command],
            cwd=folder,
            env=dict(environment),
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
        )
    finally:
        os.close(terminal)
    return process, controller


def sent_until_exit(command: list[str], environment: Mapping[str, str]) -> tuple[int, str]:
    """Run a program on a terminal of 120 columns: its exit code, and everything that it wrote to the terminal."""
    settings = {**environment, "TERM": "xterm-256color", "COLUMNS": "120"}
    process, controller = started(command, settings, size=(24, 120))
    sent = b""
    with process, os.fdopen(controller, "rb", buffering=0) as end, suppress(OSError):  # Linux reports EIO at the end
        while data := end.read(65536):
            sent += data
    return process.returncode, sent.decode()


class Screen:
    """A program on a terminal, and the content of the screen."""

    def __init__(self, command: list[str], environment: Mapping[str, str], folder: Path) -> None:
        import pyte

        self.process, self._controller = started(command, environment, folder=folder)
        self._screen = pyte.Screen(80, 24)
        self._stream = pyte.ByteStream(self._screen)

    def type(self, text: str) -> None:
        """Type a text."""
        os.write(self._controller, text.encode())

    def until(self, text: str) -> None:
        """Wait until a line of the screen contains a text."""
        while not any(text in line for line in self._screen.display):
            assert select.select([self._controller], [], [], WAIT_S)[0], (text, self._screen.display)
            self._stream.feed(os.read(self._controller, 65536))

    def close(self) -> None:
        """Stop the program."""
        os.close(self._controller)
        self.process.kill()
        self.process.wait(WAIT_S)
