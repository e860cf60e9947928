"""The patterns of `patterns.txt`, and what each stands for.

Rules kept here:
- a line is a name and a pattern of RE2 on folded text; lists of words that patterns share have lines of their own;
- a pattern is compiled when a text may hold it, which few ever do;
- `^` is where a text begins and `$` where it ends: with a line, when it is some of the lines of another.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import re2

from cortex_skills.enrichment.detecting.folding import fold
from cortex_skills.enrichment.detecting.sources import FOLDER

_MEMORY = 64 << 20
_NOTES = "#"
# Makes lines of what has anchors.
_BY_LINES = "(?m)"
# Words that patterns share, apart by blanks, `_` for a blank in one.
_LISTS = frozenset({"TURN", "SYSTEM", "HELPER", "MUST"})
# The anchors of a pattern, and what holds their letters without being one.
_ANCHORS = ("^", "$")
_ANCHOR = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[\^$]")


@cache
def names() -> list[str]:
    """The kind or the sign that each pattern stands for."""
    return [name for name, _ in _lines()]


def every() -> list[str]:
    """All patterns."""
    return [pattern for _, pattern in _lines()]


@cache
def has_anchor(number: int) -> bool:
    """Whether a pattern asks where a text begins or ends."""
    return any(found in _ANCHORS for found in _ANCHOR.findall(_lines()[number][1]))


def stands(number: int, text: bytes) -> bool:
    """Whether a pattern matches in a text, in UTF-8."""
    return _compiled(_lines()[number][1]).search(text) is not None


def may_stand(number: int, text: bytes) -> bool:
    """The same, in any of the lines of the text that follow each other."""
    return anywhere(number).search(text) is not None


def anywhere(number: int) -> Any:
    """A pattern that may begin and end with any line, for who looks for its matches."""
    return _compiled(_BY_LINES + _lines()[number][1])


@cache
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    return re2.compile(pattern, options)


@cache
def _lines() -> list[tuple[str, str]]:
    """The names and patterns of `patterns.txt`."""
    lines: list[tuple[str, str]] = []
    parts: dict[str, str] = {}
    for line in (FOLDER / "patterns.txt").read_text(encoding="utf-8").splitlines():
        name, _, pattern = line.partition("\t")
        if name in _LISTS:
            parts[f"{{{name}}}"] = "|".join(fold(word).replace("_", " ") for word in pattern.split())
        elif name == "HOLE":
            parts["{HOLE}"] = pattern
        elif not name.startswith(_NOTES):
            for part, meaning in parts.items():
                pattern = pattern.replace(part, meaning)
            lines.append((name, pattern))
    return lines
