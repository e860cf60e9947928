"""`Approvals`: requests of one plugin are kept, shown, approved and rejected, and their callers notified.

    for record in plugin.approvals.list("pending").records:
        plugin.approvals.approve(record.id, by="ada")

Rules kept here:
- nothing here decides what may run: an approved action passes every step of the gate again;
- an action runs where it was asked for: in a process with the workspace of the request, or on its host. Approved
  elsewhere, it is started by such a process (`elsewhere`);
- a request is taken before its action is started, so it runs once; a process that cannot run it, because it does not
  have the action or the skill, or because an allow-list, a permission or the trust level refuses it, does not take it;
- the process that runs an action reports while it does. If it ends before the result is stored, the request is
  `interrupted`: nobody can know what was done, and nothing runs it again;
- who waits for a request is notified once, when it is rejected, has expired, or its action has ended, in whichever
  process that was;
- `approve` and `reject` are the operations of that name, with their checks and records, as a host in Python runs them.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

from cortex_graph import GraphError
from cortex_graph.store_access.read_ahead import Ahead, reading_now
from cortex_skills.audit.audit_log import AuditLog
from cortex_skills.cancellation import CancelToken
from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action_request import ActionRequest, ApprovalState
from cortex_skills.features.actions.action_settings import ApprovalSettings
from cortex_skills.features.actions.approvals.queue import ApprovalQueue, ListedApprovals
from cortex_skills.features.actions.approvals.record import LEASE, MAX_TEXT, ApprovalRecord, RunEnd

if TYPE_CHECKING:
    from cortex_skills.features.actions.approvals.approval_types import Approval

log = logging.getLogger(__name__)

FINAL: frozenset[ApprovalState] = frozenset({"rejected", "expired", "done", "failed", "interrupted"})
MAX_WAITING_CALLS = 4  # the other threads of a server answer those who approve
_POLL_S = 1.0
_WAKE_S = 0.1


class ResultOfAction(Protocol):
    """What the gate answers."""

    @property
    def text(self) -> str:
        """For a model."""

    @property
    def details(self) -> Mapping[str, Any]:
        """For a program."""

    @property
    def code(self) -> str | None:
        """Of the failure; None for none."""


class Approvals:
    """The requests of one plugin. Safe to use from several threads.

    Args:
        queue: keeps them.
        settings: how long a call waits, and a request lasts.
        audit: where decisions are recorded.
        run: runs an approved request through the gate: who approved it, and what cancels the run.
        runs_here: whether a request was asked for at the place of this process.
        check_here: raises if an approved request could not run in this process now.
        ended: called once for each request that this process watches, when its state is final.
        decide: runs the operation of a decision: its name, by whom, whether that is the owner, the id and the reason.
    """

    def __init__(
        self,
        queue: ApprovalQueue,
        settings: ApprovalSettings,
        audit: AuditLog,
        run: Callable[[ApprovalRecord, str, CancelToken | None], ResultOfAction],
        runs_here: Callable[[ActionRequest], bool],
        check_here: Callable[[ActionRequest], None],
        ended: Callable[[ApprovalRecord], None],
        decide: Callable[[str, str, bool, str, str], object],
    ) -> None:
        self._decide = decide
        self._queue = queue
        self._settings = settings
        self._audit = audit
        self._run = run
        self._runs_here = runs_here
        self._check_here = check_here
        self._watch = _Watch(queue, ended)
        self._waiting_calls = threading.BoundedSemaphore(MAX_WAITING_CALLS)

    def request(
        self, request: ActionRequest, cancel: CancelToken | None = None, *, waits: bool = True
    ) -> ApprovalRecord:
        """Keep a request, and wait for its end as long as the configuration allows (`approvals.waitMs`).

        Args:
            request: what waits for a person.
            cancel: ends the wait; the request stays.
            waits: whether to wait at all.

        Raises:
            CortexError: it cannot be kept; `cancelled`.
            GraphError: the store cannot write.
        """
        record = self._queue.add(request, timedelta(minutes=self._settings.lasts_minutes))
        self._watch.add(record)
        self._audit.event("approval.requested", agent=request.agent, skill=request.skill, facts=_facts(record))
        wait_s = self._settings.wait_ms / 1000
        if not waits or not wait_s or not self._waiting_calls.acquire(blocking=False):
            return record
        try:
            return self.wait(record.id, wait_s, cancel)
        finally:
            self._waiting_calls.release()

    def close_ruled(self, request: ActionRequest, rule: str, by: str) -> ApprovalRecord | None:
        """Close an equal request that waits, before a rule lets a call run: it would run a second time.

        Args:
            request: what the call asks for.
            rule: the id of the rule.
            by: the person who made it.

        Returns:
            The request, if a person approved it at the same moment: the call does not run.
        """
        closed = self._queue.close(request, f"it was asked for again, and the rule {rule} of {by} approved that")
        if closed is None:
            return None
        if closed.resolution is not None and closed.resolution.state == "approved":
            return closed
        facts = {**_facts(closed), "rule": rule}
        self._audit.event("approval.closed", agent=request.agent, skill=request.skill, facts=facts)
        self._watch.check()
        return None

    def ahead_of(self, approval_id: str) -> Sequence[Ahead]:
        """What is read of a request to decide it."""
        return self._queue.ahead_of(approval_id)

    def wait(self, approval_id: str, timeout_s: float, cancel: CancelToken | None = None) -> ApprovalRecord:
        """Wait until the state of a request is final, for a limited time.

        Args:
            approval_id: its id.
            timeout_s: in seconds.
            cancel: ends the wait.

        Raises:
            CortexError: `approval_not_found`, `approval_changed`, `cancelled`.
        """
        until = time.monotonic() + timeout_s
        while True:
            if cancel is not None:
                cancel.check()
            record = self._queue.find(approval_id)
            left = until - time.monotonic()
            if record.state(self._queue.now()) in FINAL or left <= 0:
                return record
            time.sleep(min(_WAKE_S, left))

    def list(self, state: ApprovalState | None = None, agent: str | None = None, limit: int = 100) -> ListedApprovals:
        """The requests in a state, or all; of one agent, or all; the newest first, at most 1,000."""
        return self._queue.list(state, agent, limit)

    def show(self, approval_id: str) -> ApprovalRecord:
        """One request.

        Raises:
            CortexError: `approval_not_found`, `approval_changed`.
        """
        return self._queue.find(approval_id)

    def refusal_of(self, record: ApprovalRecord) -> CortexError | None:
        """Why an approval of a request that waits would be refused now; None if no rule is known that would."""
        if self.state_of(record) != "pending":
            return None
        try:
            if self._runs_here(record.request):
                self._check_here(record.request)
        except CortexError as refusal:
            return refusal
        return None

    def state_of(self, record: ApprovalRecord) -> ApprovalState:
        """The state of a record now."""
        return record.state(self._queue.now())

    def view(self, record: ApprovalRecord) -> Approval:
        """A record as a JSON object, with its state now."""
        return record.to_json(self._queue.now())

    def approve(self, approval_id: str, by: str, reason: str = "", *, is_owner: bool = False) -> ApprovalRecord:
        """Approve a request, and run its action, unless it was asked for elsewhere.

        Args:
            approval_id: its id.
            by: the name of the person.
            reason: why, at most 500 characters.
            is_owner: whether it is the owner of the store, who may approve what was asked for in the same name.

        Returns:
            The record with the result; its state is `done`, or `failed` if the gate refused the action or it failed.
            `approved`: it was asked for elsewhere, and runs when that host next looks.

        Raises:
            CortexError: `invalid_arguments`; `permission_denied`: it was asked for in the same name;
                `approval_resolved`, `approval_not_found`, `approval_changed`; `tool_not_found`, `skill_not_found` or
                `skill_ambiguous`, `tool_not_allowed` or `trust_level_too_low`: it cannot run in this process now, and
                still waits.
            GraphError: the store cannot be used. If that happened after the action was started, its state is
                `interrupted`.
        """
        return self._decided("approvals.approve", approval_id, by, reason, is_owner=is_owner)

    def reject(self, approval_id: str, by: str, reason: str = "") -> ApprovalRecord:
        """Reject a request; the arguments and errors are those of `approve`."""
        return self._decided("approvals.reject", approval_id, by, reason, is_owner=True)

    def _decided(self, word: str, approval_id: str, by: str, reason: str, *, is_owner: bool) -> ApprovalRecord:
        if not isinstance(by, str) or not by.strip() or len(by) > MAX_TEXT:
            hint = f"give `by`, at most {MAX_TEXT} characters"
            raise CortexError("invalid_arguments", "a decision needs the name of a person", hint=hint)
        self._decide(word, by, is_owner, approval_id, reason)
        return self._queue.find(approval_id)

    def approve_now(self, waiting: ApprovalRecord, by: str, reason: str) -> ApprovalRecord:
        """Approve a request that the caller may decide; the errors are those of `approve`."""
        if self.state_of(waiting) == "pending":
            if not self._runs_here(waiting.request):
                place = waiting.request.place
                return self._queue.resolve(waiting.id, approved=True, by=by, reason=reason, runs_at=place)
            self._check_here(waiting.request)
        return self.run_approved(self._queue.resolve(waiting.id, approved=True, by=by, reason=reason))

    def run_approved(self, record: ApprovalRecord, cancel: CancelToken | None = None) -> ApprovalRecord:
        """Start the action of an approved request here, unless another process did.

        Args:
            record: the request, with its resolution.
            cancel: ends the run early.

        Raises:
            CortexError: `approval_resolved`: another process started it, or it has expired.
            GraphError: as for `approve`.
        """
        self._queue.start(record)
        by = record.resolution.by if record.resolution else ""
        with _Reports(self._queue, record), reading_now(self._queue.store, forgets=False):
            result = self._run(record, by, cancel)
        code = result.code or ""
        end = RunEnd("failed" if code else "done", self._queue.now(), code, result.text, result.details)
        try:
            record = self._queue.finish(record, end)
        except GraphError as error:
            outcome = f"ended with {code}" if code else "ran"
            raise CortexError(
                "graph_unavailable",
                f"{record.request.action} {outcome}, but that could not be stored: {error}",
                hint="the request is shown as `interrupted`; nothing runs it again",
            ) from error
        self._watch.check()
        return record

    def reject_now(self, waiting: ApprovalRecord, by: str, reason: str) -> ApprovalRecord:
        """Reject a request that the caller may decide."""
        record = self._queue.resolve(waiting.id, approved=False, by=by, reason=reason)
        self._watch.check()
        return record

    def watch(self, approval_id: str) -> None:
        """Notify also of the end of a request that another process has kept.

        Raises:
            CortexError: `approval_not_found`, `approval_changed`.
        """
        record = self._queue.find(approval_id)
        if self.state_of(record) not in FINAL:
            self._watch.add(record)

    def close(self) -> None:
        """Notify no more."""
        self._watch.close()


def _facts(record: ApprovalRecord) -> dict[str, str]:
    request = record.request
    return {"id": record.id, "action": request.action, "askedBy": request.asked_by, "digest": record.digest}


class _Reports:
    """While it is entered, a thread reports that the process is alive."""

    def __init__(self, queue: ApprovalQueue, record: ApprovalRecord) -> None:
        self._queue = queue
        self._record = record
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._report, name="cortex-approval", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _report(self) -> None:
        while not self._ended.wait(LEASE.total_seconds() / 3):
            try:
                self._queue.report(self._record)
            except GraphError as error:
                log.warning("the run of %s cannot be reported: %s", self._record.id, error)


class _Watch:
    """Notices the end of requests, with a thread that runs while there are any."""

    def __init__(self, queue: ApprovalQueue, ended: Callable[[ApprovalRecord], None]) -> None:
        self._queue = queue
        self._ended = ended
        self._records: dict[str, ApprovalRecord] = {}
        self._changing = threading.Lock()
        self._wake = threading.Event()
        self._is_running = self._is_closed = False

    def add(self, record: ApprovalRecord) -> None:
        """Watch a request."""
        with self._changing:
            self._records[record.id] = record
            if not self._is_running and not self._is_closed:
                self._is_running = True
                threading.Thread(target=self._watch, name="cortex-approvals", daemon=True).start()

    def check(self) -> None:
        """Look now."""
        self._wake.set()

    def close(self) -> None:
        """End the thread."""
        self._is_closed = True
        self._wake.set()

    def _watch(self) -> None:
        while True:
            self._wake.wait(_POLL_S)
            self._wake.clear()
            with self._changing:
                if self._is_closed or not self._records:
                    self._is_running = False
                    return
                watched = dict(self._records)
            try:
                self._notify(watched)
            except GraphError as error:
                if not self._is_closed:
                    log.warning("requests for approval cannot be read: %s", error)

    def _notify(self, watched: Mapping[str, ApprovalRecord]) -> None:
        now, waiting = self._queue.now(), self._queue.waiting()
        for approval_id in [each for each, record in watched.items() if each not in waiting or now >= record.expires]:
            try:
                record = self._queue.find(approval_id)
            except CortexError as error:  # removed, or changed
                log.warning("%s", error.message)
                self._forget(approval_id)
                continue
            if record.state(now) in FINAL and not self._is_closed:
                self._forget(approval_id)
                self._ended(record)

    def _forget(self, approval_id: str) -> None:
        with self._changing:
            self._records.pop(approval_id, None)
