"""Plugins, skills, a clock, and memories on a real store."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from cortex_graph import NamespacedGraph, open_store
from cortex_graph.namespace.agent_graph import AgentGraph
from cortex_skills.features.memory.memories import Memories
from tests.plugin.conftest import logged_at_info, long_limits, opened, plugin, skill

__all__ = ["logged_at_info", "long_limits", "opened", "plugin", "skill"]


class Clock:
    """A clock that tests advance."""

    def __init__(self) -> None:
        self.now = datetime(2026, 6, 1, 12, 0, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def go(self, **time: float) -> None:
        self.now += timedelta(**time)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def graph() -> Iterator[NamespacedGraph]:
    store = open_store("memory:")
    yield NamespacedGraph(store, "mayros")
    store.close()


@pytest.fixture
def own(graph: NamespacedGraph) -> AgentGraph:
    """The memories of a1."""
    return AgentGraph(graph, "a1")


@pytest.fixture
def memories(graph: NamespacedGraph, clock: Clock) -> Memories:
    return Memories(graph, clock)
