"""What skills remember for agents, as RDF in the namespace, and how it is found again."""

from cortex_skills.memory.arguments import IMPORTANCE, LIMIT, MAX_LIMIT, MAX_QUERY, MIN_IMPORTANCE, new_memory, wanted
from cortex_skills.memory.memories import Memories
from cortex_skills.memory.model import Memory, NewMemory, Recalled, Wanted

__all__ = [
    "IMPORTANCE",
    "LIMIT",
    "MAX_LIMIT",
    "MAX_QUERY",
    "MIN_IMPORTANCE",
    "Memories",
    "Memory",
    "NewMemory",
    "Recalled",
    "Wanted",
    "new_memory",
    "wanted",
]
