"""The operations of the feature: the trust level, the actions, and requests for approval with the decisions about them.

Rules kept here:
- the trust level is set, and an action approved, by a person or the owner: no agent decides what agents may do;
- nobody approves in the name that asked, which is that of the agent, and that of the token of the call or of the
  person to whom that token belongs; the owner may;
- a request is of the namespace whose gate runs its action; a host without a gate has none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action_request import ApprovalState
from cortex_skills.features.actions.agent_actions import AgentActions
from cortex_skills.features.actions.approvals.approval_types import Approval, ApprovalList, answer
from cortex_skills.features.actions.approvals.desk import Approvals
from cortex_skills.features.actions.approvals.queue import not_found, resolved
from cortex_skills.features.actions.approvals.record import MAX_TEXT, ApprovalRecord, shown_digest
from cortex_skills.features.actions.approvals.request_text import OwnRequest
from cortex_skills.operations.operation import ObjectState, OperationCall, operation
from cortex_skills.policy.trust_levels import Risk, TrustLevel
from cortex_skills.safe_io.schemas import did_you_mean, shown

if TYPE_CHECKING:
    from cortex_graph.store_access.read_ahead import Ahead

_ByCommand = "another person approves it, or the owner: `cortex-skills approvals approve ID`"
Reason = Annotated[str, Field(max_length=MAX_TEXT)]


@dataclass(frozen=True, slots=True)
class OfNamespace:
    """Nothing but the namespace of the call."""


# --- the trust level


@answer
class TrustLevelState(TypedDict):
    """The trust level of a namespace, and the one until it is set."""

    namespace: str
    level: TrustLevel
    configured: TrustLevel


@answer
class TrustLevelChange(TypedDict):
    """The trust level of a namespace before and after a change."""

    namespace: str
    before: TrustLevel
    after: TrustLevel


@operation("actions.trust_level.show", effect="reads", permission="read")
def show_trust_level(call: OperationCall, given: OfNamespace) -> TrustLevelState:  # noqa: ARG001
    """Return how far the agents of a namespace are trusted."""
    store = call.part(AgentActions).trust
    return {"namespace": call.host.graph.namespace, "level": store.level(), "configured": store.configured}


def _level(call: OperationCall) -> ObjectState:
    return call.host.graph.namespace, call.part(AgentActions).trust.level()


@dataclass(frozen=True, slots=True)
class SetTrustLevel:
    """A trust level, and the namespace: that of the call when it is empty."""

    level: TrustLevel
    namespace: str = ""


@operation("actions.trust_level.set", effect="changes", permission="approve", object_="namespace", state=_level)
def set_trust_level(call: OperationCall, given: SetTrustLevel) -> TrustLevelChange:
    """Set how far the agents of a namespace are trusted, from the next call on."""
    namespace = call.about = call.host.graph.namespace
    if given.namespace not in ("", namespace):
        hint = "leave the namespace to the interface"
        raise CortexError("invalid_arguments", f"{shown(given.namespace)} is another namespace", hint=hint)
    check_no_agent(call, "sets the trust level")
    call.host.audit.begin()
    change = call.part(AgentActions).trust.change(given.level)
    return {"namespace": namespace, "before": change.before, "after": change.after}


# --- the actions


@answer
class ActionSummary(TypedDict):
    """An action: its name and risk, and what it takes to run it."""

    id: str
    name: str
    description: str
    category: str
    risk: Risk
    cost: str
    minTrustLevel: TrustLevel
    requiresApproval: bool


@answer
class ActionList(TypedDict):
    """The actions that agents may ask for."""

    actions: list[ActionSummary]


@operation("actions.list", effect="reads", permission="read")
def list_actions(call: OperationCall, given: OfNamespace) -> ActionList:  # noqa: ARG001
    """List the actions that agents may ask for."""
    found = call.part(AgentActions).actions.all()
    members = tuple(ActionSummary.__annotations__)
    listed: list[Any] = [{name: each.manifest.to_json()[name] for name in members} for each in found.values()]
    return {"actions": listed}


@dataclass(frozen=True, slots=True)
class OneAction:
    """The id of an action."""

    action: str


@operation("actions.describe", effect="reads", permission="read")
def describe_action(call: OperationCall, given: OneAction) -> dict[str, Any]:
    """Return the manifest of an action: what it takes, answers and may do."""
    actions = call.part(AgentActions).actions
    found = actions.find(given.action)
    if found is None:
        known = actions.all()
        hint = did_you_mean(given.action, known) or f"one of {', '.join(known) or 'none: the configuration has none'}"
        raise CortexError("tool_not_found", f"there is no action {shown(given.action)}", hint=hint)
    return found.manifest.to_json()


# --- requests for approval


@dataclass(frozen=True, slots=True)
class ListRequests:
    """Which requests: those in a state, or all; those of an agent, or all."""

    state: ApprovalState | None = None
    agent: Annotated[str | None, Field(min_length=1, max_length=256)] = None
    limit: Annotated[int, Field(ge=1, le=1_000)] = 100


@operation("approvals.list", effect="reads", permission="approve")
def list_requests(call: OperationCall, given: ListRequests) -> ApprovalList:
    """List the requests of agents, the newest first."""
    acting = call.part(AgentActions)
    if acting.connected is None:
        return {"approvals": [], "changed": [], "count": 0}
    found = acting.approvals.list(given.state, given.agent, given.limit)
    listed = [acting.approvals.view(record) for record in found.records]
    return {"approvals": listed, "changed": list(found.changed), "count": len(listed)}


@dataclass(frozen=True, slots=True)
class OneRequest:
    """The id of a request."""

    approval: Annotated[str, Field(min_length=1, description="The id of the request, from the answer of the action.")]


@operation("approvals.show", effect="reads", permission="approve")
def show_request(call: OperationCall, given: OneRequest) -> Approval:
    """Return one request."""
    approvals = approvals_of(call, given.approval)
    return approvals.view(approvals.show(given.approval))


@operation("approvals.status", effect="reads", permission=None)
def own_request(call: OperationCall, given: OneRequest) -> OwnRequest:
    """Return the state of a request of the agent that asks; another agent's is not found."""
    queue = call.part(AgentActions).queue
    record = queue.find(given.approval)
    if record.request.agent != call.caller.actor:
        raise not_found(record.id)
    return OwnRequest(record, record.state(queue.now()))


