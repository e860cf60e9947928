"""Patterns that mark an instruction without regard to words: chat-template tokens, tool calls, shell commands, links.

Rules kept here:
- a line of `signatures.txt` is a name and an RE2 pattern for folded text; word lists that patterns share have lines of
  their own;
- `re2.Filter` searches for the literals of all patterns at once and runs the patterns whose literals occur, in time
  linear in the text;
- each pattern has no use in a statement of fact: `<b>`, `rm(1)`, a badge with its link pass. The lesser signs (`URL`,
  `MONEY`, …) are no instruction alone; a rule asks for them beside words (`rules`).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import re2

from cortex_skills.injection.normalize import fold

# What the text as a whole holds, one bit each.
SIGNS = {name: 1 << place for place, name in enumerate(("URL", "MAIL", "MONEY", "IDENTIFIER", "RISKY", "PLACEHOLDER"))}

_FILE = Path(__file__).parent / "signatures.txt"
_MEMORY = 64 << 20
# Word lists that patterns share: separated by blanks, `_` for a blank within a name.
_LISTS = frozenset({"TURN", "SYSTEM", "HELPER", "MUST"})


class Signatures(NamedTuple):
    """The patterns found in a text.

    Attributes:
        kind: the kind of the first pattern that marks an instruction; None without one.
        signs: the lesser signs that occur, as bits of `SIGNS`.

    """

    kind: str | None
    signs: int


def signatures_in(folded: str) -> Signatures:
    """Return the patterns that occur in a folded text."""
    names, found = _compiled()
    kind, signs = None, 0
    for number in sorted(found.Match(folded.encode("utf-8", "replace")) or ()):
        if names[number] in SIGNS:
            signs |= SIGNS[names[number]]
        elif kind is None:
            kind = names[number]
    return Signatures(kind, signs)


@cache
def _compiled() -> tuple[list[str], Any]:
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    lines = _lines()
    found = re2.Filter()
    for _, pattern in lines:
        found.Add(pattern, options)
    found.Compile()
    return [name for name, _ in lines], found


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
