"""The exceptions of the sandbox, with stable codes.

Rules kept here:
- every failure of guest code reaches the host as a `SandboxError`, never as a trap, a crash or a hang;
- `name`, `message` and `frames` come from the guest and are data, never trusted and never formatted into code;
- frames refer to the author's source files wherever a source map is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a stack trace: the function (may be empty), and the file with 1-based line and column."""

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
        name: the name of the JavaScript error (`TypeError`), or of the sandbox's (`SandboxClosed`).
        message: the message; at most 4,096 characters.
        frames: the stack trace, innermost first, in the author's source files where a source map is known.
        excerpt: the source line with a caret, where the host knows the source; else empty.
        code: the stable code.
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
        """The frames as text, one per line, in the format of JavaScript engines."""
        return "\n".join(str(frame) for frame in self.frames)

    @property
    def file(self) -> str | None:
        """The file of the innermost frame; None without frames."""
        return self.frames[0].file if self.frames else None

    @property
    def line(self) -> int | None:
        """The 1-based line of the innermost frame; None without frames."""
        return self.frames[0].line if self.frames else None

    @property
    def column(self) -> int | None:
        """The 1-based column of the innermost frame; None without frames."""
        return self.frames[0].column if self.frames else None

    @property
    def details(self) -> dict[str, Any]:
        """The error as JSON values."""
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


class TranspileError(SandboxError):
    """The source could not be bundled: a syntax error, or an import that is refused."""

    code = "transpile_error"


class CompileError(SandboxError):
    """The bytes are not a WebAssembly module or component that may run here: malformed, too large, a refused import."""

    code = "compile_error"


class MissingExport(SandboxError):
    """The module does not export the function that was to be called, or exports it with another type."""

    code = "missing_export"


class FuelExhausted(SandboxError):
    """The module executed more instructions than its fuel allows, and was stopped."""

    code = "fuel_exhausted"


class MemoryLimit(SandboxMemoryError):
    """The module needs more memory, tables or instances than its limits allow."""


class TimedOut(SandboxTimeout):
    """The module ran past its time limit and was stopped."""


class Trap(SandboxError):
    """The module did what WebAssembly forbids, or gave up, and was stopped."""

    code = "wasm_trap"
