"""Connects installed artifacts with a plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cortex_skills.features.actions.agent_actions import AgentActions
from cortex_skills.features.artifacts.installed.installed_artifacts import installed_in
from cortex_skills.features.artifacts.installed_skills import InstalledSkills
from cortex_skills.features.artifacts.tools.artifact_calls import ArtifactCalls
from cortex_skills.features.artifacts.tools.contract_memory import ContractMemory
from cortex_skills.features.memory.memories import memories_of

if TYPE_CHECKING:
    from cortex_skills.gate.gate import Gate


def attach(gate: Gate) -> None:
    """Offer the tools of artifacts, call their contracts, and let their signatures hold for their skills."""
    host = gate.host
    calls = host.part(ArtifactCalls)
    calls.connected = gate
    host.part(AgentActions).sources.append(calls.tools)
    installed = host.part(installed_in)
    index = installed.index
    host.part(memories_of).provider = ContractMemory(calls.contracts, lambda: index.writes)
    host.agents_starting.append(calls.contracts.before_agent_start)
    host.closing.append(lambda: calls.contracts.session_end(host.session.agent, host.session.session))
    host.skill_signers.append(InstalledSkills(host))
    host.installed_folders.append(installed.folder_of_skill)
    gate.routes.append(calls.contracts.route)
