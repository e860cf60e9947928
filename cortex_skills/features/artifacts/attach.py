"""Connects installed artifacts with a plugin; what runs them is imported at their first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cortex_skills.features.actions.agent_actions import AgentActions
from cortex_skills.features.artifacts.installed_skills import InstalledSkills
from cortex_skills.features.artifacts.tools.artifact_calls import ArtifactCalls
from cortex_skills.features.artifacts.tools.contract_memory import ContractMemory
from cortex_skills.features.memory.memories import memories_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cortex_skills.gate.gate import Gate


def attach(gate: Gate) -> None:
    """Offer the tools of artifacts, call their contracts, and let their signatures hold for their skills."""
    host = gate.host
    calls = host.part(ArtifactCalls)
    calls.connected = gate

    def writes() -> int:
        from cortex_skills.features.artifacts.installed import installed_in

        return host.part(installed_in).index.writes

    def before_agent_start(agent: str, session: str) -> Sequence[str]:
        return calls.contracts.before_agent_start(agent, session)

    def folder_of_skill(skill_id: str, version: str | None) -> Path:
        from cortex_skills.features.artifacts.installed import installed_in

        return host.part(installed_in).folder_of_skill(skill_id, version)

    host.part(AgentActions).sources.append(calls)
    host.part(memories_of).provider = ContractMemory(lambda *asked: calls.contracts.ask_first(*asked), writes)
    host.agents_starting.append(before_agent_start)
    host.closing.append(lambda: calls.contracts.session_end(host.session.agent, host.session.session))
    host.installed_folders.append(folder_of_skill)
    host.skill_signers.append(InstalledSkills(host))
    gate.routes.append(lambda *asked: calls.contracts.route(*asked))
