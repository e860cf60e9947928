"""Another skill beside the one of a page, with the difference.

Rules kept here:
- the other one is named by `beside=`, and is registered in the same registry; its current version is shown.
"""

from __future__ import annotations

from dataclasses import dataclass

from cortex_skills.doors.explorer.display import ShownText, shown_name, shown_text
from cortex_skills.doors.explorer.page import PageCall, not_found
from cortex_skills.features.registry.documents.document import SkillDocument
from cortex_skills.features.registry.pages.registered import (
    CHARACTERS,
    LINES,
    SkillOfPage,
    shown_changes,
    shown_key,
    skill_address,
)
from cortex_skills.features.registry.tools.registered_skills import text_of_skill
from cortex_skills.features.registry.views import key_of


@dataclass(frozen=True, slots=True)
class Beside:
    """Another skill beside this one: what an agent will read of each, and the difference from the other to this one."""

    name: ShownText
    href: str
    reads: tuple[ShownText, ...]
    changes: tuple[tuple[str, ShownText], ...]


def skill_beside(call: PageCall, found: SkillOfPage, document: SkillDocument) -> Beside | None:
    """The skill that `beside=` names.

    Raises:
        HttpError: `not_found`.
    """
    registry, name = found.registry, call.query.get("beside")
    if not name:
        return None
    record = registry.find(key_of(name, registry.terms.names.namespace))
    if record is None:
        raise not_found("no such skill is registered here to be shown beside it")
    version = registry.version(record.version_id)
    text, _ = text_of_skill(registry, record, version, call.service.plugin.cleaning)
    return Beside(
        shown_name(shown_key(registry, record.key)),
        skill_address(call, registry, record.key),
        tuple(shown_text(line, CHARACTERS) for line in text.splitlines()[:LINES]),
        tuple(shown_changes(registry.document(version), document)),
    )
