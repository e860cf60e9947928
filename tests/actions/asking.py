"""Asks for actions as an agent does, and approves them as a person does."""

from __future__ import annotations

from typing import Any

from cortex_skills import Plugin
from cortex_skills.features.actions.action_request import ActionRequest
from cortex_skills.features.actions.agent_actions import AgentActions
from cortex_skills.gate.result import Result


def kept_request(plugin: Plugin, asked: Result) -> ActionRequest:
    """The request that waits after a call."""
    return plugin.approvals.show(asked.details["approval"]).request


def approved(plugin: Plugin, action: str, inputs: dict[str, Any]) -> Result:
    """Ask for an action, and run it as approved; the result of the first step that refuses."""
    asked = plugin.call(action, inputs)
    return asked if asked.is_error else plugin.part(AgentActions).run_approved(kept_request(plugin, asked), "ada")
