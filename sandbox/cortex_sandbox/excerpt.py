"""The line that an error is about, as a compiler shows it.

    rules.ts:7:23
      7 | return rows.length > limit.value;
        |                            ^

Rules kept here:
- only text that the host handed in itself is shown: a guest may forge the places of its errors, and gains nothing;
- one line, cut around the place, with whatever cannot be seen replaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .errors import Frame

_BEFORE, _AFTER = 80, 60


def excerpt(frames: Iterable[Frame], sources: Mapping[str, str]) -> str:
    """The innermost frame's line with a caret under its column; empty when none of the frames is in the sources.

    Args:
        frames: of an error, innermost first; columns count UTF-16 code units from 1.
        sources: text by file name.

    """
    for frame in frames:
        lines = sources[frame.file].split("\n") if frame.file in sources else []
        if 1 <= frame.line <= len(lines):
            return _shown(frame, lines[frame.line - 1])
    return ""


def _shown(frame: Frame, line: str) -> str:
    column = len(line.encode("utf-16-le", "surrogatepass")[: 2 * (frame.column - 1)].decode("utf-16-le", "ignore"))
    start = max(0, column - _BEFORE)
    before, after = line[start:column], line[column : column + _AFTER]
    gutter = " " * len(str(frame.line))
    pad = "".join("\t" if char == "\t" else " " for char in before)
    text = _seen(before + after).rstrip()
    return f"{_seen(frame.file)}:{frame.line}:{frame.column}\n  {frame.line} | {text}\n  {gutter} | {pad}^"


def _seen(text: str) -> str:
    return "".join(char if char.isprintable() or char == "\t" else "\ufffd" for char in text)
