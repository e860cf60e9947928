"""Ranks the memories that match a query, by their words or meaning.

Rules kept here:
- `score = relevance × importance weight × recency weight`, each above 0 and at most 1, so that none decides alone:
  - relevance: `words + 0.3 × similarity`, divided by the greatest such sum. `words` is the weight of the words of the
    query that the memory has (`QueryWords`), divided by the greatest, and `similarity` that of the meanings;
  - importance weight: `0.5 + 0.5 × importance`;
  - recency weight: `0.7 + 0.3 × 2^(−age / 30 days)`; the age of a memory from the future is 0;
- memories near in time lend each other words. A word that this one lacks, and the one before or after it has, counts
  0.6 of its weight, and one of the second before or after 0.3, if they are at most 10 minutes apart. So lent words
  never make a memory better than one that has them;
- of equal scores the newer memory is first, then the lower id, so that the order is stable.

The numbers were chosen on conversations (`eval/recall.py`); docs/benchmarks.md has the figures.

    >>> now = 1_780_000_000.0
    >>> asked = QueryWords.of(("tea", "oslo"), (2, 2), 9)
    >>> candidates = [Candidate("a", 0b01, 1.0, now - 30 * 86_400, 0), Candidate("b", 0b11, 0.0, now, 7)]
    >>> [(id_, round(scored.score, 3), round(scored.coverage, 2)) for id_, scored in rank(candidates, asked, now)]
    [('b', 0.5, 1.0), ('a', 0.425, 0.5)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from cortex_skills.features.finder.query_words import QueryWords
from cortex_skills.features.memory.model import Scored

IMPORTANCE_SHARE = 0.5
RECENCY_SHARE = 0.3
HALF_LIFE_DAYS = 30.0
SIMILARITY_SHARE = 0.3
LENT = (0.6, 0.3)  # what a word of a memory counts for the next one, and for the one after that
NEAR_S = 600.0
FORMULA = (
    "score = relevance × (0.5 + 0.5 × importance) × (0.7 + 0.3 × 2^(−age / 30 days)); "
    "relevance = (words / the greatest + 0.3 × similarity) / the greatest such sum; words = the coverage, and of words "
    "that only a memory within 10 minutes has, 0.6 (the one before or after) or 0.3 (the second one) of their weight"
)

_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory with words of the query or a similar meaning.

    Attributes:
        id: of the memory.
        mask: the words of the query that it has (`QueryWords`).
        importance: from 0 to 1.
        time: in seconds since 1970.
        place: in the order of the times of all memories of the agent.
        similarity: of its meaning to the query's; None where they are not compared.
    """

    id: str
    mask: int
    importance: float
    time: float
    place: int
    similarity: float | None = None


def rank(candidates: Iterable[Candidate], asked: QueryWords, now: float) -> Iterator[tuple[str, Scored]]:
    """The ids of the candidates with their scores, best first."""
    given = list(candidates)
    weight_of = cache(asked.coverage)
    by_place = {candidate.place: candidate for candidate in given}
    words = [_with_lent(candidate, by_place, weight_of) for candidate in given]
    best = max(words, default=0.0) or 1.0
    fits = zip(given, words, strict=True)
    sums = [weight / best + SIMILARITY_SHARE * _positive(each.similarity) for each, weight in fits]
    greatest = max(sums, default=0.0)
    order = []
    for candidate, total in zip(given, sums, strict=True):
        relevance = total / greatest if greatest else 1.0
        score = relevance * _importance(candidate) * _recency(candidate, now)
        order.append((-score, -candidate.time, candidate.id, relevance, candidate))
    order.sort()
    for _, _, identifier, relevance, candidate in order:
        yield (
            identifier,
            Scored(
                relevance=relevance,
                importance=_importance(candidate),
                recency=_recency(candidate, now),
                coverage=weight_of(candidate.mask),
                similarity=None if candidate.similarity is None else _positive(candidate.similarity),
            ),
        )


def _with_lent(candidate: Candidate, by_place: Mapping[int, Candidate], weight_of: Callable[[int], float]) -> float:
    """The weight of the words of a candidate and of those that the memories near it lend."""
    mask = candidate.mask
    weight = weight_of(mask)
    for steps, share in enumerate(LENT, start=1):
        lent = 0
        for place in (candidate.place - steps, candidate.place + steps):
            other = by_place.get(place)
            if other is not None and abs(other.time - candidate.time) <= NEAR_S:
                lent |= other.mask
        if lent & ~mask:
            weight += share * weight_of(lent & ~mask)
            mask |= lent
    return weight


def _importance(candidate: Candidate) -> float:
    return 1 - IMPORTANCE_SHARE * (1 - candidate.importance)


def _recency(candidate: Candidate, now: float) -> float:
    age_days = max(0.0, (now - candidate.time) / _DAY_S)
    return 1 - RECENCY_SHARE * (1 - 2 ** -min(age_days / HALF_LIFE_DAYS, 1000.0))


def _positive(similarity: float | None) -> float:
    return min(1.0, max(0.0, similarity or 0.0))
