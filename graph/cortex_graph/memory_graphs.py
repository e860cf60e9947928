"""The memories of agents: a graph for each agent, `{base}NS/memories/AGENT`, beside the graph of the namespace.

Rules kept here:
- terms of memories are written to these graphs only, and nothing else is written to them. So whoever reads the graph of
  a namespace (tools, skills, rules, SPARQL, counts, cursors, ids) reads no memory, and whoever reads the graph of an
  agent reads no memory of another one;
- the name of a memory is `NS:memory:ID`, and ID is an HMAC-SHA-256 of its text. The key is random, is kept in the graph
  of the agent (`cortex:memoryKey`), is never exported, and is created with the first memory. So an ID neither confirms
  a guess of the text nor is it known before the memory exists;
- earlier versions kept memories in the graph of the namespace, under a SHA-256 of the owner and the text.
  `move_memories` moves them, each in one transaction, with new IDs; a part of a memory that has no owner or no text is
  moved to a graph of no agent, where nobody recalls it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
import threading
from collections.abc import Iterator
from urllib.parse import unquote

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.exceptions import PermissionDenied
from cortex_graph.index.triple_index import hash_line
from cortex_graph.naming.names import Names, namespace_of
from cortex_graph.naming.vocabulary import (
    MEMORY_KEY,
    MEMORY_OWNER,
    MEMORY_REFLECTS_ON,
    MEMORY_TERMS,
    MEMORY_TEXT,
    STRING,
)
from cortex_graph.store import GraphStore, Pattern
from cortex_graph.store_access.claims import apply_claimed, has_claims
from cortex_graph.store_access.gathered import gathered

_ID_DIGITS = 32
_AT_ONCE = 50_000  # quads that are moved in one transaction; an ordinary store has fewer
_MOVING = threading.Lock()  # of two threads that create a key, each would make other IDs
_LOCAL = re.compile(r"[^/?#]+")


def check_place(quad: Quad, names: Names) -> Quad:
    """Return a quad that is to be written, if its predicate belongs to the graph of these names.

    Raises:
        PermissionDenied: it is a term of memories in another graph, or the reverse.
    """
    if (quad.predicate in MEMORY_TERMS) != (names.owner is not None):
        problem = "is a term of memories" if names.owner is None else "is not written to the memories of an agent"
        raise PermissionDenied(
            f"{quad.predicate} {problem}: nothing was written",
            hint="memories are written with `memory.remember`, or by a token with the permission `memories`",
            details={"predicate": quad.predicate.value},
        )
    return quad


def memory_id(key: bytes, text: str) -> str:
    """Return the ID of the memory of a text."""
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()[:_ID_DIGITS]


def memory_graphs(store: GraphStore, names: Names) -> list[NamedNode]:
    """Return the graphs with the memories of a namespace, sorted."""
    found = (graph for graph in store.graph_names() if names.remembering(graph) is not None)
    return sorted(found, key=lambda graph: graph.value)


def agents_remembering(store: GraphStore, base: str) -> dict[str, list[str]]:
    """Return the agents that have memories, sorted, by namespace; a blank is the owner of what has none."""
    found: dict[str, list[str]] = {}
    for graph in sorted(store.graph_names(), key=lambda graph: graph.value):
        namespace = namespace_of(graph.value.removeprefix(base).partition("/")[0])
        if namespace is not None and graph.value.startswith(base):
            agent = Names(namespace, base).remembering(graph)
            if agent is not None:
                found.setdefault(namespace, []).append(agent)
    return found


def move_all_memories(store: GraphStore) -> int:
    """Do what `move_memories` does, for every graph of a store."""
    return sum(move_memories(store, graph) for graph in store.graph_names())


def move_memories(store: GraphStore, graph: NamedNode, source: NamedNode | None = None) -> int:
    """Move the memories of a namespace to the graphs of their owners. Interrupted, it continues when called again.

    Args:
        store: the store of the graph.
        graph: the graph of a namespace.
        source: the graph that contains them; None for the graph of the namespace.

    Returns:
        The number of moved statements.
    """
    source = graph if source is None else source
    subjects = _subjects(store, graph, source)
    if not subjects:
        return 0
    with _MOVING:
        return _move(store, graph, source, subjects)


def _move(store: GraphStore, graph: NamedNode, source: NamedNode, subjects: list[NamedNode]) -> int:
    insert: list[Quad] = []
    remove: list[Quad] = []
    moved = 0
    named = _new_names_of_sources(store, graph, source)
    for subject in subjects:
        quads = [quad for quad in store.quads(Pattern(source, subject)) if quad.predicate in MEMORY_TERMS]
        target, name = _place(store, graph, subject, quads)
        if target == source:
            continue
        insert += [Quad(name, quad.predicate, named.get(quad.object, quad.object), target) for quad in quads]
        remove += [each for quad in quads for each in (quad, *_about(store, graph, quad))]
        moved += len(quads)
        if len(remove) >= _AT_ONCE:
            store.apply(insert, remove)
            insert, remove = [], []
    if remove:
        store.apply(insert, remove)
    return moved


def _new_names_of_sources(store: GraphStore, graph: NamedNode, source: NamedNode) -> dict[object, NamedNode]:
    """Return the new names of the memories that reflections draw from."""
    sources = {quad.object for quad in store.quads(Pattern(source, None, MEMORY_REFLECTS_ON))}
    names: dict[object, NamedNode] = {}
    for node in sources:
        if isinstance(node, NamedNode) and (quads := list(store.quads(Pattern(source, node)))):
            names[node] = _place(store, graph, node, quads)[1]
    return names


def unowned_graph(graph: NamedNode) -> NamedNode:
    """Return the graph for the parts of memories that have no owner, and for memories during an import.

    It is that of the agent ` `, which is no id of an agent.
    """
    return NamedNode(f"{graph.value}/memories/%20")


def _subjects(store: GraphStore, graph: NamedNode, source: NamedNode) -> list[NamedNode]:
    start = f"{graph.value}:memory:"
    found: dict[NamedNode, None] = {}
    patterns = [Pattern(source, None, term) for term in sorted(MEMORY_TERMS, key=str)]
    for quads in gathered(store, patterns):
        for quad in quads:
            if isinstance(quad.subject, NamedNode) and quad.subject.value.startswith(start):
                found[quad.subject] = None
    return list(found)


def _place(store: GraphStore, graph: NamedNode, subject: NamedNode, quads: list[Quad]) -> tuple[NamedNode, NamedNode]:
    """Return the graph to which a memory is moved, and its new name."""
    unowned = unowned_graph(graph)
    found = list(_owners_and_texts(graph, quads))
    old = subject.value.removeprefix(f"{graph.value}:memory:")
    if len(found) > 1:  # only one of them names the memory
        found = [(local, text) for local, text in found if old == _old_id(local, text)]
    if not found:
        return unowned, subject
    local, text = found[0]
    target = NamedNode(f"{graph.value}/memories/{local}")
    key = made_key(store, target, NamedNode(f"{graph.value}:agent:{local}"))
    return target, NamedNode(f"{graph.value}:memory:{memory_id(key, text)}")


def _owners_and_texts(graph: NamedNode, quads: list[Quad]) -> Iterator[tuple[str, str]]:
    agents = f"{graph.value}:agent:"
    texts = [quad.object for quad in quads if quad.predicate == MEMORY_TEXT]
    for quad in quads:
        owner = quad.object
        if quad.predicate != MEMORY_OWNER or not isinstance(owner, NamedNode) or not owner.value.startswith(agents):
            continue
        local = owner.value.removeprefix(agents)
        if _LOCAL.fullmatch(local):
            for text in texts:
                if isinstance(text, Literal) and text.datatype == STRING:
                    yield local, text.value


def _old_id(local: str, text: str) -> str:
    return hashlib.sha256(json.dumps([unquote(local), text]).encode()).hexdigest()[:_ID_DIGITS]


def _about(store: GraphStore, graph: NamedNode, quad: Quad) -> Iterator[Quad]:
    """Yield the record and the index entry of a triple."""
    record = NamedNode(f"{graph.value}/triple/{hash_line(str(quad))}")
    for beside in ("provenance", "index"):
        yield from store.quads(Pattern(NamedNode(f"{graph.value}/{beside}"), record))


def key_of(store: GraphStore, graph: NamedNode, owner: NamedNode) -> bytes | None:
    """Return the key in the graph of an agent's memories, if there is one.

    When two processes created one at the same time, the least counts.
    """
    found = (quad.object for quad in store.quads(Pattern(graph, owner, MEMORY_KEY)))
    return min((key.value.encode() for key in found if isinstance(key, Literal)), default=None)


def made_key(store: GraphStore, graph: NamedNode, owner: NamedNode) -> bytes:
    """Return the key in the graph of an agent's memories, which is created if there is none."""
    key = key_of(store, graph, owner)
    if key is not None:
        return key
    new = secrets.token_hex(32)
    claim = Quad(owner, MEMORY_KEY, Literal(new), graph)
    if has_claims(store):  # so that of two writers at once both get the same key
        apply_claimed(store, claim)
    else:
        store.insert([[claim]])
    return key_of(store, graph, owner) or new.encode()
