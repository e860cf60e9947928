"""How well the texts of a resource match a query.

Rules kept here:
- a word of the query matches a word that is equal when folded, or that has its stem in the language of the text; the
  last word of the query also matches the words that begin so (`MIN_PREFIX`);
- with typos it matches the words that differ by one edit too: one letter more, less or other, or two exchanged. Shorter
  words than `MIN_TYPO` must be right;
- a resource matches when each word of the query matches one of its words, in any order and in any of its texts;
  `fewer` words are enough only when a search asks for that;
- `score` is from 0 to 1: for each word of the query how well it matches, and in what kind of text, and how much of the
  best text the query has. Equal scores are in the order of the labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from cortex_skills.features.finder.entity_texts import EntityText, EntityTexts
from cortex_skills.features.finder.folded_words import folded, stems
from cortex_skills.features.finder.words import words

MAX_QUERY_WORDS = 32
MIN_PREFIX = 2
MIN_TYPO = 4
STEM, PREFIX, TYPO = 0.8, 0.7, 0.5
OF_NAME, OF_IRI, OF_TEXT = 1.0, 0.9, 0.6


@dataclass(frozen=True)
class QueryWord:
    """A word of a query.

    Attributes:
        text: of `words`.
        is_last: whether it may be the beginning of a word.

    """

    text: str
    is_last: bool = False

    @cached_property
    def folded(self) -> str:
        """The word without diacritics."""
        return folded(self.text)

    @property
    def begins(self) -> bool:
        """Whether longer words that begin so match."""
        return self.is_last and (len(self.folded) >= MIN_PREFIX or not self.folded.isascii())

    @property
    def may_differ(self) -> bool:
        """Whether a word with another letter matches, where typos do."""
        return len(self.folded) >= MIN_TYPO

    def stems_in(self, language: str) -> set[str]:
        """Its stems, as those of texts in a language."""
        return {f"{language}:{stem}" for stem in stems(language, self.text)}


def query_words(text: str, *, prefix: bool = True) -> list[QueryWord]:
    """The words of a query, each once; the last one may be the beginning of a word if `prefix`."""
    found = list(dict.fromkeys(words(text)))[:MAX_QUERY_WORDS]
    return [QueryWord(word, prefix and place == len(found) - 1) for place, word in enumerate(found)]


@dataclass(frozen=True, slots=True)
class Match:
    """How well a resource matches: its best text, and a score from 0 to 1."""

    text: EntityText
    score: float


def match(entity: EntityTexts, query: list[QueryWord], *, typos: bool = False, fewer: bool = False) -> Match | None:
    """How well a resource matches a query; None if it does not.

    Args:
        entity: the resource.
        query: at least one word.
        typos: whether words with one edit match.
        fewer: whether one word of the query is enough.

    """
    best = [0.0] * len(query)
    found: tuple[float, EntityText] | None = None
    for text in entity.texts:
        weight = OF_IRI if text.predicate is None else OF_NAME if text.is_name else OF_TEXT
        values = [weight * _similarity(word, text, typos=typos) for word in query]
        if not any(values):
            continue
        best = list(map(max, best, values))
        of_text = sum(values) * _coverage(values, text)
        if found is None or of_text > found[0]:
            found = of_text, text
    if found is None or (not fewer and not all(best)):
        return None
    return Match(found[1], sum(best) / len(query) * _coverage(best, found[1]))


def _coverage(values: list[float], text: EntityText) -> float:
    """How much of a text the query has, from 0.5 on."""
    return 0.5 + 0.5 * min(1.0, sum(map(bool, values)) / max(1, len(text.words)))


def _similarity(word: QueryWord, text: EntityText, *, typos: bool) -> float:
    folded_word = word.folded
    if folded_word in text.words:
        return 1.0
    if not text.stems.isdisjoint(word.stems_in(text.language)):
        return STEM
    if word.begins:
        longer = [len(other) for other in text.words if other.startswith(folded_word)]
        if longer:
            return PREFIX * (0.5 + 0.5 * len(folded_word) / min(longer))
    if typos and word.may_differ and any(differs_by_one(folded_word, other) for other in text.words):
        return TYPO
    return 0.0


def differs_by_one(one: str, other: str) -> bool:
    """Whether two words differ by at most one edit: a letter more, less or other, or two neighbours exchanged.

    >>> [differs_by_one("muller", other) for other in ("mueller", "miller", "mullre", "mull", "umlelr")]
    [True, True, True, False, False]
    """
    if abs(len(one) - len(other)) > 1:
        return False
    start = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        start += 1
    rest, its = one[start:], other[start:]
    if len(rest) == len(its):
        return rest[1:] == its[1:] or (rest[:2] == its[1::-1] and rest[2:] == its[2:])
    return rest[1:] == its or rest == its[1:]
