"""A skill that is loaded: its manifest, where it came from, and what runs it.

Rules kept here:
- immutable: a reload makes a new one and the plugin swaps them, so that a call under way ends on what it began with.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cortex_skills.manifest import Manifest, Semantic

if TYPE_CHECKING:
    from cortex_skills.runtime import SkillRuntime


@dataclass(frozen=True, slots=True)
class Skill:
    """One loaded skill.

    Attributes:
        manifest: what it declares.
        semantic: its semantic block; a skill without one is not loaded.
        folder: where it was read from.
        runtime: runs its code; None for a skill that has none.

    """

    manifest: Manifest
    semantic: Semantic
    folder: Path
    runtime: SkillRuntime | None

    @property
    def name(self) -> str:
        """The skill's name."""
        return self.manifest.name
