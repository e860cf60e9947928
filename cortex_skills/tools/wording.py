"""The models that word what was learned: that of the connected client, or one behind an endpoint (`chat_endpoint.py`).

Rules kept here:
- a model gets redacted calls only, and what it answers is checked like any text from outside (`learning.py`);
- a model that gave no answer is an error, after which nothing was learned.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

from cortex_skills.errors import CortexError

Wording = Callable[[str, str], str]
"""Asks a model: its instructions, and a text; returns its answer. Raises `learning_failed`."""

MAX_TOKENS = 2_000

# The model of the client whose call this context runs, for a deadline in seconds; None where the client has none.
SAMPLER: ContextVar[Callable[[float], Wording | None] | None] = ContextVar("SAMPLER", default=None)


def not_worded(problem: str) -> CortexError:
    """The error for a model that gave no answer."""
    return CortexError(
        "learning_failed",
        f"no model worded what was done: {problem}; nothing was learned",
        hint="try again later, or name the skill yourself: skill_learn with name",
    )
