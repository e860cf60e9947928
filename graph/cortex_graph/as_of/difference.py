"""What changed in the graph of a namespace between two moments, and by whom.

    changes = difference(graph, "yesterday")
    [(graph.names.name(each.triple[0].value), each.agent) for each in changes.added]

Rules kept here:
- a triple was added if it is in the graph as of the later moment and was not as of the earlier one (`past_records.py`),
  and withdrawn if it is the other way round: one that was withdrawn and asserted again meanwhile did not change;
- triples without a record count as there from the beginning, so an import without records is no change;
- the newest `MOST` assertions are compared; whether there were more is stated.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from pyoxigraph import Quad

from cortex_graph.as_of.past_graph import as_of, today_of
from cortex_graph.assertion_records.withdrawals import Origin
from cortex_graph.assertions import Assertion, AssertionFilter, list_assertions, read_assertions
from cortex_graph.checks.argument_checks import MAX_LIMIT
from cortex_graph.checks.moments import check_moment
from cortex_graph.exceptions import invalid
from cortex_graph.namespace.namespaced import NamespacedGraph

MOST = 5_000


@dataclass(frozen=True, slots=True)
class GraphDifference:
    """The changes between two moments, the latest first.

    Attributes:
        since, until: the moments, in UTC.
        added: the assertions of the triples that are there since.
        withdrawn: those of the triples that are not any more; `Assertion.withdrawn` has by whom, and when.
        is_complete: whether all assertions of the time were compared.
    """

    since: datetime
    until: datetime
    added: tuple[Assertion, ...]
    withdrawn: tuple[Assertion, ...]
    is_complete: bool


def difference(
    graph: NamespacedGraph,
    since: datetime | str,
    until: datetime | str | None = None,
    which: AssertionFilter | None = None,
) -> GraphDifference:
    """Compare the graph of a namespace as of two moments.

    Args:
        graph: of the namespace.
        since: the earlier moment.
        until: the later one; None for now.
        which: the triples by `subject`, `predicate` and `object`; `agent` names who asserted or withdrew them.

    Raises:
        InvalidArguments: a moment or a filter is invalid.
        QueryLimit: too much was withdrawn since.
        QueryTimeout: as of `list_assertions`.
    """
    today, now = today_of(graph), datetime.now(UTC)
    before = as_of(today, check_moment(since, "since", now))
    end = now if until is None else check_moment(until, "until", now)
    if end <= before.moment:
        raise invalid("until", "is not later than `since`", hint="give the earlier moment as `since`")
    after = today if until is None else as_of(today, end)
    wanted = replace(which or AssertionFilter(), since=before.moment, until=end, withdrawn=True)
    made, is_complete = _made(today, wanted)
    restored = before.past.records[0].restored.values()
    gone = read_assertions(today, [each.node for each in restored if _matches(today, wanted, each.quad)])
    added: dict[str, Assertion] = {}
    for each in made:
        holds = each.withdrawn is None or _withdrawn_at(each) > end
        if holds and each.triple_id not in added and _changed(each, today, before, after):
            added[each.triple_id] = each
    withdrawn: dict[str, Assertion] = {}
    for each in sorted(gone, key=_withdrawn_at, reverse=True):
        by, when = each.withdrawn or _NOBODY, _withdrawn_at(each)
        is_ours = when <= end and wanted.agent in (None, by["agent"])
        if is_ours and each.triple_id not in withdrawn and _changed(each, today, after, before):
            withdrawn[each.triple_id] = each
    return GraphDifference(before.moment, end, tuple(added.values()), tuple(withdrawn.values()), is_complete)


_NOBODY: Origin = {"agent": None, "skill": None, "skillVersion": None, "time": None}


def _made(graph: NamespacedGraph, wanted: AssertionFilter) -> tuple[list[Assertion], bool]:
    """The assertions of a time, the latest first, and whether these are all."""
    found: list[Assertion] = []
    cursor = None
    while len(found) < MOST:
        page = list_assertions(graph, wanted, limit=MAX_LIMIT, cursor=cursor)
        found += page.assertions
        cursor = page.cursor
        if cursor is None:
            return found, True
    return found, False


def _changed(each: Assertion, today: NamespacedGraph, without: NamespacedGraph, within: NamespacedGraph) -> bool:
    """Whether a triple is in one graph and not in the other."""
    quad = Quad(*each.triple, today.names.graph)
    return within.store.contains(quad) and not without.store.contains(quad)


def _matches(graph: NamespacedGraph, wanted: AssertionFilter, quad: Quad) -> bool:
    terms: Iterable[tuple[object, object]] = (
        (None if wanted.subject is None else graph.node_of(wanted.subject, "subject"), quad.subject),
        (None if wanted.predicate is None else graph.node_of(wanted.predicate, "predicate"), quad.predicate),
        (None if wanted.object is None else graph.sought(wanted.object), quad.object),
    )
    return all(asked is None or asked == term for asked, term in terms)


def _withdrawn_at(assertion: Assertion) -> datetime:
    time = (assertion.withdrawn or _NOBODY)["time"]
    return datetime.min.replace(tzinfo=UTC) if time is None else datetime.fromisoformat(time)
