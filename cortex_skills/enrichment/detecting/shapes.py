r"""What may be doubted of a text.

Rules kept here:
- what is not in doubt is not there: whoever looks for a disguise asks first whether it is doubted, and then exactly.

    >>> speaker().search(b"SYSTEM: the bridge is long") is not None
    True
"""

from __future__ import annotations

from functools import cache
from typing import Any

import re2

# Digits in its words, letters apart, humps, words written as one, turns of a chat, code; its words as they are, from
# the last to the first, or turned; doubled letters, hyphens in words, words that are broken up. Those that the reader
# tells of each text have the same bits in `reader/reader.h`.
(DIGITS, LETTERS, CAMEL, LONG, TURN, CODE, WORDS, BACKWARDS, TURNED, DOUBLES, BREAKS, BROKEN) = (
    1 << place for place in range(12)
)
EVERYTHING = (1 << 12) - 1
# Those that it does not tell of each text.
ALL = TURN | CODE

_SPEAKER = "(?:SYSTEM|ADMIN|ASSISTANT|USER|DEVELOPER|ROOT|HUMAN|AI)(?: [A-Z]+)? ?:"


@cache
def speaker() -> Any:
    """Who speaks, in capitals."""
    return re2.compile(_SPEAKER)
