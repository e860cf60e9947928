"""The calls of the audit that a page may show, and the sessions among the latest of them.

Rules kept here:
- a caller needs the permission `audit`, and sees the calls of the namespace that the skills act in;
- the sessions are those of the latest `LATEST` calls: a list that would read all of a journal is not made for a page;
- an approved action runs in the session of the process that runs it, and belongs to the one that asked for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cortex_skills.audit.recent_calls import MAX_PAGE, CallFilter, CallReader, RecentCall
from cortex_skills.doors.explorer.page import PageCall
from cortex_skills.doors.http.http_errors import HttpError

LATEST = 2_000


@dataclass(frozen=True, slots=True)
class SessionFigures:
    """A session, as far as the latest calls show it.

    Attributes:
        id: of the session.
        agents: for whom, the most frequent first.
        began, ended: the times of its first and last call.
        calls, refused: how many.
    """

    id: str
    agents: tuple[str, ...]
    began: str
    ended: str
    calls: int
    refused: int


def may_audit(call: PageCall) -> bool:
    """Whether the caller may see the calls."""
    return "audit" in call.principal.permissions and call.principal.may_use(call.service.plugin.graph.namespace)


def calls_of(call: PageCall) -> CallReader:
    """The calls.

    Raises:
        HttpError: `permission_denied`: the token does not open their namespace.
    """
    plugin = call.service.plugin
    if not call.principal.may_use(plugin.graph.namespace):
        hint = "ask for a token that opens the namespace in which the skills act"
        raise HttpError("permission_denied", "your token does not open the namespace of these calls", hint=hint)
    return plugin.audit.calls


def latest(calls: CallReader, wanted: CallFilter, most: int = LATEST) -> Iterator[RecentCall]:
    """The newest calls that match, at most so many."""
    cursor, left = None, most
    while left > 0:
        page = calls.page(wanted, limit=min(MAX_PAGE, left), cursor=cursor)
        yield from page.calls
        left, cursor = left - len(page.calls), page.next_cursor
        if cursor is None:
            return


def sessions_among(calls: Iterable[RecentCall]) -> list[SessionFigures]:
    """The sessions of some calls, given the newest first; the session of the newest call first."""
    by_session: dict[str, list[RecentCall]] = {}
    for call in calls:
        if call.record.session is not None and call.record.approved_by is None:
            by_session.setdefault(call.record.session, []).append(call)
    return [
        SessionFigures(
            session,
            tuple(agent for agent, _ in Counter(call.record.agent for call in found).most_common()),
            found[-1].record.time,
            found[0].record.time,
            len(found),
            sum(call.record.is_refused for call in found),
        )
        for session, found in by_session.items()
    ]
