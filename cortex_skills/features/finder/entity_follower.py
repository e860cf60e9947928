"""The index of the entities of a namespace, which follows its graph (`index_follower.py`), and counts its schema.

Rules kept here:
- the schema of a commit is in it: the sum of the shapes of its documents (`schema_counters.py`). That of now has the
  shapes of what changed in place of those in the documents, so it costs what was written since, by any process;
- the kind of a value is the class of a node. When the classes of a node change, all that point to it are read again; of
  more than `_MOST_POINTING` everything is;
- what was written to while everything was read may be counted with other classes of nodes than it has: these are
  compared again, once (`again`);
- a store that does not state what changed has no such counters, nor has a graph with very many classes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby, islice
from typing import Any

import orjson
from pyoxigraph import NamedNode, Quad

from cortex_graph import GraphUnavailable, NamespacedGraph
from cortex_graph.index.schema_in_use import OF_EXAMPLE, RESOURCE, SchemaInUse
from cortex_graph.naming.names import Names
from cortex_graph.naming.vocabulary import TYPE
from cortex_graph.store import Changes, Following, GraphStore, InFolder, Pattern
from cortex_skills.features.finder.entity_documents import EntityDocuments
from cortex_skills.features.finder.entity_texts import MAX_STATEMENTS, EntityTexts, entity_texts
from cortex_skills.features.finder.index_follower import IndexFollower, IndexView
from cortex_skills.features.finder.schema_counters import SchemaCounters, Use, counters_in
from cortex_skills.features.finder.subject_shapes import (
    MAX_COUNTED,
    ClassesOfNodes,
    Kind,
    Statement,
    classes_in,
    shape_of,
)

_MOST_ON_SERVER = 300_000  # triples, which are sorted in memory
_CHECKED = 64  # resources, after which the end of the store is noticed
_MOST_POINTING = 2_000  # subjects that are read again because a node has other classes
_MOST_AGAIN = 10_000  # nodes that are compared again
_LOOKED_AT = 1_000  # triples among which an example is looked for

Again = Mapping[str, tuple[str, ...]]
"""Nodes that may have other classes than those with which they are counted as values, and these."""


class EntityFollower(IndexFollower[NamespacedGraph]):
    """The index of the resources of one graph."""

    documents = EntityDocuments
    contents = "names and texts"

    def __init__(self) -> None:
        super().__init__()
        self._counting: SchemaCounters | None = None  # of everything
        self._of_nodes: ClassesOfNodes | None = None
        self._compared = -1  # the generation whose `again` was compared
        self._schema: tuple[IndexView, SchemaInUse] | None = None

    def changed_in(self, graph: NamespacedGraph, changes: Changes) -> dict[str, Any] | None:
        """The resources that were written to, and those that point to one whose classes changed."""
        subjects = changes.of(graph.names.graph)
        if subjects is None:
            return None
        again: Again = {}
        if self._compared != self._generation and self._documents is not None:
            again = _summary_in(self._documents.state.summary)[0]
        if not subjects and not again:
            self._compared = self._generation
            return {}
        read = {iri: _statements(graph, iri) for iri in subjects | again.keys()}
        pointing: set[str] = set()
        indexed = {**self._classes(read), **again}
        for iri, statements in read.items():
            if indexed.get(iri, ()) != classes_in(statements):
                with closing(quads_of(graph.store, Pattern(graph.names.graph, None, None, NamedNode(iri)))) as quads:
                    found = {quad.subject.value for quad in quads if quad.predicate != TYPE}
                    pointing |= found
                if len(pointing) > _MOST_POINTING:
                    return None
        read |= {iri: _statements(graph, iri) for iri in pointing - read.keys()}
        self._compared = self._generation
        known = {iri: classes_in(statements) for iri, statements in read.items()}
        known = self._classes(_nodes(read.values()) - known.keys()) | known
        return {
            iri: _entity(graph.names, iri, statements, lambda node: known.get(node, ()))
            for iri, statements in read.items()
        }

    def _classes(self, iris: Collection[str]) -> dict[str, tuple[str, ...]]:
        """The classes of resources as they are indexed; those that are not are left out."""
        kept = [iri for iri in iris if iri not in self._changed]
        shapes = self._documents.shapes(kept) if isinstance(self._documents, EntityDocuments) else {}
        found = {iri: shape.classes for iri, shape in shapes.items()}
        later = {iri: self._changed[iri] for iri in iris if iri in self._changed}
        return found | {iri: entity.shape.classes for iri, entity in later.items() if entity is not None}

    def every(self, graph: NamespacedGraph) -> Generator[EntityTexts, None, None]:
        """All resources of the graph."""
        self._counting, self._of_nodes = None, None
        if isinstance(graph.store, Following):
            with closing(quads_of(graph.store, Pattern(graph.names.graph, None, TYPE))) as quads:
                types = (quad for quad in quads if isinstance(quad.object, NamedNode))
                try:
                    self._of_nodes = ClassesOfNodes((quad.subject.value, quad.object.value) for quad in types)
                    self._counting = SchemaCounters()
                except ValueError:
                    pass
        for entity in every_entity(graph, None if self._of_nodes is None else self._of_nodes.of):
            if self._counting is not None and entity.shape is not None:
                self._counting.add(entity.subject.value, entity.shape)
                if self._counting.is_too_large:
                    self._counting = None
            yield entity

    def summary_of_all(self, graph: NamespacedGraph, position: str) -> bytes:
        """The counters of all resources, and those that were written to meanwhile."""
        counting, of_nodes = self._counting, self._of_nodes
        self._counting = self._of_nodes = None
        if counting is None or of_nodes is None or not isinstance(graph.store, Following):
            return b""
        subjects = graph.store.changes_since(position).of(graph.names.graph)
        if subjects is None or len(subjects) > _MOST_AGAIN:
            return b""
        return _summary({iri: tuple(sorted(of_nodes.of(iri))) for iri in subjects}, counting)

    def summary_with(self, documents: EntityDocuments, changed: Mapping[str, EntityTexts | None]) -> bytes:
        """The counters of documents with what changed."""
        counters = _counters(documents, changed)
        return b"" if counters is None or counters.is_too_large else _summary({}, counters)

    def schema(self, graph: NamespacedGraph, timeout_s: float) -> SchemaInUse | None:
        """The schema of the graph; None where it is not counted. While it is counted first, `counted_at` is None.

        Args:
            graph: the graph, always the same one.
            timeout_s: how long to wait for an index that is being made, in seconds.

        Raises:
            GraphError: the store cannot be read.
        """
        view = self.current(graph, timeout_s)
        last = self._schema
        if last is not None and (last[0].generation, last[0].changed) == (view.generation, view.changed):
            return last[1] if not view.reason else replace(last[1], is_current=False)
        counters = None if view.documents is None else _counters(view.documents, view.changed)
        if counters is None:
            is_made = self._states_changes and self._thread is not None and self._thread.is_alive()
            return SchemaInUse(is_exact=False, is_current=False) if is_made else None
        for use, kind in list(counters.without_example()):
            if (found := _example(graph, use, kind)) is not None:
                counters.set_example(use, kind, *found)
        first, last_asserted = graph.times.span()
        schema = counters.schema(first, last_asserted, datetime.now(UTC))
        if not view.reason:
            self._schema = view, schema
        return replace(schema, is_current=not view.reason)


def _counters(documents: EntityDocuments, changed: Mapping[str, EntityTexts | None]) -> SchemaCounters | None:
    """The counters of documents with what changed; None if they have none."""
    if not documents.state.summary:
        return None
    counters = counters_in(_summary_in(documents.state.summary)[1])
    for iri, shape in documents.shapes(changed).items():
        counters.discard(iri, shape)
    for iri, entity in changed.items():
        if entity is not None and entity.shape is not None:
            counters.add(iri, entity.shape)
    return counters


def _summary(again: Again, counters: SchemaCounters) -> bytes:
    return orjson.dumps(again) + b"\n" + counters.written()


def _summary_in(data: bytes) -> tuple[Again, bytes]:
    again, _, counters = data.partition(b"\n")
    return {iri: tuple(classes) for iri, classes in orjson.loads(again or b"{}").items()}, counters


def _example(graph: NamespacedGraph, use: Use, kind: Kind) -> tuple[tuple[str, str], str] | None:
    """An example of a kind of values, and the subject that has it; None if there is none among the first triples."""
    (of, predicate), (is_node, iri), store, data = use, kind, graph.store, graph.names.graph

    def has_class(node: NamedNode, class_: str) -> bool:
        if class_:
            return store.contains(Quad(node, TYPE, NamedNode(class_), data))
        return not store.count(Pattern(data, node, TYPE), 1)

    with closing(quads_of(store, Pattern(data, None, NamedNode(predicate)))) as quads:
        for quad in islice(quads, _LOOKED_AT):
            value = quad.object
            if isinstance(value, NamedNode):
                class_ = "" if iri == RESOURCE.value else iri
                is_kind = is_node and (quad.predicate == TYPE or has_class(value, class_))
            else:
                is_kind = not is_node and value.datatype.value == iri
            if is_kind and has_class(quad.subject, of):
                text = value.value if is_node else value.value[:OF_EXAMPLE]
                return (text, "" if is_node else value.language or ""), quad.subject.value
    return None


def _nodes(read: Iterable[list[Statement]]) -> set[str]:
    """The nodes that are values in some statements, whose classes are counted."""
    every = (statement for statements in read for statement in statements[:MAX_COUNTED])
    return {value.value for predicate, value in every if isinstance(value, NamedNode) and predicate != TYPE}


def _statements(graph: NamespacedGraph, iri: str) -> list[Statement]:
    """The statements of a resource, at most one more than are counted."""
    with closing(quads_of(graph.store, Pattern(graph.names.graph, NamedNode(iri)))) as quads:
        return [(quad.predicate, quad.object) for quad in islice(quads, MAX_COUNTED + 1)]


def _entity(
    names: Names, iri: str, statements: list[Statement], classes_of: Callable[[str], Iterable[str]] | None
) -> EntityTexts | None:
    if not statements:
        return None
    entity = entity_texts(NamedNode(iri), statements[: MAX_STATEMENTS + 1], names)
    return entity if classes_of is None else replace(entity, shape=shape_of(statements, classes_of))


def read_entity(graph: NamespacedGraph, subject: NamedNode) -> EntityTexts | None:
    """What of a resource is searched, as the graph is; None if it has no statements."""
    with closing(quads_of(graph.store, Pattern(graph.names.graph, subject))) as quads:
        statements = [(quad.predicate, quad.object) for quad in islice(quads, MAX_STATEMENTS + 1)]
    return entity_texts(subject, statements, graph.names) if statements else None


def every_entity(
    graph: NamespacedGraph, classes_of: Callable[[str], Iterable[str]] | None = None
) -> Generator[EntityTexts, None, None]:
    """What of each resource of a graph is searched, each once; with shapes, where the classes of nodes are known."""
    store, names = graph.store, graph.names
    with closing(quads_of(store, Pattern(names.graph))) as quads:
        if isinstance(store, InFolder):  # in the order of the subjects
            probe = Quad(names.graph, names.graph, names.graph, names.graph)
            for number, (subject, group) in enumerate(groupby(quads, lambda quad: quad.subject)):
                if not number % _CHECKED:  # whether the store was closed: what is read keeps its folder locked
                    store.contains(probe)
                statements = [(quad.predicate, quad.object) for quad in islice(group, MAX_COUNTED + 1)]
                if (entity := _entity(names, subject.value, statements, classes_of)) is not None:
                    yield entity
            return
        if store.keeps_order:  # in memory
            subjects = dict.fromkeys(quad.subject.value for quad in quads)
        else:
            yield from _sorted_entities(quads, names)
            return
    for iri in subjects:
        if (entity := _entity(names, iri, _statements(graph, iri), classes_of)) is not None:
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
