"""Connects the actions of a plugin with its gate, and what the owner does with them in Python with the operations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cortex_skills.features.actions.agent_actions import AgentActions
from cortex_skills.operations.caller import owner
from cortex_skills.operations.run import run

if TYPE_CHECKING:
    from cortex_skills.features.actions.trust_store import TrustChange
    from cortex_skills.gate.gate import Gate
    from cortex_skills.plugin import Plugin


def attach(gate: Gate) -> None:
    """Connect the actions of a plugin with its gate."""
    acting = gate.host.part(AgentActions)
    acting.connected = gate
    gate.host.tool_sources.append(acting)
    gate.host.closing.append(acting.close)
    host = gate.host

    def set_level(actor: str, level: object) -> TrustChange:
        from cortex_skills.features.actions.action_operations import set_trust_level
        from cortex_skills.features.actions.trust_store import TrustChange

        changed = run(set_trust_level, owner(actor, "python", host.graph.namespace), {"level": level}, host)
        return TrustChange(changed["before"], changed["after"])

    def decide(word: str, by: str, is_owner: bool, approval_id: str, reason: str) -> object:
        from cortex_skills.features.actions import action_operations

        operation = {
            "approvals.approve": action_operations.approve_request,
            "approvals.reject": action_operations.reject_request,
        }[word]
        caller = owner(by, "python", host.graph.namespace)
        caller = caller if is_owner else replace(caller, kind="person")
        return run(operation, caller, {"approval": approval_id, "reason": reason}, host)

    def propose(*given: Any) -> list[dict[str, Any]]:
        from cortex_skills.features.actions import proposed_actions

        return proposed_actions.propose(acting.steps, *given)

    acting.set_level, acting.decide = set_level, decide
    if host.serves:
        from cortex_skills.features.actions.approvals.elsewhere import ApprovedElsewhere

        looking = ApprovedElsewhere(acting)
        host.closing.append(looking.close)
        looking.start()
    gate.propose = propose


def numbers(plugin: Plugin) -> list[tuple[str, str, float]]:
    """How many requests wait for a person."""
    waiting = len(plugin.part(AgentActions).queue.waiting())
    return [("cortex_approvals_waiting", "Requests that wait for a person", waiting)]
