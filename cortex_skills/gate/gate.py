"""The one gate: the steps that every call of a tool takes, from every client.

Rules kept here:
- the acting skill, the arguments, the tool allow-list, the permission, the host's hooks, the rate window, the budget,
  the tool, the cleaning of the enrichment, the audit: in this order, and none is skipped;
- a tool of an installed artifact acts as the skill of its artifact, whatever skill the caller names;
- a call that names no skill, where several are active, acts for the one that an installed `routing_strategy` chooses;
- an action takes the steps of `action_steps` instead, from its trust level to its outputs;
- a call that only repeats what was done needs no slot: it is answered when the budget is used up too;
- each step has its own error code; a refusal is a result with that code, and nothing is raised;
- secrets that this process has read are in no result and no record;
- a call ends on the version of the skill that it began with.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from cortex_graph import GraphError
from cortex_skills.audit import call_records as audit
from cortex_skills.cancellation import CancelToken
from cortex_skills.enrichment.policy import Policy
from cortex_skills.errors import CortexError, as_ours
from cortex_skills.features.actions.action import ActionCall
from cortex_skills.features.actions.action_request import ActionRequest
from cortex_skills.features.actions.approvals.desk import Approvals
from cortex_skills.features.actions.approvals.record import ApprovalRecord
from cortex_skills.features.actions.steps import ActionFacts, ActionSteps, Approved, facts_about, facts_of
from cortex_skills.features.artifacts.tools.artifact_action import ArtifactAction
from cortex_skills.features.artifacts.tools.contract_calls import ARTIFACT, ContractCalls
from cortex_skills.features.artifacts.tools.installed_tools import InstalledTools
from cortex_skills.gate.error_text import error_for_model
from cortex_skills.gate.hooks import Hooks, ToolCall, ToolEnd
from cortex_skills.gate.result import Result, failed
from cortex_skills.host import Host
from cortex_skills.lifecycle.active_skills import ActiveSkills
from cortex_skills.policy.budgets import Slot
from cortex_skills.policy.permissions import check_call
from cortex_skills.policy.session_limits import SessionLimits
from cortex_skills.runtime.skill import Skill
from cortex_skills.safe_io.redaction import redacted_text
from cortex_skills.safe_io.schemas import shown
from cortex_skills.tools import Call, Outcome, Tool, find_tool

if TYPE_CHECKING:
    from cortex_skills.enrichment import Sanitized
    from cortex_skills.gate.removed_texts import RemovedTexts


class Gate:
    """Runs the calls that the rules permit. Safe to use from several threads."""

    def __init__(
        self,
        host: Host,
        active: ActiveSkills,
        hooks: Hooks,
        removed_texts: RemovedTexts | None = None,
    ) -> None:
        self.host = host
        self.active = active
        self.hooks = hooks
        self.removed_texts = removed_texts
        self.approvals = Approvals(
            host.approval_queue,
            host.config.approvals,
            host.audit,
            lambda record, by: self.run_approved(record.request, by, approval=record),
            self.check_runs_here,
            partial(hooks.notify, "approval_resolved"),
        )
        self.action_steps = ActionSteps(hooks, self.approvals)
        installed = InstalledTools(host, self.call_as)
        self.contracts = ContractCalls(installed.all, self._call_contract, host.audit)
        installed.deliver = self.contracts.deliver
        host.action_sources.append(installed)

    def call(
        self,
        tool: str,
        arguments: dict[str, Any],
        skill: str | None,
        agent: str | None,
        cancel: CancelToken | None,
        limits: SessionLimits | None,
        session: str = "",
    ) -> Result:
        """Call a tool; see `Plugin.call`.

        Args:
            tool: its name.
            arguments: as its input schema requires.
            skill: the acting skill.
            agent: on whose behalf.
            cancel: cancels the call early.
            limits: of the session of the call; None for a query of the context, which uses no budget, counts towards
                no rate limit and is not enriched.
            session: the key of the client's session; empty for the plugin's own.
        """
        return self._call(tool, arguments, skill, agent, cancel, limits, session)

    def run_approved(
        self,
        request: ActionRequest,
        approved_by: str,
        cancel: CancelToken | None = None,
        *,
        approval: ApprovalRecord | None = None,
    ) -> Result:
        """Run an action that a person approved: every check is made again, with the rules of today.

        Args:
            request: as it was kept, and as the person was shown it.
            approved_by: who approved it.
            cancel: cancels the run early.
            approval: the kept request, which the audit names.

        Returns:
            The result; a refusal is one too, with its code: the action did not run then, unless the code is
            `action_failed`, `action_timeout` or `internal_error`.
        """
        limits = self.host.limits.of(None)
        approved = Approved(request, approved_by, {} if approval is None else facts_of(approval))
        arguments = dict(request.inputs)
        return self._call(request.action, arguments, request.skill, request.agent, cancel, limits, "", approved)

    def call_as(self, skill: Skill, tool: str, arguments: dict[str, Any], call: ActionCall) -> Result:
        """Call a tool as the skill of an installed artifact, for a call of one of its tools.

        Args:
            skill: of the artifact.
            tool: the name of the tool.
            arguments: as its input schema requires.
            call: in which the artifact runs.
        """
        limits = self.host.limits.of(call.session or None)
        return self._call(tool, arguments, None, call.agent, call.cancel, limits, call.session, acting_as=skill)

    def deliver(self, channel: str, message: bytes, agent: str) -> None:
        """Deliver a message of the host; see `Plugin.deliver`."""
        target = self.host.config.artifacts.channels.get(channel, "")
        if not target.startswith(ARTIFACT):
            raise CortexError(
                "invalid_arguments",
                f"no artifact delivers the channel {shown(channel)}",
                hint="artifacts.channels names it: artifact:SKILL_ID",
            )
        self.contracts.deliver(target.removeprefix(ARTIFACT), channel, message, "host", checked_agent(agent))

    def check_runs_here(self, request: ActionRequest) -> None:
        """Check that this process has the action and the skill of a request, before a person's decision is taken.

        Raises:
            CortexError: `tool_not_found`, `skill_not_found` or `skill_ambiguous`.
        """
        action = find_tool(request.action, self.host.actions).action
        if isinstance(action, ArtifactAction):
            return
        if action is None:
            raise CortexError("tool_not_found", f"{request.action} is no action here", hint="it still waits")
        chosen, _ = self.active.enter(request.skill)
        chosen.calls.leave()

    def _call(
        self,
        tool: str,
        arguments: dict[str, Any],
        skill: str | None,
        agent: str | None,
        cancel: CancelToken | None,
        limits: SessionLimits | None,
        session: str,
        approved: Approved | None = None,
        acting_as: Skill | None = None,
        *,
        of_contract: bool = False,
    ) -> Result:
        """Call a tool or run an action, and record it."""
        started = time.monotonic()
        of_plugin = self.host.session
        who = of_plugin.agent if agent is None else agent
        acting: str | None = None
        cleaned: Sanitized | None = None
        enrichment: object = None
        wanted: Tool | None = None
        facts: ActionFacts | None = None
        try:
            who = checked_agent(who)
            self.host.audit.check_call()
            wanted = find_tool(tool, self.host.actions)
            tool = wanted.name
            if wanted.action is not None:
                facts = ActionFacts(wanted.action.manifest.category, about=facts_about(wanted.action))
            elif approved is not None:
                raise CortexError("invalid_arguments", f"{wanted.name} is a tool, and no action that is approved")
            if isinstance(wanted.action, ArtifactAction):
                acting_as = wanted.action.acting
            if acting_as is None:
                chosen, skills = self._enter(skill, tool, arguments, who)
            else:
                chosen, skills = self._as(acting_as, {} if of_contract else self.active.skills)
            try:
                acting = chosen.name
                limits = None if limits is None else limits.of_skill(is_builtin=chosen.is_builtin)
                budgets = None if limits is None else limits.budgets
                given = arguments if facts is not None else wanted.check_arguments(arguments)
                call = Call(chosen, given, who, self.host, budgets, cancel, skills, session)
                outcome = self._run(wanted, call, acting, limits, facts, approved)
            finally:
                chosen.calls.leave()
            enrichment = outcome.enrichment
            cleaned, result = _cleaned(outcome, chosen, self.host.cleaning)
        except Exception as error:
            result = failed(error_for_model(audit.word(tool), as_ours(audit.word(tool), error)))
        result = result.without_secrets()
        milliseconds = round((time.monotonic() - started) * 1000, 3)
        inputs = self.host.audit.kept(arguments)
        entry = audit.AuditRecord(
            time=audit.started(milliseconds),
            tool=audit.word(tool) if wanted is not None else redacted_text(audit.word(tool)),
            skill=acting,
            agent=audit.word(who),
            outcome=result.code or "ok",
            milliseconds=milliseconds,
            stripped=cleaned.stripped_count if cleaned else result.details.get("strippedCount", 0),
            removed=audit.removed(result.details["enrichment"]["reasons"]) if cleaned else (),
            inputs=inputs,
            outputs=self.host.audit.kept_text(result.text, arguments, inputs),
            **({} if facts is None else facts.for_audit(self.host.audit)),
        )
        recent = self.host.audit.record(entry)
        if cleaned and cleaned.stripped_count and self.removed_texts is not None:
            from cortex_skills.enrichment.left_out import texts_left_out

            left_out = texts_left_out(enrichment, cleaned.text, self.host.cleaning.mark)
            self.removed_texts.keep(recent, left_out)
        if self.hooks.has("after_tool_call"):
            self.hooks.notify("after_tool_call", ToolEnd(entry, of_plugin.session, result))
        if limits is not None:
            is_step = wanted is not None and wanted.profile != "registry"
            for ended in self.host.calls_ended:
                ended(session, entry, arguments, is_step)
        return result

    def _call_contract(self, tool: str, payload: dict[str, Any], agent: str) -> Mapping[str, Any]:
        """Call a tool of an installed artifact for a contract; its outputs.

        The host asks, no model: what other skills allow a model to call does not matter.
        """
        limits = self.host.limits.of(None)
        result = self._call(tool, payload, None, agent, None, limits, "", of_contract=True)
        if result.code is not None:
            message, hint = result.details.get("message", result.text), result.details.get("hint", "")
            raise CortexError(result.code, message, hint=hint, details={"tool": tool})
        if result.details.get("status") != "done":
            raise CortexError(
                "approval_required",
                f"{tool} waits for a person, and what needs it cannot wait",
                hint="raise the trust level, or install it with a tool that needs no approval",
                details={"tool": tool},
            )
        outputs: Mapping[str, Any] = result.details["outputs"]
        return outputs

    def _enter(
        self, skill: str | None, tool: str, arguments: dict[str, Any], agent: str
    ) -> tuple[Skill, Mapping[str, Skill]]:
        """The acting skill, and the active ones."""
        try:
            return self.active.enter(skill)
        except CortexError as error:
            if error.code != "skill_ambiguous":
                raise
            chosen = self.contracts.route(tool, arguments, error.details["active"], agent)
            if chosen is None:
                raise
            return self.active.enter(chosen)

    def _as(self, skill: Skill, active: Mapping[str, Skill]) -> tuple[Skill, Mapping[str, Skill]]:
        """The skill of an installed artifact, which acts for its own tools only, and the active skills."""
        skill.calls.enter()
        return skill, {**active, skill.name: skill}

    def _run(
        self,
        tool: Tool,
        call: Call,
        name: str,
        limits: SessionLimits | None,
        facts: ActionFacts | None,
        approved: Approved | None,
    ) -> Outcome:
        """The steps between the arguments and the outcome; each raises its own error."""
        check_call(tool.name, tool.permissions, call.skill.manifest, [skill.manifest for skill in call.active.values()])
        if tool.action is not None and facts is not None:
            return self.action_steps.run(tool, tool.action, call, limits, facts, approved)
        if self.hooks.has("before_tool_call"):
            session = self.host.session.session
            self.hooks.before_tool_call(ToolCall(tool.name, call.arguments, name, call.agent, session))
        if tool.rate_limited and limits is not None:
            limits.rate.acquire(name)
        try:
            units = tool.units(call)
            slot = _slot(tool, call, name, units)
        except CortexError:
            if repeated := _repeated(tool, call):
                return repeated
            raise
        with slot:
            if call.cancel is not None:
                call.cancel.check()
            self.host.graph.settle()
            outcome = tool.run(call)
            if outcome.spent < units:
                slot.refund(units - outcome.spent)
        if low := slot.low():
            outcome = outcome.with_budget(low)
        if outcome.proposed:
            outcome.details["actionRequests"] = self.action_steps.propose(outcome.proposed, call, limits)
        if tool.budget == "query" and call.budgets is not None:
            outcome.details["queriesUsed"] = call.budgets.queries_used(name)
        return outcome


def _slot(tool: Tool, call: Call, name: str, units: int) -> Slot:
    if tool.budget == "query" and call.budgets is not None:
        limits = {n: s.semantic.max_queries for n, s in call.active.items() if s.manifest.semantic}
        return call.budgets.query(name, limits[name], limits)
    if tool.budget == "assertion" and call.budgets is not None:
        return call.budgets.assertion(name, units)
    return Slot.free()


def _repeated(tool: Tool, call: Call) -> Outcome | None:
    """The outcome of a call that would change nothing; None for any other, also for one that would fail."""
    if tool.repeated is not None:
        with suppress(CortexError, GraphError):
            return tool.repeated(call)
    return None


def checked_agent(agent: object) -> str:
    """The id of an agent; raises `invalid_arguments` when it is not valid."""
    if not isinstance(agent, str) or not agent.strip() or len(agent) > audit.MAX_NAME:
        raise CortexError("invalid_arguments", f"the agent's id must be 1 to {audit.MAX_NAME} characters")
    return agent


def _cleaned(outcome: Outcome, skill: Skill, policy: Policy) -> tuple[Sanitized | None, Result]:
    """The result, with the enrichment of the skill cleaned."""
    if outcome.enrichment is None:
        return None, Result(outcome.text, outcome.details)
    from cortex_skills.enrichment import sanitize_enrichment

    cleaned = sanitize_enrichment(
        outcome.enrichment,
        policy,
        triples=outcome.details["matches"],
        fields=skill.semantic.fields,
        signed=skill.signed is not None,
    )
    report = outcome.details["enrichment"]
    report |= {"strippedCount": cleaned.stripped_count, "reasons": [asdict(r) for r in cleaned.reasons]}
    if not cleaned.safe:
        report["status"] = "stripped"
    text = f"{outcome.text}\n\n{cleaned.text}" if cleaned.text else outcome.text
    return cleaned, Result(text, outcome.details)
