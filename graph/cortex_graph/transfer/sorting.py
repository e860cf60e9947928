"""Sorts the lines of a file that is larger than the memory.

Rules kept here:
- lines are sorted by their bytes, which for UTF-8 is the order of code points;
- memory use is constant: runs of `RUN_BYTES` are sorted and written, and merged at the end;
- lines include their line feed; duplicates are kept unless `unique` is set.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path

RUN_BYTES = 64 << 20  # of lines; a line takes about 40 bytes more in memory
_AT_ONCE = 64  # runs that are merged at a time


def sorted_lines(lines: Iterable[bytes], folder: Path, *, unique: bool = False) -> Iterator[bytes]:
    """Yield the lines in order."""
    runs: list[Path] = []
    run: list[bytes] = []
    room = RUN_BYTES
    number = 0
    for line in lines:
        run.append(line)
        room -= len(line)
        if room < 0:
            runs.append(_written(sorted(run), folder / f"run-{number}"))
            number += 1
            run, room = [], RUN_BYTES
    while len(runs) > _AT_ONCE:
        first, runs = runs[:_AT_ONCE], runs[_AT_ONCE:]
        with ExitStack() as opened:
            runs.append(_written(_merged(first, [], opened), folder / f"run-{number}"))
        number += 1
        for path in first:
            path.unlink()
    run.sort()
    with ExitStack() as opened:
        merged = _merged(runs, run, opened)
        yield from (line for line, _ in groupby(merged)) if unique else merged
    for path in runs:
        path.unlink()


def _merged(runs: list[Path], last: list[bytes], opened: ExitStack) -> Iterator[bytes]:
    if not runs:
        return iter(last)
    return heapq.merge(*(opened.enter_context(path.open("rb", buffering=1 << 20)) for path in runs), last)


def _written(lines: Iterable[bytes], path: Path) -> Path:
    with path.open("wb", buffering=1 << 20) as file:
        file.writelines(lines)
    return path
