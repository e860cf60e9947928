"""The source line of an error, as a compiler shows it.

    rules.ts:7:23
      7 | return rows.length > limit.value;
        |                            ^

Rules kept here:
- only text that the host passed in is shown: a guest may forge the places of its errors, but not the text;
- one line, truncated around the place, with non-printable characters replaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cortex_sandbox.errors import Frame

_BEFORE, _AFTER = 80, 60


def excerpt(frames: Iterable[Frame], sources: Mapping[str, str]) -> str:
    """The line of the innermost frame that is in the sources, with a caret under its column; empty when none is.

    Args:
        frames: the frames of an error, innermost first; columns count UTF-16 code units from 1.
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
