"""`Plugin`: skills on a graph, behind one gate.

    with Plugin.open(Config()) as plugin:
        plugin.load("examples/verify-kyc")
        result = plugin.call("skill_graph_query", {"predicate": "hasStatus", "scope": "namespace"}, agent="a1")

Rules kept here:
- every call, from every door, passes `Plugin.call`, and each step of the gate behind it (`gate`);
- a call answers with a result, also when it fails; a host never dies of a skill;
- the active skills are swapped in one step, and a call under way ends on what it began with (see `active`).
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from cortex_skills import audit, policy
from cortex_skills.config import Config
from cortex_skills.events import AgentStart, EventName, Events, Hook, SessionEnd, ToolEnd
from cortex_skills.gate import Gate, checked_agent
from cortex_skills.limits import Budgets
from cortex_skills.results import Result
from cortex_skills.stopping import Stop

if TYPE_CHECKING:
    from cortex_graph import NamespacedGraph
    from cortex_skills.enrichment import Policy
    from cortex_skills.proofs.logic.prover import Prover
    from cortex_skills.reload import Approval, ReloadReport
    from cortex_skills.skill import Skill
    from cortex_skills.tools.offered import Format

log = logging.getLogger(__name__)

DEFAULT_AGENT = "default"


class Plugin:
    """One session of skills on one namespace. Safe to use from several threads; make one with `Plugin.open`."""

    def __init__(
        self,
        config: Config,
        graph: NamespacedGraph,
        agent: str,
        approve: Approval = False,
        developing: Collection[str | Path] = (),
        cleaning: Policy | None = None,
    ) -> None:
        from cortex_skills.active import ActiveSkills
        from cortex_skills.enrichment.policy import RULE
        from cortex_skills.loader import Loader
        from cortex_skills.memory import Memories
        from cortex_skills.runtime import Session
        from cortex_skills.watcher import Watcher

        settings = config.skill_sandbox
        self.config = config
        self.graph = graph
        self.memories = Memories(graph)
        self.agent = checked_agent(agent)
        self.cleaning = RULE if cleaning is None else cleaning
        self.session = uuid.uuid4().hex
        self._events = Events()
        budgets = Budgets(
            max_graph_queries=settings.max_graph_queries,
            max_assertions=settings.max_assertions,
            max_writes=settings.max_writes,
        )
        session = Session(graph.namespace, self.agent, self.session)
        folders = [Path(folder) for folder in developing]
        self._active = ActiveSkills(Loader(config, graph, self.memories, budgets, session, folders), approve)
        self._gate = Gate(config, graph, self.memories, self._active, budgets, self._events, session, self.cleaning)
        if graph.namespace in config.proofs.shapes:
            self.prover().namespace_rules  # noqa: B018 - what is wrong with them is said when the plugin opens
        self._watcher = Watcher(self._active.look_again) if config.hot_reload else None

    @classmethod
    def open(
        cls,
        config: Config | None = None,
        *,
        agent: str = DEFAULT_AGENT,
        approve: Approval = False,
        developing: Collection[str | Path] = (),
        cleaning: Policy | None = None,
    ) -> Plugin:
        """Open the store that the configuration names, with no skill active yet.

        Args:
            config: `Config()` alone is an embedded store in memory.
            agent: on whose behalf skills act when a call does not say.
            approve: which permissions a reload may add to a skill: all of them (True), those of a list, such as
                `graph:write`, or what a function says of the skill's name and a set of them. By default none.
            developing: folders of skills that this user is writing: their own files need no signature of a publisher,
                since the local developer's key signs them as they are read.
            cleaning: how much stricter than the rule what a model reads is cleaned (`cortex_skills.enrichment.Policy`).

        Raises:
            CortexError: `store_locked` or `graph_unavailable`, when the store cannot be opened; `config_invalid`.

        """
        from cortex_skills.opening import open_graph

        config = config or Config()
        for warning in config.warnings:
            log.warning("configuration: %s", warning)
        graph = open_graph(config)
        try:
            return cls(config, graph, agent, approve, developing, cleaning)
        except BaseException:
            graph.store.close()
            raise

    # --- skills

    @property
    def skills(self) -> Mapping[str, Skill]:
        """The active skills by name."""
        return self._active.skills

    def load(self, path: str | Path) -> list[str]:
        """Load a skill's folder, or every skill of a folder of them; all of them or none.

        With `hotReload` in the configuration they are watched from then on.

        Returns:
            The names, in the order in which they were loaded.

        Raises:
            CortexError: what is wrong with it, with the code of the step that refused.

        """
        names = self._active.load(Path(path))
        if self._watcher is not None:
            self._watcher.add(Path(path))
        return names

    def unload(self, name: str) -> None:
        """Deactivate a skill and let go of it.

        Raises:
            CortexError: `skill_not_found`; `invalid_arguments` when another skill depends on it.

        """
        self._active.unload(name)

    def reload(
        self,
        name: str | None = None,
        *,
        paths: Collection[str] | None = None,
        approve: Approval | None = None,
        retry: bool = True,
    ) -> ReloadReport:
        """Look at the folders of skills, and swap the skills that changed for new versions of themselves.

        Args:
            name: only this skill, and what it is tied to by dependencies; None for all, and for those that are new
                in a folder of skills.
            paths: only skills that have to do with one of these files or folders.
            approve: as for `open`, in the place of what was said there.
            retry: whether what was rejected is tried again though nothing of it changed since.

        Returns:
            What was reloaded, and what was rejected and why: that answers on as it was.

        Raises:
            CortexError: `skill_not_found`; `graph_unavailable`, when the plugin is closed.

        """
        return self._active.reload(name, paths=paths, approval=approve, retry=retry)

    def on_reload(self, tell: Callable[[ReloadReport], None]) -> Callable[[], None]:
        """Have `tell` called with what each reload did, when that is anything; on the thread that reloads.

        Returns:
            What takes it back.

        """
        return self._active.on_reload(tell)

    def on_change(self, tell: Callable[[], None]) -> Callable[[], None]:
        """Have `tell` called when other skills are active than before, or other versions; on the thread that did it.

        Returns:
            What takes it back.

        """
        return self._active.on_change(tell)

    # --- the gate

    def call(
        self,
        tool: str,
        arguments: dict[str, Any],
        *,
        skill: str | None = None,
        agent: str | None = None,
        stop: Stop | None = None,
    ) -> Result:
        """Call a tool.

        Args:
            tool: its name.
            arguments: as its input schema says.
            skill: the acting skill; may be left out when exactly one is active.
            agent: on whose behalf; the plugin's own when left out.
            stop: ends the call early, from another thread.

        Returns:
            The answer; a failure is one too, with its code.

        """
        return self._gate.call(tool, arguments, skill, agent, stop, enrich=True)

    async def acall(
        self, tool: str, arguments: dict[str, Any], *, skill: str | None = None, agent: str | None = None
    ) -> Result:
        """`call`, without blocking the event loop; who cancels the task ends the call."""
        stop = Stop()
        try:
            return await asyncio.to_thread(self.call, tool, arguments, skill=skill, agent=agent, stop=stop)
        except asyncio.CancelledError:
            stop.set()
            raise

    def prover(self) -> Prover:
        """What makes Proofs of Logic in the own namespace; made when something is proved."""
        return self._gate.prover()

    # --- what a host decides and hears

    def check(self, tool: str, *, skill: str | None = None, permissions: Collection[str] = ()) -> policy.Decision:
        """Whether a tool may be called while these skills are active: the host's own tools too. Changes nothing.

        It is what the gate would say of allow-lists and permissions; not of arguments, rate, budgets or hooks.

        Args:
            tool: its name, of the plugin's tools or of the host's own.
            skill: the acting skill; may be left out as in `call`, and for a tool that needs no permission.
            permissions: what the host says that its own tool needs of the acting skill, such as `graph:write`.

        """
        return policy.decide(tool, self.skills, self._gate.tools, skill=skill, permissions=permissions)

    def record(
        self,
        tool: str,
        *,
        outcome: str = "ok",
        skill: str | None = None,
        agent: str | None = None,
        milliseconds: float = 0.0,
    ) -> None:
        """Put a call of a tool of the host's own into the audit, and tell the hooks of `after_tool_call`.

        Args:
            tool: its name.
            outcome: `ok`, or a word for what went wrong, such as the code of a decision.
            skill: the acting skill, if any.
            agent: on whose behalf; the plugin's own when left out.
            milliseconds: how long it took.

        Raises:
            CortexError: `invalid_arguments`.

        """
        who = self.agent if agent is None else checked_agent(agent)
        entry = audit.of_host(tool, skill, who, outcome, milliseconds)
        audit.record(entry)
        self._events.after_tool_call(ToolEnd(entry, self.session))

    def on(self, event: EventName, hook: Hook) -> Callable[[], None]:
        """Have `hook` called at each `event`; see `cortex_skills.events` for what it is told, and when.

        Returns:
            What takes it back.

        Raises:
            CortexError: `invalid_arguments`: there is no such event, or the hook is no plain callable.

        """
        return self._events.on(event, hook)

    # --- what a host shows and tells

    def tools(self, format: Format | None = None) -> list[dict[str, Any]]:  # noqa: A002 - what hosts call it
        """The tools: name, description, inputSchema, permissions.

        Args:
            format: for a model: those that the active skills permit, as `mcp`, `openai` or `anthropic` have tools.

        Raises:
            CortexError: `invalid_arguments`: there is no such format.

        """
        if format is None:
            return [tool.definition() for tool in self._gate.tools.values()]
        from cortex_skills.tools.offered import offered

        return offered(self._gate.tools.values(), self.skills, format)

    def context(self, *, agent: str | None = None, stop: Stop | None = None) -> str:
        """What the active skills want an agent to know before it starts: their declared queries, answered.

        Each query passes the gate like any other. The answer is one `<semantic-skill-context skill="…">` block for each
        skill that has something to tell; empty when none has.
        """
        from cortex_skills.enrichment import context_block

        self._events.before_agent_start(AgentStart(audit.word(self.agent if agent is None else agent), self.session))
        blocks = []
        for skill in self.skills.values():
            triples: list[dict[str, Any]] = []
            for query in skill.semantic.queries:
                arguments = {"predicate": query.predicate, "scope": query.scope}
                result = self._gate.call("skill_graph_query", arguments, skill.name, agent, stop, enrich=False)
                if result.is_error:
                    log.warning("the context of %s lacks %s: %s", skill.name, query.predicate, result.text)
                else:
                    triples += result.details["matches"]
            blocks.append(context_block(skill.name, triples, self.cleaning))
        return "\n".join(block for block in blocks if block)

    def status(self) -> dict[str, Any]:
        """What is going on: the store, the active skills and what they have used, and what is switched off."""
        from cortex_skills.status import status_of

        return status_of(self, self._active, self._gate.budgets)

    @property
    def is_watching(self) -> bool:
        """Whether the folders of skills are watched, and what changes there is reloaded."""
        return self._watcher is not None and self._watcher.is_watching

    # --- life

    def close(self) -> None:
        """Tell the hooks of `session_end`, deactivate every skill and close the store. Closing twice is fine."""
        self._events.session_end(SessionEnd(self.agent, self.session))
        if self._watcher is not None:
            self._watcher.stop()
        self._active.close()
        if self._watcher is not None:
            self._watcher.close()
        self.memories.close()
        self.graph.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
