"""Where the bytes of an answer are written: to a pipe unchanged, to a terminal with control characters escaped."""

from __future__ import annotations

import codecs
import sys
from typing import IO

import click

from cortex_skills.doors.cli.output import Output


class Visible:
    """A binary stream that writes lines to a terminal."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._rest = ""

    def write(self, data: bytes) -> int:
        """Write the complete lines of the data."""
        *lines, self._rest = (self._rest + self._decoder.decode(data)).split("\n")
        for line in lines:
            self._out.line(line)
        return len(data)

    def flush(self) -> None:
        """Write the unfinished last line."""
        if self._rest:
            self._out.line(self._rest)
            self._rest = ""


def standard_output() -> IO[bytes]:
    """Standard output as a binary stream."""
    if sys.stdout is None:
        raise click.UsageError("standard output is closed: give a FILE")
    sys.stdout.flush()
    return sys.stdout.buffer
