"""Memories of agents: stored as RDF beside the graph of the namespace, recalled by their words and meaning."""

from cortex_skills.features.memory.memories import Memories
from cortex_skills.features.memory.model import Memory, MemoryQuery, NewMemory, Recalled, Scored
from cortex_skills.features.memory.requests import (
    IMPORTANCE,
    LIMIT,
    MAX_DEPTH,
    MAX_LIMIT,
    MAX_QUERY,
    MAX_SOURCES,
    MAX_TAG,
    MAX_TAGS,
    MAX_TEXT,
    MIN_IMPORTANCE,
    memory_query,
    new_memory,
)

__all__ = [
    "IMPORTANCE",
    "LIMIT",
    "MAX_DEPTH",
    "MAX_LIMIT",
    "MAX_QUERY",
    "MAX_SOURCES",
    "MAX_TAG",
    "MAX_TAGS",
    "MAX_TEXT",
    "MIN_IMPORTANCE",
    "Memories",
    "Memory",
    "MemoryQuery",
    "NewMemory",
    "Recalled",
    "Scored",
    "memory_query",
    "new_memory",
]
