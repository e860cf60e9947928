"""A memory, what is asked for, and what is found, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cortex_graph.moments import date_time


@dataclass(frozen=True, slots=True)
class NewMemory:
    """What somebody wants to remember; checked (see `arguments`)."""

    text: str
    importance: float
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory as the graph has it.

    Attributes:
        id: 32 hexadecimal digits, made of the owner and the text.
        text: what was remembered.
        importance: from 0 to 1.
        tags: sorted.
        time: when, in UTC.
        agent: whose memory it is.
        skill: the slug of the skill that remembered; None when the graph does not say.

    """

    id: str
    text: str
    importance: float
    tags: tuple[str, ...]
    time: datetime
    agent: str
    skill: str | None

    def to_json(self) -> dict[str, Any]:
        """The memory as a skill gets it."""
        return {
            "id": self.id,
            "text": self.text,
            "importance": self.importance,
            "tags": list(self.tags),
            "time": date_time(self.time),
            "skill": self.skill,
        }


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody wants to recall; checked (see `arguments`)."""

    query: str
    limit: int
    min_importance: float


@dataclass(frozen=True, slots=True)
class Scored:
    """How well a memory answers a query: `score = relevance × importance × recency`, each from 0 to 1."""

    relevance: float
    importance: float
    recency: float

    @property
    def score(self) -> float:
        """The product."""
        return self.relevance * self.importance * self.recency

    def to_json(self) -> dict[str, float]:
        """The score and its factors, as the details of an answer have them."""
        return {
            "score": round(self.score, 4),
            "relevance": round(self.relevance, 4),
            "importanceWeight": round(self.importance, 4),
            "recencyWeight": round(self.recency, 4),
        }


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was found.

    Attributes:
        found: the best memories, best first.
        words: the words that were looked for, as they are indexed; empty when the query holds none that count.
        considered: how many memories have one of them and are important enough, as far as they were ranked.

    """

    found: tuple[tuple[Memory, Scored], ...]
    words: tuple[str, ...]
    considered: int
