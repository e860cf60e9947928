"""A document with the location of each part, and the problems in it.

Rules kept here:
- a problem has the path of its field (`semantic.permissions.graph[1]`), a message, a hint, and its location;
- text of the document in a message is clipped and escaped, so that it has no effect on a terminal.
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
    """A location: a file (or an environment variable) and, if known, a line from 1."""

    file: str = ""
    line: int | None = None


NOWHERE = Mark()


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem in a document."""

    path: Path
    message: str
    hint: str = ""
    mark: Mark = NOWHERE

    @property
    def field(self) -> str:
        """The path of the field; `document` for the whole document."""
        return field_name(self.path)

    @property
    def file(self) -> str:
        """The file (or environment variable) with the problem; empty without one."""
        return self.mark.file

    @property
    def line(self) -> int | None:
        """The line in that file, from 1, if it is known."""
        return self.mark.line

    def to_json(self) -> dict[str, Any]:
        """The problem as a JSON object."""
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
class LocatedDocument:
    """Plain data with the location of each part, and the problems that reading found.

    Attributes:
        data: dicts with text keys, lists, text, numbers, booleans, None.
        marks: the location of each part, by path.
        texts: the source text of scalars that are not text (`1.0`, `true`), by path.
        problems: the problems that reading found; the data at their paths is not valid.
    """

    data: Any
    marks: Mapping[Path, Mark] = field(default_factory=dict)
    texts: Mapping[Path, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def mark(self, path: Path) -> Mark:
        """The location of the part at `path`, or of the closest part around it."""
        for length in range(len(path), -1, -1):
            if (mark := self.marks.get(path[:length])) is not None:
                return mark
        return NOWHERE

    def problem(self, path: Path, message: str, hint: str = "") -> Problem:
        """A problem of the part at `path`, with its location."""
        return Problem(path, message, hint, self.mark(path))


def field_name(path: Path) -> str:
    """The text form of a path.

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
    """A value for a message: on one line, clipped and escaped."""
    text = json.dumps(value) if value is None or isinstance(value, bool | int | float) else repr(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


def summary(what: str, problems: Sequence[Problem]) -> str:
    """The problems of `what` as text, one a line, at most a hundred."""
    count = len(problems)
    lines = [f"{what} has {count} problem{'' if count == 1 else 's'}:"]
    lines += [f"  {problem}" for problem in problems[:_MAX_LISTED]]
    lines += [f"  … and {count - _MAX_LISTED} more"] if count > _MAX_LISTED else []
    return "\n".join(lines)
