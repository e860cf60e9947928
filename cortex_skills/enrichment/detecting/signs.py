r"""What needs no words to be an instruction: turns and tags of chats, calls of tools, commands, links that carry data.

Rules kept here:
- the patterns are lines of `patterns.txt`; RE2 looks for what any of them needs at once, and runs those alone
  that may be there, in time linear in the text whatever it is;
- each stands for something that has no place in a fact: `<b>`, `rm(1)`, a badge with its link, `x.role === "system"`
  pass;
- the lesser signs (`URL`, `MONEY`, …) are no instruction: a rule asks for them beside words.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import re2

from cortex_skills.enrichment.detecting.folding import fold
from cortex_skills.enrichment.detecting.rules import SIGNS

_MEMORY = 64 << 20
_NOTES = "#"


def seen_in(text: str) -> tuple[str | None, int]:
    """What a folded text is by its form.

    Returns:
        Its kind, None when it is no instruction; and the lesser signs that it holds, a bit each.

    """
    patterns, names = _patterns()
    kind, signs = None, 0
    for place in patterns.Match(text) or ():
        name = names[place]
        if name in SIGNS:
            signs |= SIGNS[name]
        else:
            kind = kind or name
    return kind, signs


@cache
def _patterns() -> tuple[Any, list[str]]:
    """All patterns, and the kind or sign that each stands for."""
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    patterns = re2.Filter()
    names: list[str] = []
    parts: dict[str, str] = {}
    for line in files(__package__).joinpath("patterns.txt").read_text(encoding="utf-8").splitlines():
        name, _, pattern = line.partition("\t")
        if name == "TURN":
            parts["{TURN}"] = "|".join(map(fold, pattern.split()))
        elif name == "HOLE":
            parts["{HOLE}"] = pattern
        elif not name.startswith(_NOTES):
            for part, meaning in parts.items():
                pattern = pattern.replace(part, meaning)
            patterns.Add(pattern, options)
            names.append(name)
    patterns.Compile()
    return patterns, names
