"""The `<available_skills>` list, which an agent that starts reads.

Rules kept here:
- reliable skills (`lifecycle.is_reliable`), and candidates that the agent wrote and used with success; ★ marks the
  trust tier 4, ☆ the tier 3;
- the best come first: by tier, utility and name; the list has at most 4,096 characters, and its last line tells how
  many more there are. The first `_CONSIDERED` skills of a registry are considered; the others are found by
  `skill_find`;
- the name of the agent that learned a skill, which may be any text, is left out;
- descriptions are cleaned as the text of a skill is (`model_text.py`), and shown as JSON strings.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from cortex_skills.enrichment.block import BLOCK_LIMIT
from cortex_skills.enrichment.limits import cut
from cortex_skills.enrichment.policy import RULE, Policy
from cortex_skills.features.registry.model_text import cleaned_fields, is_trusted
from cortex_skills.features.registry.reading import RegistryReader
from cortex_skills.features.registry.skill_record import SkillRecord
from cortex_skills.features.registry.views import record_view
from cortex_skills.safe_io.display import json_text, shown_name

_CONSIDERED = 1_000
_DESCRIPTION = 300  # characters
_STARS = {4: "★ ", 3: "☆ "}
_OPENING, _CLOSING = "<available_skills>", "</available_skills>"
_NOTE = 60  # characters for the last line


def available_skills(registry: RegistryReader, agent: str, policy: Policy = RULE) -> str:
    """The list for an agent; empty when there is no skill for it."""
    records, cursor = registry.records(limit=_CONSIDERED)
    reliable = [record for record in records if record.is_shown_to(agent)]
    reliable.sort(key=lambda each: (-each.standing.trust_tier, -each.quality.utility, each.key))
    left = BLOCK_LIMIT - len(_OPENING) - len(_CLOSING) - _NOTE
    lines: list[str] = []
    for record in reliable:
        line = described(registry, record, policy)
        left -= len(line) + 1
        if left < 0:
            break
        lines.append(line)
    if not lines:
        return ""
    more = len(reliable) - len(lines)
    if more or cursor is not None:
        lines.append(f"({more}{'+' if cursor is not None else ''} more: skill_find finds them)")
    return "\n".join([_OPENING, *lines, _CLOSING])


def described(registry: RegistryReader, record: SkillRecord, policy: Policy) -> str:
    """A line about a skill: stars, name, description."""
    view = shown_record(registry, record, policy)
    own = record.key.namespace == registry.terms.names.namespace
    name = shown_name(record.key.name if own else str(record.key))
    description = json_text(cut(view["description"], _DESCRIPTION)) if view["description"] else "(withheld)"
    return f"{_STARS.get(record.standing.trust_tier, '')}{name}: {description}"


def shown_record(registry: RegistryReader, record: SkillRecord, policy: Policy) -> dict[str, Any]:
    """A record as JSON (`views.record_view`) whose texts a model may read."""
    view = record_view(registry, record, datetime.now(UTC))
    if (learned := view["current"]["learnedIn"]) is not None:
        del learned["agent"]
    if not is_trusted(record.standing, view["current"]["attest"]):
        texts, _ = cleaned_fields({key: view[key] for key in ("description", "reason")}, policy)
        view |= texts
    return view
