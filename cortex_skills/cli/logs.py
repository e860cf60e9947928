"""The log of the process, on standard error.

Rules kept here:
- warnings and errors only, unless `--verbose` asks for all; a traceback only then, too;
- what is not written is not made: whoever logs can ask whether anybody reads it;
- while no command runs, the process's logging is as it was.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cortex_skills.cli.options import Common


class _LogLines(logging.Handler):
    """Writes records as the options say, which are read after this has been put in place."""

    def __init__(self, common: Common) -> None:
        super().__init__()
        self._common = common

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        common = self._common
        if record.levelno < (logging.INFO if common.verbose else logging.WARNING):  # a logger may have its own level
            return
        message = record.getMessage()
        if record.exc_info and common.verbose:
            message = "\n".join([message, *"".join(traceback.format_exception(*record.exc_info)).splitlines()])
        common.out.log(record.levelname.lower(), record.name, message)


@contextmanager
def logging_to(common: Common) -> Iterator[None]:
    """Write the log as the options of a command say, for as long as it runs."""
    root = logging.getLogger()
    handler, level = _LogLines(common), root.level
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


def write_all(common: Common) -> None:
    """Write the whole log from now on."""
    common.verbose = True
    logging.getLogger().setLevel(logging.INFO)
