"""`Host`: what the gate, the loader and the tools of one plugin share.

Rules kept here:
- one value for each plugin; its fields do not change while the plugin is open;
- the prover is created when a proof is first made or checked, the registry, with the skills in the configured folders,
  and its finder when they are first used; they are shared from then on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from cortex_graph import NamespacedGraph
from cortex_skills.audit.audit_log import AuditLog
from cortex_skills.audit.call_records import AuditRecord
from cortex_skills.config.settings import Config
from cortex_skills.enrichment.policy import RULE, Policy
from cortex_skills.errors import CortexError
from cortex_skills.features.finder.embedders import Embedder
from cortex_skills.features.memory.memories import Memories
from cortex_skills.policy.caller_rates import CallerRates
from cortex_skills.policy.declared_predicates import DeclaredPredicates
from cortex_skills.policy.session_limits import AllLimits

if TYPE_CHECKING:
    from cortex_skills.features.actions.approvals.queue import ApprovalQueue
    from cortex_skills.features.actions.catalog import Actions, ActionSource
    from cortex_skills.features.actions.trust_store import TrustStore
    from cortex_skills.features.proofs.logic.prover import Prover
    from cortex_skills.features.registry.learning import Wording
    from cortex_skills.features.registry.loaded_skills import LoadedSkills
    from cortex_skills.features.registry.registry import SkillRegistry
    from cortex_skills.features.registry.session_calls import SessionCalls
    from cortex_skills.features.registry.skill_finder import SkillFinder
    from cortex_skills.features.registry.skill_record import SkillKey
    from cortex_skills.skill_folder.snapshot import SkillSnapshot


log = logging.getLogger(__name__)

P = TypeVar("P")
# The session of a call, its audit record, its arguments, and whether it can be a step of a skill that is learned.
CallEnded = Callable[[str, AuditRecord, object, bool], None]


class SkillSigner(Protocol):
    """What signs skills in place of a signature in their folder, such as the artifact that they were installed with."""

    def hashes_of(self, snapshot: SkillSnapshot) -> Mapping[str, str] | None:
        """The signed SHA-256 of each file of a skill by its path; None for a skill that it has not signed.

        Raises:
            CortexError: the skill may not be loaded.
        """

    def stopped(self, folders: Mapping[str, Path]) -> Mapping[str, CortexError]:
        """The active skills by name that may not run any more, and why; `folders` are those of all by name."""


@dataclass(frozen=True, slots=True)
class Session:
    """Where skills run.

    Attributes:
        namespace: of the graph.
        agent: the plugin's default agent.
        session: an id, unique to the plugin.
    """

    namespace: str
    agent: str
    session: str

    def to_json(self) -> dict[str, str]:
        """The session as a skill's hooks receive it."""
        return {"namespace": self.namespace, "agentId": self.agent, "sessionId": self.session}


