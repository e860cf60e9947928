"""The one gate: the steps that every call of a tool takes, from every client.

Rules kept here:
- the acting skill, the arguments, the tool allow-list, the permission, the host's hooks, the rate window, the budget,
  the tool, the cleaning of the enrichment, the audit: in this order, and none is skipped;
- a tool that acts as one skill, such as that of an installed artifact, does so also when a call names another one;
- a call that names no skill, where several are active, acts for the one that a route of a feature chooses;
- a tool that has steps (`Tool.steps`), such as an action, takes them in place of those from the arguments to the
  outcome;
- a call that only repeats what was done needs no slot: it is answered when the budget is used up too;
- each step has its own error code; a refusal is a result with that code, and nothing is raised;
- secrets that this process has read are in no result and no record;
- the record of a call has what its tool changed; what the code of a skill changes has separate records, written
  before the code goes on;
- a call ends on the version of the skill that it began with.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cortex_graph import GraphError
from cortex_graph.store_access.read_ahead import reading_ahead
from cortex_skills.audit import call_records as audit
from cortex_skills.cancellation import CancelToken
from cortex_skills.enrichment.policy import Policy
from cortex_skills.errors import CortexError, as_ours
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
from cortex_skills.tools import Call, Outcome, Tool, find_tool
from cortex_skills.tools.base import CALLER, ToolRun

if TYPE_CHECKING:
    from cortex_skills.enrichment import Sanitized
    from cortex_skills.gate.removed_texts import RemovedTexts


# Chooses the acting skill of a call that names none: the tool, its arguments, the active skills, and the agent.
Route = Callable[[str, Mapping[str, Any], Sequence[str], str], str | None]
# Keeps the actions that the code of a skill proposes in a call, and returns the result for each.
Propose = Callable[[Sequence[Any], Call, SessionLimits | None], list[dict[str, Any]]]
Begin = Callable[[Tool], ToolRun | None]


def _begin(tool: Tool) -> ToolRun | None:
    """Begin a call of a tool that has steps; None for any other."""
    return None if tool.steps is None else tool.steps.begin()


class Gate:
    """Runs the calls that the rules permit. Safe to use from several threads.

    Attributes:
        routes: of features, each asked until one chooses.
        propose: keeps what skills propose; None where nothing does.
    """

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
        self.routes: list[Route] = []
        self.propose: Propose | None = None

    def call(
        self,
        tool: str,
        arguments: dict[str, Any],
        skill: str | None,
        agent: str | None,
        cancel: CancelToken | None,
        limits: SessionLimits | None,
        session: str = "",
        *,
        acting_as: Skill | None = None,
        alone: bool = False,
        begin: Begin = _begin,
    ) -> Result:
        """Call a tool, and record it; see `Plugin.call`.

        Args:
            tool: its name.
            arguments: as its input schema requires.
            skill: the name of the acting skill.
            agent: on whose behalf.
            cancel: cancels the call early.
            limits: of the session of the call; None for a query of the context, which uses no budget, counts towards
                no rate limit and is not enriched.
            session: the key of the client's session; empty for the plugin's own.
            acting_as: the acting skill, in place of an active one.
            alone: whether a tool that acts as its own skill needs the permission of no active one: no model calls it.
            begin: begins the call of a tool that has steps; raises for a tool that cannot be called so.
        """
        started, changes = time.monotonic_ns(), audit.CallChanges()
        of_plugin = self.host.session
        who = of_plugin.agent if agent is None else agent
        acting: str | None = None
        cleaned: Sanitized | None = None
        enrichment: object = None
        wanted: Tool | None = None
        steps: ToolRun | None = None
        try:
            who = checked_agent(who)
            self.host.audit.check_call()
            wanted = find_tool(tool, self.host.tool_sources)
            tool = wanted.name
            steps = begin(wanted)
            own = wanted.acting or acting_as
            if own is None:
                chosen, skills = self._enter(skill, tool, arguments, who)
            else:
                chosen, skills = self._as(own, {} if alone else self.active.skills)
            try:
                acting = chosen.name
                limits = None if limits is None else limits.of_skill(is_builtin=chosen.is_builtin)
                budgets = None if limits is None else limits.budgets
                given = arguments if steps is not None else wanted.check_arguments(arguments)
                call = Call(chosen, given, who, self.host, budgets, cancel, skills, session, changes)
                outcome = self._run(wanted, call, acting, limits, steps)
            finally:
                chosen.calls.leave()
            enrichment = outcome.enrichment
            cleaned, result = _cleaned(outcome, chosen, self.host.cleaning)
        except Exception as error:
            result = failed(error_for_model(audit.word(tool), as_ours(audit.word(tool), error)))
        except BaseException:  # the process is stopped: what was changed keeps its record
            for each in changes.close():
                self.host.audit.record(each)
            raise
        result = result.without_secrets()
        milliseconds = (time.monotonic_ns() - started) // 1000 / 1000
        inputs = self.host.audit.kept(arguments)
        stated = {} if steps is None else steps.recorded(self.host.audit, result.text, result.details)
        outputs = self.host.audit.kept_output(stated.pop("outputs", result.text), arguments, inputs)
        sender = CALLER.get()
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
            outputs=outputs,
            session=of_plugin.id_of(session),
            changes=tuple(map(audit.change_of, changes.close())),
            **{"actor": None if sender is None or sender.name == who else sender.name, **stated},
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

    def _enter(
        self, skill: str | None, tool: str, arguments: dict[str, Any], agent: str
    ) -> tuple[Skill, Mapping[str, Skill]]:
        """The acting skill, and the active ones."""
        try:
            return self.active.enter(skill)
        except CortexError as error:
            if error.code != "skill_ambiguous":
                raise
            for route in self.routes:
                chosen = route(tool, arguments, error.details["active"], agent)
                if chosen is not None:
                    return self.active.enter(chosen)
            raise

    def _as(self, skill: Skill, active: Mapping[str, Skill]) -> tuple[Skill, Mapping[str, Skill]]:
        """A skill that acts for its own tools only, and the active skills."""
        skill.calls.enter()
        return skill, {**active, skill.name: skill}

    def _run(
        self,
        tool: Tool,
        call: Call,
        name: str,
        limits: SessionLimits | None,
        steps: ToolRun | None,
    ) -> Outcome:
        """The steps between the arguments and the outcome; each raises its own error."""
        check_call(tool.name, tool.permissions, call.skill.manifest, [skill.manifest for skill in call.active.values()])
        if steps is not None:
            return steps.run(tool, call, limits)
        if self.hooks.has("before_tool_call"):
            session = self.host.session.session
            self.hooks.before_tool_call(ToolCall(tool.name, call.arguments, name, call.agent, session))
        if tool.rate_limited and limits is not None:
            limits.rate.acquire(name)
        with reading_ahead(self.host.graph.store, lambda: tool.reads(call)):
            outcome = self._performed(tool, call, name)
        if outcome.proposed:
            propose = self.propose or _refuse_proposed
            outcome.details["actionRequests"] = propose(outcome.proposed, call, limits)
        if tool.budget == "query" and call.budgets is not None:
            outcome.details["queriesUsed"] = call.budgets.queries_used(name)
        return outcome

    def _performed(self, tool: Tool, call: Call, name: str) -> Outcome:
        """The outcome of a call that has a slot of its budget, or needs none since it was done before."""
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
            wrote = 0 if call.budgets is None else call.budgets.writes_used(name)
            outcome = tool.run(call)
            if outcome.spent < units:
                slot.refund(units - outcome.spent)
        low_writes = None if call.budgets is None else call.budgets.low_writes(name, wrote)
        for low in filter(None, (low_writes, slot.low())):
            outcome = outcome.with_budget(low)
        return outcome


def _refuse_proposed(given: Sequence[Any], _: Call, __: SessionLimits | None) -> list[dict[str, Any]]:
    """What becomes of proposed actions where there are none."""
    return [{"status": "refused", "code": "tool_not_found"} for _ in given]


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