@dataclass(frozen=True, slots=True)
class WaitForRequest:
    """The id of a request, and for how many seconds to wait at most."""

    approval: str
    seconds: Annotated[float, Field(ge=0, le=3_600)] = 60.0


@operation("approvals.wait", effect="reads", permission="approve")
def wait_for_request(call: OperationCall, given: WaitForRequest) -> Approval:
    """Wait until a request was rejected, has expired, or its action has ended, and return it as it is then."""
    approvals = approvals_of(call, given.approval)
    return approvals.view(approvals.wait(given.approval, given.seconds))


def _ahead_of_decision(call: OperationCall, given: Any) -> list[Ahead]:
    acting = call.part(AgentActions)
    return [acting.trust.ahead, *acting.approvals.ahead_of(given.approval)]


def _request(call: OperationCall) -> ObjectState:
    approvals = approvals_of(call, call.about)
    record = approvals.show(call.about)
    return record.id, f"{record.request.action} for {record.request.agent}, {approvals.state_of(record)}"


@dataclass(frozen=True, slots=True)
class DecideRequest:
    """The id of a request, and why it is decided so: the agent reads it."""

    approval: str
    reason: Reason = ""


@operation(
    "approvals.approve",
    effect="changes",
    permission="approve",
    object_="approval",
    state=_request,
    ahead=_ahead_of_decision,
)
def approve_request(call: OperationCall, given: DecideRequest) -> Approval:
    """Approve a request, and run its action, unless another host runs it: its state is `done` or `failed` then."""
    approvals, record = _to_decide(call, given.approval)
    if approvals.state_of(record) == "pending":
        check_may_approve(call, record)
    return approvals.view(approvals.approve_now(record, call.caller.name, given.reason))


@operation(
    "approvals.reject",
    effect="changes",
    permission="approve",
    object_="approval",
    state=_request,
    ahead=_ahead_of_decision,
)
def reject_request(call: OperationCall, given: DecideRequest) -> Approval:
    """Reject a request: its action never runs."""
    approvals, record = _to_decide(call, given.approval)
    return approvals.view(approvals.reject_now(record, call.caller.name, given.reason))


@dataclass(frozen=True, slots=True)
class OtherInputs:
    """The id of a request, and other inputs for it."""

    approval: str
    inputs: dict[str, Any]


