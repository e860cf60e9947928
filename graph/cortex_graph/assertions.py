"""The assertions of a namespace, the newest first: who asserted what, when, with which skill and which proofs.

Rules kept here:
- an assertion is a provenance record (`provenance.py`), of a triple that is asserted or, when they are asked for, of
  one that was withdrawn since (`withdrawals.py`). A triple without a record has no time, and is not listed;
- a page has a bounded number of records, and reading it never reads all of them, except on a server that sorts them;
- a cursor is bound to its namespace and to its filters, and has the place of the last record: its time, and its node.
  A record that is added meanwhile is on no later page, and none is listed twice.

    >>> from cortex_graph import NamespacedGraph, Provenance, open_store
    >>> graph = NamespacedGraph(open_store("memory:"), "mayros")
    >>> _ = graph.create_triple({"subject": "nails", "predicate": "reorder", "object": True}, Provenance(agent="a1"))
    >>> [(each.agent, graph.names.name(each.triple[0].value)) for each in list_assertions(graph).assertions]
    [('a1', 'mayros:nails')]
"""

from __future__ import annotations

import binascii
import hashlib
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.argument_checks import check_cursor, check_id, check_limit, check_moment
from cortex_graph.datetimes import date_time
from cortex_graph.exceptions import InvalidArguments, invalid
from cortex_graph.namespaced import NamespacedGraph
from cortex_graph.provenance import Provenance, as_json, recorded_triple, skill_node, skill_of
from cortex_graph.records import read_records, select
from cortex_graph.store import GraphStore, Pattern, Triple, triple_of
from cortex_graph.vocabulary import (
    ATTRIBUTED_TO,
    DATE_TIME,
    GENERATED_AT,
    LABEL,
    OBJECT,
    PREDICATE,
    PROOF,
    SPECIALIZATION_OF,
    SUBJECT,
)
from cortex_graph.withdrawals import Origin, as_record

DEFAULT_LIMIT = 50
_MAX_VERSIONS = 1000  # of one skill
_TIME = re.compile(r"-?\d{4,9}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,18})?Z", re.ASCII)
_ID = re.compile(r"(?:triple|withdrawn)/[0-9a-f]{64}")
_SEAL = 8


@dataclass(frozen=True, slots=True)
class Assertion:
    """One assertion of a triple.

    Attributes:
        triple_id: the id of the triple.
        triple: its subject, predicate and object.
        record: the node of its record; a withdrawn one has a node of its own.
        agent: the id of the agent, if it is known.
        skill: the slug of the skill, if there was one.
        skill_version: its version.
        time: when it was asserted, an `xsd:dateTime`; None for unknown.
        proofs: the ids of the proofs that its record links to, sorted.
        withdrawn: who withdrew it, and when: `{agent, skill, skillVersion, time}`; None if it was not withdrawn.
        is_present: whether the triple is in the graph by this assertion. On a server (a SPARQL endpoint or a Cortex) it
            is concluded from the record.

    """

    triple_id: str
    triple: Triple
    record: NamedNode
    agent: str | None
    skill: str | None
    skill_version: str | None
    time: str | None
    proofs: tuple[str, ...]
    withdrawn: Origin | None
    is_present: bool


