"""What of a registered skill is indexed.

Rules kept here:
- a skill is found by its words, with the weight and the tags of its standing, so that a filter is part of a query;
- its standing and counters are stored with it, so that candidates are ranked without reading the registry, and its
  text, of which its vector is made. What an answer shows is read from the registry.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import orjson

from cortex_skills.features.finder.owned_documents import OwnedText
from cortex_skills.features.finder.word_stems import stems_of
from cortex_skills.features.registry.records.lifecycle import STATES, Quality, Standing, is_reliable
from cortex_skills.features.registry.records.skill_record import SkillKey, SkillRecord, SkillVersion
from cortex_skills.features.registry.skill_listing import GROUPS, ListedSkill, in_group
from cortex_skills.manifest.skill_names import hyphenated

OWNER = "skill"
RELIABLE, CANDIDATE = 1.0, 0.5
_LONGEST_TRIGGER = 500


def tag_of(group: str, state: str | None) -> str:
    """The tag of the skills of a group in a state."""
    return f"{group}:{state or ''}"


@lru_cache(256)
def _tags(origin: Any, lifecycle: Any) -> tuple[str, ...]:
    standing = Standing(origin, lifecycle, 1)
    return tuple(
        tag_of(group, state) for group in GROUPS for state in (None, *STATES) if in_group(standing, group, state)
    )


def weight_of(standing: Standing, quality: Quality) -> float:
    """The weight of a skill: who asks for reliable skills gets those with at least `RELIABLE`."""
    if is_reliable(standing, quality):
        return RELIABLE
    return CANDIDATE if standing.lifecycle == "candidate" else 0.0


def text_of(version: SkillVersion) -> str:
    """The text by which a skill is found: its name, what it does, and what a request that it serves looks like."""
    return searchable(version.key.name, version.description, _trigger_of(version.front))


def searchable(name: str, description: str, trigger: str = "") -> str:
    """The text by which a skill with this name and description is found."""
    return ". ".join(part for part in (hyphenated(name).replace("-", " "), description, trigger) if part)


def listed_in(text: OwnedText) -> ListedSkill:
    """The skill whose document this is."""
    namespace, name, version_id, standing, numbers, used, current, agents, _ = orjson.loads(text.details)
    last_used_at = None if used is None else datetime.fromtimestamp(used, UTC)
    counters: list[Any] = [*numbers, last_used_at, *current, *map(frozenset, agents)]
    return ListedSkill(SkillKey(namespace, name), version_id, Standing(*standing), Quality(*counters))


def words_of(text: OwnedText) -> str:
    """The text by which the skill whose document this is is found."""
    return str(orjson.loads(text.details)[-1])


def indexed(identifier: str, record: SkillRecord, words: str) -> OwnedText:
    """What of a skill is indexed.

    Args:
        identifier: of its document.
        record: its record.
        words: the text by which it is found.
    """
    standing, quality, used = record.standing, record.evidence, record.evidence.last_used_at
    details = [
        record.key.namespace,
        record.key.name,
        record.version_id,
        [standing.origin, standing.lifecycle, standing.trust_tier, standing.reason],
        [quality.invocations, quality.successes, quality.utility, quality.loads, quality.loaded_tokens],
        None if used is None else used.timestamp(),
        [quality.hosted, quality.hosted_successes],
        [*map(sorted, (quality.worked_for, quality.failed_for, quality.reported_working, quality.reported_failing))],
        words,
    ]
    return OwnedText(
        f"{OWNER}:{identifier}",
        " ".join(stems_of(words)),
        weight_of(standing, quality),
        tags=_tags(standing.origin, standing.lifecycle),
        details=orjson.dumps(details),
    )


def _trigger_of(front: str) -> str:
    try:
        trigger = json.loads(front)["trigger_pattern"]
    except (ValueError, KeyError, TypeError):
        return ""
    return trigger[:_LONGEST_TRIGGER] if isinstance(trigger, str) else ""
