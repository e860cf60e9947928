"""How wide a text is at most, for pictures that are placed without a browser.

Rules kept here:
- the widths are those of DejaVu Sans, which is among the widest of the fonts that `--sans` in `src/explorer.css` names;
- a character that is not listed has the width of a wide one: a text is never wider than estimated.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_EM = {char: width for chars, width in (("ijl'|", 0.29), ("I.,:;! ·/\\()[]-", 0.4), ('ftr"*', 0.43)) for char in chars}
_EM |= dict.fromkeys("mwMWQOGDNHU@%&+=<>#~—…", 0.9) | {"W": 1.0, "@": 1.0, "%": 1.0, "m": 0.98, "—": 1.0, "…": 1.0}
_LATIN = 0.66  # of all other letters and digits of ASCII and Latin-1
_OTHER, _WIDE = 0.78, 1.05


def text_width(text: str, size: float) -> float:
    """The largest width of a text in pixels.

    Args:
        text: in one line.
        size: of the font, in pixels.
    """
    return sum(map(_width, text)) * size


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
