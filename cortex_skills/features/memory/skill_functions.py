"""`memory.remember` and `memory.recall` for the code of skills.

Rules kept here:
- a skill recalls and remembers the memories of the agent on whose behalf it acts, and of no other;
- the rules of a tool call apply: permissions and budgets;
- a recall leaves the skill some of its time to handle a refusal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cortex_sandbox import remaining_s
from cortex_skills.features.memory import remembering
from cortex_skills.features.memory.agent_memories import INDEX_TIMEOUT_S
from cortex_skills.features.memory.requests import memory_query, new_memory
from cortex_skills.operations.run import run
from cortex_skills.runtime.host_functions import HostFunctions
from cortex_skills.tools.base import code_caller


def memory_functions(of: HostFunctions) -> dict[str, Callable[..., Any]]:
    """The functions for one skill."""

    def remember(text: Any = None, options: Any = None, *_: Any) -> str:
        """Remember a text; returns its id. A text that is remembered already stays as it is."""
        of.check("memory:remember", "memory.remember")
        new = new_memory(text, options)
        with of.budgets.write(of.skill) as slot:
            given = {"text": new.text, "importance": new.importance, "tags": new.tags}
            done = run(remembering.remember, code_caller(of), given, of.host)
            if not done.created:
                slot.refund()
            return done.id

    def recall(query: Any = None, options: Any = None, *_: Any) -> list[dict[str, Any]]:
        """The memories that fit a query best, each with its score."""
        of.check("memory:recall", "memory.recall")
        timeout_s = min(INDEX_TIMEOUT_S, 0.8 * remaining_s())
        asked = memory_query(query, options)
        given = {"text": asked.query, "limit": asked.limit, "min_importance": asked.min_importance}
        recalled = run(remembering.recall, code_caller(of), {**given, "timeout_s": timeout_s}, of.host)
        return [{**memory.to_json(), **scored.to_json()} for memory, scored in recalled.found]

    return {"memory.remember": remember, "memory.recall": recall}
