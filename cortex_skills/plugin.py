"""`Plugin`: skills on a graph, behind one gate.

    with Plugin.open(Config()) as plugin:
        plugin.load("examples/verify-kyc")
        result = plugin.call("skill_graph_query", {"predicate": "hasStatus", "scope": "namespace"}, agent="a1")

Rules kept here:
- every call, from every door, passes `Plugin.call`, and each step of it: the acting skill, the arguments, the tool
  allow-list, the permission, the rate window, the budget, the tool, the cleaning of what the skill said, the audit;
- a call answers with a result, also when it fails; a host never dies of a skill;
- the active skills are swapped in one step, so a call under way ends on what it began with.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import uuid
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from cortex_skills import audit, policy
from cortex_skills.config import Config
from cortex_skills.errors import CortexError, from_floor
from cortex_skills.limits import Budgets, RateWindow, Slot
from cortex_skills.results import Result, failed

if TYPE_CHECKING:
    from cortex_graph import NamespacedGraph
    from cortex_skills.enrichment import Sanitized
    from cortex_skills.skill import Skill
    from cortex_skills.tools import Outcome, Tool

log = logging.getLogger(__name__)

DEFAULT_AGENT = "default"
_MAX_AGENT = 256


class Plugin:
    """One session of skills on one namespace. Safe to use from several threads; make one with `Plugin.open`."""

    def __init__(self, config: Config, graph: NamespacedGraph, agent: str) -> None:
        from cortex_skills.loader import Loader
        from cortex_skills.runtime import Session
        from cortex_skills.tools import TOOLS

        settings = config.skill_sandbox
        self.config = config
        self.graph = graph
        self.agent = checked_agent(agent)
        self.session = uuid.uuid4().hex
        self._tools = TOOLS
        self._skills: Mapping[str, Skill] = MappingProxyType({})
        self._changing = threading.Lock()
        self._closed = False
        self._rate = RateWindow(settings.max_calls_per_minute)
        self._budgets = Budgets(
            max_graph_queries=settings.max_graph_queries,
            max_assertions=settings.max_assertions,
            max_writes=settings.max_writes,
        )
        session = Session(graph.namespace, self.agent, self.session)
        self._loader = Loader(config, graph, self._budgets, session)

    @classmethod
    def open(cls, config: Config | None = None, *, agent: str = DEFAULT_AGENT) -> Plugin:
        """Open the store that the configuration names, with no skill active yet.

        Args:
            config: `Config()` alone is an embedded store in memory.
            agent: on whose behalf skills act when a call does not say.

        Raises:
            CortexError: `store_locked` or `graph_unavailable`, when the store cannot be opened; `config_invalid`.

        """
        from cortex_skills.opening import open_graph

        config = config or Config()
        for warning in config.warnings:
            log.warning("configuration: %s", warning)
        graph = open_graph(config)
        try:
            return cls(config, graph, agent)
        except BaseException:
            graph.store.close()
            raise

    # --- skills

    @property
    def skills(self) -> Mapping[str, Skill]:
        """The active skills by name."""
        return self._skills

    def load(self, path: str | Path) -> list[str]:
        """Load a skill's folder, or every skill of a folder of them; all of them or none.

        Returns:
            The names, in the order in which they were loaded.

        Raises:
            CortexError: what is wrong with it, with the code of the step that refused.

        """
        with self._changing:
            if self._closed:
                raise CortexError("graph_unavailable", "the plugin is closed", hint="open it again")
            try:
                loaded = self._loader.load(Path(path), self._skills)
            except CortexError:
                raise
            except Exception as error:
                raise _as_ours("loading a skill", error) from error
            self._skills = MappingProxyType({**self._skills, **{skill.name: skill for skill in loaded}})
        return [skill.name for skill in loaded]

    def unload(self, name: str) -> None:
        """Deactivate a skill and let go of it.

        Raises:
            CortexError: `skill_not_found`; `invalid_arguments` when another skill depends on it.

        """
        with self._changing:
            skill = policy.acting_skill(name, self._skills)
            policy.check_not_needed(skill.name, (active.manifest for active in self._skills.values()))
            self._skills = MappingProxyType({n: s for n, s in self._skills.items() if n != skill.name})
        if skill.runtime is not None:
            skill.runtime.close("unload")

    # --- the gate

    def call(
        self, tool: str, arguments: dict[str, Any], *, skill: str | None = None, agent: str | None = None
    ) -> Result:
        """Call a tool.

        Args:
            tool: its name.
            arguments: as its input schema says.
            skill: the acting skill; may be left out when exactly one is active.
            agent: on whose behalf; the plugin's own when left out.

        Returns:
            The answer; a failure is one too, with its code.

        """
        return self._call(tool, arguments, skill, agent, enrich=True)

    async def acall(
        self, tool: str, arguments: dict[str, Any], *, skill: str | None = None, agent: str | None = None
    ) -> Result:
        """`call`, without blocking the event loop."""
        return await asyncio.to_thread(self.call, tool, arguments, skill=skill, agent=agent)

    def _call(
        self, tool: str, arguments: dict[str, Any], skill: str | None, agent: str | None, *, enrich: bool
    ) -> Result:
        started = time.monotonic()
        who = self.agent if agent is None else agent
        acting: str | None = None
        cleaned: Sanitized | None = None
        try:
            who = checked_agent(who)
            skills = self._skills
            wanted = policy.find_tool(tool, self._tools)
            chosen = policy.acting_skill(skill, skills)
            acting = chosen.name
            outcome = self._run(wanted, wanted.check_arguments(arguments), chosen, skills, who, enrich)
            cleaned, result = _cleaned(outcome)
        except Exception as error:
            result = failed(_as_ours(tool, error))
        audit.record(
            audit.AuditRecord(
                time=datetime.now(UTC).isoformat(timespec="milliseconds"),
                tool=_word(tool),
                skill=acting,
                agent=_word(who),
                outcome=result.code or "ok",
                milliseconds=round((time.monotonic() - started) * 1000, 3),
                stripped=cleaned.stripped_count if cleaned else 0,
            )
        )
        return result

    def _run(
        self,
        tool: Tool,
        arguments: dict[str, Any],
        skill: Skill,
        skills: Mapping[str, Skill],
        agent: str,
        enrich: bool,
    ) -> Outcome:
        """The steps of the gate between the arguments and the outcome; each refuses with an error of its own."""
        from cortex_skills.tools import Call

        policy.check_tool_allowed(tool.name, (active.manifest for active in skills.values()))
        policy.check_permissions(tool.permissions, skill.manifest, tool.name)
        if tool.rate_limited:
            self._rate.acquire(skill.name)
        with self._slot(tool, skill, skills) as slot:
            outcome = tool.run(
                Call(skill, arguments, agent, self.graph, self.config.strict_declarations, enrich=enrich)
            )
            if not outcome.spent:
                slot.refund()
        if tool.budget == "query":
            outcome.details["queriesUsed"] = self._budgets.queries_used(skill.name)
        return outcome

    def _slot(self, tool: Tool, skill: Skill, skills: Mapping[str, Skill]) -> Slot:
        if tool.budget == "query":
            return self._budgets.query(skill.name, skill.semantic.max_queries, skills.keys())
        return self._budgets.assertion(skill.name)

    # --- what a host shows and tells

    def tools(self) -> list[dict[str, Any]]:
        """The tools: name, description, inputSchema, permissions."""
        return [tool.definition() for tool in self._tools.values()]

    def context(self, *, agent: str | None = None) -> str:
        """What the active skills want an agent to know before it starts: their declared queries, answered.

        Each query passes the gate like any other. The answer is one `<semantic-skill-context skill="…">` block for each
        skill that has something to tell; empty when none has.
        """
        from cortex_skills.enrichment import context_block

        blocks = []
        for skill in self._skills.values():
            triples: list[dict[str, Any]] = []
            for query in skill.semantic.queries:
                arguments = {"predicate": query.predicate, "scope": query.scope}
                result = self._call("skill_graph_query", arguments, skill.name, agent, enrich=False)
                if result.is_error:
                    log.warning("the context of %s lacks %s: %s", skill.name, query.predicate, result.text)
                else:
                    triples += result.details["matches"]
            blocks.append(context_block(skill.name, triples))
        return "\n".join(block for block in blocks if block)

    def status(self) -> dict[str, Any]:
        """What is going on: the store, the active skills and what they have used, and what is switched off."""
        verification = self.config.verification
        return {
            "namespace": self.graph.namespace,
            "store": self.config.store,
            "agent": self.agent,
            "session": self.session,
            "warnings": list(self.config.warnings),
            "sandbox": self.config.skill_sandbox.isolation if self.config.skill_sandbox.sandbox_enabled else "off",
            "verification": {
                "requireSignature": verification.require_signature,
                "autoScan": verification.auto_scan,
                "note": "signatures of skills are not built in yet: requireSignature is false unless it is set",
            },
            "skills": [self._status_of(skill) for skill in self._skills.values()],
        }

    def _status_of(self, skill: Skill) -> dict[str, Any]:
        runtime = skill.runtime
        return {
            "name": skill.name,
            "version": skill.semantic.skill_version,
            "folder": str(skill.folder),
            "hooks": sorted(runtime.hooks) if runtime else [],
            "fault": runtime.fault.to_json() if runtime and runtime.fault else None,
            "queriesUsed": self._budgets.queries_used(skill.name),
            "assertionsUsed": self._budgets.assertions_used(skill.name),
            "writesUsed": self._budgets.writes_used(skill.name),
        }

    # --- life

    def close(self) -> None:
        """Deactivate every skill and close the store. Closing twice is fine."""
        with self._changing:
            self._closed = True
            skills, self._skills = self._skills, MappingProxyType({})
        for skill in reversed(list(skills.values())):
            if skill.runtime is not None:
                skill.runtime.close("session_end")
        self.graph.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def checked_agent(agent: object) -> str:
    """An agent's id, when it is one.

    Raises:
        CortexError: `invalid_arguments`.

    """
    if not isinstance(agent, str) or not agent.strip() or len(agent) > _MAX_AGENT:
        raise CortexError("invalid_arguments", f"the agent's id must be 1 to {_MAX_AGENT} characters")
    return agent


def _word(name: object) -> str:
    """What a caller named, for the audit; it may be anything."""
    return name[:_MAX_AGENT] if isinstance(name, str) else f"<{type(name).__name__}>"


def _cleaned(outcome: Outcome) -> tuple[Sanitized | None, Result]:
    """The answer with what the skill said, cleaned."""
    if outcome.enrichment is None:
        return None, Result(outcome.text, outcome.details)
    from cortex_skills.enrichment import sanitize_enrichment

    cleaned = sanitize_enrichment(outcome.enrichment)
    report = outcome.details["enrichment"]
    report |= {"strippedCount": cleaned.stripped_count, "reasons": [asdict(r) for r in cleaned.reasons]}
    if not cleaned.safe:
        report["status"] = "stripped"
    text = f"{outcome.text}\n\n{cleaned.text}" if cleaned.text else outcome.text
    return cleaned, Result(text, outcome.details)


def _as_ours(tool: str, error: Exception) -> CortexError:
    """Whatever went wrong, as an error with a stable code; a bug of ours is logged whole and told in a word."""
    ours = from_floor(error)
    if ours is not None:
        return ours
    log.exception("%s failed", tool)
    return CortexError("internal_error", f"{tool} failed inside the plugin", hint="see the host's log, and report it")
