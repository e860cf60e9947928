"""Texts that were turned: written with other letters of the alphabet, or from the end to the beginning.

Rules kept here:
- pure and linear; a text may be turned where two words stand in it that count, as a turned text writes them;
- a word that counts in plain writing, too, is no sign.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Set
from functools import cache
from string import ascii_lowercase

from cortex_skills.enrichment.detecting.ciphers import ciphered, ciphers_of
from cortex_skills.enrichment.detecting.knowledge import english

FEWEST = 2
_NOT_LETTERS = re.compile(r"[\W\d_]+")
# All bytes that are no letter of ASCII, as a blank.
_LETTERS_ALONE = bytes(code if chr(code) in ascii_lowercase else 32 for code in range(256))


@cache
def turned_words() -> frozenset[str]:
    """All words by which a text is seen to be turned."""
    return _rotated() | _reversed() | ciphered().keys()


def turned_words_in(plain: str) -> set[str]:
    """Those of them that stand in a folded text."""
    found = _encoded_words().intersection(plain.encode("utf-8", "replace").translate(_LETTERS_ALONE).split())
    return set(map(bytes.decode, found))


def may_be_turned(words: Set[str]) -> bool:
    """Whether a text may be turned, either way, in which these are all of `turned_words_in`."""
    return max(len(words & _rotated()), len(words & _reversed())) >= FEWEST or any(ciphers_of(words))


def turned(text: str, plain: str) -> Iterator[str]:
    """A text as it was before it was turned, in each way that it shows; `plain` is how it looks."""
    is_turned = bool(turned_words_in(plain))
    words = set(_NOT_LETTERS.split(plain)) if is_turned else frozenset()
    if is_turned and len(words & _rotated()) >= FEWEST:
        yield codecs.encode(plain, "rot13")
    if is_turned:
        yield from (turn(plain) for turn in ciphers_of(words))
    if (is_turned and len(words & _reversed()) >= FEWEST) or "\u202e" in text:
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


@cache
def _encoded_words() -> frozenset[bytes]:
    return frozenset(map(str.encode, turned_words()))
