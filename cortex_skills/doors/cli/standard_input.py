"""Texts that a command is given: in a file, or on standard input, which may be closed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO

import click

MOST = 16 << 20


def standard_input() -> BinaryIO:
    """Standard input, as bytes.

    Raises:
        click.UsageError: it is closed, as a service or a script may start a command.
    """
    if sys.stdin is None:
        raise click.UsageError("standard input is closed, and this command reads it: connect it to a file or a pipe")
    return sys.stdin.buffer


def given_text(file: Path) -> str:
    """The text of a file that the user names, or of standard input for `-`; at most `MOST` bytes of UTF-8.

    Raises:
        click.UsageError: it cannot be read, is longer, or is not UTF-8.
    """
    is_piped = str(file) == "-"
    name = "standard input" if is_piped else str(file)
    try:
        if is_piped:
            data = standard_input().read(MOST + 1)
        else:
            with file.open("rb") as opened:
                data = opened.read(MOST + 1)
    except OSError as error:
        raise click.UsageError(f"{name} cannot be read: {error.strerror}") from None
    if len(data) > MOST:
        raise click.UsageError(f"{name} has more than {MOST >> 20} MiB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{name} is not UTF-8: {error}") from None


def is_interactive() -> bool:
    """Whether a person can answer at standard input."""
    return sys.stdin is not None and sys.stdin.isatty()
