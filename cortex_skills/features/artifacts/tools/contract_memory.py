"""Memories of an installed artifact that fulfils `memory_provider`, beside those of the graph.

Rules kept here:
- the graph stays the record: a memory is stored there first, and then passed to the artifact;
- what the artifact recalls is ranked with the memories of the graph, by relevance and importance;
- where there is none, the store is asked again after `LOOK_S`, or when this process installs something: most plugins
  have none, and each memory would ask;
- a recall or a memory that the artifact fails is an error: an agent must not believe that there is nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from cortex_skills.features.memory.model import Memory, MemoryQuery, NewMemory, Scored

LOOK_S = 2.0
_KIND = "memory_provider"
_ID_DIGITS = 32
_IMPORTANCE = 0.5


# Asks the artifact that fulfils a contract: its kind, what is asked, and the agent; None when there is none.
AskFirst = Callable[[str, dict[str, Any], str], tuple[str, Mapping[str, Any]] | None]


def _now() -> datetime:
    return datetime.now(UTC)


class ContractMemory:
    """The memory provider of one plugin: the first active artifact with the contract, as it is at each call.

    Args:
        ask: asks the artifact.
        writes: how often this process has changed what is installed.
        clock: in UTC.
    """

    def __init__(
        self, ask: AskFirst, writes: Callable[[], int] = lambda: 0, clock: Callable[[], datetime] = _now
    ) -> None:
        self._ask_first = ask
        self._writes = writes
        self._clock = clock
        self._none_until, self._none_at = 0.0, -1

    def remember(self, new: NewMemory, *, agent: str) -> None:
        """Pass a memory that was stored.

        Raises:
            CortexError: the artifact did not take it; calling again passes it again.
        """
        payload = {"text": new.text, "importance": new.importance, "tags": list(new.tags)}
        self._ask({"operation": "remember", "agent": agent, **payload}, agent)

    def recall(self, query: MemoryQuery, *, agent: str) -> list[tuple[Memory, Scored]]:
        """What the artifact recalls; empty without one.

        Raises:
            CortexError: the artifact did not answer.
        """
        payload = {"query": query.query, "limit": query.limit, "minImportance": query.min_importance}
        answered = self._ask({"operation": "recall", "agent": agent, **payload}, agent)
        if answered is None:
            return []
        tool, answer = answered
        found = []
        for each in answer.get("memories", ()):
            text, importance = each["text"].strip(), float(each.get("importance", _IMPORTANCE))
            if not text or importance < query.min_importance:
                continue
            identifier = sha256(f"{tool} {each.get('id', text)}".encode()).hexdigest()[:_ID_DIGITS]
            skill = tool.rpartition(".")[0]
            memory = Memory(
                identifier, text, importance, tuple(sorted(each.get("tags", ()))), self._clock(), agent, skill
            )
            found.append((memory, Scored(float(each.get("relevance", 1.0)), importance, 1.0)))
        return found[: query.limit]

    def _ask(self, payload: dict[str, Any], agent: str) -> tuple[str, Mapping[str, Any]] | None:
        """Ask the artifact, if there is one."""
        writes, now = self._writes(), time.monotonic()
        if writes == self._none_at and now < self._none_until:
            return None
        answered = self._ask_first(_KIND, payload, agent)
        if answered is None:
            self._none_at, self._none_until = writes, now + LOOK_S
        return answered
