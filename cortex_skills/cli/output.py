"""What the command writes: an answer to standard output, everything else to standard error.

Rules kept here:
- standard output holds the answer and nothing else; with `--json` that is exactly one JSON document, or, for an answer
  that goes on, one a line;
- errors, log lines and notes go to standard error; with `--json` they are JSON documents too, one a line;
- every character that is not printable is written as an escape, wherever the text came from: a file name or a value of
  the graph cannot draw on a terminal, and what follows the first line of an error cannot look like another error;
- colours, tables and progress on a terminal only, and no colours when NO_COLOR is set; plain lines in a pipe.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, TextIO

import click

from cortex_skills.errors import CortexError
from cortex_skills.escaping import one_line

if TYPE_CHECKING:
    from rich.console import Console

    from cortex_graph.transfer import Progress

# A text, or a text with the style that it has on a terminal.
Part = str | tuple[str, str]

_STYLES = {"critical": "bold red", "error": "bold red", "fail": "bold red", "warning": "yellow", "warn": "yellow"}


class Output:
    """Writes for a person or, as JSON, for a program.

    Args:
        as_json: whether a program reads.

    """

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json

    # --- the answer

    def answer(self, document: Any, show: Callable[[], None]) -> None:
        """Give the answer: the document to a program, or what `show` writes to a person."""
        if self.as_json:
            click.echo(json.dumps(document, indent=2))
        else:
            show()

    def document(self, document: Any) -> None:
        """One of several JSON documents, for an answer that goes on; each stands on a line of its own."""
        click.echo(json.dumps(document))

    def line(self, *parts: Part) -> None:
        """One line of the answer."""
        _write(self._terminal, parts)

    def text(self, text: str) -> None:
        """Several lines of the answer."""
        for line in text.split("\n"):
            self.line(line)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Rows under the names of their columns; in a pipe a line each, with tabs between."""
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
        """An error: its code, what happened, and what to do next."""
        if self.as_json:
            self._note_json(error.to_json())
            return
        self._paragraph(f"error[{error.code}]: ", style_of("error"), error.message + _source_line(error.details))
        if error.hint:
            self._paragraph("hint: ", "bold", error.hint)

    def note(self, message: str) -> None:
        """Something worth knowing beside the answer."""
        if self.as_json:
            self._note_json({"note": message})
        else:
            self._note(message)

    def log(self, level: str, source: str, message: str) -> None:
        """A line of the log."""
        if self.as_json:
            self._note_json({"level": level, "logger": source, "message": message})
        else:
            self._paragraph(f"{level}: ", style_of(level), message)

    @contextmanager
    def working(self, what: str) -> Iterator[None]:
        """Say on a terminal what takes so long, and for how long already; nothing in a pipe."""
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

            def told(step: str, done: int, total: int | None) -> None:
                bar.update(task, description=one_line(f"{step} ({what})"), completed=done, total=total)

            yield told

    def _paragraph(self, label: str, style: str, text: str) -> None:
        """Lines of which only the first one stands at the margin."""
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
    """The line of a skill's source that an error is about, with its caret, below the message that names its place."""
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

    # Soft: the terminal wraps, so that a copied path or hash is whole.
    console.print(Text.assemble(*shown), soft_wrap=True)


def _console(stream: TextIO | None) -> Console | None:
    """The terminal behind a stream; None when there is none."""
    if stream is None or not stream.isatty():
        return None
    from rich.console import Console

    return Console(file=stream, highlight=False, markup=False, emoji=False)
