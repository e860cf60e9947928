"""`Host`: what the gate, the loader and the tools of one plugin share.

Rules kept here:
- one value for each plugin; its fields do not change while the plugin is open;
- the prover is created when a proof is first made or checked, the registry and its finder when they are first asked;
  they are shared from then on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from cortex_graph import NamespacedGraph
from cortex_skills.config.settings import Config
from cortex_skills.enrichment.policy import RULE, Policy
from cortex_skills.finder import Embedder
from cortex_skills.memory import Memories
from cortex_skills.policy.declared_predicates import DeclaredPredicates
from cortex_skills.policy.session_limits import AllLimits

if TYPE_CHECKING:
    from cortex_skills.proofs.logic.prover import Prover
    from cortex_skills.registry.registry import SkillRegistry
    from cortex_skills.registry.skill_finder import SkillFinder


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
        cleaning: restrictions on what a model reads, beyond the default ones.
        embedder: finds skills and memories by meaning; None for words alone.

    """

    config: Config
    graph: NamespacedGraph
    memories: Memories
    limits: AllLimits
    session: Session
    cleaning: Policy = RULE
    embedder: Embedder | None = None

    @cached_property
    def declared_predicates(self) -> DeclaredPredicates:
        """The predicates that need a proof, according to all active skills."""
        return DeclaredPredicates(self.graph.names)

    @cached_property
    def registry(self) -> SkillRegistry:
        """The registered skills of the namespace; the key of this installation signs what is registered."""
        from cortex_skills.keys.folder import signing_key
        from cortex_skills.registry.registry import SkillRegistry

        return SkillRegistry(self.graph.store, self.graph.names, lambda: signing_key(self.config))

    @cached_property
    def skill_finder(self) -> SkillFinder:
        """Finds the registered skills of the namespace; its index is built at the first search."""
        from cortex_skills.registry.skill_finder import SkillFinder

        return SkillFinder(self.registry, self.embedder)

    @cached_property
    def prover(self) -> Prover:
        """Makes and checks the Proofs of Logic of the namespace."""
        from cortex_skills.proofs.logic.prover import Prover

        return Prover(self.config, self.graph)
