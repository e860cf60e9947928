"""The operations about rules that approve: preview, add, list and end one.

Rules kept here:
- a rule is made from a request, by who may approve it: no agent, and none in the name that asked, with the owner
  excepted. So it never approves what was asked for in the name of who made it;
- the configuration has to have rules (`approvals.rules`); where it has none, those that were made approve nothing;
- the trust level limits the risk, when a rule is made and at each use (`may_be_ruled`);
- the folder is one that the action may name, and no symbolic link; the path of the request itself is in it;
- a rule runs nothing when it is made: the requests that wait, also those that it would have approved, are decided
  each.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from cortex_graph.checks.datetimes import date_time
from cortex_graph.checks.moments import check_moment
from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action_operations import OfNamespace, Reason, approvals_of, check_may_approve
from cortex_skills.features.actions.agent_actions import AgentActions
from cortex_skills.features.actions.approvals.approval_types import answer
from cortex_skills.features.actions.approvals.record import ApprovalRecord
from cortex_skills.features.actions.approvals.rule import LONGEST, MOST_USES, ApprovalRule, RuleState, paths_of
from cortex_skills.features.actions.approvals.rule_book import KeptRule, RuleBook
from cortex_skills.features.actions.manifest import ActionManifest
from cortex_skills.features.actions.paths import MAX_PATH, MissingFile
from cortex_skills.operations.operation import ObjectState, OperationCall, operation
from cortex_skills.policy.trust_levels import may_be_ruled

USES = 20  # of a rule that states none
_MAX_WAITING = 200
_SHORTEST = timedelta(minutes=1)


@answer
class ApprovalRuleState(TypedDict):
    """A rule, how often it was used, and its state."""

    id: Annotated[str, Field(description="Empty in a preview.")]
    state: RuleState
    action: str
    manifestVersion: Annotated[str, Field(description="The version of the manifest that it is for.")]
    agent: str
    askedBy: Annotated[str, Field(description="Who has to send the call.")]
    skill: Annotated[str, Field(description="The acting skill.")]
    namespace: str
    folder: Annotated[str, Field(description="Below which every path is, relative to the workspace.")]
    by: str
    reason: str
    created: str
    ends: str
    uses: Annotated[int, Field(description="How many calls it approves.")]
    used: Annotated[int, Field(description="How many it has approved.")]
    endedBy: str | None
    endedAt: str | None
    endedReason: str | None


@answer
class ApprovalRuleList(TypedDict):
    """Rules, the newest first."""

    rules: list[ApprovalRuleState]
    isOn: Annotated[bool, Field(description="Whether the configuration has rules.")]


@answer
class ApprovalRulePreview(TypedDict):
    """A rule before it is made, and what it would have approved."""

    rule: ApprovalRuleState
    waiting: Annotated[list[str], Field(description="The ids of waiting requests; each is still decided.")]


@operation("approvals.rule.list", effect="reads", permission="approve")
def list_rules(call: OperationCall, given: OfNamespace) -> ApprovalRuleList:  # noqa: ARG001
    """List the rules that approve, the newest first; those that have ended are listed for 30 days."""
    acting = call.part(AgentActions)
    if acting.connected is None:
        return {"rules": [], "isOn": False}
    book = acting.rules
    return {"rules": [_shown(book, kept) for kept in book.all()], "isOn": book.is_on}


@dataclass(frozen=True, slots=True)
class MakeRule:
    """The id of a request, the folder, until when the rule holds, for how many calls, and why."""

    approval: str
    folder: Annotated[str, Field(min_length=1, max_length=MAX_PATH)]
    ends: Annotated[
        str, Field(min_length=1, max_length=64, description="A date, whose beginning in UTC it is, or a time.")
    ]
    uses: Annotated[int, Field(ge=1, le=MOST_USES)] = USES
    reason: Reason = ""


def _request(call: OperationCall) -> ObjectState:
    record = approvals_of(call, call.about).show(call.about)
    return record.id, f"{record.request.action} for {record.request.agent}"


@operation("approvals.rule.preview", effect="reads", permission="approve")
def preview_rule(call: OperationCall, given: MakeRule) -> ApprovalRulePreview:
    """Return a rule as it would be made, and which of the requests that wait it would have approved."""
    rule, manifest = _new_rule(call, given)
    acting = call.part(AgentActions)
    assert acting.rules.workspace is not None  # noqa: S101 - `_new_rule`
    parts_of = acting.rules.workspace.plain_parts
    waiting = acting.approvals.list("pending", limit=_MAX_WAITING).records
    covered = [each.id for each in waiting if rule.covers(each.request, manifest, parts_of)]
    return {"rule": _shown(acting.rules, KeptRule(rule, 0)), "waiting": covered}


@operation("approvals.rule.add", effect="changes", permission="approve", object_="approval", state=_request)
def add_rule(call: OperationCall, given: MakeRule) -> ApprovalRuleState:
    """Make a rule from a request: until its end it approves the same in a folder."""
    call.host.audit.begin()
    rule, _ = _new_rule(call, given)
    book = call.part(AgentActions).rules
    kept = book.add(rule)
    call.facts |= {"approval": given.approval, "action": rule.action, "uses": rule.uses, "ends": date_time(rule.ends)}
    call.data |= {"folder": rule.folder, "agent": rule.agent}
    call.about, call.after = kept.rule.id, (kept.rule.id, _words(book, kept))
    return _shown(book, kept)


@dataclass(frozen=True, slots=True)
class EndRule:
    """The id of a rule, and why it ends."""

    rule: str
    reason: Reason = ""


def _rule(call: OperationCall) -> ObjectState:
    book = _book(call)
    kept = book.find(call.about)
    return kept.rule.id, _words(book, kept)


@operation("approvals.rule.end", effect="changes", permission="approve", object_="rule", state=_rule)
def end_rule(call: OperationCall, given: EndRule) -> ApprovalRuleState:
    """End a rule: from now on each call waits for a person again."""
    call.host.audit.begin()
    book = _book(call)
    return _shown(book, book.end(given.rule, call.caller.name, given.reason))


def _book(call: OperationCall) -> RuleBook:
    acting = call.part(AgentActions)
    if acting.connected is None:
        raise CortexError("approval_not_found", "this namespace has no rules", hint="list the rules")
    return acting.rules


def _new_rule(call: OperationCall, given: MakeRule) -> tuple[ApprovalRule, ActionManifest]:
    """The rule that a caller may make, and the manifest of its action.

    Raises:
        CortexError: `permission_denied`: the configuration has no rules, or the caller may not approve the request;
            `approval_not_found`, `approval_changed`; `path_refused`: the folder; `trust_level_too_low`: the risk;
            `invalid_arguments`: the request is of another host or another version of its action, names no path, or is
            not in the folder; the end is past, or too late.
    """
    record = approvals_of(call, given.approval).show(given.approval)
    acting, request = call.part(AgentActions), record.request
    if acting.approvals.state_of(record) == "rejected":
        raise _refused("approval", "the request was rejected", "make the rule of one that waits or was approved")
    if not acting.rules.is_on:
        hint = "its owner sets `approvals.rules: true`; until then approve each request"
        raise CortexError("permission_denied", "this host has no rules that approve", hint=hint)
    check_may_approve(call, record)
    if not acting.runs_here(request):
        raise _refused(
            "approval", f"the request runs on {request.host_name}, and a rule is made there", "approve it as it is"
        )
    action = acting.actions.find(request.action)
    if action is None or action.manifest.version != request.manifest_version:
        raise _refused(
            "approval", "the manifest of the action has changed since it was asked for", "have the agent ask again"
        )
    manifest = action.manifest
    level = acting.trust.level()
    if not may_be_ruled(level, manifest.risk):
        text = f"at the trust level {level} no rule approves an action of {manifest.risk} risk"
        raise CortexError("trust_level_too_low", text, hint="approve each request, or have the owner raise the level")
    caller = call.caller
    rule = ApprovalRule(
        action=request.action,
        manifest_version=request.manifest_version,
        agent=request.agent,
        asked_by=request.asked_by,
        skill=request.skill,
        namespace=request.namespace,
        place=request.place,
        folder=_folder(acting.rules, manifest, given.folder),
        by=caller.name,
        token="" if caller.kind == "owner" or caller.acts_for_all else caller.name,
        created=acting.rules.now(),
        ends=check_moment(given.ends, "ends"),
        uses=given.uses,
        reason=given.reason,
    )
    if not rule.created + _SHORTEST <= rule.ends <= rule.created + LONGEST:
        words = f"ends: {date_time(rule.ends)} is not within {LONGEST.days} days from now"
        raise _refused("ends", words, "give a later or a nearer time, and not a past one")
    _check_covers(acting.rules, rule, record, manifest)
    return rule, manifest


def _folder(book: RuleBook, manifest: ActionManifest, given: str) -> str:
    """The folder of a rule, relative to the workspace."""
    if book.workspace is None or not paths_of(manifest):
        raise _refused("approval", f"a rule is within a folder, and {manifest.id} names none", "approve each request")
    parts = book.workspace.parts_of(given, manifest.allowed_directories or (), "folder")
    try:
        with book.workspace.folder(parts, "folder"):
            pass
    except MissingFile:  # the first call makes it
        pass
    return "/".join(parts)


def _check_covers(book: RuleBook, rule: ApprovalRule, record: ApprovalRecord, manifest: ActionManifest) -> None:
    assert book.workspace is not None  # noqa: S101 - `_folder`
    if not rule.covers(record.request, manifest, book.workspace.plain_parts):
        raise _refused(
            "folder", f"folder: the request itself is not below {rule.folder}", "give the folder of its path"
        )


def _refused(field: str, message: str, hint: str) -> CortexError:
    return CortexError("invalid_arguments", message, hint=hint, details={"field": field})


def _words(book: RuleBook, kept: KeptRule) -> str:
    rule = kept.rule
    how = f"{kept.state(book.now())}, {kept.used} of {rule.uses}"
    return f"{rule.action} in {rule.folder} for {rule.agent} until {date_time(rule.ends)}, {how}"


def _shown(book: RuleBook, kept: KeptRule) -> ApprovalRuleState:
    rule, end = kept.rule, kept.end
    return {
        "id": rule.id,
        "state": kept.state(book.now()),
        "action": rule.action,
        "manifestVersion": rule.manifest_version,
        "agent": rule.agent,
        "askedBy": rule.asked_by,
        "skill": rule.skill,
        "namespace": rule.namespace,
        "folder": rule.folder,
        "by": rule.by,
        "reason": rule.reason,
        "created": date_time(rule.created),
        "ends": date_time(rule.ends),
        "uses": rule.uses,
        "used": kept.used,
        "endedBy": end.by or None if end else None,
        "endedAt": date_time(end.at) if end else None,
        "endedReason": end.reason or None if end else None,
    }
