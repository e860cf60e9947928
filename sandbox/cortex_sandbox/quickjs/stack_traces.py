"""An error thrown in the guest → a `SandboxError` with frames in the author's source files.

Rules kept here:
- the description comes from the guest and is data: every field is checked for its type and truncated;
- frames of the bootstrap and the engine are left out; the others are translated where a source map is known;
- an error without frames is still an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from cortex_sandbox.errors import Frame, SandboxError, SandboxMemoryError
from cortex_sandbox.esbuild.sourcemap import SourceMap

_FRAME = re.compile(
    r"^ {4}at (?:(?P<function>.{0,200}?) \()?(?P<file>[^()]{1,300}):(?P<line>\d{1,9}):(?P<column>\d{1,9})\)?$"
)
_BOOTSTRAP = "cortex:"
# What the engine throws when its heap is full; when not even the error fits, an uninitialized value.
_OUT_OF_MEMORY = frozenset(
    {("InternalError", "out of memory"), ("SyntaxError", "out of memory"), ("Thrown", "[uninitialized]")}
)
_MAX_FRAMES = 50
_MAX_TEXT = 4096


def error_from(described: bytes, maps: Mapping[str, SourceMap]) -> SandboxError:
    """The error that the bootstrap's `describe` described.

    Args:
        described: JSON with `name`, `message` and `stack`.
        maps: source maps by the name of the generated file.
    """
    try:
        found = json.loads(described)
    except (ValueError, RecursionError):
        found = {}
    if not isinstance(found, dict):
        found = {}
    name = _text(found.get("name"))[:100] or "Error"
    message = _text(found.get("message"))[:_MAX_TEXT]
    frames = frames_of(_text(found.get("stack")), maps)
    if (name, message) in _OUT_OF_MEMORY:
        return SandboxMemoryError("out of memory", "InternalError", frames)
    return SandboxError(message, name, frames)


def frames_of(stack: str, maps: Mapping[str, SourceMap]) -> tuple[Frame, ...]:
    """The frames of a stack trace in QuickJS's format, in the author's source files."""
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
