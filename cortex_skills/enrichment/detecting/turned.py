"""Texts that were turned: written with other letters of the alphabet, or from the end to the beginning.

Rules kept here:
- pure and linear; a text may be turned where two words stand in it that count, as a turned text writes them: the
  reader sees where (`told`), and reads such a text first;
- a word that counts in plain writing, too, is no sign.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from functools import cache
from string import ascii_lowercase

from cortex_skills.enrichment.detecting.ciphers import ALPHABETS, ciphered, ciphers_of
from cortex_skills.enrichment.detecting.knowledge import english

_FEWEST = 2
_NOT_LETTERS = re.compile(r"[\W\d_]+")


def told() -> tuple[list[str], dict[str, int]]:
    """What the reader is told (`reader/turned.c`).

    Returns:
        What the letters of each alphabet stand for; word → the ways in which it may be turned, a bit each: in an
        alphabet by its number, behind them all backwards.

    """
    alphabets = [*ALPHABETS, codecs.encode(ascii_lowercase, "rot13")]
    ways = {word: sum(1 << place for place in places) for word, places in ciphered().items()}
    for words, way in ((_rotated(), len(ALPHABETS)), (_reversed(), len(alphabets))):
        ways |= {word: ways.get(word, 0) | 1 << way for word in words}
    return alphabets, ways


def turned(text: str, plain: str) -> Iterator[str]:
    """A text as it was before it was turned, in each way that it shows; `plain` is how it looks."""
    words = set(_NOT_LETTERS.split(plain))
    if len(words & _rotated()) >= _FEWEST:
        yield codecs.encode(plain, "rot13")
    yield from (turn(plain) for turn in ciphers_of(words))
    if len(words & _reversed()) >= _FEWEST or "\u202e" in text:
        backwards = plain[::-1]
        yield backwards
        yield " ".join(reversed(backwards.split()))


@cache
def _rotated() -> frozenset[str]:
    """The words that count, as rot13 writes them, but for those that are words then, too."""
    words = english()
    return frozenset(codecs.encode(" ".join(words), "rot13").split()) - words


@cache
def _reversed() -> frozenset[str]:
    words = english()
    return frozenset(" ".join(words)[::-1].split()) - words
