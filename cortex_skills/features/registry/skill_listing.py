"""`SkillListing`: counts and orders the registered skills.

Rules kept here:
- a listing does no input or output: it is made of what the index of the finder has, and made again when the registry
  changes;
- a filter and an order are computed once, so that a page among 100,000 skills costs what one among 1,000 does;
- equal skills come in the order of their names.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cortex_skills.features.registry.records.lifecycle import STATES, Quality, Standing, is_listed
from cortex_skills.features.registry.records.skill_record import SkillKey

_NEVER = datetime(1, 1, 1, tzinfo=UTC)
_MAX_ORDERS = 16


@dataclass(frozen=True, slots=True)
class ListedSkill:
    """What a list knows of a skill: its standing, its counters, and its current version."""

    key: SkillKey
    version_id: str
    standing: Standing
    quality: Quality


GROUPS: Mapping[str, Callable[[Standing], bool]] = {
    "all": lambda _: True,
    "people": lambda standing: standing.origin == "human",
    "learned": lambda standing: standing.origin == "learned",
    "released": lambda standing: standing.lifecycle == "released",
    "deprecated": lambda standing: standing.lifecycle in ("deprecated", "archived"),
}


def in_group(standing: Standing, group: str, state: str | None) -> bool:
    """Whether a list of a group has a skill: that of the deprecated ones asks for them."""
    if group == "deprecated" and state is None:
        return GROUPS[group](standing)
    return GROUPS[group](standing) and is_listed(standing, state)


ORDERS: Mapping[str, Callable[[ListedSkill], tuple[Any, ...]]] = {
    "name": lambda _: (),
    "success": lambda skill: (-skill.quality.interval()[0], -skill.quality.invocations),
    "utility": lambda skill: (-skill.quality.utility,),
    "used": lambda skill: (_NEVER - (skill.quality.last_used_at or _NEVER),),
    "trust": lambda skill: (-skill.standing.trust_tier,),
}


@dataclass(frozen=True, slots=True)
class RegistryFigures:
    """Numbers of a registry.

    Attributes:
        total: how many skills.
        active: how many of them are neither deprecated nor archived.
        utility, freshness: the means, 0 to 1; 0 without a skill.
    """

    total: int
    active: int
    utility: float
    freshness: float


class SkillListing:
    """The skills of a registry as they were when it was made. Safe to use from several threads.

    Args:
        skills: all of them.
        now: the time that freshness is computed for, in UTC.
    """

    def __init__(self, skills: Sequence[ListedSkill], now: datetime) -> None:
        self.made = now
        self._skills = skills
        self._lock = threading.Lock()
        self._ordered: dict[tuple[str, str | None, str], list[ListedSkill]] = {}
        total = len(skills)
        gone = sum(map(GROUPS["deprecated"], (skill.standing for skill in skills)))
        utility = sum(skill.quality.utility for skill in skills) / (total or 1)
        freshness = sum(skill.quality.freshness(now) for skill in skills) / (total or 1)
        self.figures = RegistryFigures(total, total - gone, utility, freshness)
        self._states = {
            name: Counter(skill.standing.lifecycle for skill in skills if accepts(skill.standing))
            for name, accepts in GROUPS.items()
        }

    def states(self, group: str) -> dict[str, int]:
        """How many skills of a group are in each state."""
        return {state: self._states[group][state] for state in STATES}

    def ordered(self, group: str = "all", state: str | None = None, order: str = "name") -> Sequence[ListedSkill]:
        """The skills of a group in a state, in an order.

        Args:
            group: one of `GROUPS`.
            state: None for those in use.
            order: one of `ORDERS`.
        """
        wanted = (group, state, order)
        with self._lock:
            found = self._ordered.pop(wanted, None)
            if found is None:
                place = ORDERS[order]
                found = sorted(
                    (skill for skill in self._skills if in_group(skill.standing, group, state)),
                    key=lambda skill: (place(skill), skill.key),
                )
            self._ordered[wanted] = found  # the latest is the last
            if len(self._ordered) > _MAX_ORDERS:
                del self._ordered[next(iter(self._ordered))]
        return found
