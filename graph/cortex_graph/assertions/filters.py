"""Which assertions are listed.

Rules kept here:
- a filter names terms of the namespace; nothing of it is text of a query;
- as of a moment the records of today are searched, up to that moment; they are read as of it afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.assertion_records.provenance import Provenance, skill_node
from cortex_graph.assertion_records.records import instant
from cortex_graph.checks.datetimes import date_time
from cortex_graph.checks.moments import check_moment
from cortex_graph.exceptions import invalid
from cortex_graph.namespace.namespaced import NamespacedGraph
from cortex_graph.naming.vocabulary import ATTRIBUTED_TO, DATE_TIME, GENERATED_AT, LABEL, OBJECT, PREDICATE, SUBJECT
from cortex_graph.store import GraphStore, KnownByClass, Pattern

_MAX_VERSIONS = 1000  # of one skill


@runtime_checkable
class PastView(Protocol, metaclass=KnownByClass):
    """A store as of a moment; `as_of.past_store` has one."""

    base: GraphStore
    moment: datetime

    def read_as(self, graph: NamedNode, nodes: Sequence[NamedNode]) -> list[NamedNode | None]:
        """Return as what some nodes of a provenance graph are read; None for those that were not there."""


@dataclass(frozen=True, slots=True)
class AssertionFilter:
    """Which assertions are listed; None for any.

    Attributes:
        subject: of the triple, a name.
        predicate: of the triple, a name.
        object: of the triple, a value as in a triple.
        agent: the id of an agent.
        skill: a slug, for all its versions, or `SLUG@VERSION`.
        since: asserted then or later: a `datetime` with a time zone, or a text (`checks.moments`).
        until: asserted then or earlier.
        withdrawn: whether withdrawn assertions are listed, too.
    """

    subject: str | None = None
    predicate: str | None = None
    object: Any = None
    agent: str | None = None
    skill: str | None = None
    since: datetime | str | None = None
    until: datetime | str | None = None
    withdrawn: bool = False


class RecordFilter:
    """A filter in the terms of a namespace.

    Raises:
        InvalidArguments: a part of the filter is invalid.
    """

    def __init__(self, graph: NamespacedGraph, which: AssertionFilter) -> None:
        names = graph.names
        past = graph.store if isinstance(graph.store, PastView) else None
        store = graph.store if past is None else past.base
        self.kinds = ("triple", "withdrawn") if which.withdrawn or past is not None else ("triple",)
        terms: dict[NamedNode, NamedNode | Literal] = {}
        if which.subject is not None:
            terms[SUBJECT] = graph.node_of(which.subject, "subject")
        if which.predicate is not None:
            terms[PREDICATE] = graph.node_of(which.predicate, "predicate")
        if which.object is not None:
            terms[OBJECT] = graph.sought(which.object)
        self._terms = terms
        self._agent = None if which.agent is None else names.agent(which.agent)
        self._by = None if which.skill is None else _skills(store, graph, which.skill)
        self.since = None if which.since is None else check_moment(which.since, "since")
        until = None if which.until is None else check_moment(which.until, "until")
        if past is not None:
            until = past.moment if until is None else min(until, past.moment)
        self.until = until
        parts = [names.graph.value, *(f"{key} {term}" for key, term in terms.items())]
        # Words for a moment, such as `24h`, stand for a later one on the next page, which has the same cursor.
        times = [
            str(given) if isinstance(given, str) else None if moment is None else date_time(moment)
            for given, moment in ((which.since, self.since), (which.until, until))
        ]
        parts += [repr((which.agent, which.skill, times, which.withdrawn, None if past is None else past.moment))]
        self.identity = "\n".join(parts)

    def terms(self) -> list[list[tuple[NamedNode, NamedNode | Literal]]]:
        """Return the terms as predicates and objects; of each list a record has one."""
        asked = [[each] for each in self._terms.items()]
        if self._agent is not None:
            asked.append([(ATTRIBUTED_TO, self._agent)])
        if self._by is not None:
            asked.append([(ATTRIBUTED_TO, node) for node in self._by])
        return asked

    def passes(self, record: Iterable[Quad], made: datetime) -> bool:
        """Return whether a record with this time passes."""
        stated = {(quad.predicate, quad.object) for quad in record}
        by = {object_ for predicate, object_ in stated if predicate == ATTRIBUTED_TO}
        return (
            stated.issuperset(self._terms.items())
            and (self._agent is None or self._agent in by)
            and (self._by is None or not by.isdisjoint(self._by))
            and (self.since is None or made >= self.since)
            and (self.until is None or made <= self.until)
        )

    def lines(self, *, joined: bool = True) -> list[str]:
        """Return what a query states of the records `?r` with the times `?t`, with the terms if they are joined."""
        lines = [f"?r {GENERATED_AT} ?t ."]
        if joined:
            lines += [f"?r {predicate} {term} ." for predicate, term in self._terms.items()]
        if self._agent is not None and joined:
            lines.append(f"?r {ATTRIBUTED_TO} {self._agent} .")
        if self._by is not None and joined:
            lines.append(f"VALUES ?skill {{ {' '.join(map(str, self._by))} }} ?r {ATTRIBUTED_TO} ?skill .")
        for moment, compared in ((self.since, ">="), (self.until, "<=")):
            if moment is not None:
                lines.append(f"FILTER(?t {compared} {time_literal(date_time(moment))})")
        return lines


def time_literal(time: str) -> Literal:
    """Return the term of a time."""
    return Literal(time, datatype=DATE_TIME)


def time_made(record: Iterable[Quad]) -> datetime | None:
    """Return when a record was made; None for unknown."""
    return next((instant(quad.object) for quad in record if quad.predicate == GENERATED_AT), None)


def _skills(store: GraphStore, graph: NamespacedGraph, skill: object) -> list[NamedNode]:
    """Return the nodes of the versions of a skill."""
    if not isinstance(skill, str) or not skill:
        raise invalid("skill", "must be a non-empty string")
    names = graph.names
    slug, _, version = skill.partition("@")
    if version:
        return [skill_node(Provenance(slug or skill, version), names)]
    page = store.match(Pattern(names.provenance_graph, None, LABEL, Literal(skill)), _MAX_VERSIONS)
    start = f"{names.prefix}skill:"
    return [node for node, _, _ in page.triples if names.name(node.value).startswith(start)]
