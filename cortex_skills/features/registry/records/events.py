"""The chain of registry events in the graph, changes that are made with one, and the use of a skill by its events.

Rules kept here:
- an event is `{base}NS/event/N` in the registry graph, with the number N of the chain; it is never changed or removed;
- a change of the registry and its event are written in one transaction, which claims the number N. So of two writers
  one makes its change, and the other reads the registry again: the chain cannot fork, and no change is based on a state
  that another one replaced;
- the number of the last event is found by search over the numbers, which have no gaps;
- the use of a skill in the last 30 days is read from at most the latest `EVENTS_READ` events; when they do not reach
  back 30 days, the words state since when;
- an event that is malformed or about another skill does not count;
- a report of an agent is neither an outcome nor a change.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.exceptions import GraphBusy
from cortex_graph.naming.vocabulary import DATE_TIME, GENERATED_AT, TYPE
from cortex_graph.store import GraphStore, Pattern
from cortex_graph.store_access.claims import apply_claimed
from cortex_graph.store_access.read_ahead import Ahead
from cortex_skills.audit.chain import ChainEvent, ChainFault, Signer, Verify, first_fault, next_event
from cortex_skills.features.registry.documents.document import corrupt
from cortex_skills.features.registry.records import terms
from cortex_skills.features.registry.records.skill_record import RegistryTerms, SkillKey
from cortex_skills.safe_io.display import whole_characters

_ATTEMPTS = 200
NEXT = 2  # events that are asked for beside the last known one
_TEXTS = {
    "kind": terms.EVENT_KIND,
    "actor": terms.ACTOR,
    "payload": terms.PAYLOAD,
    "prev_hash": terms.PREV_HASH,
    "attest": terms.ATTEST,
    "key": terms.PUBLIC_KEY,
    "signature": terms.SIGNATURE,
    "hash": terms.HASH,
}
_OPTIONAL = ("key", "signature")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RegistryChange(Generic[T]):
    """What a change writes.

    Attributes:
        kind: the kind of its event; empty when there is nothing to change.
        details: the payload of its event, as JSON.
        result: what the change answers when it was made.
        insert: the quads to write.
        remove: the quads to remove.
    """

    result: T
    kind: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    insert: Sequence[Quad] = ()
    remove: Sequence[Quad] = ()


class EventLog:
    """The events of the registry of one namespace.

    Args:
        store: the store.
        registry: the nodes of the registry.
        signer: opens the key that signs events, when the first one is written; None leaves them unsigned.
        completed: of what a change inserts and removes, all that is inserted.
    """

    def __init__(
        self,
        store: GraphStore,
        registry: RegistryTerms,
        signer: Callable[[], Signer | None],
        completed: Callable[[Sequence[Quad], Sequence[Quad]], Sequence[Quad]] = lambda insert, _: insert,
    ) -> None:
        self._store = store
        self._registry = registry
        self._signer = signer
        self._completed = completed
        self._known = 0  # an event with this number exists
        self.stream = f"registry:{registry.names.graph.value}"

    def change(self, decide: Callable[[], RegistryChange[T]], actor: str) -> T:
        """Make a change and its event, in one transaction.

        Args:
            decide: reads the registry and returns the change; called again when another writer was faster.
            actor: who makes it.

        Raises:
            GraphBusy: other writers were faster each time.
        """
        for _ in range(_ATTEMPTS):
            before = self.last()
            change = decide()
            if not change.kind:
                return change.result
            who = whole_characters(actor)
            event = next_event(
                self.stream, before, change.kind, who, change.details, datetime.now(UTC), key=self._signer()
            )
            claim, *quads = self._quads(event)
            if apply_claimed(
                self._store, claim, [*quads, *self._completed(change.insert, change.remove)], change.remove
            ):
                self._known = event.sequence
                return change.result
        raise GraphBusy("the registry is written to repeatedly, and nothing was changed", hint="try again later")

    def ahead(self, since: int | None = None) -> Iterator[Ahead]:
        """What `last` reads, and the events since a number, if there are no more than `NEXT` new ones."""
        first = self._known if since is None else min(since, self._known)
        for number in range(max(first, 1), max(first, self._known) + NEXT + 1):
            yield Pattern(self._registry.graph, self._registry.event(number))

    def last(self) -> ChainEvent | None:
        """The last event; None when there is none."""
        number = self.count()
        return None if number == 0 else self._read(number)

    def count(self) -> int:
        """How many events there are."""
        low, step = self._known, 1
        if low and not self._exists(low):  # the store was replaced
            low = 0
        while self._exists(low + step):
            low += step
            step *= 2
        while step > 1:
            step //= 2
            if self._exists(low + step):
                low += step
        self._known = low
        return low

    def events(self, since: int = 1) -> Iterator[ChainEvent]:
        """The events from a number on; a missing one ends them.

        Raises:
            CortexError: `graph_corrupt`: an event is malformed.
        """
        number = since
        while (event := self._find(number)) is not None:
            yield event
            number += 1

    def verify(self, verify: Verify, since: int = 1, level_of: Callable[[str], str] | None = None) -> ChainFault | None:
        """The first broken, missing or forged event from a number on; None when there is none."""
        return first_fault(self._all(since), self.stream, verify, since=since, level_of=level_of)

    def _all(self, since: int) -> Iterator[ChainEvent]:
        """Every event from a number on, also behind a gap."""
        quads = self._store.quads(Pattern(self._registry.graph, None, terms.SEQUENCE))
        texts = [quad.object.value for quad in quads if isinstance(quad.object, Literal)]
        for number in sorted(int(text) for text in texts if text.isdecimal() and int(text) >= since):
            if (event := self._find(number)) is not None:
                yield event

    def _exists(self, number: int) -> bool:
        pattern = Pattern(self._registry.graph, self._registry.event(number), terms.HASH)
        return self._store.count(pattern, 1) > 0

    def _read(self, number: int) -> ChainEvent:
        event = self._find(number)
        return event if event is not None else corrupt(f"the event {number} of the registry is missing")

    def _find(self, number: int) -> ChainEvent | None:
        node = self._registry.event(number)
        values: dict[NamedNode, str] = {}
        for quad in self._store.quads(Pattern(self._registry.graph, node)):
            if quad.predicate in values:
                corrupt(f"the event {number} of the registry has two values of {quad.predicate}")
            values[quad.predicate] = quad.object.value if isinstance(quad.object, Literal) else ""
        if not values:
            return None
        try:
            texts = {name: values.get(term, "") if name in _OPTIONAL else values[term] for name, term in _TEXTS.items()}
            return ChainEvent(
                stream=self.stream, sequence=int(values[terms.SEQUENCE]), time=values[GENERATED_AT], **texts
            )
        except (KeyError, ValueError):
            return corrupt(f"the event {number} of the registry is incomplete")

    def _quads(self, event: ChainEvent) -> list[Quad]:
        """The quads of an event, its claim first."""
        node, graph = self._registry.event(event.sequence), self._registry.graph
        quads = [
            Quad(node, terms.HASH, Literal(event.hash), graph),
            Quad(node, TYPE, terms.EVENT, graph),
            Quad(node, terms.SEQUENCE, Literal(str(event.sequence), datatype=terms.INTEGER), graph),
            Quad(node, GENERATED_AT, Literal(event.time, datatype=DATE_TIME), graph),
        ]
        for name, term in _TEXTS.items():
            value = getattr(event, name)
            if name != "hash" and (value or name not in _OPTIONAL):
                quads.append(Quad(node, term, Literal(value), graph))
        return quads


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
