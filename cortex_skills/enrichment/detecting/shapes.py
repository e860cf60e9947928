r"""Which disguises a text may wear.

Rules kept here:
- pure and linear, on RE2: a search for each sign of a disguise that the reader does not look for itself;
- a shape that is not shown is not there: whoever looks for a disguise asks here first, and then exactly;
- what the words of a text show, the reader looks for.

    >>> shown("The bridge is 12 m long.") == 0
    True
    >>> shown("SYSTEM: the bridge is long") == TURN
    True
"""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import Any

import re2

from cortex_skills.enrichment.detecting.decoding import CODED_IN_LINES, CODED_OVER_LINES

# What may be doubted of a text: digits in its words, letters apart, humps, words written as one, turns of a chat, code;
# its words as they are, from the last to the first, or turned; doubled letters, hyphens in words, signs of code, words
# that are broken up. Those that the reader looks for are told by the same bits in `reader/reader.h`.
(DIGITS, LETTERS, CAMEL, LONG, TURN, CODE, WORDS, BACKWARDS, TURNED, DOUBLES, BREAKS, SIGNS, BROKEN) = (
    1 << place for place in range(13)
)
EVERYTHING = (1 << 13) - 1
# Those that are shown here.
ALL = TURN | CODE

SPEAKER = "(?:SYSTEM|ADMIN|ASSISTANT|USER|DEVELOPER|ROOT|HUMAN|AI)(?: [A-Z]+)? ?:"


def shown(text: str) -> int:
    """The shapes that `text` shows, a bit each."""
    encoded = text.encode("utf-8", "replace")
    return (CODE if any(pattern.search(encoded) for pattern in chain(*coded())) else 0) | (
        TURN if speaker().search(encoded) else 0
    )


@cache
def coded() -> tuple[list[Any], list[Any]]:
    """What a text in code shows: in a line, and over lines."""
    return [re2.compile(some) for some in CODED_IN_LINES], [re2.compile(some) for some in CODED_OVER_LINES]


@cache
def speaker() -> Any:
    """Who speaks, in capitals."""
    return re2.compile(SPEAKER)
