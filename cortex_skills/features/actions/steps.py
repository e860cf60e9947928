"""The steps of an action, after the permission and before the audit record, in place of those of the gate.

Rules kept here:
- trust level, inputs, targets (paths, commands, hosts), the host's hooks, rate, cost, approval, the journal, the
  action, its outputs, the cleaning of what a model reads: in this order, and none is skipped;
- an approved request passes every step again with the rules of today; only a person's decision is not asked twice. It
  runs as it was shown: another version of the action, or another preview, is refused. A rule of a person replaces
  that decision alone (`approvals/rule_book.py`), and for none about what a person edited;
- the rate of an action is that of the caller, as the interface knows them, for all agents that they name; all callers
  together have a larger one, in fair shares (`policy/caller_rates.py`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cortex_graph import GraphError
from cortex_skills.audit.audit_log import AuditLog
from cortex_skills.audit.bounded import Fact, Facts
from cortex_skills.audit.call_records import ACTION, ACTION_CALL
from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action import ActionCall, AgentAction
from cortex_skills.features.actions.action_request import ActionRequest
from cortex_skills.features.actions.action_settings import ActionSettings
from cortex_skills.features.actions.approvals.desk import Approvals
from cortex_skills.features.actions.approvals.record import ApprovalRecord, digest_of
from cortex_skills.features.actions.approvals.request_text import answer_of
from cortex_skills.features.actions.approvals.rule import ApprovalRule
from cortex_skills.features.actions.approvals.rule_book import RuleBook
from cortex_skills.features.actions.checks import (
    changed_since,
    check_as_approved,
    check_commands,
    check_places,
    checked_outputs,
    exact_inputs,
    failed_action,
    too_low,
)
from cortex_skills.features.actions.manifest import ActionManifest
from cortex_skills.features.actions.output_text import text_for_model
from cortex_skills.features.actions.own_files import with_read_only
from cortex_skills.features.actions.trust_store import TrustStore
from cortex_skills.gate.hooks import Hooks, ToolCall
from cortex_skills.policy.budgets import Slot
from cortex_skills.policy.session_limits import SessionLimits
from cortex_skills.policy.trust_levels import NeedsApproval, Refused, decide
from cortex_skills.tools import Call, Outcome, Tool

log = logging.getLogger(__name__)

COSTS = {"free": 0, "cheap": 1, "expensive": 10}


@dataclass(frozen=True, slots=True)
class Approved:
    """A request that a person approved, who it was, and what the audit states about it."""

    request: ActionRequest
    by: str
    about: Facts = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Asking:
    """Why a call waits for a person in any case, without its caller, and who asked; empty for who sends the call."""

    reason: str
    asked_by: str = ""


def facts_of(record: ApprovalRecord) -> dict[str, Fact]:
    """What the audit states about a call whose request is kept."""
    return {"approval": record.id, "digest": record.digest}


@dataclass(slots=True)
class ActionFacts:
    """What the audit record of a call states about its action; filled while the call passes the steps.

    Attributes:
        trust_level, approval_required, approved_by: as in the record.
        about: the facts of its data.
    """

    trust_level: str | None = None
    approval_required: bool = False
    approved_by: str | None = None
    about: dict[str, Fact] = field(default_factory=dict)

    @classmethod
    def of(cls, action: AgentAction) -> ActionFacts:
        """The facts of an action that no step has passed."""
        return cls(about=dict(action.about))

    def for_audit(self, audit: AuditLog) -> dict[str, Any]:
        """The attributes of the audit record."""
        data = audit.kept_facts(self.about)
        return {"event": ACTION_CALL, "actor": self.approved_by, "data": data, **self.named()}

    def named(self) -> dict[str, Any]:
        """The attributes that any record of the action has; in a fraction of the time of `asdict`."""
        return {
            "category": ACTION,
            "trust_level": self.trust_level,
            "approval_required": self.approval_required,
            "approved_by": self.approved_by,
        }


class ActionSteps:
    """Runs the actions of one plugin. Safe to use from several threads.

    Args:
        hooks: of the host application.
        settings: of actions.
        trust: the trust level.
        desk: keeps requests until a person decides; None refuses what needs an approval.
        workspace_id: returns the id of the workspace, which a request carries.
        rules: approve some calls; None for none.
    """

    def __init__(
        self,
        hooks: Hooks,
        settings: ActionSettings,
        trust: TrustStore,
        desk: Approvals | None = None,
        workspace_id: Callable[[], str] = str,
        rules: RuleBook | None = None,
    ) -> None:
        self.desk = desk
        self._hooks = hooks
        self._settings = settings
        self._trust = trust
        self._workspace_id = workspace_id
        self._rules = rules

    def run(
        self,
        tool: Tool,
        action: AgentAction,
        call: Call,
        limits: SessionLimits | None,
        facts: ActionFacts,
        approved: Approved | None = None,
        *,
        asks: Asking | None = None,
    ) -> Outcome:
        """Run an action, or keep a request for it.

        Args:
            tool: the action as a tool.
            action: the action.
            call: whose arguments are not checked yet, and whose skill may use the tool.
            limits: of the session of the call.
            facts: filled for the audit.
            approved: the request that a person approved; None for a call of an agent.
            asks: why it waits for a person in any case; None where the trust level decides.

        Raises:
            CortexError: the refusal of a step.
        """
        call.host.audit.begin()
        manifest = action.manifest
        facts.trust_level = level = self._trust.level()
        decision = decide(level, manifest, allow_reads=self._settings.allow_reads_without_approval)
        if isinstance(decision, Refused):
            raise too_low(manifest, decision)
        if asks is not None:
            decision = NeedsApproval(asks.reason)
        inputs = exact_inputs(tool.check_arguments(call.arguments), manifest)
        if approved is not None:
            check_as_approved(approved.request, manifest, inputs, call)
            facts.approval_required, facts.approved_by = True, approved.by
            facts.about |= approved.about
        acting, preview = self._previewed(action, inputs, call)
        if approved is not None and approved.request.preview != preview:
            raise changed_since(manifest, "what it would change is not what was shown")
        name = call.skill.name
        if self._hooks.has("before_tool_call"):
            session = call.host.session.session
            self._hooks.before_tool_call(ToolCall(tool.name, dict(inputs), name, call.agent, session))
        if limits is not None:
            limits.rate.acquire(name)
        call.host.rates.acquire(manifest.id, call.caller, manifest.limits.per_minute)
        with _slot(manifest, call, name) as slot:
            if approved is None and isinstance(decision, NeedsApproval):
                facts.approval_required = True
                request = self._request(manifest, acting, call, decision.reason, preview, asks)
                rule = None if asks is not None else self._rule_for(request, manifest, facts)
                if rule is None:
                    slot.refund()
                    return self._ask(manifest, request, call, facts, waits=asks is None)
                approved_now = None if self.desk is None else self.desk.close_ruled(request, rule.id, rule.by)
                if approved_now is not None and self.desk is not None:
                    slot.refund()
                    facts.about |= facts_of(approved_now)
                    return answer_of(approved_now, self.desk.state_of(approved_now))
            acting.check_time()
            call.host.graph.settle()
            recorded = {"skill": name, "inputs": inputs, "facts": facts.about, **facts.named()}
            call.host.audit.check_writable(manifest.id, agent=call.agent, sync=not action.read_only, **recorded)
            outputs = checked_outputs(manifest, _run(action, acting))
        outcome = text_for_model(manifest, outputs, call.host.cleaning, acting.deadline)
        low = slot.low()
        return outcome.with_budget(low) if low else outcome

    def preview(self, tool: Tool, action: AgentAction, call: Call, asks: Asking) -> ActionRequest:
        """What a call would ask a person for, without keeping it.

        Raises:
            CortexError: a check refuses its inputs.
        """
        inputs = exact_inputs(tool.check_arguments(call.arguments), action.manifest)
        acting, preview = self._previewed(action, inputs, call)
        return self._request(action.manifest, acting, call, asks.reason, preview, asks)

    def _previewed(self, action: AgentAction, inputs: dict[str, Any], call: Call) -> tuple[ActionCall, str]:
        """A call whose targets are permitted, and what it would change."""
        manifest, settings = action.manifest, self._settings
        if not action.read_only:
            settings = with_read_only(settings, (skill.folder for skill in call.active.values()))
        acting = ActionCall(
            manifest,
            inputs,
            call.agent,
            call.host.graph.namespace,
            settings,
            call.operate,
            time.monotonic() + manifest.limits.timeout_ms / 1000,
            call.cancel,
            call.session,
        )
        check_commands(manifest, inputs)
        check_places(manifest, inputs, settings)
        action.check(acting)
        return acting, action.preview(acting)

    def _request(
        self,
        manifest: ActionManifest,
        acting: ActionCall,
        call: Call,
        reason: str,
        preview: str,
        asks: Asking | None,
    ) -> ActionRequest:
        """What a call asks for, as a person is shown it."""
        return ActionRequest(
            manifest.id,
            manifest.version,
            acting.inputs,
            acting.agent,
            acting.namespace,
            call.skill.name,
            manifest.risk,
            reason,
            preview,
            (asks and asks.asked_by) or call.asked_by,
            call.host.identity.id,
            call.host.identity.name,
            self._workspace_id(),
        )

    def _rule_for(self, request: ActionRequest, manifest: ActionManifest, facts: ActionFacts) -> ApprovalRule | None:
        """The rule that approves a call, if one does; the audit names it then, and the person who made it."""
        used = None if self._rules is None else self._rules.use(request, manifest, facts.trust_level)
        if used is None:
            return None
        rule, number = used
        facts.approved_by = rule.by
        facts.about |= {"rule": rule.id, "ruleUse": number, "digest": digest_of(request)}
        return rule

    def _ask(
        self, manifest: ActionManifest, request: ActionRequest, call: Call, facts: ActionFacts, *, waits: bool
    ) -> Outcome:
        """Keep a request, and answer that it waits."""
        if self.desk is None:
            raise CortexError(
                "approval_required",
                f"{manifest.id} did not run: {request.reason}",
                hint="this host keeps no requests for approval; its owner may raise the trust level",
                details={"action": manifest.id, "risk": manifest.risk, "reason": request.reason},
            )
        kept = self.desk.request(request, call.cancel, waits=waits)
        facts.about |= facts_of(kept)
        return answer_of(kept, self.desk.state_of(kept))


def _slot(manifest: ActionManifest, call: Call, name: str) -> Slot:
    if call.budgets is None:
        return Slot.free()
    return call.budgets.cost(name, COSTS[manifest.cost], call.host.config.section(ActionSettings).cost_budget)


def _run(action: AgentAction, call: ActionCall) -> Mapping[str, Any]:
    try:
        return action.run(call)
    except (CortexError, GraphError):
        raise
    except Exception:
        log.exception("the action %s failed", action.manifest.id)
        raise failed_action(action.manifest, "it failed while it ran", "the host's log has the reason") from None
