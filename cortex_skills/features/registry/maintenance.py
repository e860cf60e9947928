"""The maintenance of a registry: what is done for it from time to time.

Rules kept here:
- it only lowers a state: unused skills are deprecated; those that fail, or whose memories have changed, are degraded;
- a second run changes nothing.
"""

from __future__ import annotations

from cortex_skills.features.registry.reflections import check_all_memories
from cortex_skills.features.registry.registry import SkillRegistry
from cortex_skills.features.registry.skill_finder import SkillFinder
from cortex_skills.features.registry.skill_record import SkillRecord


def maintain(registry: SkillRegistry, finder: SkillFinder, *, actor: str) -> list[SkillRecord]:
    """Maintain a registry; returns the skills that were changed, as they are then."""
    changed = {record.key: record for record in check_all_memories(registry, actor=actor)}
    for record in registry.maintain(lambda each: len(finder.similar(each)), actor=actor):
        changed[record.key] = record
    return list(changed.values())
