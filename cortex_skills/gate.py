"""The one gate: the steps that every call of a tool takes, from every door.

Rules kept here:
- the acting skill, the arguments, the tool allow-list, the permission, the host's hooks, the rate window, the budget,
  the tool, the cleaning of what the skill said, the audit: in this order, and none is left out;
- each step refuses with an error of its own, and a refusal is an answer with its code; nothing is raised;
- a call ends on the version of the skill that it began with (`active`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cortex_skills import audit, policy
from cortex_skills.config import Config
from cortex_skills.errors import CortexError, as_ours
from cortex_skills.events import Events, ToolCall, ToolEnd
from cortex_skills.limits import Budgets, RateWindow, Slot
from cortex_skills.results import Result, failed

if TYPE_CHECKING:
    from cortex_graph import NamespacedGraph
    from cortex_skills.active import ActiveSkills
    from cortex_skills.enrichment import Sanitized
    from cortex_skills.enrichment.policy import Policy
    from cortex_skills.memory import Memories
    from cortex_skills.proofs.logic.prover import Prover
    from cortex_skills.runtime import Session
    from cortex_skills.skill import Skill
    from cortex_skills.stopping import Stop
    from cortex_skills.tools import Outcome, Tool

_MAX_AGENT = audit.MAX_NAME


class Gate:
    """Lets calls through, or says why not. Safe to use from several threads.

    Args:
        config: the host's settings.
        graph: of the namespace.
        memories: what agents remember in it.
        active: the active skills.
        budgets: of the session.
        events: the host's hooks.
        session: whose calls these are.
        cleaning: how much stricter than the rule what a model reads is cleaned.

    """

    def __init__(
        self,
        config: Config,
        graph: NamespacedGraph,
        memories: Memories,
        active: ActiveSkills,
        budgets: Budgets,
        events: Events,
        session: Session,
        cleaning: Policy,
    ) -> None:
        from cortex_skills.tools import TOOLS

        self.config = config
        self.graph = graph
        self.memories = memories
        self.active = active
        self.budgets = budgets
        self.events = events
        self.session = session
        self.cleaning = cleaning
        self.tools = TOOLS
        self.rate = RateWindow(config.skill_sandbox.max_calls_per_minute)
        self._proving = threading.Lock()
        self._prover: Prover | None = None

    def call(
        self,
        tool: str,
        arguments: dict[str, Any],
        skill: str | None,
        agent: str | None,
        stop: Stop | None,
        *,
        enrich: bool,
    ) -> Result:
        """Call a tool; see `Plugin.call`. Without `enrich` the skill is not asked what it has to say."""
        started = time.monotonic()
        who = self.session.agent if agent is None else agent
        acting: str | None = None
        cleaned: Sanitized | None = None
        try:
            who = checked_agent(who)
            wanted = policy.find_tool(tool, self.tools)
            chosen, skills = self.active.enter(skill)
            try:
                acting = chosen.name
                outcome = self._run(wanted, wanted.check_arguments(arguments), chosen, skills, who, stop, enrich)
            finally:
                chosen.calls.leave()
            cleaned, result = _cleaned(outcome, self.cleaning)
        except Exception as error:
            result = failed(as_ours(audit.word(tool), error))
        if audit.is_kept() or self.events.are_told("after_tool_call"):
            entry = audit.AuditRecord(
                time=audit.now(),
                tool=audit.word(tool),
                skill=acting,
                agent=audit.word(who),
                outcome=result.code or "ok",
                milliseconds=round((time.monotonic() - started) * 1000, 3),
                stripped=cleaned.stripped_count if cleaned else result.details.get("strippedCount", 0),
            )
            audit.record(entry)
            self.events.after_tool_call(ToolEnd(entry, self.session.session, result))
        return result

    def _run(
        self,
        tool: Tool,
        arguments: dict[str, Any],
        skill: Skill,
        skills: Mapping[str, Skill],
        agent: str,
        stop: Stop | None,
        enrich: bool,
    ) -> Outcome:
        """The steps of the gate between the arguments and the outcome; each refuses with an error of its own."""
        from cortex_skills.tools import Call

        policy.check_call(tool.name, tool.permissions, skill, skills)
        if self.events.are_told("before_tool_call"):
            self.events.before_tool_call(ToolCall(tool.name, arguments, skill.name, agent, self.session.session))
        if tool.rate_limited:
            self.rate.acquire(skill.name)
        with self._slot(tool, skill, skills) as slot:
            if stop is not None:
                stop.check()
            call = Call(
                skill,
                arguments,
                agent,
                self.graph,
                self.memories,
                self.config,
                prover=self.prover,
                enrich=enrich,
                stop=stop,
                cleaning=self.cleaning,
            )
            outcome = tool.run(call)
            if not outcome.spent:
                slot.refund()
        if tool.budget == "query":
            outcome.details["queriesUsed"] = self.budgets.queries_used(skill.name)
        return outcome

    def _slot(self, tool: Tool, skill: Skill, skills: Mapping[str, Skill]) -> Slot:
        if tool.budget == "query":
            able = [name for name, other in skills.items() if other.manifest.semantic is not None]
            return self.budgets.query(skill.name, skill.semantic.max_queries, able)
        if tool.budget == "assertion":
            return self.budgets.assertion(skill.name)
        return Slot.free()

    def prover(self) -> Prover:
        """What makes Proofs of Logic in the own namespace; made when something is proved."""
        with self._proving:
            if self._prover is None:
                from cortex_skills.proofs.logic.prover import Prover

                self._prover = Prover(self.config, self.graph)
            return self._prover


def checked_agent(agent: object) -> str:
    """An agent's id, when it is one.

    Raises:
        CortexError: `invalid_arguments`.

    """
    if not isinstance(agent, str) or not agent.strip() or len(agent) > _MAX_AGENT:
        raise CortexError("invalid_arguments", f"the agent's id must be 1 to {_MAX_AGENT} characters")
    return agent


def _cleaned(outcome: Outcome, policy: Policy) -> tuple[Sanitized | None, Result]:
    """The answer with what the skill said, cleaned."""
    if outcome.enrichment is None:
        return None, Result(outcome.text, outcome.details)
    from cortex_skills.enrichment import sanitize_enrichment
    from cortex_skills.enrichment.triples import quotations

    cleaned = sanitize_enrichment(outcome.enrichment, policy, quotations=quotations(outcome.details["matches"]))
    report = outcome.details["enrichment"]
    report |= {"strippedCount": cleaned.stripped_count, "reasons": [asdict(r) for r in cleaned.reasons]}
    if not cleaned.safe:
        report["status"] = "stripped"
    text = f"{outcome.text}\n\n{cleaned.text}" if cleaned.text else outcome.text
    return cleaned, Result(text, outcome.details)
