"""Runs an operation: the one way to do so.

Rules kept here:
- the permission, the arguments, the rate of the caller, the operation, the audit: in this order, and none is skipped;
- the rate counts by the name that the interface verified, also where a call names an agent;
- a change leaves one record, also when it is refused or fails: the operation, its object, the state of that before and
  after as they were read beside the change, the reason, the caller with its kind and its interface. So does what reads
  and is declared with a record: what it states (`facts`), and the caller. That of a tool is in the record of its call;
- the names in a record are facts once the object was found; what was only asked for is data, and redacted.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from cortex_graph import GraphError
from cortex_graph.store_access.read_ahead import reading_ahead
from cortex_skills.audit.call_records import AuditRecord, CallChanges, started
from cortex_skills.errors import CortexError, as_ours
from cortex_skills.feature import followers
from cortex_skills.operations.caller import OWNER, Caller
from cortex_skills.operations.operation import Follower, G, ObjectState, Operation, OperationCall, R

if TYPE_CHECKING:
    from cortex_graph.store_access.read_ahead import Ahead
    from cortex_skills.cancellation import CancelToken
    from cortex_skills.host import Host

log = logging.getLogger(__name__)


def run(
    operation: Operation[G, R],
    caller: Caller,
    given: Mapping[str, Any] | G,
    host: Host,
    cancel: CancelToken | None = None,
    changes: CallChanges | None = None,
) -> R:
    """Run an operation.

    Args:
        operation: which.
        caller: runs it.
        given: its arguments by name; or made already, by code that has checked what it was given.
        host: of the namespace that it concerns.
        cancel: ends one that reads early.
        changes: of the call whose tool runs it, and whose record has it then.

    Raises:
        CortexError: `invalid_arguments`; `permission_denied`; `rate_limited`; `audit_unavailable`; or an error of the
            operation.
        GraphError: the store cannot be used.
    """
    call = OperationCall(caller, host, cancel=cancel)
    with reading_ahead(host.graph.store, lambda: _ahead(operation, call, given)):
        return _run(operation, call, given, changes)


def _run(
    operation: Operation[G, R], call: OperationCall, given: Mapping[str, Any] | G, changes: CallChanges | None
) -> R:
    caller, host = call.caller, call.host
    if not operation.recorded:
        return operation.run(call, _permitted(operation, call, given))
    began, outcome = time.monotonic(), "cancelled"
    try:
        host.audit.check_call()
        if isinstance(asked := _named(given, operation.object_), str):
            call.about = asked
            call.before = _state(operation, call)
        checked = _permitted(operation, call, given)
        if call.before is None:
            call.before = _state(operation, call)
        result = operation.run(call, checked)
        outcome = "ok"
        _follow(operation, call, checked)
        return result
    except Exception as error:
        outcome = as_ours(operation.name, error).code
        raise
    finally:
        milliseconds = round((time.monotonic() - began) * 1000, 3)
        entry = AuditRecord(
            time=started(milliseconds),
            tool=operation.name,
            skill=caller.skill,
            agent=caller.actor,
            outcome=outcome,
            milliseconds=milliseconds,
            event=operation.name,
            category=operation.subject,
            actor=caller.name,
            data=None if host.audit.journal is None else _stated(operation, call, _named(given, "reason")),
            session=None if caller.skill is None else host.session.id_of(caller.session),
        )
        if changes is None or not changes.keep(entry):
            host.audit.record(entry)


def _ahead(operation: Operation[G, R], call: OperationCall, given: Mapping[str, Any] | G) -> Sequence[Ahead] | None:
    """What a caller who may run the operation has it read; an error is raised when the operation runs."""
    if operation.ahead is not None and operation.permission in (None, *call.caller.permissions):
        with suppress(CortexError, GraphError):
            checked = operation.checked(given) if isinstance(given, Mapping) else given
            readers = [each.ahead for each in followers(operation.name) if isinstance(each, Follower)]
            return [each for ahead in (operation.ahead, *readers) for each in ahead(call, checked)]
    return None


def _stated(operation: Operation[Any, Any], call: OperationCall, reason: object) -> Any:
    """The facts of the record, and the data beside them; only a journal keeps them."""
    caller, before, after = call.caller, call.before, call.after or _state(operation, call)
    if before is not None and after is not None and before[0] != after[0]:
        before = None  # the operation chose another name
    known = after or before
    states = {"before": None if before is None else before[1], "after": None if after is None else after[1]}
    return call.host.audit.kept_facts(
        {
            **call.facts,
            **({} if known is None else {"object": known[0]}),
            **(states if operation.effect == "changes" else {}),
            "kind": caller.kind,
            "door": caller.door,
            "namespace": caller.namespace,
        },
        {
            **({"object": call.about} if known is None and operation.object_ else {}),
            **call.data,
            **({} if reason is None else {"reason": reason}),
        },
    )


def _named(given: Any, name: str) -> object:
    """An argument, which may not be checked yet."""
    return given.get(name) if isinstance(given, Mapping) else getattr(given, name, None)


def _permitted(operation: Operation[G, R], call: OperationCall, given: Mapping[str, Any] | G) -> G:
    """The checked arguments of a caller who has the permission, and has not done it too often."""
    caller = call.caller
    if operation.permission is not None and operation.permission not in caller.permissions:
        raise CortexError(
            "permission_denied",
            f"{operation.name} needs the permission `{operation.permission}`, which {caller.name} does not have",
            hint="ask the owner of this installation, who has the command line"
            if operation.permission == OWNER
            else f"`cortex-skills token create NAME --permission {operation.permission}` makes a token with it",
            details={"missing": [operation.permission]},
        )
    checked = operation.checked(given) if isinstance(given, Mapping) else given
    if operation.object_:
        call.about = str(getattr(checked, operation.object_))
    if operation.per_minute and caller.kind != "owner":
        call.host.rates.acquire(operation.name, f"{caller.kind} {caller.name}", operation.per_minute)
    return checked


def _follow(operation: Operation[G, Any], call: OperationCall, given: G) -> None:
    """Run what features do after an operation; it is done, so that a failure is a warning."""
    for follow in followers(operation.name):
        try:
            follow(call, given)
        except (CortexError, GraphError) as error:
            log.warning("what follows %s of %s failed: %s", operation.name, call.about, error)


def _state(operation: Operation[Any, Any], call: OperationCall) -> ObjectState | None:
    if call.host.audit.journal is None:
        return None  # nothing keeps it
    with suppress(CortexError, GraphError):
        return operation.state(call)
    return None
