r"""One request for approval: what it asks for, the states that it has, and its two digests; pure.

Rules kept here:
- `pending → approved | rejected | expired`, then `approved → running → done | failed`. Each of the three steps
  (resolution, start, end) is taken once;
- a request that was approved, and whose process stopped reporting before the end was recorded, is `interrupted`. That
  is seen from the time of the last report, and not stored: a process that was only suspended still records the end;
- a request that is approved where it does not run is `approved` until its host starts it, or it expires;
- the digest is over what runs: the action, the version of its manifest, the inputs, the agent and the namespace. The id
  is a digest over everything that a person is shown, so a record that was changed in the store does not have its id.

    digest = SHA-256("cortex-approval/1\0" + RFC 8785 JSON of {action, manifestVersion, inputs, agent, namespace})
    id     = the first 32 hexadecimal digits of SHA-256("cortex-approval-id/1\0" + RFC 8785 JSON of the request)
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, NoReturn, cast, get_args

from cortex_graph.checks.datetimes import date_time
from cortex_skills.audit.chain import Signer
from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action_request import ActionRequest, ApprovalState
from cortex_skills.features.actions.approvals.host_signatures import (
    OF_REQUEST,
    OF_RESOLUTION,
    HostSignature,
    read_signature,
    signed,
)
from cortex_skills.policy.trust_levels import Risk
from cortex_skills.safe_io.strict_json import read_json

if TYPE_CHECKING:
    from cortex_skills.features.actions.approvals.approval_types import ActionResult, Approval

MAX_REQUEST = 2 << 20  # bytes of canonical JSON
MAX_RESULT = 1 << 20
MAX_TEXT = 500  # characters of a reason, and of the name of a person
LEASE = timedelta(seconds=15)  # after the last report of a process that runs an action

_DOMAIN = b"cortex-approval/1\0"
_ID_DOMAIN = b"cortex-approval-id/1\0"
_HOST_ID = re.compile(r"([0-9a-f]{32})?")
_HOST_NAME = re.compile(r"[A-Za-z0-9._-]{0,64}")
_LATER = ("askedBy", "host", "hostName", "workspace")
_TEXTS = ("action", "manifestVersion", "agent", "namespace", "skill", "risk", "reason", "preview", "digest")


@dataclass(frozen=True, slots=True)
class Resolution:
    """What was decided about a request: by whom, when, and why.

    Attributes:
        runs_at: the place that runs it, if that is not where it was approved.
        signed: by the host where it was made, if another one runs it.
    """

    state: Literal["approved", "rejected", "expired"]
    by: str
    at: datetime
    reason: str = ""
    runs_at: str = ""
    signed: HostSignature | None = None


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How an approved action ended.

    Attributes:
        state: whether the action succeeded.
        at: when.
        code: of the error; empty for an action that succeeded.
        text: the result, as a model may read it; its first characters where it is long.
        details: the result for a program; empty where it is long.
        is_cut: whether something was left out because the result is long.
    """

    state: Literal["done", "failed"]
    at: datetime
    code: str
    text: str
    details: Mapping[str, Any] = field(default_factory=dict, hash=False)
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class ApprovalRecord:
    """A request and what came of it.

    Attributes:
        id: 32 hexadecimal digits.
        request: what waits for a person.
        digest: over what runs, in hexadecimal.
        created: when it was requested.
        expires: until when it can be approved.
        resolution: what was decided; None while nothing is.
        started: when the action was started; None before.
        reported: when the process that runs the action reported last; None before it started.
        end: how the action ended; None before.
        signed: by the host where it was asked for; None in a request of an earlier version.
    """

    id: str
    request: ActionRequest
    digest: str
    created: datetime
    expires: datetime
    resolution: Resolution | None = None
    started: datetime | None = None
    reported: datetime | None = None
    end: RunEnd | None = None
    signed: HostSignature | None = None

    def state(self, now: datetime) -> ApprovalState:
        """The state at a time."""
        if self.end is not None:
            return self.end.state
        if self.resolution is None:
            return "pending" if now < self.expires else "expired"
        if self.resolution.state != "approved":
            return self.resolution.state
        if self.started is None and self.resolution.runs_at:
            return "approved" if now < self.expires else "expired"
        reported = self.reported or self.started or self.resolution.at
        if now >= reported + LEASE:
            return "interrupted"
        return "approved" if self.started is None else "running"

    def to_json(self, now: datetime) -> Approval:
        """The record as a JSON object, with its state at a time."""
        request, resolution, end = self.request, self.resolution, self.end
        return {
            "id": self.id,
            "state": self.state(now),
            "action": request.action,
            "manifestVersion": request.manifest_version,
            "inputs": dict(request.inputs),
            "agent": request.agent,
            "askedBy": request.asked_by,
            "host": request.host_name,
            "hostId": request.host,
            "workspace": request.workspace,
            "namespace": request.namespace,
            "skill": request.skill,
            "risk": request.risk,
            "reason": request.reason,
            "preview": request.preview,
            "digest": self.digest,
            "created": date_time(self.created),
            "expires": date_time(self.expires),
            "resolvedBy": resolution.by if resolution else None,
            "resolvedAt": date_time(resolution.at) if resolution else None,
            "resolvedReason": resolution.reason if resolution else None,
            "started": date_time(self.started) if self.started else None,
            "ended": date_time(end.at) if end else None,
            "result": end_json(end) if end else None,
        }


