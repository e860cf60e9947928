"""How a figure is taken, and how it is shown.

Rules kept here:
- a time is the median of several runs of a batch, so that one interruption does not decide;
- a row says what it is compared with and what is to be reached; ratios count, absolute times drift between machines.
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
        ours: the project's value.
        reference: what it is compared with.
        theirs: the reference's value.
        unit: of both.
        goal: the ratio (ours to theirs) to reach.
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
        """Ours to theirs."""
        return self.ours / self.theirs

    @property
    def reached(self) -> bool:
        """Whether the goal is met."""
        return self.ratio >= self.goal if self.at_least else self.ratio <= self.goal


def median_s(work: Callable[[], object], *, runs: int = 15, batch: int = 1) -> float:
    """Seconds that one call of `work` takes: the median over `runs` of the mean over `batch` calls."""
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
    """Seconds that one call of each takes, all measured in turn: what else the machine does falls on all of them alike.

    Args:
        works: what is measured.
        batch: how many calls of one follow each other.
        rounds: how often it is everybody's turn; once more before, to warm up.
        of: what is told of the means over each batch.
        clock: of the wall, or of the processor.

    """
    return told_in_turn_s([partial(mean_s, work, batch, clock) for work in works], rounds=rounds, of=of)


def told_in_turn_s(
    measures: Sequence[Callable[[], float]],
    *,
    rounds: int = 24,
    of: Callable[[list[float]], float] = statistics.median,
) -> list[float]:
    """As `in_turn_s`, of measures that tell their seconds themselves: a reference in another process does."""
    for measure in measures:
        measure()
    times = [[measure() for measure in measures] for _ in range(rounds)]
    return [of(list(taken)) for taken in zip(*times, strict=True)]


def mean_s(work: Callable[[], object], batch: int, clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds that one call of `work` takes: the mean over `batch` calls."""
    start = clock()
    for _ in range(batch):
        work()
    return (clock() - start) / batch


def shown(value: float, unit: str) -> str:
    """A value with a unit that a person reads easily."""
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
