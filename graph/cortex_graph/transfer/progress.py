"""Reports of the progress of long operations.

Rules kept here:
- a long operation reports each step; the receiver decides how often it shows one;
- a step of unknown length has no total.
"""

from __future__ import annotations

from collections.abc import Callable

# The step, the amount that is done, and the total (None if it is unknown).
Progress = Callable[[str, int, int | None], None]


def silent(step: str, done: int, total: int | None) -> None:
    """Ignore a report."""
