"""`RecentCalls`: the latest audit records of one plugin, in memory.

    calls = RecentCalls()
    calls.record(entry)                                   # also written to the audit's logger
    page = calls.page(CallFilter(outcome="refused"), limit=20)
    older = calls.page(CallFilter(outcome="refused"), limit=20, cursor=page.next_cursor)

Rules kept here:
- the last `CAPACITY` records are kept, and none longer than the plugin;
- a page has the newest first; the cursor of the next page is the id of the last call, so that calls that are added
  shift nothing;
- an id holds a random name of the plugin's series: one of another plugin or of an earlier run is refused;
- what is kept is what the records have: no argument, no value of the graph, no text that was removed.
"""

from __future__ import annotations

import re
import secrets
import threading
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from cortex_skills.audit import call_records
from cortex_skills.audit.call_records import AuditRecord
from cortex_skills.audit.minute_counts import MinuteCount
from cortex_skills.errors import CortexError

CAPACITY = 10_000
MAX_PAGE = 1_000

_ID = re.compile(r"([0-9a-f]{8})-([0-9]{1,15})")


@dataclass(frozen=True, slots=True)
class RecentCall:
    """One call, and its id: `SERIES-NUMBER`."""

    id: str
    record: AuditRecord


@dataclass(frozen=True, slots=True)
class CallFilter:
    """Which calls; None stands for all.

    Attributes:
        outcome: `ok`, `refused` for everything else, or one code; of a call, or of one of its changes.
        skill: the acting skill.
        agent: the agent that the call was for.
        tool: the tool that was called.
        cleaned: whether something was removed from an enrichment.
        since: the earliest start, with a time zone.
        until: the latest start, with a time zone.
        event: what happened, such as `tool.call`, or what a call changed, such as `graph.assert`.
        about: an id or a digest that the data, the changes or the inputs name.
        session: the id of the client's session.
        text: what a text of the record contains, in any case.
    """

    outcome: str | None = None
    skill: str | None = None
    agent: str | None = None
    tool: str | None = None
    cleaned: bool | None = None
    since: datetime | None = None
    until: datetime | None = None
    event: str | None = None
    about: str | None = None
    session: str | None = None
    text: str | None = None

    def matches(self, record: AuditRecord) -> bool:
        """Whether a record is one of them."""
        same = (
            (self.skill, record.skill),
            (self.agent, record.agent),
            (self.tool, record.tool),
            (self.session, record.session),
        )
        if any(wanted is not None and wanted != given for wanted, given in same):
            return False
        if self.event is not None and self.event not in (record.event, *(each["event"] for each in record.changes)):
            return False
        if self.about is not None and not _names(self.about, [record.data, record.inputs, *record.changes]):
            return False
        if self.text is not None and not _contains(self.text.casefold(), record.to_json()):
            return False
        if self.cleaned is not None and self.cleaned != (record.stripped > 0):
            return False
        if self.outcome == "refused":
            if not (record.is_refused or any(each["code"] for each in record.changes)):
                return False
        elif self.outcome not in (None, record.outcome, *(each["code"] for each in record.changes)):
            return False
        if self.since is None and self.until is None:
            return True
        started = datetime.fromisoformat(record.time)
        return (self.since is None or started >= self.since) and (self.until is None or started <= self.until)


EVERY = CallFilter()


