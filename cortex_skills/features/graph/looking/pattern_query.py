"""`graph.query`: the statements that match a pattern, a page at a time.

Rules kept here:
- a page of more than 1,000 statements is made of several pages of the graph; it ends early after about 10 MiB, and its
  cursor goes on. With `one_page`, for stores, it is one page of the graph, of about one mebibyte, and without times;
- a statement that has a record has the time of its assertion, `created_at`;
- the memories of an agent are in graphs of their own, and need the permission `memories`. A skill that acts reads those
  of its agent by their predicates, with the permission `memory:inspect`;
- for a skill that acts, names mean what they mean in the graph, and when no statement has exactly the given object,
  another form of it is taken, and named in `note` (`given_terms.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Interval, Len

from cortex_graph import NamespacedGraph
from cortex_graph.as_of import PastGraph, undated_among
from cortex_graph.assertion_records.records import assertion_times
from cortex_graph.checks.argument_checks import MAX_LIMIT
from cortex_graph.checks.datetimes import date_time
from cortex_graph.exceptions import invalid
from cortex_graph.namespace.agent_graph import AgentGraph
from cortex_graph.naming.counted import Count
from cortex_skills.features.graph.given_terms import with_present_object
from cortex_skills.features.graph.looking.call_graph import AsOf, Undated, graph_of
from cortex_skills.features.graph.statement_changes import memories_in
from cortex_skills.manifest import Manifest
from cortex_skills.operations.operation import AS_IS, Described, OperationCall, operation
from cortex_skills.policy.permissions import check_permissions, is_of_memories

_MAX_PAGES = 10
_MAX_SKIPPED_PAGES = 100
_LIMIT = 100

Name = Annotated[str, Len(1, 65_536)]


@dataclass(frozen=True, slots=True)
class StatementPattern:
    """A pattern: what is left out matches anything. An `object` is a value, or `{"node": name}`.

    `acting` is the manifest of the skill that asks, where one acts; `memories_of` the agent whose memories it is about.
    """

    subject: Annotated[Name, Described("Only statements about this name.")] | None = None
    predicate: Annotated[Name, Described("Only statements with this predicate.")] | None = None
    object: Annotated[Any, Described("Only statements with this value.")] = None
    limit: Annotated[int, Interval(ge=1, le=10_000), Described(f"Statements on a page, {_LIMIT}.")] | None = None
    cursor: Annotated[str, Described("The cursor of the page before.")] | None = None
    offset: Annotated[int, Interval(ge=0, le=10_000)] = 0
    exact_total: Annotated[bool, Described("Count all of them, however long it takes.")] = False
    provenance: Annotated[bool, Described("Add to each who asserted it.")] = False
    one_page: bool = False
    as_of: AsOf | None = None
    undated: Undated | None = None
    memories_of: str = ""
    acting: Annotated[Manifest, AS_IS] | None = None

    def terms(self) -> dict[str, Any]:
        """The parts that are given."""
        given = {"subject": self.subject, "predicate": self.predicate, "object": self.object}
        return {part: term for part, term in given.items() if term is not None}


@operation("graph.query", effect="reads", permission="read")
def query(call: OperationCall, given: StatementPattern) -> dict[str, Any]:
    """Find the statements that match a pattern.

    Returns `{matches, total, totalIsExact, nextCursor}`; `total` is a lower bound where it is not exact.
    """
    if given.acting is not None:
        return _for_skill(call, given, given.acting)
    if given.memories_of:
        if given.as_of is not None or given.undated is not None:
            raise invalid("asOf" if given.as_of else "undated", "is for the graph of a namespace as of a moment")
        return _page(memories_in(call, given.memories_of), given)
    return _page(graph_of(call, given.as_of, given.undated), given)


def _for_skill(call: OperationCall, given: StatementPattern, acting: Manifest) -> dict[str, Any]:
    """One page of the graph, or of the memories of the agent."""
    graph = call.host.graph
    if is_of_memories(given.predicate, graph.names):
        check_permissions(["memory:inspect"], acting, "a query of memories")
        graph = AgentGraph(graph, call.caller.actor)
    pattern, note = with_present_object(graph, given.terms())
    if given.limit is not None:
        pattern["limit"] = given.limit
    if given.cursor is not None:
        pattern["cursor"] = given.cursor
    page = graph.pattern_query(pattern)
    if note:
        page["note"] = note
    return page


def _page(graph: NamespacedGraph, given: StatementPattern) -> dict[str, Any]:
    pattern, limit = given.terms(), given.limit or _LIMIT
    cursor = _skip(graph, pattern, given.cursor, given.offset)
    rows: list[dict[str, Any]] = []
    first: dict[str, Any] | None = None
    pages = 1 if given.one_page else _MAX_PAGES
    for _ in range(pages if cursor is not None or not given.offset else 0):
        wanted = min(limit - len(rows), MAX_LIMIT)
        found = graph.list_triples({**pattern, "limit": wanted, "cursor": cursor})
        first = first or found
        rows += found["triples"]
        cursor = found["nextCursor"]
        if cursor is None or len(rows) >= limit:
            break
    if given.exact_total or first is None:
        total = Count(graph.count(pattern))
    elif cursor is None and given.cursor is None and first["nextCursor"] is not None:
        total = Count(given.offset + len(rows))
    else:
        total = Count(first["total"], first["totalIsExact"])
    return {
        "matches": _described(graph, rows, given),
        **moment_of(graph, [row["id"] for row in rows]),
        "total": max(total.value, len(rows)),
        "totalIsExact": total.is_exact,
        "nextCursor": cursor,
        "limit": limit,
        "offset": given.offset,
    }


def moment_of(graph: NamespacedGraph, triple_ids: list[str]) -> dict[str, Any]:
    """The moment that an answer is as of, and how many of its triples have no time; empty for an answer of today."""
    if not isinstance(graph, PastGraph):
        return {}
    return {"asOf": date_time(graph.moment), "undated": undated_among(graph, triple_ids)}


def _skip(graph: NamespacedGraph, pattern: dict[str, Any], cursor: str | None, offset: int) -> str | None:
    """The cursor after `offset` triples; None when there are no more."""
    if not offset:
        return cursor
    if cursor is not None:
        raise invalid("offset", "is given together with a cursor", hint="give one of them")
    for _ in range(_MAX_SKIPPED_PAGES):
        found = graph.list_triples({**pattern, "limit": min(offset, MAX_LIMIT), "cursor": cursor})
        offset -= len(found["triples"])
        cursor = found["nextCursor"]
        if cursor is None or not offset:
            return cursor
    raise invalid("offset", "skips too much data", hint="follow `nextCursor` instead")


def described(graph: NamespacedGraph, rows: list[dict[str, Any]], *, provenance: bool = False) -> list[dict[str, Any]]:
    """Triples with the time of their assertion, and with who asserted them if that is asked for."""
    if provenance:
        records = graph.provenances_of([row["id"] for row in rows])
        times = {key: record["time"] for key, record in records.items() if record["time"]}
        rows = [row | {"provenance": records.get(row["id"])} for row in rows]
    else:
        times = assertion_times(graph.store, graph.names, (row["id"] for row in rows))
    return [row | {"created_at": times[row["id"]]} if row["id"] in times else row for row in rows]


def _described(graph: NamespacedGraph, rows: list[dict[str, Any]], given: StatementPattern) -> list[dict[str, Any]]:
    if given.one_page and not given.provenance:
        return rows
    return described(graph, rows, provenance=given.provenance)
