"""`graph.describe`: what is stated of one thing, where it is used, and who asserted that.

Rules kept here:
- every read is bounded (`cortex_graph.namespace.neighbourhood`); numbers that are not exact are lower bounds;
- a value has the record of its triple: the agent, the skill, the time, and the kinds of its proofs, which nothing here
  verifies. One without a record was imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, NotRequired

from annotated_types import Interval, Len
from pyoxigraph import Literal, NamedNode
from typing_extensions import TypedDict

from cortex_graph import NamespacedGraph
from cortex_graph.as_of import today_of
from cortex_graph.assertions import Assertion, assertions_of
from cortex_graph.namespace.neighbourhood import (
    COUNTED,
    Direction,
    Neighbourhood,
    NeighbourRow,
    PredicateGroup,
    neighbourhood,
)
from cortex_graph.naming.spelling import nearest
from cortex_graph.store import Pattern
from cortex_skills.enrichment.policy import RULE, Policy
from cortex_skills.errors import CortexError
from cortex_skills.features.graph.looking.call_graph import AsOf, Undated, graph_of, labels_in
from cortex_skills.features.graph.looking.description_text import describe_text
from cortex_skills.operations.operation import Described, OperationCall, operation

VALUES = 7  # of each predicate, by default
_PREDICATES = 60


@dataclass(frozen=True, slots=True)
class DescribedThing:
    """A thing."""

    name: Annotated[str, Len(1, 4096), Described("The name of the thing, or its IRI.")]
    limit: Annotated[int, Interval(ge=1, le=100), Described(f"Values of each predicate, {VALUES}.")] | None = None
    as_of: AsOf | None = None
    undated: Undated | None = None


class OriginDocument(TypedDict):
    """Who asserted a triple, when, and the kinds of proofs that it has, unverified."""

    agent: str | None
    skill: str | None
    skillVersion: str | None
    time: str | None
    proofs: list[str]


class ValueDocument(TypedDict):
    """A value, or the subject that points to the thing, with the id of the triple; `asserted` if that is recorded."""

    value: str
    label: NotRequired[str]
    id: str
    asserted: NotRequired[OriginDocument]


class GroupDocument(TypedDict):
    """The values of a predicate; `exact` is whether `count` is, else it is a lower bound."""

    predicate: str
    label: NotRequired[str]
    count: int
    exact: bool
    values: list[ValueDocument]


class DirectionDocument(TypedDict):
    """The triples of a direction; `complete` is whether all predicates were found."""

    count: int
    exact: bool
    predicates: int
    complete: bool
    groups: list[GroupDocument]


class PairDocument(TypedDict):
    """The subject and the value of a triple of a predicate."""

    subject: str
    object: str


class PredicateUseDocument(TypedDict):
    """The triples whose predicate the thing is."""

    count: int
    exact: bool
    examples: list[PairDocument]


class DescribeDocument(TypedDict):
    """A thing. Names are written with the prefixes, and what has none in angle brackets."""

    name: str
    iri: str
    label: NotRequired[str]
    outgoing: DirectionDocument
    incoming: DirectionDocument
    asPredicate: PredicateUseDocument
    prefixes: dict[str, str]


@dataclass(frozen=True, slots=True)
class Origin:
    """The record of a triple, and the kinds of its proofs."""

    assertion: Assertion
    proofs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Description:
    """What is stated of a thing.

    Attributes:
        graph: the graph.
        found: its triples, by predicate.
        uses: how many triples have it as their predicate.
        examples: some of these: a subject and an object.
        labels: of the nodes.
        origins: the records of the triples, by their ids.
    """

    graph: NamespacedGraph
    found: Neighbourhood
    uses: int
    examples: tuple[tuple[NamedNode, NamedNode | Literal], ...]
    labels: dict[NamedNode, str]
    origins: dict[str, Origin]

    def text(self, policy: Policy | None = RULE) -> str:
        """The description for a model; for a person without a policy."""
        return describe_text(self, policy)

    def document(self) -> DescribeDocument:
        """The description as JSON."""
        terms = self.graph.prefixes.terms()
        document: DescribeDocument = {
            "name": terms.node(self.found.node.value),
            "iri": self.found.node.value,
            "outgoing": self._direction(self.found.outgoing),
            "incoming": self._direction(self.found.incoming),
            "asPredicate": {
                "count": min(self.uses, COUNTED),
                "exact": self.uses <= COUNTED,
                "examples": [
                    {"subject": terms.node(subject.value), "object": terms.written(object_)}
                    for subject, object_ in self.examples
                ],
            },
            "prefixes": dict(self.graph.prefixes.all()),
        }
        if self.found.node in self.labels:
            document["label"] = self.labels[self.found.node]
        return document

    def _direction(self, direction: Direction) -> DirectionDocument:
        return {
            "count": direction.count,
            "exact": direction.is_exact,
            "predicates": direction.predicates,
            "complete": direction.is_complete,
            "groups": [self._group(group) for group in direction.groups],
        }

    def _group(self, group: PredicateGroup) -> GroupDocument:
        document: GroupDocument = {
            "predicate": self.graph.prefixes.terms().node(group.predicate.value),
            "count": group.count,
            "exact": group.is_exact,
            "values": [self._value(row) for row in group.rows],
        }
        if group.predicate in self.labels:
            document["label"] = self.labels[group.predicate]
        return document

    def _value(self, row: NeighbourRow) -> ValueDocument:
        document: ValueDocument = {"value": self.graph.prefixes.terms().written(row.term), "id": row.triple_id}
        if isinstance(row.term, NamedNode) and row.term in self.labels:
            document["label"] = self.labels[row.term]
        if (origin := self.origins.get(row.triple_id)) is not None:
            record = origin.assertion
            document["asserted"] = {
                "agent": record.agent,
                "skill": record.skill,
                "skillVersion": record.skill_version,
                "time": record.time,
                "proofs": list(origin.proofs),
            }
        return document


@operation("graph.describe", effect="reads", permission="read")
def describe(call: OperationCall, given: DescribedThing) -> Description:
    """Return what is stated of a thing, where it is used, and who asserted that."""
    graph, limit = graph_of(call, given.as_of, given.undated), given.limit or VALUES
    node = graph.node_of(given.name)
    found = neighbourhood(graph, graph.names.name(node.value), predicates=_PREDICATES, values=limit)
    as_predicate = Pattern(graph.names.graph, None, node)
    uses = graph.store.count(as_predicate, COUNTED + 1)
    if not found.is_known and not uses:
        raise _unknown(graph, node)
    triples = graph.store.match(as_predicate, limit).triples if uses else []
    examples = tuple((subject, object_) for subject, _, object_ in triples)
    labels = labels_in(call, graph).of([node, *_nodes(found), *(term for pair in examples for term in pair)])
    rows = [row.triple_id for row in _rows(found)]
    return Description(graph, found, uses, examples, labels, _origins(graph, rows))


def _unknown(graph: NamespacedGraph, node: NamedNode) -> CortexError:
    terms = graph.prefixes.terms()
    known = [each.predicate for each in graph.counts.latest(wait_s=0.0).predicates]
    near = nearest(terms.node(node.value), [terms.node(each.value) for each in known], 3)
    meant = f"did you mean {', '.join(near)}? " if near else ""
    return CortexError(
        "invalid_arguments",
        f"{graph.namespace} has no triple with {terms.node(node.value)[:200]}",
        hint=f"{meant}check the spelling and the case; graph_find finds names by their words",
        details={"field": "name"},
    )


def _rows(found: Neighbourhood) -> Iterator[NeighbourRow]:
    for direction in (found.outgoing, found.incoming):
        for group in direction.groups:
            yield from group.rows


def _nodes(found: Neighbourhood) -> Iterator[object]:
    for direction in (found.outgoing, found.incoming):
        yield from (group.predicate for group in direction.groups)
    yield from (row.term for row in _rows(found))


def _origins(graph: NamespacedGraph, triple_ids: Iterable[str]) -> dict[str, Origin]:
    kinds: dict[str, str | None] = {}

    def kind(proof_id: str) -> str | None:
        if proof_id not in kinds:
            proof = today_of(graph).proofs.get(proof_id)
            kinds[proof_id] = None if proof is None else proof.kind
        return kinds[proof_id]

    return {
        triple_id: Origin(record, tuple(sorted({name for each in record.proofs if (name := kind(each))})))
        for triple_id, record in assertions_of(graph, list(triple_ids)).items()
    }
