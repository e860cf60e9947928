"""The output of commands: the answer on standard output, everything else on standard error.

Rules kept here:
- standard output holds only the answer; with `--json` exactly one JSON document, or one a line for a stream of events;
- errors, log lines and notes go to standard error; with `--json` as JSON documents, one a line;
- every character that is not printable is escaped: a file name or a value of the graph cannot send control sequences
  to a terminal, and the later lines of an error cannot imitate another error;
- the remedy for a full disk is space, and never to restart the command that writes it;
- colours, tables and progress bars only on a terminal, no colours when NO_COLOR is set; plain lines in a pipe.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from cortex_skills.errors import CortexError
from cortex_skills.safe_io.display import json_text, one_line

if TYPE_CHECKING:
    from rich.console import Console

    from cortex_graph.transfer import Progress

# A text, or a text and its style on a terminal.
Part = str | tuple[str, str]

STATEMENT = ("subject", "predicate", "object")
MAKE_ROOM = "free disk space, or write to another folder"
"""The hint for a full disk."""

_STYLES = {"critical": "bold red", "error": "bold red", "fail": "bold red", "warning": "yellow", "warn": "yellow"}


def of_files(error: OSError) -> tuple[str, str]:
    """The message for an error of the file system, and what to do; empty where that depends on the file."""
    message = f"{error.filename} cannot be used: {error.strerror}" if error.filename else str(error)
    is_forbidden = isinstance(error, PermissionError)
    return message, "check its owner and its mode, and those of the folders around it" if is_forbidden else ""


def _of_command(error: CortexError) -> CortexError:
    """An error with the hint of a command, which ends with it, where the hint is for what keeps a store open."""
    from cortex_graph.checks.engine_errors import states_full

    process = error.details.get("process")
    if process not in (None, str(os.getpid())) or (process is None and not states_full(error.message)):
        return error
    return CortexError(error.code, error.message, hint=MAKE_ROOM, details=error.details)


class Output:
    """Writes for a person or, as JSON, for a program.

    Args:
        as_json: whether the answer is JSON, for a program.
    """

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json

    # --- the answer

    def answer(self, document: Any, show: Callable[[], None]) -> None:
        """Write the answer: `document` as JSON for a program, or the lines that `show` writes for a person."""
        if self.as_json:
            click.echo(json.dumps(document, indent=2))
        else:
            show()

    def document(self, document: Any) -> None:
        """Write one JSON document of a stream, on one line."""
        click.echo(json.dumps(document))

    def line(self, *parts: Part) -> None:
        """Write one line of the answer."""
        _write(self._terminal, parts)

    def text(self, text: str) -> None:
        """Write several lines of the answer."""
        for line in text.split("\n"):
            self.line(line)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Write a table; in a pipe one line a row, with tabs between the cells."""
        if self._terminal is None:
            for row in (columns, *rows):
                click.echo("\t".join(one_line(cell) for cell in row))
            return
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in columns:
            table.add_column(column, overflow="fold")
        for row in rows:
            table.add_row(*(Text(one_line(cell)) for cell in row))
        self._terminal.print(table)

    @property
    def is_terminal(self) -> bool:
        """Whether the answer goes to a terminal."""
        return self._terminal is not None

    # --- everything else

    def error(self, error: CortexError) -> None:
        """Write an error: its code, what happened, and what to do next."""
        error = _of_command(error)
        if self.as_json:
            self._note_json(error.to_json())
            return
        self._paragraph(f"error[{error.code}]: ", style_of("error"), error.message + _source_line(error.details))
        if error.hint:
            self._paragraph("hint: ", "bold", error.hint)

    def note(self, message: str) -> None:
        """Write a note beside the answer."""
        if self.as_json:
            self._note_json({"note": message})
        else:
            self._note(message)

    def log(self, level: str, source: str, message: str, time: str | None = None) -> None:
        """Write a line of the log: a JSON document where the answer is one, or a time is given."""
        if self.as_json or time is not None:
            at = {} if time is None else {"time": time}
            self._note_json({**at, "level": level, "logger": source, "message": message})
        else:
            self._paragraph(f"{level}: ", style_of(level), message)

    @contextmanager
    def working(self, what: str) -> Iterator[None]:
        """Show a spinner and the elapsed time on a terminal until the block ends; nothing in a pipe."""
        if self._margin is None or self.as_json:
            yield
            return
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
        with Progress(*columns, console=self._margin, transient=True) as progress:
            progress.add_task(one_line(what), total=None)
            yield

    @contextmanager
    def progress(self, what: str) -> Iterator[Progress]:
        """Show on a terminal how far long work has come; nothing in a pipe. Gives what the work is to call."""
        if self._margin is None or self.as_json:
            yield lambda *_: None
            return
        from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

        text = TextColumn("{task.description}", markup=False)
        columns = (SpinnerColumn(), text, BarColumn(), TaskProgressColumn(show_speed=True), TimeElapsedColumn())
        with Progress(*columns, console=self._margin, transient=True) as bar:
            task = bar.add_task(one_line(what), total=None)
            shown = ""

            def report(step: str, done: int, total: int | None) -> None:
                nonlocal task, shown
                if step != shown:  # a new task: the bar of an old one keeps its total when the new step has none
                    bar.remove_task(task)
                    task, shown = bar.add_task(one_line(f"{step} ({what})"), total=total), step
                bar.update(task, completed=done, total=total)

            yield report

    def _paragraph(self, label: str, style: str, text: str) -> None:
        """Lines of which all but the first are indented."""
        first, *rest = text.split("\n")
        self._note((label, style), first)
        for line in rest:
            self._note(line if line.startswith("  ") else f"  {line}")

    def _note(self, *parts: Part) -> None:
        _write(self._margin, parts, err=True)

    def _note_json(self, document: Any) -> None:
        click.echo(json.dumps(document), err=True)

    @cached_property
    def _terminal(self) -> Console | None:
        return _console(sys.stdout)

    @cached_property
    def _margin(self) -> Console | None:
        return _console(sys.stderr)


