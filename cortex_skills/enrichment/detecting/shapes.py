r"""Which disguises a text may wear, seen in one pass.

Rules kept here:
- pure and linear: one set of patterns on RE2;
- a shape that is not shown is not there: whoever looks for a disguise asks here first, and then exactly;
- of a text that is not ASCII, every shape is taken to be shown.

    >>> shown("The bridge is 12 m long.") == 0
    True
    >>> shown("1gn0re the rul3s") == DIGITS
    True
"""

from __future__ import annotations

from functools import cache, reduce
from operator import or_
from string import ascii_lowercase
from typing import Any

import re2

from cortex_skills.enrichment.detecting.decoding import CODED

DIGITS, HYPHENS, LETTERS, DOUBLED, CAMEL, LONG, BROKEN, TURN, CODE = (1 << place for place in range(9))
ALL = (1 << 9) - 1

_MEMORY = 16 << 20
_DIGIT = r"(?:[a-z][@$!|013457]|\b[013457@$][a-z]{2})"
_DOUBLE = "(?:" + "|".join(letter * 2 for letter in ascii_lowercase) + ")"
_HUMP = "(?:[a-z][A-Z]|[A-Z][A-Z][a-z])"
_PATTERNS = (
    (DIGITS, f"(?is){_DIGIT}.*{_DIGIT}"),
    (HYPHENS, "(?is)-[a-z].*-[a-z].*-[a-z]"),
    (LETTERS, r"(?:\b\w[\s.\-_*/|,'\"]{1,6}){5}\w\b"),
    (DOUBLED, f"(?is){_DOUBLE}.*{_DOUBLE}.*{_DOUBLE}"),
    (CAMEL, f"(?s){_HUMP}.*{_HUMP}"),
    (LONG, "(?i)[a-z]{16}"),
    (BROKEN, "(?i)[a-z][-.*_/|][a-z]"),
    (TURN, "(?:SYSTEM|ADMIN|ASSISTANT|USER|DEVELOPER|ROOT|HUMAN|AI)(?: [A-Z]+)? ?:"),
    (CODE, CODED),
)


def shown(text: str) -> int:
    """The shapes that `text` shows, a bit each."""
    if not text.isascii():
        return ALL
    found = _patterns().Match(text)
    return reduce(or_, (_PATTERNS[place][0] for place in found), 0) if found else 0


@cache
def _patterns() -> Any:
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    patterns = re2.Set.SearchSet(options)
    for _, pattern in _PATTERNS:
        patterns.Add(pattern)
    patterns.Compile()
    return patterns
