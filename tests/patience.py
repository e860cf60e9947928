"""How long tests let a skill take.

Rules kept here:
- what has to end well has all the time that a machine may need which does other things too: a process that stands still
  for seconds changes no outcome;
- what has to be stopped by a limit gets a short one, for that call alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

PATIENT_MS = 60_000
_ENRICHMENT = "cortex_skills.tools.skill_graph_query.ENRICHMENT_S"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits that no setting changes are as long as those of the settings may be; a test of them sets them back."""
    monkeypatch.setattr(_ENRICHMENT, PATIENT_MS / 1000)
    monkeypatch.setattr("cortex_skills.runtime._DEACTIVATE_S", PATIENT_MS / 1000)
    monkeypatch.setattr("cortex_skills.boxes._DIRECT_IMPORT_S", PATIENT_MS / 1000)


@contextmanager
def queries_stop_after(seconds: float) -> Iterator[None]:
    """Meanwhile a skill has so long for a query: for one that never ends."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_ENRICHMENT, seconds)
        yield


def shortest(measure: Callable[[], float], enough: float, times: int = 5) -> float:
    """The least of a few measurements, of no more than are needed: a machine that is busy is not so each time."""
    least = math.inf
    for _ in range(times):
        least = min(least, measure())
        if least < enough:
            break
    return least
