"""How a skill was used in the last 30 days, from the events of its registry.

Rules kept here:
- at most the latest `EVENTS_READ` events are read; when they do not reach back 30 days, the words state since when;
- an event that is malformed or about another skill does not count;
- a report of an agent is neither an outcome nor a change.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from cortex_skills.audit.chain import ChainEvent
from cortex_skills.features.registry.events import EventLog
from cortex_skills.features.registry.skill_record import SkillKey

DAYS = 30
EVENTS_READ = 1_000
_LATEST = 8
_USES = ("skill.used", "skill.loaded")


@dataclass(frozen=True, slots=True)
class DayOfUse:
    """A day: outcomes, how many of them were failures, and loads."""

    outcomes: int = 0
    failures: int = 0
    loads: int = 0

    @property
    def total(self) -> int:
        """All uses."""
        return self.outcomes + self.loads


@dataclass(frozen=True, slots=True)
class SkillEvent:
    """A change of the skill: its kind, time, actor and reason."""

    kind: str
    time: str
    actor: str
    reason: str


@dataclass(frozen=True, slots=True)
class SkillUse:
    """The use of a skill.

    Attributes:
        days: the last 30 days, today last; by hours of 24 before now.
        since: the time of the oldest event that was read, when that is less than 30 days ago and there are older ones.
        latest: the latest changes, the newest first.
    """

    days: tuple[DayOfUse, ...]
    since: str
    latest: tuple[SkillEvent, ...]

    @property
    def words(self) -> str:
        """The numbers in words."""
        outcomes, failures, loads = (
            sum(getattr(day, name) for day in self.days) for name in ("outcomes", "failures", "loads")
        )
        since = f"since {self.since[:16].replace('T', ' ')} UTC" if self.since else f"in {DAYS} days"
        counted = (_counted(outcomes, "outcome"), f"{_counted(failures, 'failure')} of them", _counted(loads, "load"))
        return f"{', '.join(counted)} {since}"

    def to_json(self) -> dict[str, Any]:
        """The use as a JSON object."""
        days = [{"outcomes": day.outcomes, "failures": day.failures, "loads": day.loads} for day in self.days]
        return {"days": days, "since": self.since or None}


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def skill_use(log: EventLog, key: SkillKey, now: datetime) -> SkillUse:
    """The use of a skill.

    Args:
        log: the events of its registry.
        key: the skill.
        now: the current time, in UTC.

    Raises:
        CortexError: `graph_corrupt`: an event is malformed.
    """
    counts = [[0, 0, 0] for _ in range(DAYS)]
    first = max(1, log.count() - EVENTS_READ + 1)
    events = list(log.events(first))
    changes: list[SkillEvent] = []
    for event in events:
        details = _details(event, key)
        if details is None:
            continue
        if event.kind == "skill.reported":
            continue
        if event.kind not in _USES:
            changes.append(SkillEvent(event.kind, event.time, event.actor, str(details.get("reason") or "")))
            continue
        day = _day(event, now)
        if day is not None:
            counts[day][0] += event.kind == "skill.used"
            counts[day][1] += event.kind == "skill.used" and details.get("success") is False
            counts[day][2] += event.kind == "skill.loaded"
    is_short = first > 1 and _day(events[0], now) is not None
    return SkillUse(
        tuple(DayOfUse(*each) for each in counts), events[0].time if is_short else "", tuple(changes[-_LATEST:][::-1])
    )


def _details(event: ChainEvent, key: SkillKey) -> dict[str, Any] | None:
    try:
        details = json.loads(event.payload)
        return details if (details["namespace"], details["name"]) == (key.namespace, key.name) else None
    except (ValueError, KeyError, TypeError):
        return None


def _day(event: ChainEvent, now: datetime) -> int | None:
    """Which of the days an event is of; None for an older one."""
    try:
        passed = now - datetime.fromisoformat(event.time)
    except (ValueError, TypeError):
        return None
    return max(0, DAYS - 1 - max(timedelta(), passed).days) if passed < timedelta(days=DAYS) else None
