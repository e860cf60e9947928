"""`Description`: what is stated of a thing, as a model reads it, and as JSON.

Rules kept here:
- the text has at most `OF_TEXT` tokens: of a large thing fewer values of each predicate are shown, then fewer
  predicates, and the numbers of the others are there;
- records that are equal are written once, with a number in brackets behind their values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NotRequired

from pyoxigraph import Literal, NamedNode
from typing_extensions import TypedDict

from cortex_graph import NamespacedGraph
from cortex_graph.assertions import Assertion
from cortex_graph.namespace.neighbourhood import Direction, Neighbourhood, NeighbourRow, PredicateGroup
from cortex_graph.naming.counted import Count
from cortex_skills.enrichment.policy import RULE, Policy
from cortex_skills.features.graph.looking.model_terms import ModelTerms, letters
from cortex_skills.tools.token_estimate import tokens_of

OF_TEXT = 1_500  # tokens
_MOST_VALUES = OF_TEXT // 3  # of a text that may fit
# Values of each predicate, predicates of each direction, characters of a text: the first that fits is taken.
_LEVELS = (
    (100, 100, 2000),
    (100, 100, 300),
    (7, 60, 200),
    (4, 40, 150),
    (2, 30, 100),
    (1, 20, 80),
    (1, 8, 60),
    (0, 8, 60),
)


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
    uses: Count
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
                "count": self.uses.value,
                "exact": self.uses.is_exact,
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
            "count": direction.count.value,
            "exact": direction.count.is_exact,
            "predicates": direction.predicates.value,
            "complete": direction.predicates.is_exact,
            "groups": [self._group(group) for group in direction.groups],
        }

    def _group(self, group: PredicateGroup) -> GroupDocument:
        document: GroupDocument = {
            "predicate": self.graph.prefixes.terms().node(group.predicate.value),
            "count": group.count.value,
            "exact": group.count.is_exact,
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


def describe_text(description: Description, policy: Policy | None) -> str:
    """The text."""
    text, terms = "", ModelTerms(description.graph, policy)
    for level in _LEVELS:
        if policy is not None and _values(description, *level[:2]) > _MOST_VALUES:
            continue
        text = _DescriptionText(description, terms, *level).written()
        if policy is None or tokens_of(text) <= OF_TEXT:
            break
    return text


def _values(description: Description, values: int, predicates: int) -> int:
    """How many values a level shows."""
    directions = (description.found.outgoing, description.found.incoming)
    return sum(min(len(group.rows), values) for each in directions for group in each.groups[:predicates])


class _DescriptionText:
    def __init__(self, of: Description, terms: ModelTerms, values: int, predicates: int, of_text: int) -> None:
        self._of = of
        self._values = values
        self._predicates = predicates
        self._terms = terms
        terms.of_text = of_text
        self._records: dict[str, int] = {}

    def written(self) -> str:
        found = self._of.found
        lines = [self._name(found.node)]
        lines += self._direction(found.outgoing)
        if found.incoming.count:
            lines += ["used by", *self._direction(found.incoming)]
        if self._of.uses:
            lines += self._as_predicate()
        lines += [f"[{number}] {record}" for record, number in self._records.items()]
        groups = (*found.outgoing.groups, *found.incoming.groups)
        if any(group.count.without(min(len(group.rows), self._values)) for group in groups):
            lines.append("graph_sparql returns all values of a predicate.")
        return "\n".join(lines)

    def _direction(self, direction: Direction) -> Iterator[str]:
        for group in direction.groups[: self._predicates]:
            yield f"  {self._name(group.predicate)} {self._group(group)}"
        hidden = direction.predicates.without(min(len(direction.groups), self._predicates))
        if hidden:
            yield f"  ({hidden.text} other predicates)"
        elif not hidden.is_exact:
            yield "  (there may be other predicates)"

    def _group(self, group: PredicateGroup) -> str:
        key = group.predicate.value
        shown = [self._value(row.term, key, row.triple_id) for row in group.rows[: self._values]]
        hidden = group.count.without(len(shown))
        more = f"{hidden.text}{' more' if shown else ' values'}"
        return ", ".join([*shown, *([f"({more})"] if hidden else [])])

    def _term(self, term: object, key: str) -> str:
        return self._name(term) if isinstance(term, NamedNode) else self._terms.term(term, key)

    def _value(self, term: object, key: str, triple_id: str) -> str:
        shown = self._term(term, key)
        origin = self._of.origins.get(triple_id)
        if origin is None:
            return shown
        number = self._records.setdefault(self._record(origin), len(self._records) + 1)
        return f"{shown} [{number}]"

    def _record(self, origin: Origin) -> str:
        record = origin.assertion
        who = [f"agent {self._terms.label(record.agent)[1:-1]}"] if record.agent else []
        if record.skill:
            version = f" {self._terms.label(record.skill_version)[1:-1]}" if record.skill_version else ""
            who.append(f"skill {self._terms.label(record.skill)[1:-1]}{version}")
        when = [record.time[:19]] if record.time else []
        proofs = [f"proofs (not checked here): {', '.join(origin.proofs)}"] if origin.proofs else []
        return f"asserted by {', '.join([*who, *when, *proofs]) or 'unknown'}"

    def _name(self, node: NamedNode) -> str:
        shown, label = self._terms.node(node), self._of.labels.get(node)
        if label is None or letters(label) in letters(node.value):
            return shown
        return f"{shown} {self._terms.label(label)}"

    def _as_predicate(self) -> list[str]:
        of = self._of
        key = of.found.node.value
        shown = [f"  {self._name(subject)} {self._term(term, key)}" for subject, term in of.examples[: self._values]]
        return [f"as a predicate: {of.uses.text} triples", *shown]