def _source_line(details: Mapping[str, Any]) -> str:
    """The source line of an error, with a caret below it."""
    _, *lines = str(details.get("excerpt", "")).expandtabs(4).split("\n")
    return "".join(f"\n{line}" for line in lines)


def style_of(word: str) -> str:
    """The style of a severity, a level or a verdict; none for the harmless ones."""
    return _STYLES.get(word, "")


def _write(console: Console | None, parts: Sequence[Part], *, err: bool = False) -> None:
    pieces = [(part, "") if isinstance(part, str) else part for part in parts]
    shown = [(one_line(text), style) for text, style in pieces]
    if console is None:
        click.echo("".join(text for text, _ in shown), err=err)
        return
    from rich.text import Text

    # Soft wrapping by the terminal, so that a path or hash can be copied whole.
    console.print(Text.assemble(*shown), soft_wrap=True)


def _console(stream: TextIO | None) -> Console | None:
    """The terminal of a stream; None when the stream is no terminal."""
    if stream is None or not stream.isatty():
        return None
    from rich.console import Console

    return Console(file=stream, highlight=False, markup=False, emoji=False)


def counted(number: int, thing: str) -> str:
    """`1 statement`, `2 statements`."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def are(number: int) -> str:
    """`is` of one, `are` of several."""
    return "is" if number == 1 else "are"


def write_whole(path: Path, text: str) -> None:
    """Write a file atomically.

    Raises:
        CortexError: `invalid_arguments`: it cannot be written.
    """
    import tempfile

    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=".", delete=False) as file:
            file.write(text)
        os.replace(file.name, path)  # noqa: PTH105 - both are on one disk
    except OSError as error:
        hint = "choose a writable folder"
        raise CortexError("invalid_arguments", f"{path} cannot be written: {error.strerror}", hint=hint) from None


def shown_value(value: Any) -> str:
    """A value of an answer as one line."""
    if isinstance(value, list):
        return ", ".join(map(shown_value, value)) or "none"
    if isinstance(value, Mapping):
        is_statement = all(part in value for part in STATEMENT)
        return " ".join(value[part] for part in STATEMENT) if is_statement else json_text(value)
    return "" if value is None else value if isinstance(value, str) else json_text(value)
