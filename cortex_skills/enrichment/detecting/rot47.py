"""Words of rot47, which writes with all signs of ASCII, moved by half their number.

Rules kept here:
- a text is one of rot47 when two of the smallest English words stand in it, as rot47 writes them;
- pure and linear.
"""

from __future__ import annotations

import re

_TABLE = {code: 33 + (code + 14) % 94 for code in range(33, 127)}
WORDS = re.findall(
    r"\S+",
    "E96 E96> E96C %96 J@F J@FC 2== x8@C6 x@C6 :8@C6 :@C6 2?5 E@ :D @7 @E96C ECFDE H9@ :? 7@C E9:D E92E H:E9 FD6C ?@E "
    "2?DH6C 7C@>",
)
_WORDS = re.compile(rf"(?<![^\s'\",])(?:{'|'.join(map(re.escape, WORDS))})(?!\S)")


def words_of_rot47(text: str) -> int:
    """How many of its smallest words stand in a text."""
    return len(_WORDS.findall(text))


def turned(text: str) -> str:
    """A text of rot47 as it was meant."""
    return text.translate(_TABLE)
