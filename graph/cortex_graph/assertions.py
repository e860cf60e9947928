"""The assertions of a namespace, the newest first: who asserted what, when, with which skill and which proofs.

Rules kept here:
- an assertion is a provenance record (`provenance.py`), of a triple that is asserted or, when they are asked for, of
  one that was withdrawn since (`withdrawals.py`). A triple without a record has no time, and is not listed;
- a page has a bounded number of records. The records of a rare subject, agent or skill are read and sorted here; of
  more records the store sorts the different times, which reads each time once, and only the page's records are read;
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
from cortex_graph.records import instant, read_records, select
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
_OF_STORE = "@"  # begins a cursor of the store, within the records of one instant
_PLACE = re.compile(rf"{_ID.pattern}|{_OF_STORE}[A-Za-z0-9_-]*")
_SEAL = 8
_FEW = 1000  # records that are all read, and sorted here
_JOINED = 20_000  # records with a term of the filter, from which only the times are queried
_SCANNED = 2000  # records that are looked at for one page


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
    """The end of a page: a time, and the record with that time, or a place of the store among such records."""

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
    nodes, following = search.page(limit, after)
    found = _assertions(graph, search.as_read(nodes))
    return AssertionPage(tuple(found), None if following is None else search.cursor(following))


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
        self._by = self._skills()
        self._since = None if which.since is None else date_time(check_moment(which.since, "since"))
        until = None if which.until is None else check_moment(which.until, "until")
        if self._past is not None:
            until = self._past.moment if until is None else min(until, self._past.moment)
        self._until = None if until is None else date_time(until)

    def page(self, limit: int, after: _Place | None) -> tuple[list[NamedNode], _Place | None]:
        """Return the newest records after a place, up to a number, and the place of the next page."""
        if not self._store.keeps_order:
            return self._sorted_by_server(limit, after)
        if after is None or not after.record.startswith(_OF_STORE):
            few = self._few()
            if few is not None:
                return self._sorted_here(few, limit, after)
        return self._by_instants(limit, after)

    def _asked(self) -> list[list[tuple[NamedNode, NamedNode | Literal | None]]]:
        """Return the terms of the filter as predicates and objects; of each list a record has one."""
        asked: list[list[tuple[NamedNode, NamedNode | Literal | None]]] = [[each] for each in self._terms.items()]
        if self._agent is not None:
            asked.append([(ATTRIBUTED_TO, self._agent)])
        if self._by is not None:
            asked.append([(ATTRIBUTED_TO, node) for node in self._by])
        return asked

    def _is_selective(self) -> bool:
        """Return whether joining the records with the filter costs less than reading the times of all."""
        graph, count = self._names.provenance_graph, self._store.count
        return any(
            sum(count(Pattern(graph, None, *each), _JOINED) for each in union) < _JOINED for union in self._asked()
        )

    def _few(self) -> list[NamedNode] | None:
        """Return the nodes with one of the terms of the filter, or all with a time, if they are few."""
        asked = self._asked()
        asked.append([(GENERATED_AT, None)])
        for union in asked:
            nodes: dict[NamedNode, None] = {}
            for predicate, object_ in union:
                found = self._store.match(Pattern(self._names.provenance_graph, None, predicate, object_), _FEW)
                nodes.update(dict.fromkeys(triple[0] for triple in found.triples))
                if found.cursor is not None or len(nodes) > _FEW:
                    break
            else:
                return list(nodes)
        return None

    def _sorted_here(
        self, nodes: list[NamedNode], limit: int, after: _Place | None
    ) -> tuple[list[NamedNode], _Place | None]:
        """Return a page of few records, which are all read."""
        passing = self._passing(nodes)
        rows = sorted(passing, key=lambda row: row[0].value)
        rows.sort(key=lambda row: row[1], reverse=True)
        if after is not None:
            moment = instant(_literal(after.time))
            rows = [
                row for row in rows if moment is None or row[1] < moment or (row[1] == moment and row[2] > after.record)
            ]
        last = rows[limit - 1] if len(rows) > limit else None
        return [row[0] for row in rows[:limit]], None if last is None else _Place(date_time(last[1]), last[2])

    def _by_instants(self, limit: int, after: _Place | None) -> tuple[list[NamedNode], _Place | None]:
        """Return a page of many records: instant by instant, in the order of the store within each.

        The store sorts its different times, which takes no text from it; the records of each are in its index.
        """
        found: list[NamedNode] = []
        scanned = 0
        place = "" if after is None else after.record.removeprefix(_OF_STORE)
        times = self._instants(limit + 1, after)
        for number, time in enumerate(times):
            of_instant = Pattern(self._names.provenance_graph, None, GENERATED_AT, _literal(time))
            following = place if place and after is not None and time == after.time else None
            while True:
                page = self._store.match(of_instant, limit - len(found), following)
                nodes = [triple[0] for triple in page.triples]
                found += [row[0] for row in self._passing(nodes)]
                scanned, following = scanned + len(nodes), page.cursor
                is_full = len(found) >= limit or scanned >= _SCANNED
                if following is None or is_full:
                    break
            if following is not None:
                return found, _Place(time, _OF_STORE + following)
            if is_full and number + 1 < len(times):
                return found, _Place(time, _OF_STORE)
        return found, _Place(times[-1], _OF_STORE) if len(times) > limit else None

    def _instants(self, most: int, after: _Place | None) -> list[str]:
        """Return the latest times at which records that pass the filter may have been made."""
        lines = self._lines(joined=self._is_selective())
        if after is not None:
            lines.append(f"FILTER(?t {'<' if after.record == _OF_STORE else '<='} {_literal(after.time)})")
        text = f"SELECT DISTINCT ?t {{ {' '.join(lines)} }} ORDER BY DESC(?t) LIMIT {most}"
        rows = select(self._store, self._names.provenance_graph, text)
        return [row["t"].value for row in rows if isinstance(row["t"], Literal)]

    def _passing(self, nodes: Sequence[NamedNode]) -> list[tuple[NamedNode, datetime, str]]:
        """Return those records that pass the filter, with their times and their names in the namespace."""
        nodes = [node for node in nodes if (self._local(node) or "").startswith(self._kinds)]
        found = []
        for node, record in read_records(self._store, self._names, nodes).items():
            stated = {(quad.predicate, quad.object) for quad in record}
            by = {quad.object for quad in record if quad.predicate == ATTRIBUTED_TO}
            made = next((instant(quad.object) for quad in record if quad.predicate == GENERATED_AT), None)
            if (
                made is not None
                and stated.issuperset(self._terms.items())
                and (self._agent is None or self._agent in by)
                and (self._by is None or not by.isdisjoint(self._by))
                and (self._since is None or made >= check_moment(self._since, "since"))
                and (self._until is None or made <= check_moment(self._until, "until"))
            ):
                found.append((node, made, self._local(node) or ""))
        return found

    def _lines(self, *, joined: bool = True) -> list[str]:
        """Return what a query states of the records `?r` with the times `?t`."""
        lines = [f"?r {GENERATED_AT} ?t ."]
        lines += [f"?r {predicate} {term} ." for predicate, term in self._terms.items() if joined]
        if self._agent is not None and joined:
            lines.append(f"?r {ATTRIBUTED_TO} {self._agent} .")
        if self._by is not None and joined:
            lines.append(f"VALUES ?skill {{ {' '.join(map(str, self._by))} }} ?r {ATTRIBUTED_TO} ?skill .")
        if self._since is not None:
            lines.append(f"FILTER(?t >= {_literal(self._since)})")
        if self._until is not None:
            lines.append(f"FILTER(?t <= {_literal(self._until)})")
        return lines

    def _sorted_by_server(self, limit: int, after: _Place | None) -> tuple[list[NamedNode], _Place | None]:
        """Return a page that a server sorts, with one request."""
        lines = self._lines()
        starts = (f'STRSTARTS(STR(?r), "{self._names.graph.value}/{kind}/")' for kind in self._kinds)
        lines.append(f"FILTER({' || '.join(starts)})")
        if after is not None:
            time, record = _literal(after.time), f'"{self._names.graph.value}/{after.record}"'
            lines.append(f"FILTER(?t < {time} || (?t = {time} && STR(?r) > {record}))")
        text = f"SELECT ?r ?t {{ {' '.join(lines)} }} ORDER BY DESC(?t) STR(?r) LIMIT {limit + 1}"
        found: list[tuple[NamedNode, _Place]] = []
        for row in select(self._store, self._names.provenance_graph, text):
            node, made = row["r"], row["t"]
            if isinstance(node, NamedNode) and isinstance(made, Literal) and (local := self._local(node)):
                found.append((node, _Place(made.value, local)))
        return [node for node, _ in found[:limit]], found[limit - 1][1] if len(found) > limit else None

    def as_read(self, nodes: list[NamedNode]) -> list[NamedNode]:
        """Return the records that were there as of the moment, if there is one."""
        if self._past is None:
            return nodes
        read = self._past.read_as(self._names.provenance_graph, nodes)
        start = f"{self._names.graph.value}/{'' if self._which.withdrawn else 'triple/'}"
        return [node for node in read if node is not None and node.value.startswith(start)]

    def cursor(self, after: _Place) -> str:
        """Return the cursor of a place."""
        text = f"{after.time}\n{after.record}".encode()
        return urlsafe_b64encode(self._digest(text) + text).rstrip(b"=").decode()

    def place(self, cursor: str) -> _Place:
        """Return the place of a cursor; raises `InvalidArguments` for one that is malformed or of another query."""
        try:
            packed = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
            time, record = packed[_SEAL:].decode("ascii").split("\n")
        except (ValueError, TypeError, binascii.Error):
            raise _foreign_cursor() from None
        if packed[:_SEAL] != self._digest(packed[_SEAL:]) or not _TIME.fullmatch(time) or not _PLACE.fullmatch(record):
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
