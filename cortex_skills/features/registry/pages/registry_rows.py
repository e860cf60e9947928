"""A skill of the list of the registry, as a row or a card."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from cortex_skills.doors.explorer.display import IN_TABLE, ShownText, shown_name, shown_text
from cortex_skills.doors.explorer.page import PageCall
from cortex_skills.doors.explorer.pictures.svg import Svg
from cortex_skills.features.registry.documents.document import front_matter
from cortex_skills.features.registry.pages.chosen_skills import FIELD
from cortex_skills.features.registry.pages.registered import (
    ShownStanding,
    shown_key,
    shown_standing,
    skill_address,
    success_picture,
    success_words,
)
from cortex_skills.features.registry.records.lifecycle import health
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillRecord, SkillVersion

_PER_CENT = 100
_STEPS, _STEP = 6, 120  # of a card, and characters of one


@dataclass(frozen=True, slots=True)
class RegistryRow:
    """A skill of the list.

    Attributes:
        name, description: of its current version.
        href: its page.
        version: its number.
        standing: its state and trust.
        success: the success rate with its interval; None before the first outcome.
        success_words: the same in words.
        health: without redundancy, in per cent.
        used: when it was used last; empty before the first time.
        by: how it was found; empty in a list.
        field: the name of its check box.
        steps: the first ones, and `more_steps` that are not shown.
        tools: the tools that it may use; empty for any.
        inline: where its description and steps are edited.
    """

    name: ShownText
    description: ShownText
    href: str
    version: int
    standing: ShownStanding
    success: Svg | None
    success_words: str
    health: int
    used: str
    field: str
    steps: tuple[ShownText, ...]
    more_steps: int
    tools: ShownText
    inline: str
    by: str = ""


def registry_row(
    call: PageCall, registry: SkillRegistry, record: SkillRecord, version: SkillVersion, now: datetime
) -> RegistryRow:
    """A skill with its current version, at a time."""
    quality, front = record.evidence, front_matter(version.front)
    steps, href = front["steps"], skill_address(call, registry, record.key)
    return RegistryRow(
        shown_name(shown_key(registry, record.key)),
        shown_text(version.description, IN_TABLE),
        href,
        version.number,
        shown_standing(record),
        success_picture(quality),
        success_words(quality),
        round(_PER_CENT * health(quality, 0, now).overall),
        "" if quality.last_used_at is None else f"{quality.last_used_at:%Y-%m-%d %H:%M}",
        FIELD + shown_key(registry, record.key),
        tuple(shown_text(each["action"], _STEP) for each in steps[:_STEPS]),
        max(0, len(steps) - _STEPS),
        shown_text(", ".join(front["allowed_tools"]), IN_TABLE),
        f"{href}#inline",
    )