@answer
class PreviewedEdit(TypedDict):
    """What a request with other inputs would ask for."""

    inputs: Annotated[dict[str, Any], Field(description="As they would run.")]
    preview: Annotated[str, Field(description="What it would change; empty if there is nothing to show.")]
    shown: Annotated[str, Field(description="A digest over what runs and this preview, for `approvals.edit`.")]


@operation("approvals.preview_edit", effect="reads", permission="approve", ahead=_ahead_of_decision)
def preview_edit(call: OperationCall, given: OtherInputs) -> PreviewedEdit:
    """Return what a request with other inputs would change; every check is made of them, and nothing is kept."""
    record = approvals_of(call, given.approval).show(given.approval)
    check_may_edit(call, record)
    request = call.part(AgentActions).preview_edited(record, given.inputs, call.caller.who)
    return {"inputs": dict(request.inputs), "preview": request.preview, "shown": shown_digest(request)}


@dataclass(frozen=True, slots=True)
class EditRequest(OtherInputs):
    """The id of a request, and other inputs for it; `shown` of their preview, if no other one may be kept."""

    shown: Annotated[str, Field(max_length=64)] = ""


@operation(
    "approvals.edit",
    effect="changes",
    permission="approve",
    object_="approval",
    state=_request,
    ahead=_ahead_of_decision,
)
def edit_request(call: OperationCall, given: EditRequest) -> Approval:
    """Reject a request, and keep one with other inputs in its place, which waits for its own decision.

    The new request is for the same agent, and has its own preview and digest; the answer of the old one names it.
    """
    approvals, record = _to_decide(call, given.approval)
    check_may_edit(call, record)
    if given.shown:
        acting = call.part(AgentActions)
        if shown_digest(acting.preview_edited(record, given.inputs, call.caller.who)) != given.shown:
            what = "what it would change is not what was shown"
            raise CortexError("approval_changed", f"{what}, and no request was kept", hint="look at it again")
    edited = approvals.show(call.part(AgentActions).ask_edited(record, given.inputs, call.caller.who))
    call.facts |= {"edited": edited.id, "editedDigest": edited.digest}
    approvals.reject_now(record, call.caller.name, f"{call.caller.who} edited it: it waits as {edited.id}")
    return approvals.view(edited)


def _to_decide(call: OperationCall, approval_id: str) -> tuple[Approvals, ApprovalRecord]:
    call.host.audit.begin()
    approvals = approvals_of(call, approval_id)
    record = approvals.show(approval_id)
    call.facts |= {"action": record.request.action, "agent": record.request.agent, "digest": record.digest}
    return approvals, record


def approvals_of(call: OperationCall, approval_id: str) -> Approvals:
    """The requests of the namespace, with the decisions about them.

    Raises:
        CortexError: `approval_not_found`: it has none.
    """
    acting = call.part(AgentActions)
    if acting.connected is None:
        raise not_found(approval_id)
    return acting.approvals


def check_may_approve(call: OperationCall, record: ApprovalRecord) -> None:
    """Refuse an agent, and who asked for a request.

    Raises:
        CortexError: `permission_denied`.
    """
    caller = call.caller
    if caller.kind == "owner":
        return
    names = {record.request.agent, record.request.asked_by}
    if not names.isdisjoint({caller.name, caller.actor, caller.who}):
        raise CortexError("permission_denied", f"{caller.who} asked for this, and does not approve it", hint=_ByCommand)
    check_no_agent(call, "approves what agents ask for")


def check_may_edit(call: OperationCall, record: ApprovalRecord) -> None:
    """Refuse who may not approve a request, and an edit of one that was decided or cannot run here.

    Raises:
        CortexError: `approval_resolved`; `permission_denied`; `invalid_arguments`: it runs elsewhere; why it would be
            refused now.
    """
    acting = call.part(AgentActions)
    if acting.approvals.state_of(record) != "pending":
        raise resolved(record, acting.queue.now())
    check_may_approve(call, record)
    if refusal := acting.approvals.refusal_of(record):
        raise refusal
    if not acting.runs_here(record.request):
        where = f"this request runs on {record.request.host_name}, and is edited there"
        raise CortexError("invalid_arguments", where, hint="approve or reject it as it is")


def check_no_agent(call: OperationCall, what: str) -> None:
    """Refuse an agent.

    Raises:
        CortexError: `permission_denied`.
    """
    if call.caller.is_agent:
        hint = "a person does, with a token that was made with `--holder person`, or the owner by the command line"
        raise CortexError("permission_denied", f"no agent {what}, and {call.caller.name} is one", hint=hint)
