"""Connects installed artifacts with a plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cortex_skills.features.artifacts.installed_skills import InstalledSkills

if TYPE_CHECKING:
    from cortex_skills.gate.gate import Gate


def attach(gate: Gate) -> None:
    """Let the signature of an artifact hold for its skill."""
    gate.host.skill_signers.append(InstalledSkills(gate.host))
