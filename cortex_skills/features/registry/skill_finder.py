"""`SkillFinder`: finds registered skills by their words and their meaning; `SkillListing` counts and orders them.

    finder = SkillFinder(registry, embedder)
    for found in finder.find("read a table from a web page", limit=5).skills:
        print(found.record.key, found.version.description, found.score)

Rules kept here:
- a listing does no input or output: it is made of what the index of the finder knows, and made again when the registry
  changes;
- a filter and an order are computed once, so that a page among 100,000 skills costs what one among 1,000 does;
- equal skills come in the order of their names;
- skills whose meaning is similar to the query (more than 0.3) come first; places that are left are filled with skills
  that have words of the query or a weak similarity (more than 0.2). Either are ranked by relevance × quality;
- relevance is the similarity, and a tenth more for the best words: `similarity + 0.1 × coverage / the best coverage`
  (`QueryWords`). Without vectors it is the second term alone, from 0 to 1. These numbers were chosen on half of the
  questions in `eval`;
- quality is the health of a skill as it is now, without its redundancy, so that it costs no search, and at most
  `REPORTS_WEIGHT` more or less for what agents report;
- an agent gets reliable skills, and on request candidates too: they rise only if somebody tries them;
- the index only proposes: each skill is read from the registry before it is returned, so a removed one is never found,
  and one that is malformed is left out;
- the index follows the events of the registry: what they name is read again (`IndexUpdates`).
"""

from __future__ import annotations

import json
import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, cast

from pydantic import Field
from typing_extensions import TypedDict

from cortex_skills.errors import CortexError
from cortex_skills.features.finder.embedders import Embedder
from cortex_skills.features.finder.index_updates import IndexUpdates
from cortex_skills.features.finder.meaning_index import MeaningProblem
from cortex_skills.features.finder.query_words import QueryWords
from cortex_skills.features.finder.text_index import MIN_SIMILARITY, FoundTexts, TextHit, TextIndex
from cortex_skills.features.registry.records.lifecycle import STATES, Quality, Standing, health, is_listed, is_reliable
from cortex_skills.features.registry.records.reading import RegistryReader
from cortex_skills.features.registry.records.skill_record import SkillKey, SkillRecord, SkillVersion
from cortex_skills.manifest.skill_names import hyphenated

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


log = logging.getLogger(__name__)

POOL = 100  # candidates of either kind
WEAK = 0.2
WORDS_SHARE = 0.1
MAX_QUERY = 1_000  # characters
MAX_LIMIT = 100
SAME = 0.78  # the similarity from which two skills are the same
INDEX_TIMEOUT_S = 10.0
_LONGEST_TRIGGER = 500
_LEAST_WEIGHT = {"reliable": 1.0, "candidates": 0.5, "all": 0.0}
_LISTING_AGE = timedelta(hours=1)


How = Literal["meaning", "words", "weak"]
Among = Literal["reliable", "candidates", "all"]
"""Which skills: those that an agent is shown (`lifecycle.is_reliable`), these and candidates, or all."""


class FoundBy(TypedDict):
    """How a skill was found."""

    score: Annotated[float, Field(description="What it is ranked by.")]
    coverage: Annotated[float, Field(description="The weight of the query's words that it has, 0 to 1.")]
    similarity: Annotated[float, Field(description="Of its meaning to the query; 0 without an embedder.")]
    by: How


@dataclass(frozen=True, slots=True)
class FoundSkill:
    """A skill that was found.

    Attributes:
        record: the skill.
        version: its current version.
        score: what it is ranked by.
        coverage: the weight of the query's words that it has, from 0 to 1 (`QueryWords`).
        similarity: of its meaning to the query; 0 without an embedder.
        by: `meaning`, `words`, or `weak` for a similarity that is weak, without words.
    """

    record: SkillRecord
    version: SkillVersion
    score: float
    coverage: float
    similarity: float
    by: str

    def to_json(self) -> FoundBy:
        """The score and how it was found, as a JSON object."""
        return {
            "score": round(self.score, 4),
            "coverage": round(self.coverage, 4),
            "similarity": round(self.similarity, 4),
            "by": cast("How", self.by),
        }


@dataclass(frozen=True, slots=True)
class FoundSkills:
    """The result of a search: the skills, best first, and why meaning was not used (None if it was)."""

    skills: tuple[FoundSkill, ...]
    problem: MeaningProblem | None = None


@dataclass(frozen=True, slots=True)
class _Entry:
    """A skill in the index."""

    number: int
    key: SkillKey
    version_id: str
    standing: Standing
    quality: Quality
    text: str

    @property
    def weight(self) -> float:
        return _weight(self.standing, self.quality)