@dataclass(frozen=True, slots=True)
class CallPage:
    """Calls, the newest first, and the cursor of the next page; None at the end."""

    calls: tuple[RecentCall, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class CallCounts:
    """How many of the calls that are kept have each tool, agent and outcome."""

    total: int
    by_tool: dict[str, int]
    by_agent: dict[str, int]
    by_outcome: dict[str, int]


class CallReader(Protocol):
    """What reads the calls of an audit: `RecentCalls`, or the reader of a journal."""

    def get(self, call_id: str) -> RecentCall | None:
        """The call with this id; None if it is not kept."""

    def page(self, wanted: CallFilter = ..., *, limit: int = ..., cursor: str | None = ...) -> CallPage:
        """The newest calls that match, or those that follow a page."""

    def counts(self) -> CallCounts:
        """Count the latest calls."""

    def by_minute(self, begin: datetime, minutes: int) -> list[MinuteCount]:
        """Count the calls that began in each of some minutes, from one with a time zone on."""

    def oldest(self) -> str | None:
        """The time of the oldest record that is kept, of any namespace; None if there is none."""


class RecentCalls:
    """The latest calls. Safe to use from several threads."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._calls: deque[RecentCall] = deque(maxlen=capacity)
        self._series = secrets.token_hex(4)
        self._last = 0
        self._lock = threading.Lock()

    def record(self, entry: AuditRecord) -> RecentCall:
        """Keep a record, and write it to the audit's logger."""
        with self._lock:
            self._last += 1
            call = RecentCall(f"{self._series}-{self._last}", entry)
            self._calls.append(call)
        call_records.record(entry)
        return call

    def get(self, call_id: str) -> RecentCall | None:
        """The call with this id; None if it is not kept any more, or never was."""
        found = _ID.fullmatch(call_id)
        if found is None or found[1] != self._series:
            return None
        with self._lock:
            place = int(found[2]) - self._last + len(self._calls) - 1
            return self._calls[place] if 0 <= place < len(self._calls) else None

    def page(self, wanted: CallFilter = EVERY, *, limit: int = 100, cursor: str | None = None) -> CallPage:
        """The newest calls that match, or those that follow a page.

        Args:
            wanted: which calls.
            limit: how many, 1 to `MAX_PAGE`.
            cursor: `next_cursor` of the page before, with the same filter.

        Raises:
            CortexError: `invalid_arguments`: the limit is out of range, or the cursor is not one of this plugin.
        """
        if not 1 <= limit <= MAX_PAGE:
            raise refused_limit()
        found: list[RecentCall] = []
        for call in self._newest_first(None if cursor is None else self._number(cursor)):
            if wanted.matches(call.record):
                if len(found) == limit:
                    return CallPage(tuple(found), found[-1].id)
                found.append(call)
        return CallPage(tuple(found), None)

    def counts(self) -> CallCounts:
        """Count the calls that are kept."""
        return counted([call.record for call in self._newest_first()])

    def by_minute(self, begin: datetime, minutes: int) -> list[MinuteCount]:
        """Count the calls that are kept and began in each of some minutes."""
        found, first = [MinuteCount() for _ in range(minutes)], int(begin.timestamp() // 60)
        for call in self._newest_first():
            record = call.record
            place = int(datetime.fromisoformat(record.time).timestamp() // 60) - first
            if 0 <= place < minutes:
                found[place].total += 1
                found[place].refused += record.is_refused
                found[place].cleaned += record.stripped
        return found

    def oldest(self) -> str | None:
        """The time of the oldest record that is kept; None if there is none."""
        with self._lock:
            return self._calls[0].record.time if self._calls else None

    def _newest_first(self, before: int | None = None) -> list[RecentCall]:
        """The calls that are kept, or those with a lower number."""
        with self._lock:
            calls, newer = list(self._calls), 0 if before is None else self._last - before + 1
        calls.reverse()
        return calls[max(newer, 0) :]

    def _number(self, cursor: str) -> int:
        found = _ID.fullmatch(cursor)
        if found is None or found[1] != self._series:
            raise refused_cursor("begin without a cursor: calls are kept for as long as the server runs")
        return int(found[2])


def _names(wanted: str, given: Any) -> bool:
    """Whether JSON has this text as a member or an item."""
    if isinstance(given, dict):
        return any(_names(wanted, each) for each in given.values())
    if isinstance(given, list):
        return any(_names(wanted, each) for each in given)
    return bool(given == wanted)


def _contains(wanted: str, given: Any) -> bool:
    """Whether a text of JSON, or the name of a member, contains a folded text."""
    if isinstance(given, dict):
        return any(wanted in name.casefold() or _contains(wanted, each) for name, each in given.items())
    if isinstance(given, list):
        return any(_contains(wanted, each) for each in given)
    return isinstance(given, str) and wanted in given.casefold()


def counted(records: list[AuditRecord]) -> CallCounts:
    """Count calls by tool, agent and outcome."""
    return CallCounts(
        total=len(records),
        by_tool=_counted(record.tool for record in records),
        by_agent=_counted(record.agent for record in records),
        by_outcome=_counted(record.outcome for record in records),
    )


def refused_limit() -> CortexError:
    """The error for a limit that is out of range."""
    return CortexError("invalid_arguments", f"`limit` must be 1 to {MAX_PAGE:,}", details={"field": "limit"})


def refused_cursor(hint: str) -> CortexError:
    """The error for a cursor that is of another audit."""
    details = {"field": "cursor"}
    return CortexError("invalid_arguments", "`cursor` is not one of this audit", hint=hint, details=details)


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(Counter(names).most_common())