def end_json(end: RunEnd) -> ActionResult:
    """The result of an action as a JSON object."""
    return {"code": end.code, "text": end.text, "details": dict(end.details), "isCut": end.is_cut}


def new_request(
    request: ActionRequest, now: datetime, lasts: timedelta, signer: Signer | None = None
) -> tuple[str, str]:
    """The id and the canonical JSON of a new request.

    Args:
        request: what waits for a person.
        now: the time.
        lasts: how long it can be approved.
        signer: the key of this host.

    Raises:
        CortexError: `invalid_arguments`: it is longer than `MAX_REQUEST`, or has a value that RFC 8785 cannot write.
    """
    stored = what_runs(request) | {
        "skill": request.skill,
        "risk": request.risk,
        "reason": request.reason,
        "preview": request.preview,
        "askedBy": request.asked_by,
        "host": request.host,
        "hostName": request.host_name,
        "workspace": request.workspace,
        "digest": digest_of(request),
        "created": date_time(now),
        "expires": date_time(now + lasts),
        "nonce": uuid.uuid4().hex,
    }
    text = canonical(stored | signed(signer, OF_REQUEST + canonical(stored)))
    if len(text) > MAX_REQUEST:
        hint = "split it into smaller ones"
        raise CortexError("invalid_arguments", f"a request for approval has at most {MAX_REQUEST:,} bytes", hint=hint)
    return _id_of(text), text.decode()


