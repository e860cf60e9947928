"""The patterns of `patterns.txt`, and what each stands for.

Rules kept here:
- a line is a name and a pattern of RE2 on folded text; lists of words that patterns share have lines of their own;
- a pattern is compiled when a text may hold it, which few ever do.
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
# Words that patterns share, apart by blanks, `_` for a blank in one.
_LISTS = frozenset({"TURN", "SYSTEM", "HELPER", "MUST"})
# The anchors of a pattern, and what holds their letters without being one.
_ANCHORS = ("^", "$", r"\A", r"\z")
_ANCHOR = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[\^$]")


@cache
def names() -> list[str]:
    """The kind or the sign that each pattern stands for."""
    return [name for name, _ in _lines()]


@cache
def without_anchors() -> list[str]:
    """All patterns, where the beginning and the end of a text may be anywhere in it."""
    return [_ANCHOR.sub(_without_anchor, pattern) for _, pattern in _lines()]


def has_anchor(number: int) -> bool:
    """Whether a pattern asks where a text begins or ends."""
    return _lines()[number][1] != without_anchors()[number]


def stands(number: int, text: bytes) -> bool:
    """Whether a pattern matches in a text, in UTF-8."""
    return _compiled(_lines()[number][1]).search(text) is not None


def may_stand(number: int, text: bytes) -> bool:
    """The same, where the beginning and the end of the text may be anywhere in it."""
    return anywhere(number).search(text) is not None


def anywhere(number: int) -> Any:
    """A pattern without its anchors, for who looks for its matches."""
    return _compiled(without_anchors()[number])


@cache
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    return re2.compile(pattern, options)


def _without_anchor(match: re.Match[str]) -> str:
    return "" if match[0] in _ANCHORS else match[0]


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
