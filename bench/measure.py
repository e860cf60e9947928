"""Measuring figures, and printing them as a table.

Rules kept here:
- a time is the median over several runs of a batch, so that one interruption has no effect;
- a row names its reference and its goal. Ratios count: absolute times drift between machines.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial


@dataclass(frozen=True)
class Row:
    """One figure.

    Attributes:
        figure: what is measured.
        ours: the value of the project.
        reference: what it is compared with.
        theirs: the value of the reference.
        unit: of both values.
        goal: the ratio to the reference that is required.
        at_least: whether the goal is a lower bound.

    """

    figure: str
    ours: float
    reference: str
    theirs: float
    goal: float
    unit: str = "s"
    at_least: bool = False

    @property
    def ratio(self) -> float:
        """The ratio of the value to that of the reference."""
        return self.ours / self.theirs

    @property
    def reached(self) -> bool:
        """Whether the goal is met."""
        return self.ratio >= self.goal if self.at_least else self.ratio <= self.goal


def median_s(work: Callable[[], object], *, runs: int = 15, batch: int = 1) -> float:
    """Seconds of one call of `work`: the median over `runs` of the mean over `batch` calls."""
    work()
    return statistics.median(mean_s(work, batch) for _ in range(runs))


def in_turn_s(
    works: Sequence[Callable[[], object]],
    batch: int,
    *,
    rounds: int = 24,
    of: Callable[[list[float]], float] = statistics.median,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Seconds of one call of each function, measured alternately so that other load affects all of them alike.

    Args:
        works: the functions.
        batch: consecutive calls of one function.
        rounds: number of measured rounds, after one round of warm-up.
        of: the statistic over the rounds.
        clock: wall clock or CPU clock.

    """
    return measured_in_turn_s([partial(mean_s, work, batch, clock) for work in works], rounds=rounds, of=of)


def measured_in_turn_s(
    measures: Sequence[Callable[[], float]],
    *,
    rounds: int = 24,
    of: Callable[[list[float]], float] = statistics.median,
) -> list[float]:
    """As `in_turn_s`, of functions that return their own seconds, such as a reference in another process."""
    for measure in measures:
        measure()
    times = [[measure() for measure in measures] for _ in range(rounds)]
    return [of(list(taken)) for taken in zip(*times, strict=True)]


def mean_s(work: Callable[[], object], batch: int, clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds of one call of `work`: the mean over `batch` calls."""
    start = clock()
    for _ in range(batch):
        work()
    return (clock() - start) / batch


def shown(value: float, unit: str) -> str:
    """A value with a readable unit."""
    if unit != "s":
        return f"{value:,.2f} {unit}"
    for scale, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if value >= scale:
            return f"{value / scale:.3g} {name}"
    return f"{value * 1e9:.3g} ns"


def table(rows: list[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| what | ours | reference | its value | ratio | to reach | |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        bound = f"{'≥' if row.at_least else '≤'} {row.goal:.3g}"
        verdict = "reached" if row.reached else "**not reached**"
        values = f"{shown(row.ours, row.unit)} | {row.reference} | {shown(row.theirs, row.unit)}"
        lines.append(f"| {row.figure} | {values} | {row.ratio:.3g} | {bound} | {verdict} |")
    return "\n".join(lines)