def read_record(approval_id: str, request: str, resolution: str, start: str, reported: str, end: str) -> ApprovalRecord:
    """The record of a request.

    Args:
        approval_id: the id that it is stored under.
        request: what `new_request` made.
        resolution: what `resolution_text` made; empty for none.
        start: what `start_text` made; empty for none.
        reported: the `xsd:dateTime` of the last report; empty for none.
        end: what `end_text` made; empty for none.

    Raises:
        CortexError: `approval_changed`: the request does not have its id or its digest, or a part is malformed.
    """
    try:
        given = read_json(request)
        runs = {name: given[name] for name in ("action", "manifestVersion", "inputs", "agent", "namespace")}
        if _id_of(request.encode()) != approval_id or _digest(runs) != given["digest"]:
            changed(approval_id)
        of_later = {name: given.get(name, "") for name in _LATER}  # one of an earlier version has none
        known = (
            all(isinstance(value, str) for value in of_later.values())
            and all(_HOST_ID.fullmatch(of_later[name]) for name in ("host", "workspace"))
            and _HOST_NAME.fullmatch(of_later["hostName"])
            and given["risk"] in get_args(Risk)
            and all(isinstance(given[name], str) for name in _TEXTS)
        )
        if not known or not isinstance(given["inputs"], dict):
            changed(approval_id)
        record = ApprovalRecord(
            id=approval_id,
            request=ActionRequest(
                action=given["action"],
                manifest_version=given["manifestVersion"],
                inputs=given["inputs"],
                agent=given["agent"],
                namespace=given["namespace"],
                skill=given["skill"],
                risk=given["risk"],
                reason=given["reason"],
                preview=given["preview"],
                asked_by=of_later["askedBy"],
                host=of_later["host"],
                host_name=of_later["hostName"],
                workspace=of_later["workspace"],
            ),
            digest=given["digest"],
            created=_time(given["created"]),
            expires=_time(given["expires"]),
            resolution=_resolution(approval_id, resolution) if resolution else None,
            started=_time(read_json(start)["at"]) if start else None,
            reported=_time(reported) if reported else None,
            end=_end(end) if end else None,
            signed=read_signature(given, OF_REQUEST + canonical(_unsigned(given))),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        changed(approval_id)
    return record if _follows(record) else changed(approval_id)


def resolution_text(resolution: Resolution, approval_id: str = "", signer: Signer | None = None) -> str:
    """A resolution as it is stored; each one is different, so that of two equal ones one is written."""
    stored = {
        "state": resolution.state,
        "by": resolution.by[:MAX_TEXT],
        "at": date_time(resolution.at),
        "reason": resolution.reason[:MAX_TEXT],
        "runsAt": resolution.runs_at,
        "nonce": uuid.uuid4().hex,
    }
    return canonical(stored | signed(signer, OF_RESOLUTION + approval_id.encode() + canonical(stored))).decode()


def start_text(at: datetime) -> str:
    """The start of an action as it is stored."""
    return canonical({"at": date_time(at), "nonce": uuid.uuid4().hex}).decode()


def end_text(end: RunEnd) -> str:
    """The end of an action as it is stored, with at most about `MAX_RESULT` bytes."""
    stored = {"state": end.state, "at": date_time(end.at)} | end_json(end)
    try:
        text = canonical(stored)
    except CortexError:  # a result that RFC 8785 cannot write
        text = b""
    if not 0 < len(text) <= MAX_RESULT:
        whole = end.text.encode("utf-8", "replace")[: MAX_RESULT // 8]  # JSON writes a character in up to 6 bytes
        text = canonical(stored | {"text": whole.decode("utf-8", "ignore"), "details": {}, "isCut": True})
    return text.decode()


def canonical(value: Any) -> bytes:
    """The RFC 8785 form of a JSON value.

    Raises:
        CortexError: `invalid_arguments`: a number beyond 2^53, NaN, a lone surrogate.
    """
    import rfc8785

    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeError, RecursionError) as error:
        hint = "whole numbers up to 2^53, finite numbers and Unicode text"
        raise CortexError("invalid_arguments", f"a request cannot be written as JSON: {error}", hint=hint) from None


def changed(approval_id: str) -> NoReturn:
    """Raise `approval_changed`."""
    raise CortexError(
        "approval_changed",
        f"the request {approval_id} was changed in the store after it was made; it cannot be approved",
        hint="have the agent request the action again, and find out who writes to the store",
    )


def what_runs(request: ActionRequest) -> dict[str, Any]:
    """What the digest is over."""
    return {
        "action": request.action,
        "manifestVersion": request.manifest_version,
        "inputs": dict(request.inputs),
        "agent": request.agent,
        "namespace": request.namespace,
    }


def digest_of(request: ActionRequest) -> str:
    """The digest over what runs, in hexadecimal.

    Raises:
        CortexError: `invalid_arguments`: it has a value that RFC 8785 cannot write.
    """
    return _digest(what_runs(request))


def shown_digest(request: ActionRequest) -> str:
    """The digest over what runs and what a person is shown of it; the errors are those of `digest_of`."""
    return _digest({**what_runs(request), "preview": request.preview})


def _digest(runs: Mapping[str, Any]) -> str:
    return sha256(_DOMAIN + canonical(runs)).hexdigest()


def _id_of(request: bytes) -> str:
    return sha256(_ID_DOMAIN + request).hexdigest()[:32]


def _follows(record: ApprovalRecord) -> bool:
    """Whether the steps of a record are in their order."""
    resolution = record.resolution
    if resolution is None or resolution.state != "approved":
        return record.started is None and record.end is None
    in_time = resolution.at < record.expires and resolution.runs_at in ("", record.request.place)
    return in_time and (record.end is None or record.started is not None)


def _unsigned(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name != "signed"}


def _resolution(approval_id: str, text: str) -> Resolution:
    given = read_json(text)
    state, by, reason, runs_at = given["state"], given["by"], given["reason"], given.get("runsAt", "")
    if state not in ("approved", "rejected", "expired") or not all(isinstance(t, str) for t in (by, reason, runs_at)):
        raise ValueError("no resolution")
    found = read_signature(given, OF_RESOLUTION + approval_id.encode() + canonical(_unsigned(given)))
    return Resolution(state, by, _time(given["at"]), reason, runs_at, found)


def _end(text: str) -> RunEnd:
    given = read_json(text)
    if given["state"] not in ("done", "failed") or not isinstance(given["details"], dict):
        raise ValueError("no end")
    state = cast(Literal["done", "failed"], given["state"])
    code, words = str(given["code"]), str(given["text"])
    return RunEnd(state, _time(given["at"]), code, words, given["details"], given["isCut"] is True)


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
