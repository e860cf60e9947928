"""The log of the process, on standard error.

Rules kept here:
- warnings and errors only; with `--verbose` all records, and tracebacks;
- secrets that the process has read are hidden;
- the level of the root logger is set, so that a caller can skip making a record that is not written;
- when the command has ended, the logging configuration of the process is restored.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cortex_skills.doors.cli.output import Output


class _LogLines(logging.Handler):
    """Writes log records to the output of the command."""

    def __init__(self, out: Output, is_verbose: Callable[[], bool]) -> None:
        super().__init__()
        self._out = out
        self._is_verbose = is_verbose  # a function: the handler is installed before the options are parsed

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        verbose = self._is_verbose()
        if record.levelno < (logging.INFO if verbose else logging.WARNING):  # a logger may have a level set
            return
        from cortex_skills.secrets import HIDDEN

        message = record.getMessage()
        if record.exc_info and verbose:
            message = "\n".join([message, *"".join(traceback.format_exception(*record.exc_info)).splitlines()])
        self._out.log(record.levelname.lower(), record.name, HIDDEN.text(message))


@contextmanager
def logging_to(out: Output, is_verbose: Callable[[], bool]) -> Iterator[None]:
    """Write the log to `out` until the block ends."""
    root = logging.getLogger()
    handler, level = _LogLines(out, is_verbose), root.level
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
