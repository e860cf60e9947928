"""What an agent does outside the graph: actions with manifests, which only the gate runs."""

from cortex_skills.features.actions.action import ActionCall, AgentAction
from cortex_skills.features.actions.action_request import ActionRequest
from cortex_skills.features.actions.catalog import Actions
from cortex_skills.features.actions.manifest import ActionField, ActionLimits, ActionManifest

__all__ = ["ActionCall", "ActionField", "ActionLimits", "ActionManifest", "ActionRequest", "Actions", "AgentAction"]
