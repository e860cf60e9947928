"""Names that a reader may take for other names (UTS #39).

Rules kept here:
- a word is suspicious when it mixes scripts that identifiers do not mix, when its letters have a style of their own
  (full-width, mathematical), or when it has no Latin letter and reads like Latin ones;
- two names are alike when they are equal after folding and replacing look-alikes (`injection.normalize`);
- scripts are those in the names of the characters: the standard library has no other data about them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from cortex_skills.injection.normalize import fold, look_alike

_WORDS = re.compile(r"[^\W_]+")
_LONGEST = 2_000  # characters of a name that are examined
_EAST_ASIAN = frozenset({"Latin", "Cjk", "Hiragana", "Katakana", "Hangul", "Bopomofo"})
# Scripts with letters like those of Latin: a word that mixes two of them is an old trick.
_LIKE_LATIN = frozenset({"Latin", "Cyrillic", "Greek", "Cherokee", "Armenian", "Coptic", "Lisu"})

_STYLES = ("<font>", "<wide>", "<narrow>", "<circle>", "<square>", "<super>", "<sub>")


@lru_cache(maxsize=4096)
def warning_of(name: str) -> str | None:
    """Why a name may be mistaken for another one, a phrase for people; None if nothing suggests it."""
    if name.isascii():
        return None
    for word in _WORDS.findall(name[:_LONGEST]):
        if word.isascii():
            continue
        if any(unicodedata.decomposition(char).startswith(_STYLES) for char in word):
            return "has letters of another style"
        scripts = {script for char in word if (script := _script(char))}
        if len(scripts) > 1 and not scripts <= _EAST_ASIAN and (len(scripts) > 2 or scripts <= _LIKE_LATIN):
            return f"mixes {' and '.join(sorted(scripts))} letters"
        if "Latin" not in scripts and scripts and look_alike(fold(word)).isascii():
            return f"reads like “{look_alike(fold(word))[:40]}”, in {' and '.join(sorted(scripts))} letters"
    return None


def skeleton(name: str) -> str:
    """What all names that look like this one have in common."""
    return look_alike(fold(name))


def alike(names: Iterable[str]) -> dict[str, str]:
    """For each name that looks like another one of them: that one; plain ASCII names are not suspicious themselves."""
    seen: dict[str, str] = {}
    found: dict[str, str] = {}
    for name in sorted(set(names), key=lambda name: (not name.isascii(), name)):
        if name.isascii():
            seen.setdefault(name.lower(), name)
            continue
        first = seen.setdefault(skeleton(name), name)
        if first != name:
            found[name] = first
    return found


def _script(char: str) -> str | None:
    if char.isascii():
        return "Latin" if char.isalpha() else None
    if not unicodedata.category(char).startswith("L"):
        return None
    first = unicodedata.name(char, "").partition(" ")[0]
    return first.capitalize() if first not in ("", "MODIFIER", "MICRO", "FEMININE", "MASCULINE") else None
