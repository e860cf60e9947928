"""`graph.overview`: what a graph has: its classes, and their predicates as they are used.

Rules kept here:
- the index of the graph counts the schema (`entity_follower.py`), so that it costs what was written since, and is
  right. Where that is not, and for who asserted how much, it is a summary that is kept (`schema_in_use`, `counts`). It
  states when that was made, if the graph has changed since, and lower bounds as such;
- one class is shown with those that point to it, so that a query can join them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, NotRequired

from annotated_types import Len
from pyoxigraph import Literal, NamedNode
from typing_extensions import TypedDict

from cortex_graph import NamespacedGraph
from cortex_graph.checks.datetimes import date_time
from cortex_graph.index.counting import NamespaceCounts
from cortex_graph.index.schema_in_use import ClassInUse, KindInUse, PredicateInUse, SchemaInUse
from cortex_graph.naming.spelling import nearest
from cortex_graph.naming.vocabulary import TYPE
from cortex_skills.enrichment.policy import RULE, Policy
from cortex_skills.errors import CortexError
from cortex_skills.features.graph.looking.call_graph import labels_in
from cortex_skills.features.graph.looking.schema_now import schema_of
from cortex_skills.features.graph.looking.schema_text import overview_text
from cortex_skills.operations.operation import Described, OperationCall, operation

_WAIT_S = 20.0
_OF_ASSERTERS = 100  # counting who asserted what may take one of so many parts of the time
_ASSERTERS = 100


@dataclass(frozen=True, slots=True)
class OverviewOf:
    """What an overview is of."""

    class_: Annotated[str, Len(1, 4096), Described("Only this class, with all its predicates.")] | None = None


class KindDocument(TypedDict):
    """Values of one kind: a datatype, or the class of nodes."""

    kind: str
    node: bool
    count: int
    example: str


class PredicateDocument(TypedDict):
    """A predicate of a class: how many subjects have it, with how many values, and `most` of one of them."""

    predicate: str
    label: NotRequired[str]
    subjects: int
    triples: int
    most: int
    values: list[KindDocument]


class ClassDocument(TypedDict):
    """A class; null for the subjects without one."""

    name: str | None
    label: NotRequired[str]
    subjects: int
    predicates: list[PredicateDocument]


class UseDocument(TypedDict):
    """A class and a predicate that point to a class, and how often."""

    name: str | None
    predicate: str
    count: int


class AsserterDocument(TypedDict):
    """Who asserted how many of the triples."""

    name: str
    assertions: int


class OverviewDocument(TypedDict):
    """What a graph has. Names are written with the prefixes, and what has none in angle brackets."""

    namespace: str
    triples: int
    classes: list[ClassDocument]
    usedBy: NotRequired[list[UseDocument]]
    languages: list[str]
    firstAsserted: str | None
    lastAsserted: str | None
    assertedBy: list[AsserterDocument]
    prefixes: dict[str, str]
    exact: bool
    current: bool
    countedAt: str


@dataclass(frozen=True, slots=True)
class GraphOverview:
    """What a graph has.

    Attributes:
        graph: the graph.
        schema: its classes and predicates; only one class if that was asked for.
        counts: its numbers.
        labels: of classes and predicates.
        pointing: who points to the class that was asked for: a class, a predicate, and how often; None when none was.
    """

    graph: NamespacedGraph
    schema: SchemaInUse
    counts: NamespaceCounts
    labels: dict[NamedNode, str]
    pointing: tuple[tuple[NamedNode | None, PredicateInUse, int], ...] | None = None

    def text(self, policy: Policy | None = RULE) -> str:
        """The overview for a model; for a person without a policy."""
        return overview_text(self.graph, self.schema, self.counts, self.labels, self.pointing, policy)

    def document(self) -> OverviewDocument:
        """The overview as JSON, whole."""
        terms, schema = self.graph.prefixes.terms(), self.schema
        document: OverviewDocument = {
            "namespace": self.graph.namespace,
            "triples": schema.triples,
            "classes": [self._class(each) for each in schema.classes],
            "languages": list(schema.languages),
            "firstAsserted": schema.first or None,
            "lastAsserted": schema.last or None,
            "assertedBy": [
                {"name": self.graph.names.name(each.node.value), "assertions": each.assertions}
                for each in self.counts.asserters[:_ASSERTERS]
                if each.assertions
            ],
            "prefixes": dict(self.graph.prefixes.all()),
            "exact": schema.is_exact,
            "current": schema.is_current,
            "countedAt": "" if schema.counted_at is None else date_time(schema.counted_at),
        }
        if self.pointing is not None:
            document["usedBy"] = [
                {"name": self._name(of), "predicate": terms.node(use.predicate.value), "count": count}
                for of, use, count in self.pointing
            ]
        return document

    def _name(self, node: NamedNode | None) -> str | None:
        return None if node is None else self.graph.prefixes.terms().node(node.value)

    def _class(self, found: ClassInUse) -> ClassDocument:
        document: ClassDocument = {
            "name": self._name(found.node),
            "subjects": found.subjects,
            "predicates": [self._predicate(use) for use in found.predicates],
        }
        if found.node in self.labels:
            document["label"] = self.labels[found.node]
        return document

    def _predicate(self, use: PredicateInUse) -> PredicateDocument:
        terms = self.graph.prefixes.terms()
        document: PredicateDocument = {
            "predicate": terms.node(use.predicate.value),
            "subjects": use.subjects,
            "triples": use.triples,
            "most": use.most,
            "values": [
                {
                    "kind": terms.node(kind.kind.value),
                    "node": kind.is_node,
                    "count": kind.count,
                    "example": terms.written(example_of(kind)),
                }
                for kind in use.values
            ],
        }
        if use.predicate in self.labels:
            document["label"] = self.labels[use.predicate]
        return document


@operation("graph.overview", effect="reads", permission="read")
def overview(call: OperationCall, given: OverviewOf) -> GraphOverview:
    """Return what a graph has: its classes with their predicates as used, prefixes, languages, and who asserted it."""
    graph = call.host.graph
    schema = schema_of(graph, _WAIT_S)
    if schema.counted_at is None:
        raise CortexError(
            "graph_busy",
            f"the schema of {graph.namespace} is being read for the first time, and is not there yet",
            hint="ask again in a minute; graph_find and graph_sparql answer meanwhile",
        )
    pointing = None
    if given.class_ is not None:
        found = _class_named(call, schema, given.class_)
        pointing = _pointing_to(schema, found.node)
        schema = replace(schema, classes=(found,))
    labels = labels_in(call, graph).of(_named(schema))
    return GraphOverview(graph, schema, graph.counts.latest(share=_OF_ASSERTERS), labels, pointing)


def example_of(kind: KindInUse) -> NamedNode | Literal:
    """The example of a kind of values."""
    if kind.is_node:
        return NamedNode(kind.example)
    return Literal(kind.example, language=kind.language) if kind.language else Literal(kind.example, datatype=kind.kind)


def _class_named(call: OperationCall, schema: SchemaInUse, name: str) -> ClassInUse:
    graph = call.host.graph
    node = graph.node_of(name, "class")
    classes = {each.node: each for each in schema.classes if each.node is not None}
    if node in classes:
        return classes[node]
    labels, terms = labels_in(call, graph).of(classes), graph.prefixes.terms()
    near = [terms.node(each.value) for each, label in labels.items() if label.casefold() == name.casefold()]
    near = near or nearest(name, [terms.node(each.value) for each in classes], 3)
    hint = f"did you mean {', '.join(near)}?" if near else "the overview without a class lists them"
    what = f"nothing in {graph.namespace} has the class {terms.node(node.value)[:200]}"
    raise CortexError("invalid_arguments", what, hint=hint, details={"field": "class"})


def _pointing_to(
    schema: SchemaInUse, node: NamedNode | None
) -> tuple[tuple[NamedNode | None, PredicateInUse, int], ...]:
    found = (
        (each.node, use, kind.count)
        for each in schema.classes
        for use in each.predicates
        for kind in use.values
        if kind.is_node and kind.kind == node and use.predicate != TYPE
    )
    return tuple(sorted(found, key=lambda each: -each[2]))


def _named(schema: SchemaInUse) -> Iterator[NamedNode]:
    for each in schema.classes:
        if each.node is not None:
            yield each.node
        yield from (use.predicate for use in each.predicates)
