"""How wide a text is at most, for pictures that are placed without a browser.

Rules kept here:
- the widths are those of DejaVu Sans, which is among the widest of the fonts that `--sans` in `src/explorer.css` names;
- a character that is not listed has the width of a wide one: a text is never wider than estimated.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from cortex_graph.namespace.labels import cut

BOLD = 1.12  # how much wider bold text is

_EM = {char: width for chars, width in (("ijl'|", 0.29), ("I.,:;! ·/\\()[]-", 0.4), ('ftr"*', 0.43)) for char in chars}
_EM |= dict.fromkeys("mwMWQOGDNHU@%&+=<>#~—…", 0.9) | {"W": 1.0, "@": 1.0, "%": 1.0, "m": 0.98, "—": 1.0, "…": 1.0}
_LATIN = 0.66  # of all other letters and digits of ASCII and Latin-1
_OTHER, _WIDE, _MONO = 0.78, 1.05, 0.61


def text_width(text: str, size: float) -> float:
    """The largest width of a text in pixels.

    Args:
        text: in one line.
        size: of the font, in pixels.
    """
    return sum(map(_width, text)) * size


def fitted(text: str, most: float, size: float, *, mono: bool = False) -> str:
    """A text without as much of its middle as has no room.

    Args:
        text: in one line.
        most: the room in pixels.
        size: of the font, in pixels.
        mono: whether its letters are as wide as one another.
    """
    length = min(len(text), int(most / size * 4))
    while length > 1:
        shown = cut(text, length - 1)
        if sum(_MONO if mono and char < "\u0250" else max(_width(char), _MONO * mono) for char in shown) * size <= most:
            return shown
        length -= 1
    return text[:1]


@lru_cache(maxsize=4096)
def _width(char: str) -> float:
    known = _EM.get(char)
    if known is not None:
        return known
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(char) in ("W", "F"):
        return _WIDE
    if char < "\u0250":
        return 0.72 if char.isupper() else _LATIN
    return _OTHER if char.isalpha() and char < "\u0700" else _WIDE
