"""What the feature `memory` adds to a plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cortex_skills.features.memory.memories import memories_of
from cortex_skills.plugin import Plugin

if TYPE_CHECKING:
    from cortex_skills.features.memory.memories import Memories


class MemoryMembers(Plugin):
    """The memories of agents."""

    @property
    def memories(self) -> Memories:
        """The memories of the agents of the namespace, of today."""
        return self.part(memories_of)
