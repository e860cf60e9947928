"""The index of the entities of a namespace, which follows its graph (`index_follower.py`)."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import groupby, islice
from typing import Any

from pyoxigraph import NamedNode, Quad

from cortex_graph import GraphUnavailable, NamespacedGraph
from cortex_graph.naming.names import Names
from cortex_graph.store import Changes, GraphStore, InFolder, Pattern
from cortex_skills.features.finder.entity_documents import EntityDocuments
from cortex_skills.features.finder.entity_texts import MAX_STATEMENTS, EntityTexts, entity_texts
from cortex_skills.features.finder.index_follower import IndexFollower

_MOST_ON_SERVER = 300_000  # triples, which are sorted in memory
_CHECKED = 64  # resources, after which the end of the store is noticed


class EntityFollower(IndexFollower[NamespacedGraph]):
    """The index of the resources of one graph."""

    documents = EntityDocuments
    contents = "names and texts"

    def changed_in(self, graph: NamespacedGraph, changes: Changes) -> dict[str, Any] | None:
        """The resources that were written to."""
        subjects = changes.of(graph.names.graph)
        return None if subjects is None else {iri: read_entity(graph, NamedNode(iri)) for iri in subjects}

    def every(self, graph: NamespacedGraph) -> Generator[EntityTexts, None, None]:
        """All resources of the graph."""
        return every_entity(graph)


def read_entity(graph: NamespacedGraph, subject: NamedNode) -> EntityTexts | None:
    """What of a resource is searched, as the graph is; None if it has no statements."""
    with closing(quads_of(graph.store, Pattern(graph.names.graph, subject))) as quads:
        statements = [(quad.predicate, quad.object) for quad in islice(quads, MAX_STATEMENTS + 1)]
    return entity_texts(subject, statements, graph.names) if statements else None


def every_entity(graph: NamespacedGraph) -> Generator[EntityTexts, None, None]:
    """What of each resource of a graph is searched, each once."""
    store, names = graph.store, graph.names
    with closing(quads_of(store, Pattern(names.graph))) as quads:
        if isinstance(store, InFolder):  # in the order of the subjects
            probe = Quad(names.graph, names.graph, names.graph, names.graph)
            for number, (subject, group) in enumerate(groupby(quads, lambda quad: quad.subject)):
                if not number % _CHECKED:  # whether the store was closed: what is read keeps its folder locked
                    store.contains(probe)
                yield entity_texts(subject, ((quad.predicate, quad.object) for quad in group), names)
            return
        if store.keeps_order:  # in memory
            subjects = dict.fromkeys(quad.subject for quad in quads)
        else:
            yield from _sorted_entities(quads, names)
            return
    for subject in subjects:
        if (entity := read_entity(graph, subject)) is not None:
            yield entity


def quads_of(store: GraphStore, pattern: Pattern) -> Generator[Any, None, None]:
    """The quads of a pattern, to be closed by the thread that reads them: the engine's iterators belong to it."""
    yield from store.quads(pattern)


def _sorted_entities(quads: Iterator[Any], names: Names) -> Iterator[EntityTexts]:
    some = sorted(islice(quads, _MOST_ON_SERVER + 1), key=lambda quad: quad.subject.value)
    if len(some) > _MOST_ON_SERVER:
        raise GraphUnavailable(f"the server has more than {_MOST_ON_SERVER:,} triples in this graph")
    for subject, group in groupby(some, lambda quad: quad.subject):
        yield entity_texts(subject, ((quad.predicate, quad.object) for quad in group), names)