@dataclass(frozen=True)
class Host:
    """What the parts of one plugin share.

    Attributes:
        config: the settings.
        graph: of the namespace.
        memories: of the agents of the namespace.
        limits: the budgets and rate windows of each session.
        session: where skills run.
        audit: where calls and events are recorded.
        cleaning: restrictions on what a model reads, beyond the default ones.
        embedder: finds skills and memories by meaning; None for words alone.
        registers: whether skills that are loaded, or are in the configured folders, are registered.
        tool_names: returns the names of tools, which no action may have.
        action_sources: of further actions; to be added before `actions` is used.
        calls_ended: called with each call that has ended; what a feature adds here costs every call.
        sessions_ended: called with the key of a session that ends; None for all.
        skill_signers: sign skills in place of a signature in their folder.
        closing: called when the plugin closes, while its skills and its store still work.
    """

    config: Config
    graph: NamespacedGraph
    memories: Memories
    limits: AllLimits
    session: Session
    audit: AuditLog
    cleaning: Policy = RULE
    embedder: Embedder | None = None
    registers: bool = True
    tool_names: Callable[[], Collection[str]] = tuple
    action_sources: list[ActionSource] = field(default_factory=list)
    calls_ended: list[CallEnded] = field(default_factory=list)
    sessions_ended: list[Callable[[str | None], None]] = field(default_factory=list)
    skill_signers: list[SkillSigner] = field(default_factory=list)
    closing: list[Callable[[], None]] = field(default_factory=list)
    rates: CallerRates = field(default_factory=CallerRates)
    _parts: dict[Callable[[Host], Any], Any] = field(default_factory=dict, repr=False, compare=False)
    _making: RLock = field(default_factory=RLock, repr=False, compare=False)

    def part(self, kind: Callable[[Host], P]) -> P:
        """What a feature keeps for this host: the value of `kind(host)`, made when it is first asked for.

        Args:
            kind: a class, or a function, of a host.
        """
        found: P | None = self._parts.get(kind)
        if found is None:
            with self._making:
                found = self._parts.get(kind)
                if found is None:
                    found = self._parts[kind] = kind(self)
        return found

    def close_parts(self) -> None:
        """Call what features have added to `closing`, the last one first; one that fails stops no other."""
        for close in reversed(self.closing):
            try:
                close()
            except Exception:
                log.exception("a part of the plugin could not be closed")

    def has_part(self, kind: Callable[[Host], Any]) -> bool:
        """Whether a part was made."""
        return kind in self._parts

    def beside(self, graph: NamespacedGraph) -> Host:
        """The host of another namespace of the same store: with the same settings, audit and models, and no sessions.

        Args:
            graph: of the namespace.
        """
        return Host(
            self.config,
            graph,
            Memories(graph, embedder=self.embedder),
            self.limits,
            replace(self.session, namespace=graph.namespace),
            self.audit,
            self.cleaning,
            self.embedder,
            registers=False,
            tool_names=self.tool_names,
            rates=self.rates,
        )

    @cached_property
    def actions(self) -> Actions:
        """The actions that agents may ask for."""
        from cortex_skills.features.actions.catalog import Actions
        from cortex_skills.features.actions.own_files import guarded

        actions = Actions(guarded(self.config), self.tool_names())
        for source in self.action_sources:
            actions.add_source(source)
        return actions

    @cached_property
    def trust(self) -> TrustStore:
        """The trust level of the namespace, of today."""
        from cortex_graph.as_of import today_of

        return self.trust_of(today_of(self.graph))

    def trust_of(self, graph: NamespacedGraph) -> TrustStore:
        """The trust level of the namespace of a graph."""
        from cortex_skills.features.actions.trust_store import TrustChange, TrustStore

        def changed(change: TrustChange, actor: str) -> None:
            facts = {"namespace": graph.namespace, "from": change.before, "to": change.after}
            self.audit.event("trust_level.changed", actor=actor, facts=facts)

        return TrustStore(graph.store, graph.names, self.config.actions.trust_level, changed)

    @cached_property
    def approval_queue(self) -> ApprovalQueue:
        """The requests of the namespace that wait for a person, of today."""
        from cortex_graph.as_of import today_of
        from cortex_skills.features.actions.approvals.queue import ApprovalQueue

        graph = today_of(self.graph)
        return ApprovalQueue(graph.store, graph.names)

    @cached_property
    def declared_predicates(self) -> DeclaredPredicates:
        """The predicates that need a proof, according to all active skills."""
        return DeclaredPredicates(self.graph.names)

    @cached_property
    def registry(self) -> SkillRegistry:
        """The registered skills of the namespace, of today; the key of this installation signs what is registered."""
        from cortex_graph.as_of import today_of
        from cortex_skills.features.registry.opening import open_registry
        from cortex_skills.features.registry.sources import register_configured

        registry = open_registry(self.config, today_of(self.graph))
        if self.registers:
            register_configured(registry, self.config.registry.folders, actor=self.session.agent)
        return registry

    @cached_property
    def skills_to_use(self) -> SkillRegistry:
        """The registry as agents use it: with the procedural skills of the package."""
        from cortex_skills.features.registry.package_skills import register_package_skills

        if self.registers:
            register_package_skills(self.registry)
        return self.registry

    @cached_property
    def loaded_skills(self) -> LoadedSkills:
        """The registered skills that agents loaded, whose outcomes are recorded when calls and sessions end."""
        from cortex_skills.features.registry.loaded_skills import LoadedSkills

        def record(key: SkillKey, version_id: str, success: bool, agent: str, user: str, note: str) -> None:
            new = self.registry.outcome(key, success=success, actor=agent, note=note, version_id=version_id, user=user)
            if self.config.learning.enabled and new.standing.lifecycle == "candidate":
                self._verify(key, agent)

        return LoadedSkills(record)

    def _verify(self, key: SkillKey, agent: str) -> None:
        """Verify a learned candidate whose gain is shown."""
        with suppress(CortexError):  # `gain_not_measured`, most of the time
            self.registry.promote(key, actor=agent)

    @cached_property
    def session_calls(self) -> SessionCalls:
        """The redacted calls of the open sessions, where learning is on."""
        from cortex_skills.features.registry.session_calls import SessionCalls

        return SessionCalls(self.session.session)

    @cached_property
    def wording(self) -> Wording | None:
        """The model behind the configured endpoint that words what was learned; None when there is none."""
        from cortex_skills.features.registry.chat_endpoint import ChatEndpoint

        return ChatEndpoint.of(self.config.learning)

    def after_call(self, session: str, entry: AuditRecord, arguments: object, *, is_step: bool = True) -> None:
        """Note a call that has ended, for loaded skills and for learning.

        Args:
            session: the key of the session; empty for the plugin's own.
            entry: the audit record of the call.
            arguments: of the call.
            is_step: whether it can be a step of a skill that is learned.
        """
        self.loaded_skills.after_call(session, entry.tool, entry.outcome, entry.agent)
        if is_step and self.config.learning.enabled and entry.outcome != "cancelled":
            self.session_calls.after_call(session, entry.agent, entry.tool, arguments, entry.outcome)

    def close_actions(self) -> None:
        """End what actions left running."""
        if "actions" in self.__dict__:
            self.actions.close()

    def end_session(self, session: str | None = None) -> None:
        """End a session, or all: outcomes of loaded skills are recorded, and what was done without one is counted.

        Args:
            session: the key of the session; None for all.
        """
        if self.config.learning.enabled:
            from cortex_skills.features.registry.ended_runs import settle_runs

            settle_runs(self.config, lambda: self.registry, self.session_calls.end(session), self.graph.namespace)
        self.loaded_skills.end(session)

    @cached_property
    def skill_finder(self) -> SkillFinder:
        """Finds the registered skills of the namespace; its index is built at the first search."""
        from cortex_skills.features.registry.skill_finder import SkillFinder

        return SkillFinder(self.registry, self.embedder)

    @cached_property
    def prover(self) -> Prover:
        """Makes and checks the Proofs of Logic of the namespace."""
        from cortex_skills.features.proofs.logic.prover import Prover

        return Prover(self.config, self.graph)
