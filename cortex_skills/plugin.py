"""`Plugin`: skills on a graph, behind one gate.

    with Plugin.open(Config()) as plugin:
        plugin.load("examples/verify-kyc")
        result = plugin.call("skill_graph_query", {"predicate": "hasStatus", "scope": "namespace"}, agent="a1")

Rules kept here:
- every call, from every client, passes `Plugin.call` and each step of the gate (`gate`);
- a call returns a result, also when it fails; a skill cannot crash its host;
- the active skills are replaced in one step, and a call in progress ends on the version that it began with;
- it knows no feature: what features add (`Feature.members`) is found by its name when it is asked for.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from cortex_skills.audit import call_records
from cortex_skills.audit.call_records import DEFAULT_AGENT
from cortex_skills.audit.recent_calls import RecentCalls
from cortex_skills.cancellation import CancelToken
from cortex_skills.config.settings import Config
from cortex_skills.errors import CortexError
from cortex_skills.feature import functions, member, member_names
from cortex_skills.gate.hooks import AgentStart, EventName, Hook, Hooks, SessionEnd, ToolEnd
from cortex_skills.gate.result import Result
from cortex_skills.skill_folder.builtin import named_folder

if TYPE_CHECKING:
    from cortex_graph import NamespacedGraph
    from cortex_skills.enrichment.policy import Policy
    from cortex_skills.gate.decisions import Decision
    from cortex_skills.gate.removed_texts import RemovedTexts
    from cortex_skills.host import Host, ToolSource
    from cortex_skills.lifecycle.reload.approval import Approval
    from cortex_skills.lifecycle.reload.report import Rejected, Reloaded, ReloadReport
    from cortex_skills.operations.caller import Door
    from cortex_skills.operations.operation import G, Operation, R
    from cortex_skills.runtime.skill import Skill
    from cortex_skills.tools.offered import Format

log = logging.getLogger(__name__)

P = TypeVar("P")


class Plugin:
    """One session of skills on one namespace. Safe to use from several threads; create one with `Plugin.open`."""

    def __init__(
        self,
        config: Config,
        graph: NamespacedGraph,
        agent: str,
        approve: Approval = False,
        developing: Collection[str | Path] = (),
        cleaning: Policy | None = None,
        today: NamespacedGraph | None = None,
        *,
        registers: bool = True,
        serves: bool = False,
    ) -> None:
        from cortex_skills.audit.opening import open_audit
        from cortex_skills.enrichment.policy import RULE
        from cortex_skills.gate.gate import Gate, checked_agent
        from cortex_skills.host import Host, Session
        from cortex_skills.lifecycle.active_skills import ActiveSkills
        from cortex_skills.lifecycle.loader import Loader
        from cortex_skills.lifecycle.watcher import Watcher
        from cortex_skills.policy.session_limits import AllLimits

        self.config = config
        self.graph = graph
        self._today = today or graph
        self.agent = checked_agent(agent)
        self.cleaning = cleaning or RULE
        self.session = uuid.uuid4().hex
        session = Session(graph.namespace, self.agent, self.session)
        limits = AllLimits(config.skill_sandbox, given=config.given_limits)
        registers = registers and self._today is graph
        self.recent_calls = RecentCalls()
        self.audit = open_audit(config, graph.namespace, self.agent, self.recent_calls, serves=serves)
        self.audit.check_host()
        self._host = Host(
            config,
            graph,
            limits,
            session,
            self.audit,
            self.cleaning,
            registers=registers,
            serves=serves,
        )
        self._hooks = Hooks()
        self._active = ActiveSkills(Loader(self._host, [Path(folder) for folder in developing]), approve)
        self.removed_texts: RemovedTexts | None = None
        if config.audit.keep_removed:
            from cortex_skills.gate.removed_texts import RemovedTexts

            self.removed_texts = RemovedTexts.of(config, graph.namespace)
        self._gate = Gate(self._host, self._active, self._hooks, self.removed_texts)
        for attach in functions("attach"):
            attach(self._gate)
        self._closed = False
        self._watcher = Watcher(self._active.reload_changed) if config.hot_reload else None

    @classmethod
    def open(
        cls,
        config: Config | None = None,
        *,
        agent: str = DEFAULT_AGENT,
        approve: Approval = False,
        developing: Collection[str | Path] = (),
        cleaning: Policy | None = None,
        as_of: datetime | str | None = None,
        undated: str = "include",
        registers: bool = True,
        serves: bool = False,
    ) -> Self:
        """Open the store that the configuration names, with no skill active yet.

        Args:
            config: `Config()` alone is an embedded store in memory.
            agent: on whose behalf skills act when a call names no agent.
            approve: which permissions a reload may add to a skill: all of them (True), those in a list, such as
                `graph:write`, or those for which a function of the skill's name and a set of them returns True. By
                default none.
            developing: folders of skills that this user is writing: their own files need no signature of a publisher,
                because the local developer's key signs them as they are read.
            cleaning: restrictions on what a model reads, beyond the default ones (`cortex_skills.enrichment.Policy`).
            as_of: the moment as of which the graph is read (`cortex_graph.as_of`), by one thread at a time; nothing can
                be written to it then. Memories are those of today.
            undated: with `as_of`: `include` or `exclude` triples whose time of assertion is not known.
            registers: whether skills are registered without being asked for, unless `as_of` is given: semantic ones
                that are loaded, and those in the folders `registry.folders` with an absolute path, when the registry
                is first used.
            serves: whether the process serves agents: the journal of the audit is kept by default then, and what is
                approved on other hosts and runs here is started.

        Raises:
            CortexError: `store_locked` or `graph_unavailable`, when the store cannot be opened; `config_invalid`;
                `invalid_arguments`, when `as_of` is not a moment.
        """
        from cortex_skills.config.open_graph import open_graph

        config = config or Config()
        for warning in config.warnings:
            log.warning("configuration: %s", warning)
        today = graph = open_graph(config)
        try:
            if as_of is not None:
                from cortex_graph import as_of as past

                graph = past.as_of(today, as_of, undated)
            return cls(config, graph, agent, approve, developing, cleaning, today, registers=registers, serves=serves)
        except BaseException:
            today.store.close()
            raise

    # --- skills

    @property
    def skills(self) -> Mapping[str, Skill]:
        """The active skills by name."""
        return self._active.skills

    def load(self, path: str | Path, *, strict: bool = True) -> list[str]:
        """Load a skill's folder, or every skill of a folder of them.

        With `hotReload` in the configuration they are watched from then on.

        Args:
            path: the folder; or the name of a skill of the package, such as `notebook`, where no folder has that name.
            strict: whether all of them are loaded or none; otherwise those that are in order are loaded, and `status`
                has the reason for each other one, which is tried again when its folder changes.

        Returns:
            The names, in the order in which they were loaded.

        Raises:
            CortexError: the error of the step that refused.
        """
        folder = named_folder(path)
        names = self._active.load(folder, strict=strict)
        if self._watcher is not None:
            for place in (folder, *self._active.decisions.folders):
                self._watcher.add(place)
        return names

    def load_installed(self, skill_id: str, version: str | None = None) -> list[str]:
        """Load the skill of an installed artifact, verified from the bytes of the artifact.

        Args:
            skill_id: of the artifact.
            version: which version; the current one when omitted.

        Returns:
            The name of the skill.

        Raises:
            CortexError: `artifact_not_found`, `artifact_quarantined`, …; `artifact_invalid`: it has no skill; the
                errors of `load`.
        """
        return self.load(self.installed_folder(skill_id, version))

    def installed_folder(self, skill_id: str, version: str | None = None) -> Path:
        """The folder of the skill of an installed artifact; arguments and errors are those of `load_installed`."""
        for folder_of in self._host.installed_folders:
            return folder_of(skill_id, version)
        hint = "install the feature that installs artifacts"
        raise CortexError("artifact_not_found", f"nothing that is installed has the skill {skill_id!r}", hint=hint)

    def expected(self, path: str | Path) -> Mapping[str, Skill]:
        """The skills that `load` would load, by name, as far as their manifests and signatures show; none is started.

        Raises:
            CortexError: `manifest_invalid`: there is no skill.
        """
        return self._active.expected(named_folder(path))

    @property
    def rejected(self) -> list[Rejected]:
        """The skills and versions in the folders that are not active, and why."""
        return self._active.rejected

    @property
    def last_reloads(self) -> Mapping[str, Reloaded]:
        """The last reload of each skill that was reloaded, by its name, with what it changed."""
        return self._active.last_reloads

    def unload(self, name: str) -> None:
        """Deactivate a skill and remove it.

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
        """Check the folders of skills for changes, and replace the skills that changed by their new versions.

        Args:
            name: only this skill, and those connected to it by dependencies; None for all, and for new ones in a folder
                of skills.
            paths: only skills that one of these files or folders belongs to.
            approve: as for `open`; replaces the value given there.
            retry: whether a skill that was rejected is tried again though it did not change since.

        Returns:
            What was reloaded, and what was rejected and why; the old version of a rejected skill stays active.

        Raises:
            CortexError: `skill_not_found`; `graph_unavailable`, when the plugin is closed.
        """
        return self._active.reload(name, paths=paths, approval=approve, retry=retry)

    def on_reload(self, callback: Callable[[ReloadReport], None]) -> Callable[[], None]:
        """Call `callback` with the report of each reload that changed or rejected a skill, on the reloading thread.

        Returns:
            A function that removes the callback.
        """
        return self._active.on_reload.add(callback)

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` when other skills or other versions are active than before, on the thread that changed them.

        Returns:
            A function that removes the callback.
        """
        return self._active.on_change.add(callback)

    # --- what features add

    if not TYPE_CHECKING:  # their types: `cortex_skills.features.with_features`

        def __getattr__(self, name: str) -> Any:
            return member(name).__get__(self, type(self))

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *member_names()})

    def part(self, kind: Callable[[Host], P]) -> P:
        """What a feature keeps for this plugin; see `Host.part`."""
        return self._host.part(kind)

    # --- the gate

    def call(
        self,
        tool: str,
        arguments: dict[str, Any],
        *,
        skill: str | None = None,
        agent: str | None = None,
        cancel: CancelToken | None = None,
        session: str | None = None,
    ) -> Result:
        """Call a tool.

        Args:
            tool: its name.
            arguments: as its input schema requires.
            skill: the acting skill; may be omitted when exactly one is active.
            agent: on whose behalf; the plugin's own when omitted.
            cancel: cancels the call early.
            session: the key of a client's session, which has budgets and a rate limit of its own; the plugin's own
                session when omitted.

        Returns:
            The result; a failure is one too, with its code.
        """
        limits = self._host.limits.of(session)
        return self._gate.call(tool, arguments, skill, agent, cancel, limits, session or "")

    async def acall(
        self,
        tool: str,
        arguments: dict[str, Any],
        *,
        skill: str | None = None,
        agent: str | None = None,
        cancel: CancelToken | None = None,
        session: str | None = None,
    ) -> Result:
        """`call`, without blocking the event loop; cancelling the task cancels the call."""
        cancel = cancel or CancelToken()
        given = {"skill": skill, "agent": agent, "cancel": cancel, "session": session}
        try:
            return await asyncio.to_thread(self.call, tool, arguments, **given)  # type: ignore[arg-type]
        except asyncio.CancelledError:
            cancel.cancel()
            raise

    @property
    def tool_sources(self) -> Sequence[ToolSource]:
        """The sources of tools that may change while the plugin is open, such as what is installed."""
        return self._host.tool_sources

    def operate(self, operation: Operation[G, R], *, door: Door = "python", by: str = "", **given: Any) -> R:
        """Run an operation (`cortex_skills.operations`) as the owner of the store.

        Args:
            operation: such as `promote` of `cortex_skills.features.registry.skill_changes`.
            door: `command` for the command line.
            by: the name of the owner, for the audit; the plugin's agent when empty.
            given: its arguments.

        Raises:
            CortexError: `invalid_arguments`, or an error of the operation.
        """
        from cortex_skills.operations.caller import owner
        from cortex_skills.operations.run import run

        return run(operation, owner(by or self.agent, door, self.graph.namespace), given, self._host)

    def host_of(self, graph: NamespacedGraph) -> Host:
        """What operations use in the namespace of a graph of the same store."""
        return self._host if graph.namespace == self.graph.namespace else self._host.beside(graph)

    # --- for the host application

    def check(self, tool: str, *, skill: str | None = None, permissions: Collection[str] = ()) -> Decision:
        """Whether a tool may be called while these skills are active: the host's own tools too. Changes nothing.

        The decision covers allow-lists and permissions; not arguments, rate, budgets or hooks.

        Args:
            tool: its name, of the plugin's tools or of the host's own.
            skill: the acting skill; may be omitted as in `call`, and for a tool that needs no permission.
            permissions: what the host's own tool needs of the acting skill, such as `graph:write`.
        """
        from cortex_skills.gate.decisions import decide

        return decide(tool, self.skills, skill=skill, permissions=permissions, sources=self.tool_sources)

    def record(
        self,
        tool: str,
        *,
        outcome: str = "ok",
        skill: str | None = None,
        agent: str | None = None,
        milliseconds: float = 0.0,
        arguments: Mapping[str, Any] | None = None,
    ) -> None:
        """Write a call of a tool of the host's own to the audit, and run the hooks of `after_tool_call`.

        Args:
            tool: its name.
            outcome: `ok`, or one word for what went wrong, such as the code of a decision.
            skill: the acting skill, if any.
            agent: on whose behalf; the plugin's own when omitted.
            milliseconds: how long it took.
            arguments: of the call, as JSON; where learning is on they are kept, redacted, while the session lasts.

        Raises:
            CortexError: `invalid_arguments`.
        """
        from cortex_skills.gate.gate import checked_agent

        who = self.agent if agent is None else checked_agent(agent)
        entry = call_records.of_host(tool, skill, who, outcome, milliseconds, self.audit.kept(arguments))
        self.audit.record(entry)
        self._hooks.notify("after_tool_call", ToolEnd(entry, self.session))
        for ended in self._host.calls_ended:
            ended("", entry, {} if arguments is None else arguments, True)

    def on(self, event: EventName, hook: Hook) -> Callable[[], None]:
        """Add a hook, which is called at each `event`; see `cortex_skills.gate.hooks` for its argument.

        Returns:
            A function that removes the hook; calling it twice has no effect.

        Raises:
            CortexError: `invalid_arguments`: there is no such event, or the hook is not a plain callable.
        """
        return self._hooks.on(event, hook)

    def tools(self, format: Format | None = None) -> list[dict[str, Any]]:  # noqa: A002 - what hosts call it
        """The tools of the profiles in `tools.profiles`: name, description, inputSchema, permissions.

        Args:
            format: for a model: those that the active skills permit, as `mcp`, `openai` or `anthropic` define tools.

        Raises:
            CortexError: `invalid_arguments`: there is no such format.
        """
        from cortex_skills.tools import all_tools
        from cortex_skills.tools.offered import of_profiles, offered

        found = of_profiles(all_tools(self.tool_sources).values(), self.config.tools.profiles, self.skills)
        if format is None:
            return [tool.definition() for tool in found]
        return offered(found, self.skills, format)

    def context(self, *, agent: str | None = None, cancel: CancelToken | None = None) -> str:
        """The results of the queries that the active skills declare, for an agent that starts.

        Each query passes the gate like any other, but uses no budget and counts towards no rate limit. There is one
        `<semantic-skill-context skill="…">` block for each skill whose queries match; the text is empty when none does.
        Where the tool `load_skill` is offered, the list `<available_skills>` of the registry follows. It has no
        memories: an agent recalls those. It begins with the notes of installed artifacts that fulfil the contract
        `run_lifecycle_hook`.

        Raises:
            CortexError: `permission_denied`, `approval_required`: such an artifact does not let the agent start.
        """
        from cortex_graph import GraphError
        from cortex_skills.enrichment import context_block
        from cortex_skills.policy.permissions import is_of_memories

        who = call_records.word(self.agent if agent is None else agent)
        self._hooks.notify("before_agent_start", AgentStart(who, self.session))
        blocks = [note for starting in self._host.agents_starting for note in starting(who, self.session)]
        for skill in self.skills.values():
            triples: list[dict[str, Any]] = []
            unread, exact = 0, True
            for query in skill.semantic.queries:
                if is_of_memories(query.predicate, self.graph.names):
                    continue
                arguments = {"predicate": query.predicate, "scope": query.scope}
                result = self._gate.call("skill_graph_query", arguments, skill.name, agent, cancel, None)
                if result.is_error:
                    log.warning("the context of %s lacks %s: %s", skill.name, query.predicate, result.text)
                else:
                    triples += result.details["matches"]
                    unread += result.details["total"] - len(result.details["matches"])
                    exact = exact and result.details["totalIsExact"]
            blocks.append(context_block(skill.name, triples, self.cleaning, unread, exact=exact))
        for text in self._host.contexts:
            try:
                blocks.append(text(who))
            except (CortexError, GraphError) as error:
                log.warning("a part of the context is missing: %s", error)
        return "\n".join(block for block in blocks if block)

    def status(self) -> dict[str, Any]:
        """The store, the active skills, what they have used, and what is switched off."""
        from cortex_skills.gate.status import status_of

        return status_of(self._host, self._active, watching=self.is_watching)

    @property
    def is_watching(self) -> bool:
        """Whether the folders of skills are watched, and skills that change there are reloaded."""
        return self._watcher is not None and self._watcher.is_watching

    # --- closing

    def end_session(self, session: str) -> None:
        """End the session of a client: the outcomes of the skills that were loaded in it are recorded.

        Args:
            session: its key, as `call` got it.
        """
        for end in self._host.sessions_ended:
            end(session)

    def close(self) -> None:
        """Run the hooks of `session_end`, deactivate every skill and close the store. Closing twice has no effect."""
        if not self._closed:
            self._closed = True
            self._hooks.notify("session_end", SessionEnd(self.agent, self.session))
            self._host.close_parts()
        for end in self._host.sessions_ended:
            end(None)
        if self._watcher is not None:
            self._watcher.stop()
        self._active.close()
        if self._watcher is not None:
            self._watcher.close()
        self._today.store.close()
        self.audit.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)
