"""A document that a person wrote, and what is wrong with it.

Rules kept here:
- a problem names its field as a person would write it (`semantic.permissions.graph[1]`), says what is wrong,
  what to do next, and where it stands;
- whatever of the document gets into a message is clipped and escaped, so that it cannot draw on a terminal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Path = tuple[str | int, ...]

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MAX_SHOWN = 60
_MAX_LISTED = 100


class Mark(NamedTuple):
    """Where something stands: a file (or an environment variable) and, where known, a line counted from 1."""

    file: str = ""
    line: int | None = None


NOWHERE = Mark()


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a document."""

    path: Path
    message: str
    hint: str = ""
    mark: Mark = NOWHERE

    @property
    def field(self) -> str:
        """The field as a person would write it; `document` for the whole of it."""
        return field_name(self.path)

    @property
    def file(self) -> str:
        """The file (or environment variable) the problem stands in; empty when there is none."""
        return self.mark.file

    @property
    def line(self) -> int | None:
        """The line in that file, counted from 1, where known."""
        return self.mark.line

    def to_json(self) -> dict[str, Any]:
        """The problem as it goes over a wire."""
        return {
            "field": self.field,
            "message": self.message,
            "hint": self.hint,
            "file": self.file,
            "line": self.line,
        }

    def __str__(self) -> str:
        where = ":".join(str(part) for part in (*self.mark, self.field) if part)
        hint = f" ({self.hint})" if self.hint else ""
        return f"{where}: {self.message}{hint}"


@dataclass(frozen=True, slots=True)
class Document:
    """Plain data, where each part of it stands, and what was wrong already when it was read.

    Attributes:
        data: dicts with text keys, lists, text, numbers, booleans, None.
        marks: where each part stands, by path.
        texts: the scalars that are not text, as they were written (`1.0`, `true`), by path.
        problems: what reading has found; the data at these paths is not to be relied on.

    """

    data: Any
    marks: Mapping[Path, Mark] = field(default_factory=dict)
    texts: Mapping[Path, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def mark(self, path: Path) -> Mark:
        """Where the part at `path` stands, or the closest part around it."""
        for length in range(len(path), -1, -1):
            if (mark := self.marks.get(path[:length])) is not None:
                return mark
        return NOWHERE

    def problem(self, path: Path, message: str, hint: str = "") -> Problem:
        """A problem with the part at `path`, with its place filled in."""
        return Problem(path, message, hint, self.mark(path))


def field_name(path: Path) -> str:
    """A path as a person would write it.

    >>> field_name(("semantic", "permissions", "graph", 1))
    'semantic.permissions.graph[1]'
    """
    name = ""
    for part in path:
        if isinstance(part, int):
            name += f"[{part}]"
        elif _PLAIN_KEY.fullmatch(part):
            name += f".{part}" if name else part
        else:
            name += f"[{shown(part)}]"
    return name or "document"


def shown(value: Any) -> str:
    """A value as it may stand in a message: on one line, clipped, with nothing a terminal would act on."""
    text = json.dumps(value) if value is None or isinstance(value, bool | int | float) else repr(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


def summary(what: str, problems: Sequence[Problem]) -> str:
    """The problems of `what` for a person to read, one a line; at most a hundred of them."""
    count = len(problems)
    lines = [f"{what} has {count} problem{'' if count == 1 else 's'}:"]
    lines += [f"  {problem}" for problem in problems[:_MAX_LISTED]]
    lines += [f"  … and {count - _MAX_LISTED} more"] if count > _MAX_LISTED else []
    return "\n".join(lines)
