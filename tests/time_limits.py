"""Time limits of skills in tests.

Rules kept here:
- a call that has to succeed gets the longest limit, so that a busy machine changes no outcome;
- a call that has to be stopped by a limit gets a short limit, for that call alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

LONG_MS = 60_000
_ENRICHMENT = "cortex_skills.features.graph.tools.skill_graph_query.ENRICHMENT_S"


@pytest.fixture(autouse=True)
def long_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the limits that no setting controls to the maximum of those that settings control."""
    monkeypatch.setattr(_ENRICHMENT, LONG_MS / 1000)
    monkeypatch.setattr("cortex_skills.runtime.runtime._DEACTIVATE_S", LONG_MS / 1000)
    monkeypatch.setattr("cortex_skills.runtime.program._DIRECT_IMPORT_S", LONG_MS / 1000)


@contextmanager
def queries_stop_after(seconds: float) -> Iterator[None]:
    """Limit queries of skills to some seconds within the block, for a skill that never returns."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_ENRICHMENT, seconds)
        yield


def shortest(measure: Callable[[], float], enough: float, times: int = 5) -> float:
    """The minimum of up to `times` measurements, ending at the first one below `enough`."""
    least = math.inf
    for _ in range(times):
        least = min(least, measure())
        if least < enough:
            break
    return least
