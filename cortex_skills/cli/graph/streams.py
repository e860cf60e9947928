"""Where the bytes of an answer go: to a pipe as they are, to a terminal so that nothing in them hides."""

from __future__ import annotations

import codecs
import sys
from typing import IO

import click

from cortex_skills.cli.output import Output


class Visible:
    """Takes the bytes of an answer and writes them as lines for a terminal."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._rest = ""

    def write(self, data: bytes) -> int:
        """Take some bytes."""
        *lines, self._rest = (self._rest + self._decoder.decode(data)).split("\n")
        for line in lines:
            self._out.line(line)
        return len(data)

    def flush(self) -> None:
        """Write what is left of the last line."""
        if self._rest:
            self._out.line(self._rest)
            self._rest = ""


def standard_output() -> IO[bytes]:
    """Standard output, for bytes."""
    if sys.stdout is None:
        raise click.UsageError("standard output is closed: give a FILE")
    sys.stdout.flush()
    return sys.stdout.buffer
