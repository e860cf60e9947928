"""Ranks the memories that match a query by their words or meaning.

Rules kept here:
- `score = relevance × importance weight × recency weight`, each above 0 and at most 1, so that none decides alone:
  - relevance: the BM25 score of the memory divided by the best BM25 score, or the similarity of its meaning to the
    query's where that is greater;
  - importance weight: `0.5 + 0.5 × importance`;
  - recency weight: `0.7 + 0.3 × 2^(−age / 30 days)`; the age of a memory from the future is 0;
- of equal scores the newer memory is first, then the lower id, so that the order is stable.

    >>> now = 1_780_000_000.0
    >>> candidates = [Candidate("a", 2.0, 1.0, now - 30 * 86_400), Candidate("b", 4.0, 0.0, now)]
    >>> [(id_, round(scored.score, 3)) for id_, scored in rank(candidates, now)]
    [('b', 0.5), ('a', 0.425)]
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cortex_skills.features.memory.model import Scored

IMPORTANCE_SHARE = 0.5
RECENCY_SHARE = 0.3
HALF_LIFE_DAYS = 30.0
FORMULA = (
    "score = relevance × (0.5 + 0.5 × importance) × (0.7 + 0.3 × 2^(−age / 30 days)); "
    "relevance = the greater of BM25 / the best BM25 and the similarity of the meanings"
)

_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory with words of the query or a similar meaning; `time` is in seconds since 1970."""

    id: str
    bm25: float
    importance: float
    time: float
    similarity: float = 0.0


def rank(candidates: Iterable[Candidate], now: float) -> list[tuple[str, Scored]]:
    """The ids of the candidates with their scores, best first."""
    given = list(candidates)
    best = max((candidate.bm25 for candidate in given), default=0.0)
    scored = [(candidate, _score(candidate, best, now)) for candidate in given]
    scored.sort(key=lambda pair: (-pair[1].score, -pair[0].time, pair[0].id))
    return [(candidate.id, score) for candidate, score in scored]


def _score(candidate: Candidate, best: float, now: float) -> Scored:
    age_days = max(0.0, (now - candidate.time) / _DAY_S)
    return Scored(
        relevance=_relevance(candidate, best),
        importance=1 - IMPORTANCE_SHARE * (1 - candidate.importance),
        recency=1 - RECENCY_SHARE * (1 - 2 ** -min(age_days / HALF_LIFE_DAYS, 1000.0)),
    )


def _relevance(candidate: Candidate, best: float) -> float:
    similarity = min(1.0, candidate.similarity)
    if best > 0:
        return max(candidate.bm25 / best, similarity, 0.0)
    return similarity if similarity > 0 else 1.0
