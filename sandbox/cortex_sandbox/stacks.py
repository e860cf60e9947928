"""What a guest threw → an error with frames in the files that its author wrote.

Rules kept here:
- what the guest says of itself is data: every field is checked for its type and cut;
- frames of the bootstrap and of the engine are left out; the rest is translated where a source map is known;
- an error without any place is still an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from .errors import Frame, SandboxError, SandboxMemoryError
from .sourcemap import SourceMap

_FRAME = re.compile(
    r"^ {4}at (?:(?P<function>.{0,200}?) \()?(?P<file>[^()]{1,300}):(?P<line>\d{1,9}):(?P<column>\d{1,9})\)?$"
)
_BOOTSTRAP = "cortex:"
# As what the engine throws when its heap is full: where even the error does not fit, it throws what is no value.
_OUT_OF_MEMORY = frozenset(
    {("InternalError", "out of memory"), ("SyntaxError", "out of memory"), ("Thrown", "[uninitialized]")}
)
_MAX_FRAMES = 50
_MAX_TEXT = 4096


def error_from(described: bytes, maps: Mapping[str, SourceMap]) -> SandboxError:
    """The error that the bootstrap's `describe` told of.

    Args:
        described: JSON with `name`, `message` and `stack`.
        maps: source maps by the name of the generated file.

    """
    try:
        told = json.loads(described)
    except (ValueError, RecursionError):
        told = {}
    if not isinstance(told, dict):
        told = {}
    name = _text(told.get("name"))[:100] or "Error"
    message = _text(told.get("message"))[:_MAX_TEXT]
    frames = frames_of(_text(told.get("stack")), maps)
    if (name, message) in _OUT_OF_MEMORY:
        return SandboxMemoryError("out of memory", "InternalError", frames)
    return SandboxError(message, name, frames)


def frames_of(stack: str, maps: Mapping[str, SourceMap]) -> tuple[Frame, ...]:
    """The frames of a stack as QuickJS prints it, in their authors' files."""
    frames: list[Frame] = []
    for text in stack.splitlines():
        match = _FRAME.match(text)
        if match is None or match["file"].startswith(_BOOTSTRAP):
            continue
        file, line, column = match["file"], int(match["line"]), int(match["column"])
        original = maps[file].original(line, column) if file in maps else None
        if original is not None:
            file, line, column = original
        frames.append(Frame(match["function"] or "", file, line, column))
        if len(frames) == _MAX_FRAMES:
            break
    return tuple(frames)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
