"""The registered skills of a test, without those of the package, which every registry has."""

from __future__ import annotations

from cortex_skills.features.registry.records.reading import RegistryReader
from cortex_skills.features.registry.records.skill_record import SkillRecord


def own_records(registry: RegistryReader) -> list[SkillRecord]:
    """The records of skills that are not of the package."""
    return [each for each in registry.all_records() if not registry.skills.is_of_package(each.key)]
