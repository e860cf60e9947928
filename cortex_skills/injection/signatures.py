"""Patterns that mark an instruction without regard to words: chat-template tokens, tool calls, shell commands, links.

Rules kept here:
- a line of `signatures.txt` is a name and an RE2 pattern for folded text; word lists that patterns share have lines of
  their own;
- `re2.Filter` searches for the literals of all patterns at once and runs the patterns whose literals occur, in time
  linear in the text;
- each pattern has no use in a statement of fact: `<b>`, `rm(1)`, a badge with its link pass. The lesser signs (`URL`,
  `MONEY`, …) are no instruction alone; a rule asks for them near words (`rules`), so they are marked where they begin
  with a character that no folded text has.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import re2

from cortex_skills.injection.normalize import fold

# The lesser signs, and the characters that mark them.
SIGNS = {
    name: chr(0xE000 + place)
    for place, name in enumerate(("URL", "MAIL", "MONEY", "IDENTIFIER", "RISKY", "PLACEHOLDER"))
}

_FILE = Path(__file__).parent / "signatures.txt"
_MEMORY = 64 << 20
_TOGETHER = 128
# Word lists that patterns share: separated by blanks, `_` for a blank within a name.
_LISTS = frozenset({"TURN", "SYSTEM", "HELPER", "MUST"})
# Patterns that patterns share.
_PARTS = frozenset({"HOLE", "START", "OUTPUT", "PERSON", "AGENT"})


class Signatures(NamedTuple):
    """The patterns found in a text.

    Attributes:
        kind: the kind of the first pattern that marks an instruction; None without one.
        marked: the text, with the lesser signs marked.
    """

    kind: str | None
    marked: str


def signatures_in(folded: str) -> Signatures:
    """Return the patterns that occur in a folded text."""
    encoded = folded.encode("utf-8", "replace")
    kind: str | None = None
    begins: dict[int, str] = {}
    for name in _names_in(encoded):
        if name in SIGNS:
            for match in _signs()[name].finditer(encoded):
                begins[match.start()] = begins.get(match.start(), "") + SIGNS[name]
        elif kind is None:
            kind = name
    return Signatures(kind, _marked(encoded, begins) if begins else folded)


def _marked(encoded: bytes, begins: dict[int, str]) -> str:
    parts, last = [], 0
    for place in sorted(begins):
        parts += [encoded[last:place], begins[place].encode()]
        last = place
    return b"".join((*parts, encoded[last:])).decode()


def _names_in(encoded: bytes) -> Iterator[str]:
    for names, patterns in _compiled():
        yield from (names[number] for number in sorted(patterns.Match(encoded) or ()))


@cache
def _compiled() -> list[tuple[list[str], Any]]:
    """Names and patterns, by parts: the literals of all at once are too many for RE2 to search quickly."""
    lines, parts = pattern_lines(), []
    for first in range(0, len(lines), _TOGETHER):
        part = lines[first : first + _TOGETHER]
        found = re2.Filter()
        for _, pattern in part:
            found.Add(pattern, _options())
        found.Compile()
        parts.append(([name for name, _ in part], found))
    return parts


@cache
def _signs() -> dict[str, Any]:
    return {name: re2.compile(pattern, _options()) for name, pattern in pattern_lines() if name in SIGNS}


@cache
def _options() -> Any:
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    return options


def pattern_lines() -> list[tuple[str, str]]:
    """The names and patterns of the file, with shared word lists filled in."""
    lines: list[tuple[str, str]] = []
    parts: dict[str, str] = {}
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        name, _, pattern = line.partition("\t")
        if name in _LISTS:
            parts[f"{{{name}}}"] = "|".join(fold(word).replace("_", " ") for word in pattern.split())
        elif name in _PARTS:
            parts[f"{{{name}}}"] = pattern
        elif pattern and not name.startswith("#"):
            for part, meaning in parts.items():
                pattern = pattern.replace(part, meaning)
            lines.append((name, pattern))
    return lines