@dataclass(frozen=True, slots=True)
class _Ranked:
    """A candidate with its place: first those by meaning, then those by words."""

    entry: _Entry
    score: float
    coverage: float
    similarity: float
    by: str

    @property
    def place(self) -> tuple[bool, float, SkillKey]:
        return self.by != "meaning", -self.score, self.entry.key


class SkillFinder:
    """Finds the skills of one registry. Safe to use from several threads.

    Args:
        registry: the registry.
        embedder: finds by meaning too; None for words alone.
        clock: returns the time, in UTC.
    """

    def __init__(
        self,
        registry: RegistryReader,
        embedder: Embedder | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._registry = registry
        self._embedder = embedder
        self._clock = clock
        self._updates = IndexUpdates(self._refresh, "skills")
        self._listing: SkillListing | None = None
        self._clear()

    def find(
        self, query: str, limit: int = 10, *, among: Among = "reliable", timeout_s: float = INDEX_TIMEOUT_S
    ) -> FoundSkills:
        """The skills that match a query, best first.

        Args:
            query: what the skill should do, in any words; 1 to 1,000 characters.
            limit: the maximum number of skills, 1 to 100.
            among: which skills.
            timeout_s: how long to wait for the index, in seconds.

        Raises:
            CortexError: `invalid_arguments`; `graph_busy`: the skills are being indexed.
        """
        if not query.strip() or len(query) > MAX_QUERY:
            raise CortexError("invalid_arguments", f"query must have 1 to {MAX_QUERY:,} characters", hint="shorten it")
        if not 1 <= limit <= MAX_LIMIT:
            raise CortexError("invalid_arguments", f"limit must be from 1 to {MAX_LIMIT}")
        least = _LEAST_WEIGHT[among]
        found, ranked = self._searched(query, least, timeout_s)
        skills: list[FoundSkill] = []
        for each in ranked:
            if len(skills) == limit:
                break
            read = self._read(each.entry.key)
            if read is None or _weight(read[0].standing, read[0].evidence) < least:
                continue
            skills.append(FoundSkill(*read, each.score, each.coverage, each.similarity, each.by))
        return FoundSkills(tuple(skills), found.problem)

    def similar(self, record: SkillRecord, *, timeout_s: float = INDEX_TIMEOUT_S) -> list[tuple[SkillKey, float]]:
        """The other skills that are the same as one, by a similarity above 0.78, the most similar first.

        Raises:
            CortexError: `graph_busy`; `skill_not_found`.
        """
        text = text_of(self._registry.version(record.version_id))
        return self.similar_to(text, but=record.key, timeout_s=timeout_s)

    def similar_to(
        self, text: str, *, but: SkillKey | None = None, timeout_s: float = INDEX_TIMEOUT_S
    ) -> list[tuple[SkillKey, float]]:
        """The skills that are the same as a text, by a similarity above 0.78, the most similar first.

        With an embedder that is the cosine of the meanings; without one, the share of words that both have (Dice).

        Args:
            text: as `text_of` returns it.
            but: a skill that does not count.
            timeout_s: how long to wait for the index, in seconds.
        """
        found, ranked = self._searched(text, 0.0, timeout_s)
        by_meaning = self._embedder is not None and not found.problem
        same = []
        for each in ranked:
            entry = each.entry
            if entry.key == but or entry.standing.lifecycle == "archived":
                continue
            value = each.similarity if by_meaning else self._shared(text, entry.text)
            if value > SAME:
                same.append((entry.key, value))
        return sorted(same, key=lambda pair: (-pair[1], pair[0]))

    def listing(self, *, timeout_s: float = INDEX_TIMEOUT_S) -> SkillListing:
        """The skills as a list that can be filtered and ordered; the same one until the registry changes, for an hour.

        Raises:
            CortexError: `graph_busy`: the skills are being indexed.
        """
        with self._updates.current(timeout_s):
            now = self._clock()
            if self._listing is None or not timedelta() <= now - self._listing.made <= _LISTING_AGE:
                entries = self._by_key.values()
                skills = [ListedSkill(each.key, each.version_id, each.standing, each.quality) for each in entries]
                self._listing = SkillListing(skills, now)
            return self._listing

    # --- searching

    def _searched(self, query: str, min_weight: float, timeout_s: float) -> tuple[FoundTexts, list[_Ranked]]:
        """The candidates of the index, ranked."""
        with self._updates.current(timeout_s):
            found = self._index.search(query, min_weight, POOL, WEAK)
            pairs = [(self._by_number[hit.number], hit) for hit in found.hits]
        return found, sorted(_ranked(pairs, found.asked, self._clock()), key=lambda each: each.place)

    def _read(self, key: SkillKey) -> tuple[SkillRecord, SkillVersion] | None:
        """A skill as the registry has it now; None for one that is gone or malformed."""
        try:
            record = self._registry.find(key)
            return None if record is None else (record, self._registry.version(record.version_id))
        except CortexError as error:
            log.warning("%s is not found: %s", key, error.message)
            return None

    def _shared(self, one: str, other: str) -> float:
        first, second = set(self._index.words_of(one)), set(self._index.words_of(other))
        return 2 * len(first & second) / (len(first) + len(second)) if first or second else 0.0

    # --- the index

    def _clear(self) -> None:
        self._index = TextIndex(self._embedder)
        self._by_key: dict[SkillKey, _Entry] = {}
        self._by_number: dict[int, _Entry] = {}
        self._listing = None
        self._next = 0
        self._seen = -1  # the number of the last event that the index follows
        self._seen_hash = ""

    def _refresh(self) -> None:
        """Read what has changed since the last search."""
        events = self._registry.log
        count = events.count()
        if count == self._seen:
            return
        if self._seen >= 0 and (count < self._seen or not self._follows()):  # the store was replaced
            self._clear()
        if self._seen < 0:
            changed: Iterable[SkillKey] = self._registry.keys()
        else:
            changed = dict.fromkeys(key for event in events.events(self._seen + 1) for key in _keys_of(event.payload))
        last = next(events.events(count), None) if count else None
        self._put(changed)
        self._seen, self._seen_hash = count, last.hash if last is not None else ""

    def _follows(self) -> bool:
        if self._seen == 0:
            return True
        event = next(self._registry.log.events(self._seen), None)
        return event is not None and event.hash == self._seen_hash

    def _put(self, keys: Iterable[SkillKey]) -> None:
        discard: list[int] = []

        def added() -> Iterator[tuple[int, str, float]]:
            for key in keys:
                old = self._by_key.pop(key, None)
                read = self._read(key)
                if read is not None:
                    new = self._entry(*read, old)
                    self._by_key[key] = self._by_number[new.number] = new
                    if old is not None and new.number == old.number:
                        continue
                    yield new.number, new.text, new.weight
                if old is not None:
                    del self._by_number[old.number]
                    discard.append(old.number)

        self._listing = None
        new = list(added())
        if new or discard:
            self._index.change(add=new, discard=discard)

    def _entry(self, record: SkillRecord, version: SkillVersion, old: _Entry | None) -> _Entry:
        """The entry of a skill; with the number of the old one where its text and weight are the same."""
        entry = _Entry(self._next, record.key, version.id, record.standing, record.evidence, text_of(version))
        if old is not None and (old.text, old.weight) == (entry.text, entry.weight):
            return _Entry(old.number, record.key, version.id, record.standing, record.evidence, old.text)
        self._next += 1
        return entry


def _weight(standing: Standing, quality: Quality) -> float:
    if is_reliable(standing, quality):
        return _LEAST_WEIGHT["reliable"]
    return _LEAST_WEIGHT["candidates" if standing.lifecycle == "candidate" else "all"]


def _ranked(pairs: Iterable[tuple[_Entry, TextHit]], asked: QueryWords, now: datetime) -> Iterator[_Ranked]:
    """The candidates with their scores."""
    found = [(entry, hit, asked.coverage(hit.mask)) for entry, hit in pairs]
    best = max((coverage for _, _, coverage in found), default=0.0) or 1.0
    has_vectors = any(hit.similarity is not None for _, hit, _ in found)
    for entry, hit, coverage in found:
        words, similarity = coverage / best, hit.similarity or 0.0
        relevance = similarity + WORDS_SHARE * words if has_vectors else words
        by = "meaning" if similarity > MIN_SIMILARITY else "words" if hit.mask else "weak"
        score = relevance * (health(entry.quality, 0, now).overall + entry.quality.reports_weight)
        yield _Ranked(entry, score, coverage, similarity, by)


def text_of(version: SkillVersion) -> str:
    """The text by which a skill is found: its name, what it does, and what a request that it serves looks like."""
    return searchable(version.key.name, version.description, _trigger_of(version.front))


def searchable(name: str, description: str, trigger: str = "") -> str:
    """The text by which a skill with this name and description is found."""
    return ". ".join(part for part in (hyphenated(name).replace("-", " "), description, trigger) if part)


def _trigger_of(front: str) -> str:
    try:
        trigger = json.loads(front)["trigger_pattern"]
    except (ValueError, KeyError, TypeError):
        return ""
    return trigger[:_LONGEST_TRIGGER] if isinstance(trigger, str) else ""


def _keys_of(payload: str) -> Iterator[SkillKey]:
    """The skills that an event names."""
    try:
        details = json.loads(payload)
        yield SkillKey(str(details["namespace"]), str(details["name"]))
        if isinstance(source := details.get("source"), str):
            yield SkillKey(*source.rsplit("/", 1))
    except (ValueError, KeyError, TypeError):
        return
