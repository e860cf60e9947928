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
from cortex_skills.features.memory.agent_memories import INDEX_TIMEOUT_S
from cortex_skills.features.memory.memories import memories_of
from cortex_skills.features.memory.requests import memory_query, new_memory
from cortex_skills.runtime.host_functions import HostFunctions


def memory_functions(of: HostFunctions) -> dict[str, Callable[..., Any]]:
    """The functions for one skill."""

    def remember(text: Any = None, options: Any = None, *_: Any) -> str:
        """Remember a text; returns its id. A text that is remembered already stays as it is."""
        of.check("memory:remember", "memory.remember")
        new = new_memory(text, options)
        with of.budgets.write(of.skill) as slot:
            identifier, created = of.host.part(memories_of).remember(new, agent=of.agent, skill=of.skill)
            if not created:
                slot.refund()
            return identifier

    def recall(query: Any = None, options: Any = None, *_: Any) -> list[dict[str, Any]]:
        """The memories that fit a query best, each with its score."""
        of.check("memory:recall", "memory.recall")
        timeout_s = min(INDEX_TIMEOUT_S, 0.8 * remaining_s())
        asked = memory_query(query, options)
        recalled = of.host.part(memories_of).recall(asked, agent=of.agent, timeout_s=timeout_s)
        return [{**memory.to_json(), **scored.to_json()} for memory, scored in recalled.found]

    return {"memory.remember": remember, "memory.recall": recall}
