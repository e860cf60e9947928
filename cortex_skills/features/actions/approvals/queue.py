"""The requests for approval of one namespace, in the store: shared by all processes that use it.

Rules kept here:
- the requests are in a named graph that no dataset of a query contains and no name of the namespace reaches, so that
  skills, tokens and SPARQL clients can neither read nor write them;
- each step is a claim (`claims.py` of the graph): of several processes that take it at once one does, and the others
  see what that one did. The resolution has to be claimed before the action is started, and the start before it runs;
- an action that was approved where it does not run has a quad for its place, which is removed with the start: one query
  finds what a process has to run;
- a request that expires is resolved as `expired` when it is next read, and never becomes anything else;
- at most `MAX_WAITING` requests wait, `MAX_WAITING_OF_AGENT` of one agent and `MAX_WAITING_OF_SENDER` of one sender,
  which may name several agents, so that none keeps out the others. The same request of an agent, made again
  while it waits, is the one that waits;
- a request is kept until `KEPT` after it was resolved, expired or ended: from then on it is not found, and the next
  request that is added removes it;
- a record that was changed in the store does not hide the others, and is never approved. One that contradicts itself is
  read again first: some servers answer in the middle of a change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import GraphError, GraphUnavailable
from cortex_graph.checks.datetimes import date_time
from cortex_graph.naming.names import Names
from cortex_graph.naming.vocabulary import CORTEX, DATE_TIME, GENERATED_AT, TYPE
from cortex_graph.store import GraphStore, Pattern
from cortex_graph.store_access.claims import apply_claimed, has_claims
from cortex_graph.store_access.half_made import read_whole
from cortex_graph.store_access.read_ahead import Ahead, UpTo, WholeSubjects, reading_ahead, subjects_ahead
from cortex_skills.audit.chain import Signer
from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action_request import ActionRequest, ApprovalState
from cortex_skills.features.actions.approvals.record import (
    ApprovalRecord,
    Resolution,
    RunEnd,
    changed,
    end_text,
    new_request,
    read_record,
    resolution_text,
    start_text,
)
from cortex_skills.safe_io.schemas import shown

MAX_WAITING = 200
MAX_WAITING_OF_AGENT = 50
MAX_WAITING_OF_SENDER = 100
LASTS = timedelta(hours=24)
LONGEST = timedelta(days=30)  # that a configuration may let a request wait
KEPT = timedelta(days=30)
MAX_LISTED = 1000

REQUEST_CLASS = NamedNode(f"{CORTEX}ApprovalRequest")
REQUEST = NamedNode(f"{CORTEX}approvalRequest")
RESOLUTION = NamedNode(f"{CORTEX}approvalResolution")
RUNS_AT = NamedNode(f"{CORTEX}approvalRunsAt")
START = NamedNode(f"{CORTEX}approvalStart")
REPORTED = NamedNode(f"{CORTEX}approvalReported")
END = NamedNode(f"{CORTEX}approvalEnd")

_ID = re.compile(r"[0-9a-f]{32}")
_REMOVED_AT_ONCE = 20
_READ_AT_ONCE = 50
_WAITING_QUADS = 10 * MAX_WAITING
_KEPT_TEXT = 16_384  # characters of a record that is not read again for each page

Clock = Callable[[], datetime]


class _ChangingError(Exception):
    """A record that contradicts itself, maybe since it is being written."""

    def __init__(self, values: Mapping[NamedNode, Sequence[str]], error: CortexError) -> None:
        super().__init__(error.message)
        self.values, self.error = values, error


@dataclass(frozen=True, slots=True)
class ListedApprovals:
    """Records, the newest first, and the ids of those that were changed in the store."""

    records: tuple[ApprovalRecord, ...]
    changed: tuple[str, ...] = ()


class ApprovalQueue:
    """The requests of one namespace. Safe to use from several threads and processes.

    Args:
        store: the store; one of namespaces only has no claims, and refuses every change.
        names: of the namespace.
        now: the clock, in UTC.
        signer: opens the key of this host; None where it cannot be used.
    """

    def __init__(
        self,
        store: GraphStore,
        names: Names,
        now: Clock = lambda: datetime.now(UTC),
        signer: Callable[[], Signer | None] = lambda: None,
    ) -> None:
        self._signer = signer
        self.store = self._store = store
        self._names = names
        self._graph = names.approvals_graph
        self._times = Pattern(self._graph, None, GENERATED_AT)
        self._waiting = WholeSubjects(self._times, lacks=(RESOLUTION,))
        self._waiting_ahead = UpTo(self._waiting, _WAITING_QUADS)
        self.now = now
        self._damaged: dict[str, Mapping[NamedNode, Sequence[str]]] = {}  # as they were read several times

    def add(self, request: ActionRequest, lasts: timedelta = LASTS) -> ApprovalRecord:
        """Add a request.

        Args:
            request: what waits for a person.
            lasts: how long it can be approved.

        Returns:
            The record; that of an equal request, if one waits.

        Raises:
            CortexError: `invalid_arguments`: the request is too long, or cannot be written; `approval_limit`: too many
                wait.
            GraphError: the store cannot write.
        """
        with reading_ahead(self._store, lambda: [self._times, self._waiting_ahead]):
            return self._add(request, lasts)

    def _add(self, request: ActionRequest, lasts: timedelta) -> ApprovalRecord:
        now = self.now()
        new_id, text = new_request(request, now, lasts, self._signer())
        record = read_record(new_id, text, "", "", "", "")
        self._remove_old(now)
        waiting = self.list("pending").records
        for other in waiting:
            if other.request.is_same(record.request):
                return other
        of_agent = sum(other.request.agent == request.agent for other in waiting)
        sender = request.asked_by
        of_sender = sum(other.request.asked_by == sender for other in waiting) if sender else 0
        full = {
            f"{of_agent} requests of {request.agent}": of_agent >= MAX_WAITING_OF_AGENT,
            f"{of_sender} requests that {sender} sent": of_sender >= MAX_WAITING_OF_SENDER,
            f"{len(waiting)} requests": len(waiting) >= MAX_WAITING,
        }
        if count := next((each for each, is_full in full.items() if is_full), ""):
            hint = "have them approved or rejected: cortex-skills approvals list"
            raise CortexError("approval_limit", f"{count} wait for approval, and no more are taken", hint=hint)
        node = self._node(new_id)
        about = [
            Quad(node, TYPE, REQUEST_CLASS, self._graph),
            Quad(node, GENERATED_AT, Literal(date_time(record.created), datatype=DATE_TIME), self._graph),
        ]
        if not has_claims(self._store):
            raise _keeps_none()
        self._store.apply([Quad(node, REQUEST, Literal(text), self._graph), *about])  # no other writer has this id
        return record

    def find(self, approval_id: object) -> ApprovalRecord:
        """The record of a request.

        Raises:
            CortexError: `approval_not_found`; `approval_changed`: it was changed in the store.
        """
        record = self._read(approval_id) if isinstance(approval_id, str) and _ID.fullmatch(approval_id) else None
        if record is None or not _is_kept(record, self.now()):
            raise not_found(approval_id)
        if record.resolution is None and record.state(self.now()) == "expired":
            with suppress(GraphError):  # a store that is only read
                self._claim(record, RESOLUTION, resolution_text(Resolution("expired", "", record.expires)))
            return self._read(record.id) or record
        return record

    def list(
        self, state: ApprovalState | None = None, agent: str | None = None, limit: int = MAX_LISTED
    ) -> ListedApprovals:
        """The records in a state, or all; of one agent, or all; the newest first.

        Args:
            state: of the records.
            agent: of the records.
            limit: how many, at most.
        """
        with reading_ahead(self._store, lambda: [self._waiting_ahead] if state == "pending" else []):
            return self._listed(state, agent, min(limit, MAX_LISTED))

    def _listed(self, state: ApprovalState | None, agent: str | None, limit: int) -> ListedApprovals:
        records: list[ApprovalRecord] = []
        damaged: list[str] = []
        for approval_id in self._several_at_once(list(self._newest(waiting=state == "pending"))):
            if len(records) + len(damaged) >= limit:
                break
            try:
                record = self.find(approval_id)
            except CortexError as error:
                if error.code == "approval_changed" and state in (None, "pending") and agent is None:
                    damaged.append(approval_id)
                continue
            if state in (None, record.state(self.now())) and agent in (None, record.request.agent):
                records.append(record)
        return ListedApprovals(tuple(records), tuple(damaged))

    def _several_at_once(self, ids: Sequence[str]) -> Iterator[str]:
        """Yield ids; what is read of each is asked for with that of others."""
        for start in range(0, len(ids), _READ_AT_ONCE):
            some = ids[start : start + _READ_AT_ONCE]
            with reading_ahead(self._store, partial(self._ahead_of, some)):
                yield from some

    def _ahead_of(self, ids: Sequence[str]) -> Sequence[Ahead]:
        return [Pattern(self._graph, self._node(each)) for each in ids]

    def ahead_of(self, approval_id: str) -> Sequence[Ahead]:
        """What is read of a request to decide it."""
        return self._ahead_of([approval_id]) if _ID.fullmatch(approval_id) else []

    def read_all(self) -> Iterator[ApprovalRecord]:
        """Every record as it is stored, the newest first; those that were changed in the store are left out."""
        for approval_id in self._several_at_once(tuple(self._newest())):
            with suppress(CortexError):
                if (record := self._read(approval_id)) is not None:
                    yield record

    def waiting(self) -> set[str]:
        """The ids of the requests that are not resolved."""
        return set(self._newest(waiting=True))

    def to_run(self, place: str) -> tuple[str, ...]:
        """The ids of the requests that were approved elsewhere and run at a place; one request to the store."""
        found = self._quads(Pattern(self._graph, None, RUNS_AT, Literal(place)))
        ids = (quad.subject.value.rpartition("/")[2] for quad in found if isinstance(quad.subject, NamedNode))
        return tuple(approval_id for approval_id in ids if _ID.fullmatch(approval_id))

    def forget_place(self, approval_id: str, place: str) -> None:
        """Have a place look no more for a request that cannot be started any more."""
        self._store.apply(remove=self._place(approval_id, place))

    def resolve(
        self, approval_id: str, approved: bool, by: str, reason: str = "", *, runs_at: str = ""
    ) -> ApprovalRecord:
        """Approve or reject a request that waits.

        Args:
            approval_id: its id.
            approved: whether it is approved.
            by: the name of the person.
            reason: why.
            runs_at: the place that runs an approved one, if that is not here.

        Returns:
            The record; without `runs_at` the caller of `resolve` alone may start the action of an approved one.

        Raises:
            CortexError: `approval_resolved`: it was resolved before; the errors of `find`.
        """
        record = self.find(approval_id)
        state = record.state(self.now())
        if state == "pending":
            resolution = Resolution("approved" if approved else "rejected", by, self.now(), reason, runs_at)
            text = resolution_text(resolution, record.id, self._signer() if runs_at else None)
            if self._claim(record, RESOLUTION, text, self._place(record.id, runs_at)):
                return self.find(approval_id)
            record = self.find(approval_id)
        raise resolved(record, self.now())

    def close(self, request: ActionRequest, reason: str) -> ApprovalRecord | None:
        """Close a request that waits for what is about to run without it, so that nobody approves it.

        Args:
            request: what runs.
            reason: why, for the person and the agent.

        Returns:
            The record of the request; an approved one if a person was faster. None if no equal request waits.
        """
        for other in self.list("pending").records:
            if other.request.is_same(request):
                self._claim(other, RESOLUTION, resolution_text(Resolution("expired", "", self.now(), reason)))
                return self.find(other.id)
        return None

    def start(self, record: ApprovalRecord) -> None:
        """Note that the action of an approved request is started, before it is.

        Raises:
            CortexError: `approval_resolved`: it was started before, or is not approved.
        """
        current = self.find(record.id)
        resolution = current.resolution
        is_ours = resolution is not None and resolution == record.resolution and resolution.state == "approved"
        place = self._place(record.id, "" if resolution is None else resolution.runs_at)
        is_late = bool(place) and self.now() >= current.expires
        if not is_ours or is_late or not self._claim(current, START, start_text(self.now()), remove=place):
            raise resolved(self.find(record.id), self.now())

    def report(self, record: ApprovalRecord) -> None:
        """Note that the process that runs the action is alive; to be repeated more often than `LEASE`."""
        pattern = Pattern(self._graph, self._node(record.id), REPORTED)
        quad = Quad(self._node(record.id), REPORTED, Literal(date_time(self.now()), datatype=DATE_TIME), self._graph)
        self._store.apply([quad], [old for old in self._quads(pattern) if old != quad])

    def finish(self, record: ApprovalRecord, end: RunEnd) -> ApprovalRecord:
        """Note how the action of a started request ended."""
        self._claim(record, END, end_text(end))
        return self.find(record.id)

    def _quads(self, pattern: Pattern) -> Iterator[Quad]:
        if not has_claims(self._store):
            raise _keeps_none()
        return self._store.quads(pattern)

    def _claim(
        self,
        record: ApprovalRecord,
        step: NamedNode,
        text: str,
        insert: Sequence[Quad] = (),
        remove: Sequence[Quad] = (),
    ) -> bool:
        return apply_claimed(self._store, Quad(self._node(record.id), step, Literal(text), self._graph), insert, remove)

    def _place(self, approval_id: str, place: str) -> tuple[Quad, ...]:
        return (Quad(self._node(approval_id), RUNS_AT, Literal(place), self._graph),) if place else ()

    def _node(self, approval_id: str) -> NamedNode:
        return self._names.beside("approval", approval_id)

    def _read(self, approval_id: str) -> ApprovalRecord | None:
        """The record under a well-formed id; None when there is none."""

        def read() -> ApprovalRecord | None:
            values = self._values(approval_id)
            try:
                return _record(approval_id, values)
            except CortexError as error:
                if self._damaged.get(approval_id) == values:  # as it was read several times
                    raise
                raise _ChangingError(values, error) from error

        try:
            return read_whole(self._store, read, _ChangingError)
        except _ChangingError as changing:
            if len(self._damaged) >= MAX_LISTED:
                self._damaged.clear()
            self._damaged[approval_id] = changing.values
            raise changing.error from None

    def _values(self, approval_id: str) -> Mapping[NamedNode, Sequence[str]]:
        values: dict[NamedNode, Any] = {}
        for quad in self._quads(Pattern(self._graph, self._node(approval_id))):
            values.setdefault(quad.predicate, []).append(quad.object.value if isinstance(quad.object, Literal) else "")
        return {predicate: sorted(found) for predicate, found in values.items()}

    def _newest(self, *, waiting: bool = False) -> Iterator[str]:
        """The ids of the requests, or of those that are not resolved, the newest first."""
        known = subjects_ahead(self._store, self._waiting) if waiting else None
        if known is not None:
            times = [quad for node in known for quad in self._quads(Pattern(self._graph, node, GENERATED_AT))]
        else:
            done = {quad.subject for quad in self._quads(Pattern(self._graph, None, RESOLUTION))} if waiting else set()
            times = [quad for quad in self._quads(self._times) if quad.subject not in done]
        found = [
            (quad.object.value, quad.subject.value.rpartition("/")[2])
            for quad in times
            if isinstance(quad.object, Literal) and isinstance(quad.subject, NamedNode)
        ]
        return (approval_id for _, approval_id in sorted(found, reverse=True) if _ID.fullmatch(approval_id))

    def _remove_old(self, now: datetime) -> None:
        """Remove some of the requests that are not kept any longer, and of those that were changed in the store."""
        before = date_time(now - KEPT)
        old = sorted(
            (quad.object.value, quad.subject.value)
            for quad in self._quads(Pattern(self._graph, None, GENERATED_AT))
            if isinstance(quad.object, Literal) and isinstance(quad.subject, NamedNode) and quad.object.value <= before
        )
        removed = 0
        for created, node in old:
            if removed < _REMOVED_AT_ONCE and self._is_old(NamedNode(node), created, now):
                self._store.apply(remove=list(self._quads(Pattern(self._graph, NamedNode(node)))))
                removed += 1

    def _is_old(self, node: NamedNode, created: str, now: datetime) -> bool:
        try:
            record = self._read(node.value.rpartition("/")[2])
        except CortexError:
            record = None
        if record is None:
            return created <= date_time(now - KEPT - LONGEST)
        return not _is_kept(record, now)


def _record(approval_id: str, values: Mapping[NamedNode, Sequence[str]]) -> ApprovalRecord | None:
    """The record of the values of its parts; None if there is none.

    Raises:
        CortexError: `approval_changed`.
    """
    if not values:
        return None
    steps = [values.get(step, [""]) for step in (REQUEST, RESOLUTION, START, END)]
    if any(len(found) > 1 for found in steps):
        changed(approval_id)
    (request,), (resolution,), (start,), (end,) = steps
    read = _read_again if len(request) + len(end) <= _KEPT_TEXT else read_record
    return read(approval_id, request, resolution, start, max(values.get(REPORTED, [""])), end)


# Each page of the explorer lists what waits: the record of a text is always the same.
_read_again = lru_cache(maxsize=256)(read_record)


def _is_kept(record: ApprovalRecord, now: datetime) -> bool:
    """Whether a request waits, or its end is less than `KEPT` ago."""
    ends = [record.expires if record.resolution is None else record.resolution.at]
    ends += [] if record.end is None else [record.end.at]
    return now < max(ends) + KEPT


def _keeps_none() -> GraphUnavailable:
    return GraphUnavailable(
        "a store behind another Cortex keeps no requests for approval",
        hint="use a store in a folder, in memory, or on a SPARQL server",
    )


def not_found(approval_id: object) -> CortexError:
    """The error for a request that does not exist, or that the caller may not see."""
    hint = "ids are 32 hexadecimal digits; requests are kept for 30 days after they were resolved"
    return CortexError("approval_not_found", f"there is no request for approval {shown(approval_id)}", hint=hint)


def resolved(record: ApprovalRecord, now: datetime) -> CortexError:
    """The error for a request that cannot be resolved any more: it states what became of it."""
    state, resolution = record.state(now), record.resolution
    if resolution is None or resolution.state == "expired":
        text = f"the request {record.id} expired at {date_time(record.expires)}"
        hint = "have the agent request the action again"
    else:
        text = f"the request {record.id} was {resolution.state} by {resolution.by} at {date_time(resolution.at)}"
        text += "" if state == resolution.state else f"; its state is `{state}`"
        hint = f"cortex-skills approvals show {record.id}"
    details = {"id": record.id, "state": state, "by": resolution.by if resolution else None}
    return CortexError("approval_resolved", text, hint=hint, details=details)
