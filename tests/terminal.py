"""Programs on a terminal of their own.

Rules kept here:
- the terminal is the one that the program is controlled by, and the program hears what its keys say: Ctrl-C that is
  typed on it is a signal.
"""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from pathlib import Path

# Gives the child the terminal that it has as its standard input, and ears, also where the tests run under nohup.
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
        command: its words.
        environment: its variables.
        folder: where it begins.
        size: rows and columns of the terminal.

    Returns:
        The process, and our end of its terminal.

    """
    ours, theirs = os.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", _ATTACH, *command],
            cwd=folder,
            env=dict(environment),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
    finally:
        os.close(theirs)
    return process, ours
