"""What can go wrong in a sandbox, as exceptions with a stable code.

Rules kept here:
- every failure of guest code reaches the host as a `SandboxError`, never as a trap, a crash or a hang;
- `name`, `message` and `frames` come from the guest and are data, never trusted and never formatted into code;
- frames point into the source that its author wrote, wherever a source map is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a stack: the function (may be empty), and a place with 1-based line and column."""

    function: str
    file: str
    line: int
    column: int

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}"
        return f"    at {self.function} ({place})" if self.function else f"    at {place}"


class SandboxError(Exception):
    """Guest code failed, or was refused.

    Attributes:
        name: the JavaScript error's name (`TypeError`), or a name of ours (`SandboxClosed`).
        message: what it says; at most 4,096 characters.
        frames: where it happened, innermost first, in the author's own files where a source map is known.
        excerpt: the line that it is about, with a caret, where the host knows the source; else empty.
        code: the stable code that a host may pass on.

    """

    code = "skill_error"
    excerpt = ""

    def __init__(self, message: str, name: str = "Error", frames: tuple[Frame, ...] = ()) -> None:
        super().__init__(f"{name}: {message}" if name else message)
        self.name = name
        self.message = message
        self.frames = frames

    @property
    def stack(self) -> str:
        """The frames as text, a line each, in the form that JavaScript developers know."""
        return "\n".join(str(frame) for frame in self.frames)

    @property
    def file(self) -> str | None:
        """The file of the innermost frame; None when no place is known."""
        return self.frames[0].file if self.frames else None

    @property
    def line(self) -> int | None:
        """The 1-based line of the innermost frame; None when no place is known."""
        return self.frames[0].line if self.frames else None

    @property
    def column(self) -> int | None:
        """The 1-based column of the innermost frame; None when no place is known."""
        return self.frames[0].column if self.frames else None

    @property
    def details(self) -> dict[str, Any]:
        """The error as JSON-ready data."""
        return {
            "name": self.name,
            "message": self.message,
            "frames": [
                {"function": f.function, "file": f.file, "line": f.line, "column": f.column} for f in self.frames
            ],
            "excerpt": self.excerpt,
        }


class SandboxTimeout(SandboxError):
    """Guest code ran past its time limit and was stopped; the sandbox cannot be used again."""

    code = "skill_timeout"


class SandboxMemoryError(SandboxError):
    """Guest code ran past its memory limit."""

    code = "skill_memory"


class ModuleStopped(Exception):
    """A module of our own stopped in the middle of a call (`pure.py`): it had no memory left, or a fault.

    What it was given is lost; whoever asks again begins in a new instance.
    """


class TranspileError(SandboxError):
    """The source could not be turned into one JavaScript module: a syntax error, or an import that is refused."""

    code = "transpile_error"
