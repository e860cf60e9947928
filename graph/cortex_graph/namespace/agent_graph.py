"""The memories of one agent as a graph, for whoever may read or write them triple by triple.

Rules kept here:
- it is the graph of the agent (`memory_graphs.py`): ids, pages, totals and cursors are those of the agent's memories;
- a memory that another agent than its owner wrote names that one (`cortex:memoryAuthor`). No client writes or deletes
  that statement or the key of the IDs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyoxigraph import NamedNode, Quad

from cortex_graph.assertion_records.provenance import Provenance
from cortex_graph.checks.argument_checks import check_triple
from cortex_graph.exceptions import PermissionDenied
from cortex_graph.memory_graphs import key_of, made_key
from cortex_graph.namespace.namespaced import NamespacedGraph
from cortex_graph.naming.vocabulary import MEMORY_AUTHOR, MEMORY_KEY, MEMORY_REFLECTS_ON, MEMORY_USES
from cortex_graph.store import Pattern

_KEPT = (MEMORY_AUTHOR, MEMORY_USES)  # of a memory that is corrected


class AgentGraph(NamespacedGraph):
    """The memories of one agent, as a graph.

    Args:
        graph: the graph of the namespace.
        agent: the owner of the memories.
    """

    def __init__(self, graph: NamespacedGraph, agent: str) -> None:
        self._use(graph.store, graph.names.of_memories(agent))
        self.prefixes = graph.prefixes
        self.agent = agent
        self.owner = self.names.agent(agent)

    def key(self) -> bytes | None:
        """Return the key of the IDs; None before the first memory."""
        return key_of(self.store, self.names.graph, self.owner)

    def make_key(self) -> bytes:
        """Return the key of the IDs, which is created if there is none."""
        return made_key(self.store, self.names.graph, self.owner)

    def delete_triple(self, triple_id: str) -> bool:
        """Do what `NamespacedGraph.delete_triple` does.

        Raises:
            PermissionDenied: the triple names the author of a memory, or is the key of the IDs.
        """
        quad = self.index.find(triple_id)
        if quad is not None:
            _check_is_text(quad)
        return super().delete_triple(triple_id)

    def write_memory(self, triples: Iterable[Mapping[str, Any]], writer: str | None) -> list[Quad]:
        """Write a memory that the caller found to be new, with its writer, in one transaction; returns its quads.

        Args:
            triples: what states it, as for `create_triples`.
            writer: the agent that writes it; None, or the owner, is not recorded.
        """
        quads = [self._quad(*check_triple(each)) for each in triples]
        if writer not in (None, self.agent):
            author = self.names.agent(writer)
            quads += [Quad(each, MEMORY_AUTHOR, author, self.names.graph) for each in {quad.subject for quad in quads}]
        self.store.apply(self.with_entries(quads))
        return quads

    def replace_memory(
        self, old: NamedNode, new: NamedNode, triples: Iterable[Mapping[str, Any]], writer: str | None
    ) -> None:
        """Replace the statements of a memory by those of a corrected one, in one transaction.

        Who wrote it before, and how often it was recalled, is kept; reflections on it are on the corrected one.

        Args:
            old: the memory.
            new: the corrected one; it may have the same name.
            triples: what states it, as for `create_triples`.
            writer: the agent that corrects it; None, or the owner, is not recorded.
        """
        graph, store = self.names.graph, self.store
        written = {self._quad(*check_triple(each)) for each in triples}
        removed = set(store.quads(Pattern(graph, old)))
        written |= {Quad(new, each.predicate, each.object, graph) for each in removed if each.predicate in _KEPT}
        if writer not in (None, self.agent):
            written.add(Quad(new, MEMORY_AUTHOR, self.names.agent(writer), graph))
        if new != old:
            reflections = list(store.quads(Pattern(graph, None, MEMORY_REFLECTS_ON, old)))
            removed.update(reflections)
            written |= {Quad(each.subject, each.predicate, new, graph) for each in reflections}
        store.apply(self.with_entries([*written - removed]), self.with_entries([*removed - written]))

    def with_entries(self, quads: list[Quad]) -> list[Quad]:
        """Return quads and their entries in the index of ids, if it has begun."""
        index = self.index
        return [*quads, *(index.entry(index.hash_of(quad), quad) for quad in quads if index.has_begun())]

    def _quad(self, subject: object, predicate: object, object_: object) -> Quad:
        quad = super()._quad(subject, predicate, object_)
        _check_is_text(quad)
        return quad

    def _write(self, quads: list[Quad], ids: list[str], provenance: Provenance | None) -> list[bool]:
        """Write quads; a writer other than the owner is recorded first, so that no memory is without its author."""
        writer = None if provenance is None else provenance.agent
        if writer not in (None, self.agent):
            author, graph = self.names.agent(writer), self.names.graph
            written = dict.fromkeys(quad.subject for quad in quads if not self.store.contains(quad))
            signed = [Quad(subject, MEMORY_AUTHOR, author, graph) for subject in written]
            super()._write(signed, list(map(self.index.identify, signed)), None)
        return super()._write(quads, ids, None)


def _check_is_text(quad: Quad) -> None:
    if quad.predicate in (MEMORY_AUTHOR, MEMORY_KEY):
        raise PermissionDenied(
            f"{quad.predicate} is written by the store only",
            hint="write or delete the other statements of the memory",
            details={"predicate": quad.predicate.value},
        )
