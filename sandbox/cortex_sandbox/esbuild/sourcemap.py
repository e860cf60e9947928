"""Source maps: from a place in generated JavaScript to its place in the source.

Rules kept here:
- pure: text in, places out. A map is decoded at the first lookup, so that a skill without errors never decodes it;
- lines and columns are 1-based, as in editors and in QuickJS; columns count UTF-16 code units;
- sources are URLs: `my%20skill.ts` is the file `my skill.ts`;
- a malformed map has no places and raises no error: it is only used for messages.

The format is Source Map revision 3 (ECMA-426).
"""

from __future__ import annotations

import json
from bisect import bisect_right
from functools import cached_property
from urllib.parse import unquote

_BASE64 = {c: i for i, c in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")}

# (generated column, source index, line, column), all 0-based
_Segment = tuple[int, int, int, int]


class SourceMap:
    """A source map, decoded at the first lookup.

    Args:
        text: the map as JSON.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def original(self, line: int, column: int) -> tuple[str, int, int] | None:
        """The source file, line and column of a generated place; None when the map has none."""
        lines = self._lines
        if not 1 <= line <= len(lines):
            return None
        segments = lines[line - 1]
        at = bisect_right(segments, column - 1, key=lambda segment: segment[0]) - 1
        if at < 0:
            return None
        _, source, original_line, original_column = segments[at]
        if not 0 <= source < len(self._sources) or original_line < 0 or original_column < 0:
            return None
        return self._sources[source], original_line + 1, original_column + 1

    @cached_property
    def _map(self) -> dict[str, object]:
        try:
            found = json.loads(self._text)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    @cached_property
    def _sources(self) -> list[str]:
        sources = self._map.get("sources")
        return [unquote(str(source)) for source in sources] if isinstance(sources, list) else []

    @cached_property
    def _lines(self) -> list[list[_Segment]]:
        mappings = self._map.get("mappings")
        try:
            return _decode(mappings) if isinstance(mappings, str) else []
        except (KeyError, IndexError):
            return []


def _decode(mappings: str) -> list[list[_Segment]]:
    lines: list[list[_Segment]] = []
    source = line = column = 0
    for text in mappings.split(";"):
        generated = 0
        segments: list[_Segment] = []
        for field in text.split(","):
            numbers = _vlq(field)
            if not numbers:
                continue
            generated += numbers[0]
            if len(numbers) >= 4:
                source += numbers[1]
                line += numbers[2]
                column += numbers[3]
                segments.append((generated, source, line, column))
        lines.append(segments)
    return lines


def _vlq(field: str) -> list[int]:
    """The signed numbers of one segment: base64 digits of five bits, lowest first, the sign in the lowest bit."""
    numbers: list[int] = []
    value = shift = 0
    for digit in field:
        bits = _BASE64[digit]
        value |= (bits & 31) << shift
        if bits & 32:
            shift += 5
            continue
        numbers.append(-(value >> 1) if value & 1 else value >> 1)
        value = shift = 0
    return numbers
