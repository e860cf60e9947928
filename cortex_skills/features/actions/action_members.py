"""What the feature `actions` adds to a plugin. A host passes none of it on to an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cortex_skills.features.actions.agent_actions import AgentActions
from cortex_skills.plugin import Plugin

if TYPE_CHECKING:
    from cortex_skills.features.actions.approvals.desk import Approvals
    from cortex_skills.features.actions.catalog import Actions
    from cortex_skills.features.actions.trust_store import TrustStore


class ActionMembers(Plugin):
    """The actions of agents, their approvals and the trust level."""

    @property
    def actions(self) -> Actions:
        """The actions that agents may ask for: `register` adds the host's own. Only `call` runs one."""
        return self.part(AgentActions).actions

    @property
    def approvals(self) -> Approvals:
        """The requests of agents that wait for a person."""
        return self.part(AgentActions).approvals

    @property
    def trust(self) -> TrustStore:
        """The trust level of the namespace. Only the owner may set it."""
        return self.part(AgentActions).trust
