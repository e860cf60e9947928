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
# Word lists that patterns share: separated by blanks, `_` for a blank within a name.
_LISTS = frozenset({"TURN", "SYSTEM", "HELPER", "MUST"})


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
    names, patterns = _compiled()
    encoded = folded.encode("utf-8", "replace")
    kind: str | None = None
    begins: dict[int, str] = {}
    for number in sorted(patterns.Match(encoded) or ()):
        name = names[number]
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


@cache
def _compiled() -> tuple[list[str], Any]:
    lines = _lines()
    found = re2.Filter()
    for _, pattern in lines:
        found.Add(pattern, _options())
    found.Compile()
    return [name for name, _ in lines], found


@cache
def _signs() -> dict[str, Any]:
    return {name: re2.compile(pattern, _options()) for name, pattern in _lines() if name in SIGNS}


@cache
def _options() -> Any:
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    return options


def _lines() -> list[tuple[str, str]]:
    """The names and patterns of the file, with shared word lists filled in."""
    lines: list[tuple[str, str]] = []
    parts: dict[str, str] = {}
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        name, _, pattern = line.partition("\t")
        if name in _LISTS:
            parts[f"{{{name}}}"] = "|".join(fold(word).replace("_", " ") for word in pattern.split())
        elif name == "HOLE":
            parts["{HOLE}"] = pattern
        elif pattern and not name.startswith("#"):
            for part, meaning in parts.items():
                pattern = pattern.replace(part, meaning)
            lines.append((name, pattern))
    return lines
