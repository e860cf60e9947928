"""Splits a text into the words by which it is indexed.

Rules kept here:
- text is normalized (NFKC) and case-folded; the accents of Greek and Cyrillic letters are removed, the marks of
  other scripts are kept;
- a word is a run of letters, digits and marks; in scripts without spaces (Han, kana, Thai, Lao, Khmer, Burmese) every
  pair of adjacent characters is a word, and so is a single character;
- at most `MAX_WORDS` words of at most `LONGEST` characters each; linear in the text; never raises.

The index removes stop words and the accents of Latin letters, and stems.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

MAX_WORDS = 512
LONGEST = 64

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
_ASCII = re.compile(r"[a-z0-9](?:[a-z0-9]|'(?=[a-z0-9]))*")


def words(text: str) -> list[str]:
    """The words of a text, in order.

    >>> words("The Straße, 東京都!")
    ['the', 'strasse', '東京', '京都']
    """
    if text.isascii():
        plain: list[str] = _ASCII.findall(text.lower())[:MAX_WORDS]
        return [_plain(word) for word in plain] if "'" in text or max(map(len, plain), default=0) > LONGEST else plain
    found: list[str] = []
    for match in _runs().finditer(_folded(text)):
        found.extend(_pairs(match[1]) if match[1] else [_plain(match[2])])
        if len(found) >= MAX_WORDS:
            break
    return found[:MAX_WORDS]


def without_accents(text: str) -> str:
    """A text in lower case without accents, to look for another one in it.

    >>> without_accents("Zoë Müller")
    'zoe muller'
    """
    return re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFKD", text.casefold()))


def _folded(text: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return folded.translate(_accents())


@cache
def _accents() -> dict[int, str]:
    """What Greek and Cyrillic letters are without accents, and the accents that NFKC leaves alone."""
    found = dict.fromkeys(range(0x300, 0x370), "")
    for letter in map(chr, (*range(0x370, 0x530), *range(0x1F00, 0x2000))):
        plain = "".join(char for char in unicodedata.normalize("NFD", letter) if not "\u0300" <= char <= "\u036f")
        if plain != letter:
            found[ord(letter)] = plain
    return found


@cache
def _runs() -> re.Pattern[str]:
    """Matches runs of scripts without spaces, and words; compiled on first use, because that is slow."""
    marks = "".join(char for char in map(chr, range(0x300, 0x1E950)) if unicodedata.category(char)[0] == "M")
    marks = re.sub("[\u034f\ufe00-\ufe0f]", "", marks)
    letter = rf"[^\W_{_UNSPACED}]"
    return re.compile(rf"([{_UNSPACED}]+)|({letter}(?:{letter}|[{marks}]|['’](?={letter}))*)")


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for place in range(min(len(run) - 1, MAX_WORDS)):
        yield run[place : place + 2]


def _plain(word: str) -> str:
    if "'" in word or "’" in word:
        word = word.replace("’", "'").removesuffix("'s")
    return word[:LONGEST]
