"""Connects installed artifacts with a plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cortex_skills.features.artifacts.installed_skills import InstalledSkills
from cortex_skills.features.artifacts.tools.contract_memory import ContractMemory
from cortex_skills.features.memory.memories import memories_of

if TYPE_CHECKING:
    from cortex_skills.gate.gate import Gate


def attach(gate: Gate) -> None:
    """Let artifacts sign their skills, and keep memories beside those of the graph."""
    gate.host.skill_signers.append(InstalledSkills(gate.host))
    gate.host.part(memories_of).provider = ContractMemory(gate.contracts)
