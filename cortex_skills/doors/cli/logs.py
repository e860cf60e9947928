"""The log of the process, on standard error.

Rules kept here:
- warnings and errors only; with `--verbose` all records, and tracebacks;
- with `--access-log` the line of each HTTP request, too;
- with `--log-format json` each record is one JSON document on a line: time, level, logger, message;
- secrets that the process has read are hidden;
- the level of the root logger is set, so that a caller can skip making a record that is not written;
- when the command has ended, the logging configuration of the process is restored.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from cortex_skills.doors.cli.output import Output

REQUESTS = "cortex_skills.doors.http.middleware.request_log"


class LogLines(logging.Handler):
    """Writes log records to the output of the command.

    Attributes:
        as_json: whether a record is a JSON document with its time.
        requests: whether the lines of HTTP requests are written without `--verbose`, too.
    """

    def __init__(self, out: Output, is_verbose: Callable[[], bool]) -> None:
        super().__init__()
        self._out = out
        self._is_verbose = is_verbose  # a function: the handler is installed before the options are parsed
        self.as_json = False
        self.requests = False

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        verbose = self._is_verbose()
        shows_all = verbose or (self.requests and record.name == REQUESTS)
        if record.levelno < (logging.INFO if shows_all else logging.WARNING):  # a logger may have a level set
            return
        from cortex_skills.secrets import HIDDEN

        message = record.getMessage()
        if record.exc_info and verbose:
            message = "\n".join([message, *"".join(traceback.format_exception(*record.exc_info)).splitlines()])
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds") if self.as_json else None
        self._out.log(record.levelname.lower(), record.name, HIDDEN.text(message), at)


@contextmanager
def logging_to(out: Output, is_verbose: Callable[[], bool]) -> Iterator[None]:
    """Write the log to `out` until the block ends."""
    root = logging.getLogger()
    handler, level = LogLines(out, is_verbose), root.level
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


def set_log(log_format: str, *, requests: bool = False) -> None:
    """How the log of this command is written from now on: the options of `serve` and `mcp`."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, LogLines):
            handler.as_json, handler.requests = log_format == "json", requests
    if requests:
        logging.getLogger(REQUESTS).setLevel(logging.INFO)
