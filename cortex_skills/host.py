"""`Host`: what the gate, the loader and the tools of one plugin share.

Rules kept here:
- one value for each plugin; its fields do not change while the plugin is open;
- what a feature keeps (`part`) is made when it is first asked for, and shared from then on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from cortex_graph import NamespacedGraph
from cortex_skills.audit.audit_log import AuditLog
from cortex_skills.audit.call_records import AuditRecord
from cortex_skills.config.host_identity import HostIdentity
from cortex_skills.config.settings import Config
from cortex_skills.enrichment.policy import RULE, Policy
from cortex_skills.errors import CortexError
from cortex_skills.policy.caller_rates import CallerRates
from cortex_skills.policy.declared_predicates import DeclaredPredicates
from cortex_skills.policy.session_limits import AllLimits

if TYPE_CHECKING:
    from cortex_skills.signatures.fleet_trust import FleetTrust
    from cortex_skills.skill_folder.snapshot import SkillSnapshot


log = logging.getLogger(__name__)

P = TypeVar("P")
_MISSING = object()
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

    def id_of(self, key: str) -> str:
        """The id of a client's session, which is not its key; an empty key is of the plugin's own."""
        return _session_id(self.session, key)

    def to_json(self) -> dict[str, str]:
        """The session as a skill's hooks receive it."""
        return {"namespace": self.namespace, "agentId": self.agent, "sessionId": self.session}


@lru_cache(1024)
def _session_id(plugin_session: str, key: str) -> str:
    return sha256(f"cortex-session/1\0{plugin_session}\0{key}".encode()).hexdigest()[:32]


class ToolSource(Protocol):
    """Further tools, each a `cortex_skills.tools.Tool`."""

    def find(self, name: str) -> Any | None:
        """The tool of that name; None when there is none.

        Raises:
            CortexError: there may be one, but it cannot be used.
        """

    def all(self) -> Mapping[str, Any]:
        """The tools that may be offered, by name."""

    def revision(self) -> str:
        """A text that differs after each change of the tools, by any process; it is asked for every few seconds."""


@dataclass(frozen=True)
class Host:
    """What the parts of one plugin share.

    Attributes:
        config: the settings.
        graph: of the namespace.
        limits: the budgets and rate windows of each session.
        session: where skills run.
        audit: where calls and events are recorded.
        cleaning: restrictions on what a model reads, beyond the default ones.
        registers: whether skills that are loaded, or are in the configured folders, are registered.
        serves: whether the process serves agents.
        tool_sources: of further tools, whose number may change; asked for names that no other tool has.
        agents_starting: called with an agent and the session before the agent starts; each returns notes for it.
        calls_ended: called with each call that has ended; what a feature adds here costs every call.
        skills_started: called with the folder of each semantic skill that is loaded, unless it is being developed.
        contexts: return what an agent that starts reads, for its id; empty for nothing.
        sessions_ended: called with the key of a session that ends; None for all.
        skill_signers: sign skills in place of a signature in their folder.
        installed_folders: return the folder of the skill of an installed artifact, of its id and version (None for the
            current one).
        closing: called when the plugin closes, while its skills and its store still work.
        main: the host of the plugin, for one of another namespace (`beside`).
    """

    config: Config
    graph: NamespacedGraph
    limits: AllLimits
    session: Session
    audit: AuditLog
    cleaning: Policy = RULE
    registers: bool = True
    serves: bool = False
    tool_sources: list[ToolSource] = field(default_factory=list)
    agents_starting: list[Callable[[str, str], Sequence[str]]] = field(default_factory=list)
    calls_ended: list[CallEnded] = field(default_factory=list)
    skills_started: list[Callable[[SkillSnapshot], None]] = field(default_factory=list)
    contexts: list[Callable[[str], str]] = field(default_factory=list)
    sessions_ended: list[Callable[[str | None], None]] = field(default_factory=list)
    skill_signers: list[SkillSigner] = field(default_factory=list)
    installed_folders: list[Callable[[str, str | None], Path]] = field(default_factory=list)
    closing: list[Callable[[], None]] = field(default_factory=list)
    rates: CallerRates = field(default_factory=CallerRates)
    main: Host | None = field(default=None, repr=False, compare=False)
    _parts: dict[Callable[[Host], Any], Any] = field(default_factory=dict, repr=False, compare=False)
    _making: RLock = field(default_factory=RLock, repr=False, compare=False)

    @cached_property
    def fleet(self) -> FleetTrust:
        """Whom this installation trusts, alone and with the other hosts of its store."""
        from cortex_graph.as_of import today_of
        from cortex_graph.naming.names import Names
        from cortex_skills.signatures.fleet_trust import FleetTrust
        from cortex_skills.signatures.trust_file import trust_of

        if self.main is not None:
            return self.main.fleet
        graph = today_of(self.graph)
        return FleetTrust(graph.store, Names(self.config.agent_namespace, graph.names.base), trust_of(self.config))

    def part(self, kind: Callable[[Host], P]) -> P:
        """What a feature keeps for this host: the value of `kind(host)`, made when it is first asked for.

        Args:
            kind: a class, or a function, of a host.
        """
        found: Any = self._parts.get(kind, _MISSING)
        if found is _MISSING:
            with self._making:
                found = self._parts.get(kind, _MISSING)
                if found is _MISSING:
                    found = self._parts[kind] = kind(self)
        made: P = found
        return made

    def shared(self, kind: Callable[[Host], P]) -> P:
        """What a feature keeps for all namespaces of the plugin: a part of its own host."""
        return (self.main or self).part(kind)

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
            self.limits,
            replace(self.session, namespace=graph.namespace),
            self.audit,
            self.cleaning,
            registers=False,
            rates=self.rates,
            main=self.main or self,
        )

    @cached_property
    def identity(self) -> HostIdentity:
        """The installation that the plugin is of."""
        return self.main.identity if self.main is not None else HostIdentity.of(self.config)

    @cached_property
    def declared_predicates(self) -> DeclaredPredicates:
        """The predicates that need a proof, according to all active skills."""
        return DeclaredPredicates(self.graph.names)
