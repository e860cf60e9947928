"""How far long work has come.

Rules kept here:
- work that takes long tells it step by step; whoever shows it decides how often;
- a step of which nobody knows how long it takes has no total.
"""

from __future__ import annotations

from collections.abc import Callable

# What is being done; how much of it is done; how much there is of it (None: nobody knows).
Progress = Callable[[str, int, int | None], None]


def silent(step: str, done: int, total: int | None) -> None:
    """Tell nobody."""
