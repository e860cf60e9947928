"""The memories in a file of N-Triples.

Rules kept here:
- the memories of agents of the namespace, `NS:memory:…`, are split from the other statements, which stay as they are;
- keys of the IDs of memories belong to a store, and are dropped.
"""

from __future__ import annotations

import mmap
from pathlib import Path

from pyoxigraph import NamedNode

from cortex_graph.naming.vocabulary import MEMORY_KEY, MEMORY_TERMS


def split_memories(data: Path, memories: Path, graph: NamedNode) -> bool:
    """Move the lines of memories to another file, and drop keys; returns whether there were any.

    Args:
        data: the N-Triples, which are replaced.
        memories: the other file, which is written if there were any.
        graph: the graph of the namespace of the memories.
    """
    terms = {str(term).encode() for term in MEMORY_TERMS}
    with data.open("rb") as file:
        if not data.stat().st_size:
            return False
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            if all(content.find(term) < 0 for term in terms):
                return False
    own = f"<{graph.value}:memory:".encode()
    key = str(MEMORY_KEY).encode()
    rest = data.with_suffix(".rest")
    with data.open("rb") as file, rest.open("wb") as others, memories.open("wb") as found:
        for line in file:
            parts = line.split(None, 2)
            predicate = parts[1] if len(parts) > 1 else b""
            if predicate in terms and parts[0].startswith(own):
                found.write(line)
            elif predicate != key:
                others.write(line)
    rest.replace(data)
    return True
