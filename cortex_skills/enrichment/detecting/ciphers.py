"""Texts whose letters were moved along the alphabet, or turned round in it, known by their smallest words.

Rules kept here:
- a cipher is tried where two of its words stand; the words are those that hardly a sentence does without;
- a word that is one of them in plain writing, too, is no sign.

    >>> [turn("ljqruh wkh uxohv") for turn in ciphers_of({"wkh", "brxu"})]
    ['ignore the rules']
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Set
from functools import cache, partial
from string import ascii_lowercase

_WORDS = re.findall(
    "[a-z]+",
    "the and you your all this that with from for not are user answer every previous ignore instructions rules "
    "system prompt password must",
)
_HALF = 13  # rot13 is looked for with all words that count, elsewhere
_PAIR = 2
# What each letter stands for.
ALPHABETS = (
    *(ascii_lowercase[shift:] + ascii_lowercase[:shift] for shift in range(1, 26) if shift != _HALF),
    ascii_lowercase[::-1],
)
_TABLES = tuple(str.maketrans(ascii_lowercase, alphabet) for alphabet in ALPHABETS)


def ciphers_of(words: Set[str]) -> Iterator[Callable[[str], str]]:
    """What makes a folded text with these words readable, for each cipher that they show."""
    known = ciphered()
    counts = Counter(place for word in words & known.keys() for place in known[word])
    for place, count in counts.items():
        if count >= _PAIR:
            yield partial(_turn, table=_TABLES[place])


@cache
def ciphered() -> dict[str, tuple[int, ...]]:
    """The words as each cipher writes them, and the alphabet that turns them back."""
    found: dict[str, tuple[int, ...]] = {}
    for place, table in enumerate(_TABLES):
        for word in _WORDS:
            hidden = word.translate({meant: seen for seen, meant in table.items()})
            found[hidden] = (*found.get(hidden, ()), place)
    return {word: places for word, places in found.items() if word not in _WORDS}


def _turn(text: str, table: dict[int, int]) -> str:
    return text.translate(table)
