"""What a text must hold before any rule can hold in it, asked of all rules at once.

Rules kept here:
- a rule needs its head, a category of each of its groups, and one of its signs, wherever they stand in the text;
- which rules have a group filled is a row of bits, one row after the other in one number: what a word fills is such a
  number, what a text fills is the sum (by bits) of its words', and a few shifts tell whether a rule has all its groups;
- words are taken as they follow each other, whatever stands between them, so that no phrase is missed; ASCII alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, partial, reduce
from itertools import pairwise
from operator import or_

from cortex_skills.enrichment.detecting import reading
from cortex_skills.enrichment.detecting.rules import RULES, Rule

_SIGNS = 5  # the row behind the head and four needs
# What surely ends a sentence.
_END = re.compile(r"[.!?]\s|[;|]")
_QUOTE = '"'  # a word, too: rules ask for it
_NO_WORD = "".join(chr(code) if chr(code).isalnum() else " " for code in range(128))
_ALL = (1 << len(RULES)) - 1
_ONE, _TWO, _THREE = (rows * len(RULES) for rows in (1, 2, 3))


def may_say(plain: str, signs: int) -> bool:
    """Whether a rule may hold in a folded text with these signs."""
    words = words_of(plain)
    filled = filled_by_each(words)
    add_phrases(filled, words)
    return may_hold(reduce(or_, filled.values(), filled_from_the_start(signs)))


def sentence_may_say(plain: str, filled: Mapping[str, int], start: int) -> bool:
    """The same, of one sentence at least, where it is known what each word fills, and what is filled without one."""
    return any(may_hold(reduce(or_, map(filled.__getitem__, words_of(part)), start)) for part in _END.split(plain))


def words_of(plain: str) -> list[str]:
    """The words of a folded text as `reading` sees them, without what stands between them."""
    text = plain.replace("n't", " not") if "n't" in plain else plain
    words = text.translate(_NO_WORD).split()
    return [*words, _QUOTE] if _QUOTE in text else words


def filled_by_each(words: list[str]) -> dict[str, int]:
    """What each of some words fills."""
    distinct = list(dict.fromkeys(words))
    return dict(zip(distinct, map(filled_by, reading.known_words().row(distinct)), strict=True))


def add_phrases(filled: dict[str, int], words: list[str]) -> None:
    """Let the first word of each phrase that stands in a row of words fill what the phrase fills."""
    spaced = ""
    for first, second in _pairs().intersection(pairwise(words)):
        spaced = spaced or f" {' '.join(words)} "
        for others, _, categories in reading.known_words().phrases[first][second]:
            if not others or (filled.keys() >= set(others) and f" {' '.join((first, second, *others))} " in spaced):
                filled[first] |= filled_by(categories)


@cache
def _pairs() -> frozenset[tuple[str, str]]:
    """The first two words of all phrases."""
    return frozenset((first, second) for first, more in reading.known_words().phrases.items() for second in more)


def may_hold(filled: int) -> bool:
    """Whether a rule has all its groups in what the words and the signs of a text fill together."""
    halves = filled & filled >> _THREE
    return bool(halves & halves >> _ONE & halves >> _TWO & _ALL)


@cache
def filled_by(categories: int) -> int:
    """What a word with these categories fills."""
    bits = (1 << place for place in range(categories.bit_length()))
    return reduce(or_, (_filled_by_one(bit) for bit in bits if categories & bit), 0)


@cache
def _filled_by_one(category: int) -> int:
    heads = _row(0, lambda rule: rule.head & category)
    needs = (_row(group, partial(_need, group, category)) for group in range(1, _SIGNS))
    return reduce(or_, needs, heads)


@cache
def filled_from_the_start(signs: int) -> int:
    """What is filled without a word in a text with these signs: the groups that a rule has not, and the signs."""
    needs = (_row(group, partial(_has_not, group)) for group in range(1, _SIGNS))
    return reduce(or_, needs, _row(_SIGNS, lambda rule: not rule.signs or rule.signs & signs))


def _need(group: int, category: int, rule: Rule) -> int:
    return rule.need[group - 1] & category if group <= len(rule.need) else 0


def _has_not(group: int, rule: Rule) -> bool:
    return group > len(rule.need)


def _row(group: int, fills: Callable[[Rule], int | bool]) -> int:
    return sum(1 << (group * len(RULES) + place) for place, rule in enumerate(RULES) if fills(rule))
