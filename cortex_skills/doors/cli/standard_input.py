"""Standard input of a command, which may be closed."""

from __future__ import annotations

import sys
from typing import BinaryIO

import click


def standard_input() -> BinaryIO:
    """Standard input, as bytes.

    Raises:
        click.UsageError: it is closed, as a service or a script may start a command.
    """
    if sys.stdin is None:
        raise click.UsageError("standard input is closed, and this command reads it: connect it to a file or a pipe")
    return sys.stdin.buffer


def is_interactive() -> bool:
    """Whether a person can answer at standard input."""
    return sys.stdin is not None and sys.stdin.isatty()
