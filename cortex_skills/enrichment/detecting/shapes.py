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

# What may be doubted of a text: digits in its words, letters apart, humps, words written as one, turns of a chat, code;
# its words as they are, from the last to the first, or turned; doubled letters, hyphens in words, signs of code, words
# that are broken up. Those that the reader looks for are told by the same bits in `reader/reader.h`.
(DIGITS, LETTERS, CAMEL, LONG, TURN, CODE, WORDS, BACKWARDS, TURNED, DOUBLES, BREAKS, SIGNS, BROKEN) = (
    1 << place for place in range(13)
)
EVERYTHING = (1 << 13) - 1
# Those that are shown here.
ALL = TURN | CODE

# Something that is no word of a language, apart, since RE2 is slow with many at once. In a line: escapes and many signs
# without a blank; digits or capitals within a long word. Also over lines: numbers in even groups, dots and strokes,
# words of rot47; groups of one length.
_CODED_IN_LINES = (
    "|".join(
        (
            r"\\[xuU0-7]|=[0-9A-F]{2}|%u[0-9A-Fa-f]{4}|\bU\+[0-9A-Fa-f]{4}|\b[cC]hr[bw]?\([0-9]",
            r"\+[A-Z][A-Za-z0-9+/]{2,}-|<~[!-u]{20}|[!-~]{20}[&*$@#^<>{}~][!-~]{10}",
        )
    ),
    "|".join(
        (
            "[A-Za-z+/_-]{3,}[0-9+/=][A-Za-z0-9+/_-]{7,}|[0-9][A-Za-z0-9+/_-]{11,}|[a-z][A-Z][A-Za-z0-9+/_-]{6,}",
            "[A-Z]{2}[a-z][A-Za-z0-9+/_-]{9,}|[A-Z2-7]{16}",
        )
    ),
)
_CODED_OVER_LINES = (
    "|".join(
        (
            r"[01]{7,8}[\W_]{0,2}[01]{7,8}|(?:[0-9a-fA-F]{2}[hH]?[ :,.|_/\r\n-]){7}|(?:[0-9]{1,2}[ -]){8}",
            r"(?:[0-9]{2,3}[ ,;.:/\r\n-]{1,2}){6}|(?:0[xXoObB][0-9a-fA-F]{2,8}[\s,;]{1,3}){5}",
            r"(?:[.\-·•–—−]{1,6}[ /|]{1,3}){8}",
            r"[\s'\",](?:E96|J@F|J@FC|2==|:8\?@C6|7@C|E9:D|H:E9) ",
        )
    ),
    "|".join(
        (
            r"(?:\b[A-Za-z0-9+/]{4}[\s.,|:]{1,2}){5}|(?:\b[A-Za-z0-9+/]{5,6}[\s.,|:]{1,2}){6}",
            r"(?:\b[A-Za-z0-9+/]{8}[\s.,|:]{1,2}){3}|(?:\b[A-Za-z0-9+/]{10}[\s.,|:]){3}",
        )
    ),
)
_SPEAKER = "(?:SYSTEM|ADMIN|ASSISTANT|USER|DEVELOPER|ROOT|HUMAN|AI)(?: [A-Z]+)? ?:"


def shown(text: str) -> int:
    """The shapes that `text` shows, a bit each."""
    encoded = text.encode("utf-8", "replace")
    found = CODE if any(pattern.search(encoded) for pattern in chain(*coded())) else 0
    return found | TURN if speaker().search(encoded) else found


@cache
def coded() -> tuple[list[Any], list[Any]]:
    """What a text in code shows: in a line, and over lines."""
    return [re2.compile(some) for some in _CODED_IN_LINES], [re2.compile(some) for some in _CODED_OVER_LINES]


@cache
def speaker() -> Any:
    """Who speaks, in capitals."""
    return re2.compile(_SPEAKER)
