"""Folded text → sentences of word categories, with English verbs resolved to orders or statements by their position.

Rules kept here:
- a sentence is a list of masks, one for each word (`lexicon`); commas and the like take no place in it;
- an English verb keeps its verb categories where it gives an order (`ORDER`) or may give one (`MAYBE`): at the start of
  a sentence or clause, behind "please" or "must", joined to an order; elsewhere it is a statement or a noun;
- what a third party does or has to do is a statement, unless the sentence speaks to the reader;
- text in languages without blanks is read as the longest listed word at each position.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from functools import cache, reduce
from itertools import compress, count, groupby, pairwise
from operator import or_

from cortex_skills.injection.english_verbs import CLAUSE_SIGNS, in_position, with_late_orders
from cortex_skills.injection.lexicon import (
    BITS,
    CLAUSE,
    END,
    MAYBE,
    ORDER,
    QUOTED,
    SIGN_BITS,
    VERBS,
    lexicon,
)

TO_READER = BITS["you"] | BITS["model"] | BITS["when_asked"]

_SPOKEN_TO = TO_READER | BITS["helper"] | BITS["claimed_authority"]
_SIGNS = (
    dict.fromkeys(".!?;…。！？；؟।|", END)
    | dict.fromkeys(CLAUSE_SIGNS, CLAUSE)
    | dict.fromkeys('"「『', QUOTED)
    | SIGN_BITS
)
_NEW_LINE = "\n"
_ENDS = frozenset(sign for sign, mask in _SIGNS.items() if mask == END)
_TOKENS = (
    r"[^\W_]+|[.!?](?=[^\w\ue000-\ue005]|$)|'(?!\w)|(?<!\w)'|-(?=[ \n]|\Z)"
    r"|[\n;,:()\[\]\"{}|>*#–—…。！？、，：；「」『』؟،।\ue000-\ue005]"
)
_TOKEN, _ASCII_TOKEN = re.compile(_TOKENS), re.compile(_TOKENS, re.ASCII)
_UNSPACED_RUNS = re.compile("([\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff！-；。、「」]+)")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff]")
_LINE_END_IN_UNSPACED = re.compile(rf"(?<={_UNSPACED.pattern})\n(?={_UNSPACED.pattern})")
_NOT_LETTERS = re.compile(r"[\W\d_]+")
_KNOWN_SHARE = 0.55  # of the letters of a text without blanks must belong to listed words
_MOST_CACHED = 1 << 14
_ANY_SIGN = sum(SIGN_BITS.values())
NEAR = 30  # words from another that a sign is near to


def sentences(folded: str, may_hold: Callable[[int], object] = bool) -> Iterator[list[int]]:
    """The sentences of a folded text; one of several lines as these part it, and as if it were one line.

    Args:
        folded: the text.
        may_hold: whether a sentence with words of these categories is wanted; of others little is read.
    """
    if not folded.isascii() and _UNSPACED.search(folded):
        for reading in dict.fromkeys((folded, in_one_line(folded))):
            yield from map(_without_statements, _with_signs(list(_split(_unspaced_row(reading)))))
        return
    in_lines, signs = _without_marks(_tokens(folded))
    tokens = [token for token in in_lines if token != _NEW_LINE]
    found = _meanings(tokens)
    for place, sign in signs.items():
        found[min(place, len(found) - 1)] |= sign
    near = sorted(signs)
    last = last_in_lines = -1
    for end, end_in_lines in zip(_ends(tokens), _ends(in_lines), strict=True):
        masks = found[last + 1 : end]
        before: list[int] = []
        behind: list[int] = []
        if near and bisect_left(near, last - NEAR) < bisect_right(near, end + NEAR):
            before, behind = _signs_in(found[max(last - NEAR, 0) : last + 1]), _signs_in(found[end : end + NEAR])
        if may_hold(reduce(or_, before + masks + behind, 0) & ~CLAUSE):
            lines = in_lines[last_in_lines + 1 : end_in_lines]
            if len(lines) > len(masks):
                of_words = iter(masks)
                meanings = [
                    mask if word == _NEW_LINE else mask | next(of_words) & _ANY_SIGN
                    for word, mask in zip(lines, _meanings(lines), strict=True)
                ]
                yield before + _without_statements(with_late_orders(lines, meanings)) + behind
            yield before + _without_statements(with_late_orders(tokens[last + 1 : end], masks)) + behind
        last, last_in_lines = end, end_in_lines


def in_one_line(folded: str) -> str:
    """A folded text without its line ends, which part no words in languages without blanks."""
    return _LINE_END_IN_UNSPACED.sub("", folded).replace("\n", " ")


def run_together(text: str) -> Iterator[list[int]]:
    """The sentences of a text of which only the letters count; none when most of them form no listed words."""
    letters = _NOT_LETTERS.sub("", text)
    row, covered = _longest_words(letters, lexicon().squeezed)
    if covered >= _KNOWN_SHARE * len(letters):
        yield from map(_without_statements, _split(row))


def _without_statements(row: list[int]) -> list[int]:
    """The words of a sentence without clause ends, and without verbs that are no order to the reader."""
    row = [mask for mask in row if mask != CLAUSE]
    if reduce(or_, row, 0) & _SPOKEN_TO:
        return row
    return [mask & ~VERBS if mask & MAYBE and not mask & ORDER else mask for mask in row]


def _without_marks(tokens: list[str]) -> tuple[list[str], dict[int, int]]:
    """Tokens without the marks of signs, and the signs by the places of the words behind them."""
    signs: dict[int, int] = {}
    if SIGN_BITS.keys().isdisjoint(tokens):
        return tokens, signs
    kept: list[str] = []
    last = line_ends = 0
    for at in compress(count(), map(SIGN_BITS.__contains__, tokens)):
        part = tokens[last:at]
        kept += part
        line_ends += part.count(_NEW_LINE)
        place = len(kept) - line_ends
        signs[place] = signs.get(place, 0) | SIGN_BITS[tokens[at]]
        last = at + 1
    return kept + tokens[last:], signs


def _signs_in(masks: list[int]) -> list[int]:
    """The signs of words as those of one; nothing without a sign."""
    signs = reduce(or_, masks, 0) & _ANY_SIGN
    return [signs] if signs else []


def _with_signs(rows: list[list[int]]) -> Iterator[list[int]]:
    """Sentences with the signs that are near in the sentences around them."""
    for place, row in enumerate(rows):
        before, behind = rows[place - 1] if place else [], rows[place + 1] if place + 1 < len(rows) else []
        yield _signs_in(before[-NEAR:]) + row + _signs_in(behind[:NEAR])


def _tokens(text: str) -> list[str]:
    token = _ASCII_TOKEN if text.isascii() else _TOKEN
    return token.findall(text.replace("n't", " not"))


def _ends(tokens: list[str]) -> list[int]:
    """The places at which sentences end."""
    return [*compress(count(), map(_ENDS.__contains__, tokens)), len(tokens)]


def _spaced(text: str) -> Iterator[list[str]]:
    tokens, first = _tokens(text), 0
    for end in _ends(tokens):
        if end > first:
            yield tokens[first:end]
        first = end + 1


class _Meanings(dict[str, int]):
    """The categories of words and signs; those of a word are computed and cached on first use."""

    def __missing__(self, word: str) -> int:
        mask = lexicon().meaning(word)
        if len(self) < _MOST_CACHED:
            self[word] = mask
        return mask


_MEANINGS = _Meanings(_SIGNS)


def _meanings(words: list[str]) -> list[int]:
    """The categories of each word, and of the phrases that begin at it."""
    phrases = lexicon().phrases
    row = list(map(_MEANINGS.__getitem__, words))
    for place in compress(count(), map(phrases.__contains__, pairwise(words))):
        for size, rests in phrases[words[place], words[place + 1]].items():
            row[place] |= rests.get(tuple(words[place + 2 : place + 2 + size]), 0)
    return row


def _unspaced_row(text: str) -> list[int]:
    """The categories of the words of a text that is partly in languages without blanks."""
    row: list[int] = []
    for part in filter(None, _UNSPACED_RUNS.split(text)):
        if _UNSPACED.search(part):
            row += _longest_words(part, lexicon().unspaced)[0]
            continue
        bare = part.strip()
        if _SIGNS.get(bare[:1]) == END:
            row.append(END)
        for number, words in enumerate(_spaced(part)):
            row += [END] * (number > 0) + in_position(words, _meanings(words))
        if _SIGNS.get(bare[-1:]) == END:
            row.append(END)
    return row


@cache
def _sizes(of_unspaced: bool) -> dict[str, list[int]]:
    """The lengths of the listed words that begin with two letters, or are that one letter; the longest first."""
    sizes: dict[str, set[int]] = {}
    for word in lexicon().unspaced if of_unspaced else lexicon().squeezed:
        sizes.setdefault(word[:2], set()).add(len(word))
    return {initials: sorted(found, reverse=True) for initials, found in sizes.items()}


@cache
def _sign_initials() -> frozenset[str]:
    """Signs that begin a listed word of a language without blanks: no signs there."""
    return frozenset(_SIGNS.keys() & {word[0] for word in lexicon().unspaced})


def _longest_words(text: str, known: Mapping[str, int]) -> tuple[list[int], int]:
    """The longest listed word at each position, one behind the other; and how many letters these cover."""
    sizes = _sizes(known is lexicon().unspaced)
    row: list[int] = []
    place, covered = 0, 0
    while place < len(text):
        lengths = (*sizes.get(text[place : place + 2], ()), *sizes.get(text[place], ()))
        word = next((start for size in lengths if (start := text[place : place + size]) in known), "")
        mask = known[word] if word else _SIGNS.get(text[place], 0) * (text[place] not in _sign_initials())
        if mask:
            row.append(mask)
        covered += len(word)
        place += len(word) or 1
    return row, covered


def _split(row: list[int]) -> Iterator[list[int]]:
    return (list(part) for is_end, part in groupby(row, END.__eq__) if not is_end)