@dataclass(frozen=True, slots=True)
class AssertionPage:
    """A page of assertions, the newest first.

    Attributes:
        assertions: the assertions.
        cursor: of the next page; None on the last one. A page that is not full can have a next one.

    """

    assertions: tuple[Assertion, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class AssertionFilter:
    """Which assertions are listed; None for any.

    Attributes:
        subject: of the triple, a name.
        predicate: of the triple, a name.
        object: of the triple, a value as in a triple.
        agent: the id of an agent.
        skill: a slug, for all its versions, or `SLUG@VERSION`.
        since: asserted then or later: a `datetime` with a time zone, or a text of RFC 3339, or a date.
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


@dataclass(frozen=True, slots=True)
class _Place:
    """The last record of a page."""

    time: str
    record: str


def list_assertions(
    graph: NamespacedGraph,
    which: AssertionFilter | None = None,
    *,
    limit: int = DEFAULT_LIMIT,
    cursor: str | None = None,
) -> AssertionPage:
    """Return a page of assertions, the newest first.

    Args:
        graph: the graph of a namespace.
        which: the filters; None for all that were not withdrawn.
        limit: the largest number of assertions, 1 to 1,000.
        cursor: of the page before.

    Raises:
        InvalidArguments: a filter, the limit or the cursor is invalid.
        QueryTimeout: a server, or a store without an index of times, takes too long to sort the records.

    """
    which = which or AssertionFilter()
    limit = check_limit(limit, DEFAULT_LIMIT)
    search = _Search(graph, which)
    after = None if check_cursor(cursor) is None else search.place(str(cursor))
    nodes = search.sorted(limit + 1, after)
    found = _assertions(graph, search.as_read([node for node, _ in nodes[:limit]]))
    more = len(nodes) > limit
    return AssertionPage(tuple(found), search.cursor(nodes[limit - 1]) if more else None)


def assertions_of(graph: NamespacedGraph, triple_ids: Iterable[str]) -> dict[str, Assertion]:
    """Return the present assertions of some triples by their ids, without those that have no record.

    Raises:
        InvalidArguments: an id is malformed.

    """
    found = _assertions(graph, [graph.names.record(check_id(triple_id)) for triple_id in triple_ids])
    return {assertion.triple_id: assertion for assertion in found}


@runtime_checkable
class PastView(Protocol):
    """A store as of a moment; `as_of.past_store` has one."""

    base: GraphStore
    moment: datetime

    def read_as(self, graph: NamedNode, nodes: Sequence[NamedNode]) -> list[NamedNode | None]:
        """Return as what some nodes of a provenance graph are read; None for those that were not there."""


class _Search:
    """The records of a namespace that pass a filter. As of a moment those of today are searched, and read as of it."""

    def __init__(self, graph: NamespacedGraph, which: AssertionFilter) -> None:
        self._graph = graph
        self._names = graph.names
        self._which = which
        self._past = graph.store if isinstance(graph.store, PastView) else None
        self._store = graph.store if self._past is None else self._past.base
        self._kinds = ("triple", "withdrawn") if which.withdrawn or self._past is not None else ("triple",)
        names = graph.names
        self._terms: dict[NamedNode, NamedNode | Literal] = {}
        if which.subject is not None:
            self._terms[SUBJECT] = names.node(which.subject, "subject")
        if which.predicate is not None:
            self._terms[PREDICATE] = names.node(which.predicate, "predicate")
        if which.object is not None:
            self._terms[OBJECT] = graph.object_of(which.object)
        self._agent = None if which.agent is None else names.agent(which.agent)
        self._since = None if which.since is None else date_time(check_moment(which.since, "since"))
        until = None if which.until is None else check_moment(which.until, "until")
        if self._past is not None:
            until = self._past.moment if until is None else min(until, self._past.moment)
        self._until = None if until is None else date_time(until)

    def sorted(self, most: int, after: _Place | None) -> list[tuple[NamedNode, str]]:
        """Return the newest records and their times, up to a number, after a place."""
        by = self._skills()
        if by is not None and not by:
            return []
        lines = [f"?r {GENERATED_AT} ?t ."]
        lines += [f"?r {predicate} {term} ." for predicate, term in self._terms.items()]
        if self._agent is not None:
            lines.append(f"?r {ATTRIBUTED_TO} {self._agent} .")
        if by is not None:
            lines.append(f"VALUES ?skill {{ {' '.join(map(str, by))} }} ?r {ATTRIBUTED_TO} ?skill .")
        starts = (f'STRSTARTS(STR(?r), "{self._names.graph.value}/{kind}/")' for kind in self._kinds)
        lines.append(f"FILTER({' || '.join(starts)})")
        if self._since is not None:
            lines.append(f"FILTER(?t >= {_literal(self._since)})")
        if self._until is not None:
            lines.append(f"FILTER(?t <= {_literal(self._until)})")
        if after is not None:
            time, record = _literal(after.time), f'"{self._names.graph.value}/{after.record}"'
            lines.append(f"FILTER(?t < {time} || (?t = {time} && STR(?r) > {record}))")
        text = f"SELECT ?r ?t {{ {' '.join(lines)} }} ORDER BY DESC(?t) STR(?r) LIMIT {most}"
        found = []
        for row in select(self._store, self._names.provenance_graph, text):
            node, time = row["r"], row["t"]
            if isinstance(node, NamedNode) and isinstance(time, Literal) and self._local(node) is not None:
                found.append((node, time.value))
        return found

    def as_read(self, nodes: list[NamedNode]) -> list[NamedNode]:
        """Return the records that were there as of the moment, if there is one."""
        if self._past is None:
            return nodes
        read = self._past.read_as(self._names.provenance_graph, nodes)
        start = f"{self._names.graph.value}/{'' if self._which.withdrawn else 'triple/'}"
        return [node for node in read if node is not None and node.value.startswith(start)]

    def cursor(self, last: tuple[NamedNode, str]) -> str:
        """Return the cursor after a record."""
        node, time = last
        text = f"{time}\n{self._local(node)}".encode()
        return urlsafe_b64encode(self._digest(text) + text).rstrip(b"=").decode()

    def place(self, cursor: str) -> _Place:
        """Return the place of a cursor; raises `InvalidArguments` for one that is malformed or of another query."""
        try:
            packed = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
            time, record = packed[_SEAL:].decode("ascii").split("\n")
        except (ValueError, TypeError, binascii.Error):
            raise _foreign_cursor() from None
        if packed[:_SEAL] != self._digest(packed[_SEAL:]) or not _TIME.fullmatch(time) or not _ID.fullmatch(record):
            raise _foreign_cursor()
        return _Place(time, record)

    def _skills(self) -> list[NamedNode] | None:
        """Return the nodes of the skill that is filtered by; None for any."""
        skill = self._which.skill
        if skill is None:
            return None
        if not isinstance(skill, str) or not skill:
            raise invalid("skill", "must be a non-empty string")
        slug, _, version = skill.partition("@")
        if version:
            return [skill_node(Provenance(slug or skill, version), self._names)]
        named = Pattern(self._names.provenance_graph, None, LABEL, Literal(skill))
        page = self._store.match(named, _MAX_VERSIONS)
        start = f"{self._names.prefix}skill:"
        return [node for node, _, _ in page.triples if self._names.name(node.value).startswith(start)]

    def _local(self, node: NamedNode) -> str | None:
        local = node.value.removeprefix(f"{self._names.graph.value}/")
        return local if _ID.fullmatch(local) else None

    def _digest(self, text: bytes) -> bytes:
        which = self._which
        parts = [self._names.graph.value, *(f"{key} {term}" for key, term in self._terms.items())]
        moment = None if self._past is None else self._past.moment
        parts += [repr((which.agent, which.skill, self._since, self._until, which.withdrawn, moment))]
        return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass") + b"\n" + text).digest()[:_SEAL]


def _assertions(graph: NamespacedGraph, nodes: Sequence[NamedNode]) -> list[Assertion]:
    """Return the assertions with these records, in this order, without those that do not exist."""
    described: dict[NamedNode, list[Quad]] = {}
    records = read_records(graph.store, graph.names, nodes)
    found = (_assertion(graph, node, records[node], described) for node in nodes if node in records)
    return [assertion for assertion in found if assertion is not None]


def _assertion(
    graph: NamespacedGraph, node: NamedNode, record: list[Quad], described: dict[NamedNode, list[Quad]]
) -> Assertion | None:
    names = graph.names
    quad = recorded_triple(record, names.graph)
    local = node.value.removeprefix(f"{names.graph.value}/")
    if quad is None or not _ID.fullmatch(local):
        return None
    kind, _, triple_id = local.partition("/")
    withdrawn: Origin | None = None
    if kind == "withdrawn":
        of = [each.object for each in record if each.predicate == SPECIALIZATION_OF]
        if len(of) != 1 or not isinstance(of[0], NamedNode):
            return None
        triple_id = of[0].value.removeprefix(names.record("").value)
        withdrawn = _origin(graph, list(as_record(record)), described)
    origin = _origin(graph, record, described)
    start = f"{names.graph.value}/proof/"
    links = (each.object.value for each in record if each.predicate == PROOF and isinstance(each.object, NamedNode))
    return Assertion(
        triple_id,
        triple_of(quad),
        node,
        origin["agent"],
        origin["skill"],
        origin["skillVersion"],
        origin["time"],
        tuple(sorted(iri.removeprefix(start) for iri in links if iri.startswith(start))),
        withdrawn,
        withdrawn is None and (not graph.store.keeps_order or graph.store.contains(quad)),
    )


def _origin(graph: NamespacedGraph, record: list[Quad], described: dict[NamedNode, list[Quad]]) -> Origin:
    skill = skill_of(record, graph.names)
    if skill is not None and skill not in described:
        described[skill] = list(graph.store.quads(Pattern(graph.names.provenance_graph, skill)))
    return as_json(record, [] if skill is None else described[skill], graph.names)


def _literal(time: str) -> Literal:
    return Literal(time, datatype=DATE_TIME)


def _foreign_cursor() -> InvalidArguments:
    return invalid(
        "cursor",
        "is malformed, or belongs to another query",
        hint="pass the `nextCursor` of the same query, or none to start over",
    )
