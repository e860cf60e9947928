"""Memories, queries and results as frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cortex_graph.checks.datetimes import date_time
from cortex_skills.features.finder.meaning_index import MeaningProblem


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory to remember, validated by `requests`."""

    text: str
    importance: float
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReflectedOn:
    """What a reflection draws from: its depth, and the ids of its sources."""

    depth: int
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory in the graph.

    Attributes:
        id: 32 hexadecimal digits.
        text: the text.
        importance: from 0 to 1.
        tags: sorted.
        time: the time of its creation, in UTC.
        agent: the owner.
        skill: the slug of the skill that created it; None when it is unknown.
        authors: the agents that wrote it, other than the owner.
        depth: how far it is from what was observed: 0 for an observation, 1 to 3 for a reflection.
        reflects_on: the ids of the memories that a reflection draws from, sorted.
        uses: how often a reflection was recalled.
    """

    id: str
    text: str
    importance: float
    tags: tuple[str, ...]
    time: datetime
    agent: str
    skill: str | None
    authors: tuple[str, ...] = ()
    depth: int = 0
    reflects_on: tuple[str, ...] = ()
    uses: int = 0

    @property
    def kind(self) -> str:
        """`observation` or `reflection`."""
        return "reflection" if self.depth else "observation"

    def to_json(self) -> dict[str, Any]:
        """The memory as a JSON object for skills."""
        return {
            "id": self.id,
            "text": self.text,
            "importance": self.importance,
            "tags": list(self.tags),
            "time": date_time(self.time),
            "skill": self.skill,
            "writtenBy": list(self.authors),
            "kind": self.kind,
            "depth": self.depth,
            "reflectsOn": list(self.reflects_on),
        }


@dataclass(frozen=True, slots=True)
class MemoryQuery:
    """A query for memories, validated by `requests`."""

    query: str
    limit: int
    min_importance: float


@dataclass(frozen=True, slots=True)
class Scored:
    """The rank of a memory for a query: `score = relevance × importance × recency`, each from 0 to 1.

    Attributes:
        relevance: how well it matches, relative to the best match.
        importance: the weight of its importance.
        recency: the weight of its age.
        coverage: the weight of the query's words that it has, from 0 to 1: independent of what else matches. None where
            a provider ranks.
        similarity: of its meaning to the query's, from 0 to 1; None where meanings are not compared.
    """

    relevance: float
    importance: float
    recency: float
    coverage: float | None = None
    similarity: float | None = None

    @property
    def score(self) -> float:
        """The product."""
        return self.relevance * self.importance * self.recency

    @property
    def fit(self) -> float:
        """How well the memory matches: the greater of coverage and similarity, or else what a provider states."""
        known = [value for value in (self.coverage, self.similarity) if value is not None]
        return max(known, default=self.relevance)

    def to_json(self) -> dict[str, float]:
        """The score, its factors, and how well the memory matches, as a JSON object."""
        return {
            "score": round(self.score, 4),
            "relevance": round(self.relevance, 4),
            "importanceWeight": round(self.importance, 4),
            "recencyWeight": round(self.recency, 4),
            **self.absolute(),
        }

    def absolute(self) -> dict[str, float]:
        """The coverage and the similarity, where they are known, as a JSON object."""
        values = {"coverage": self.coverage, "similarity": self.similarity}
        return {name: round(value, 4) for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Recalled:
    """The result of a query.

    Attributes:
        found: the best memories, best first.
        words: the indexed forms of the words of the query; empty when it has only stop words.
        considered: how many memories with one of the words, or a similar meaning, and the importance were ranked.
        less_important: how many others of those there are; counted when none was found.
        problem: why they were found by words alone, although there is an embedder; None otherwise.
    """

    found: tuple[tuple[Memory, Scored], ...]
    words: tuple[str, ...]
    considered: int
    less_important: int = 0
    problem: MeaningProblem | None = None
