"""What is hidden from a reader's eye, and lines that are read otherwise by themselves than among others.

Rules kept here:
- pure and linear: one search over the whole, and a look at the lines where something is found.
"""

from __future__ import annotations

import re

_TAGS = re.compile("(?<!\U0001f3f4)[\U000e0020-\U000e007e]")
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{2,6}\U000e007f")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}")
# What shows otherwise by itself than among other lines, or hides something.
_ODD = re.compile("[\x00-\x08\x0e-\x1f\x7f\u0345\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_HIDING = re.compile(f"{_ODD.pattern}|[\ufe00-\ufe0f\U000e0000-\U000e01ef]")


def is_hidden(text: str) -> bool:
    """Whether there is more in a text than a reader sees."""
    if text.isascii() or not _HIDING.search(text):
        return False
    return bool(_SELECTORS.search(text) or _TAGS.search(_FLAG.sub("", text)))


def odd_rows(text: str) -> set[int]:
    """The numbers of the lines of a text in which something is hidden, or that are read otherwise by themselves."""
    if text.isascii():
        # What can be printed hides nothing; most texts are no more than that.
        is_plain = text.replace("\n", "").isprintable() or not _ODD.search(text)
    else:
        is_plain = not _HIDING.search(text)
    if is_plain:
        return set()
    return {number for number, line in enumerate(text.split("\n")) if _ODD.search(line) or is_hidden(line)}
