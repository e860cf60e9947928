"""`/explore/{namespace}/changes?since=`: what was added and withdrawn between two moments, and by whom.

Rules kept here:
- the page is the operation `graph.difference`; without `since` it compares with yesterday;
- a name of what was withdrawn leads to its page as of the earlier moment: now it may have nothing;
- both moments are fields, so that the page works without scripts.
"""

from __future__ import annotations

from dataclasses import dataclass

from cortex_graph.assertion_records.withdrawals import Origin
from cortex_skills.doors.explorer.addresses import ROOT, Addresses
from cortex_skills.doors.explorer.display import OF_NAME, Display, ShownTerm, ShownText, shown_name
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.page import ExplorerPage, Form, PageCall
from cortex_skills.doors.explorer.page_queries import ChangesQuery
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.features.explorer.reading import Reading, TakeAway, TextLink
from cortex_skills.features.explorer.triple_rows import moment
from cortex_skills.features.graph.looking.moment_difference import MomentDifference, compare

_PATH = "changes"
_LIMIT = 100
_SINCE = "yesterday"
_ASKED = ("subject", "predicate", "object", "by", "query")
_FIELDS = (("subject", "Subject"), ("predicate", "Predicate"), ("object", "Object"), ("by", "Agent"))
_COLUMNS = ("Subject", "Predicate", "Value")
_QUICK = (("1h", "1 hour"), ("yesterday", "Yesterday"), ("24h", "24 hours"), ("7d", "7 days"), ("30d", "30 days"))


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A statement that was added or withdrawn, with by whom and when; or a row of a query, without these."""

    is_added: bool
    terms: tuple[ShownTerm, ...]
    href: str | None
    agent: ShownText | None
    agent_href: str | None
    when: str | None


@dataclass(frozen=True, slots=True)
class ChangeListView:
    """The changes.

    Attributes:
        since, until: as they were asked for.
        words: how much changed between which moments.
        rows: the changes, the latest first.
        columns: the heads of the columns of terms.
        fields: the other filters: name, label and value.
        quick: other spans.
        left: how many changes are not listed.
        query: the query whose answers are compared; empty for statements.
    """

    since: str
    until: str
    words: str
    rows: tuple[ChangeRow, ...]
    columns: tuple[str, ...]
    fields: tuple[tuple[str, str, str], ...]
    quick: tuple[TextLink, ...]
    left: int
    query: str
    away: TakeAway


def view(call: PageCall) -> ChangeListView:
    """What changed.

    Raises:
        InvalidArguments: a moment or a filter is invalid.
    """
    reading, query = Reading.of(call, _PATH), call.query
    found = None if query.get("query") and not call.may_run else _found(call)
    since = query.get("since") or _SINCE
    rows = () if found is None else tuple(_rows(reading, found))
    return ChangeListView(
        to_field(since),
        to_field(query.get("until", "")),
        "This query came with a link and was not run. Read it, then compare." if found is None else _words(found),
        rows,
        _COLUMNS if found is None or found.rows is None else found.rows.columns,
        tuple((name, label, to_field(query.get(name, ""))) for name, label in _FIELDS),
        tuple(TextLink(label, reading.changed(since=each, until=None), each == since) for each, label in _QUICK),
        0 if found is None else max(0, sum(found.counts) - len(rows)),
        to_field(query.get("query", "")),
        reading.take_away(FORMS),
    )


def _words(found: MomentDifference) -> str:
    some = "" if found.is_complete else "at least "
    added, withdrawn = (f"{some}{count:,}" for count in found.counts)
    return f"{added} added, {withdrawn} withdrawn from {moment(found.since)} to {moment(found.until)} UTC."


def _found(call: PageCall) -> MomentDifference:
    """The difference.

    Raises:
        HttpError: `permission_denied`: a query came with a link.
    """
    query = call.query
    if query.get("query") and not call.may_run:
        hint = "open the page, look at the query, and run it there"
        raise HttpError("permission_denied", "a query that comes with a link is not run", hint=hint)
    given = {name: query[name] for name in _ASKED if query.get(name)}
    given |= {"object_": given.pop("object")} if "object" in given else {}
    found: MomentDifference = call.api().operate(
        compare, since=query.get("since") or _SINCE, until=query.get("until") or None, limit=_LIMIT, **given
    )
    return found


def _rows(reading: Reading, found: MomentDifference) -> list[ChangeRow]:
    names = reading.graph.names
    then = Addresses(reading.graph.namespace, found.since).relative(_PATH)
    shows = {"added": reading.near, "withdrawn": Display(names, then, reading.near.labels)}
    if found.rows is not None:
        return [
            ChangeRow(
                change == "added", tuple(shows[change].term("" if cell is None else cell) for cell in row), *_NONE
            )
            for change, row in found.rows.listed(_LIMIT)
        ]
    return [
        ChangeRow(
            change == "added",
            tuple(shows[change].term(term) for term in each.triple),
            reading.near.addresses.assertion(each.triple_id),
            *_by(reading, by),
        )
        for change, each, by in found.changes()
    ]


_NONE = (None, None, None, None)  # of a row of a query


def _by(reading: Reading, by: Origin) -> tuple[ShownText | None, str | None, str | None]:
    agent = by["agent"]
    named = None if agent is None else shown_name(agent, OF_NAME // 2)
    return named, None if agent is None else reading.near.addresses.agent(agent), moment(by["time"])


FORMS = {"json": Form("application/json", lambda call: to_json(_found(call).document()))}
PAGE = ExplorerPage(
    f"{ROOT}/{{namespace}}/changes",
    "changes",
    "changes.html",
    view,
    query=ChangesQuery,
    forms=FORMS,
    pool="sparql",
    label="Changes",
    section="See",
    keys="g c",
    place=32,
)
