"""What a step of the cleaning takes and gives.

Rules kept here:
- a step is a pure function from a JSON value to a JSON value and to what it removed;
- a removal says why and where, never what: the text itself goes nowhere;
- paths are JSON Pointers (RFC 6901), cut and free of hidden characters, since keys are hostile too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cortex_skills.escaping import one_line

# The keys and places that lead to a value; written as a pointer only when something was removed there.
Path = tuple[str | int, ...]

PATH_LIMIT = 200
_KEY_SHOWN = 40


class Nothing:
    """The value of what was removed whole; JSON's null is None."""


NOTHING = Nothing()


@dataclass(frozen=True)
class Removal:
    """Something that was taken out: why, from where, and how many values."""

    reason: str
    path: str
    count: int = 1

    def to_json(self) -> dict[str, Any]:
        """The removal as a JSON object."""
        return dict(vars(self))


@dataclass(frozen=True)
class Cleaned:
    """What a step leaves of a value (`NOTHING` when nothing), and what it removed."""

    value: Any
    removals: tuple[Removal, ...]


def pointer(path: Sequence[str | int]) -> str:
    """The JSON Pointer of a path."""
    return "".join(
        f"/{key if isinstance(key, int) else one_line(key[:_KEY_SHOWN]).replace('~', '~0').replace('/', '~1')}"
        for key in path
    )[:PATH_LIMIT]
