"""`SkillFinder`: finds registered skills by their words and their meaning.

    finder = SkillFinder(registry, embedder)
    for found in finder.find("read a table from a web page", limit=5).skills:
        print(found.record.key, found.version.description, found.score)

Rules kept here:
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
- the index is that of all processes (`skill_index.py`). In memory are the vectors, if there is an embedder, and after a
  page of the list the standings of all skills.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal, cast

from pydantic import Field
from typing_extensions import TypedDict

from cortex_graph.store_access.read_ahead import reading_ahead
from cortex_skills.errors import CortexError
from cortex_skills.features.finder.embedders import Embedder
from cortex_skills.features.finder.meaning_index import MeaningProblem
from cortex_skills.features.finder.owned_documents import OwnedText
from cortex_skills.features.finder.owned_texts import OwnedTexts
from cortex_skills.features.finder.query_words import QueryWords
from cortex_skills.features.finder.text_meanings import MIN_SIMILARITY, TextMeanings
from cortex_skills.features.finder.word_stems import stems_of
from cortex_skills.features.registry.records.lifecycle import health
from cortex_skills.features.registry.records.reading import RegistryReader
from cortex_skills.features.registry.records.skill_record import SkillKey, SkillRecord, SkillVersion
from cortex_skills.features.registry.skill_index import SkillIndex, read_skill
from cortex_skills.features.registry.skill_listing import ListedSkill, SkillListing
from cortex_skills.features.registry.skill_texts import (
    CANDIDATE,
    OWNER,
    RELIABLE,
    listed_in,
    tag_of,
    text_of,
    weight_of,
    words_of,
)

POOL = 100  # candidates of either kind
WEAK = 0.2
WORDS_SHARE = 0.1
MAX_QUERY = 1_000  # characters
MAX_LIMIT = 100
SAME = 0.78  # the similarity from which two skills are the same
INDEX_TIMEOUT_S = 10.0
_LEAST_WEIGHT = {"reliable": RELIABLE, "candidates": CANDIDATE, "all": 0.0}
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
class _Hit:
    """A text that matches: which words of the query it has, and the similarity of its meaning if that was compared."""

    text: OwnedText
    mask: int
    similarity: float | None


@dataclass(frozen=True, slots=True)
class _Matching:
    """What matches a query, and why meaning was not used."""

    asked: QueryWords
    hits: tuple[_Hit, ...]
    problem: MeaningProblem | None


@dataclass(frozen=True, slots=True)
class _Ranked:
    """A candidate with its place: first those by meaning, then those by words."""

    skill: ListedSkill
    text: OwnedText
    score: float
    coverage: float
    similarity: float
    by: str

    @property
    def place(self) -> tuple[bool, float, SkillKey]:
        return self.by != "meaning", -self.score, self.skill.key


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
        self._clock = clock
        self._index = SkillIndex(registry)
        self._lock = threading.Lock()
        self._texts = OwnedTexts(OWNER)
        self._meanings = None if embedder is None else TextMeanings(embedder, _words)
        self._listing: SkillListing | None = None
        self._listed: tuple[tuple[int, int], dict[str, ListedSkill]] = (-1, -1), {}

    def find(
        self,
        query: str,
        limit: int = 10,
        *,
        among: Among = "reliable",
        group: str = "",
        state: str | None = None,
        timeout_s: float = INDEX_TIMEOUT_S,
    ) -> FoundSkills:
        """The skills that match a query, best first.

        Args:
            query: what the skill should do, in any words; 1 to 1,000 characters.
            limit: the maximum number of skills, 1 to 100.
            among: which skills.
            group: only those of a group (`skill_listing.GROUPS`), in a state, or in use if that is None.
            state: see `group`.
            timeout_s: how long to wait for the index, in seconds.

        Raises:
            CortexError: `invalid_arguments`; `graph_busy`: the skills are being indexed.
        """
        if not query.strip() or len(query) > MAX_QUERY:
            raise CortexError("invalid_arguments", f"query must have 1 to {MAX_QUERY:,} characters", hint="shorten it")
        if not 1 <= limit <= MAX_LIMIT:
            raise CortexError("invalid_arguments", f"limit must be from 1 to {MAX_LIMIT}")
        least = _LEAST_WEIGHT[among]
        found, ranked = self._searched(query, least, timeout_s, tag_of(group, state) if group else "")
        skills: list[FoundSkill] = []
        first = [each.skill.key for each in ranked[:limit]]
        with reading_ahead(self._registry.store, lambda: self._registry.ahead_of(first, versions=True)):
            for each in ranked:
                if len(skills) == limit:
                    break
                read = read_skill(self._registry, each.skill.key)
                if read is None or weight_of(read[0].standing, read[0].evidence) < least:
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
        by_meaning = self._meanings is not None and not found.problem
        words = frozenset(stems_of(text))
        same = []
        for each in ranked:
            skill = each.skill
            if skill.key == but or skill.standing.lifecycle == "archived":
                continue
            value = each.similarity if by_meaning else _shared(words, each.text.words)
            if value > SAME:
                same.append((skill.key, value))
        return sorted(same, key=lambda pair: (-pair[1], pair[0]))

    def listing(self, *, timeout_s: float = INDEX_TIMEOUT_S) -> SkillListing:
        """The skills as a list that can be filtered and ordered; the same one until the registry changes, for an hour.

        Raises:
            CortexError: `graph_busy`: the skills are being indexed.
        """
        with self._lock:
            self._texts.follow(self._index.view(timeout_s))
            before, skills = self._listed
            if before != self._texts.state:
                if before[0] != self._texts.state[0]:
                    skills = {text.key: listed_in(text) for text in self._texts.every()}
                for key, text in self._texts.changed.items():
                    skills.pop(key, None)
                    if text is not None:
                        skills[key] = listed_in(text)
                self._listed, self._listing = (self._texts.state, skills), None
            now = self._clock()
            if self._listing is None or not timedelta() <= now - self._listing.made <= _LISTING_AGE:
                self._listing = SkillListing(list(skills.values()), now)
            return self._listing

    def _searched(
        self, query: str, min_weight: float, timeout_s: float, tag: str = ""
    ) -> tuple[_Matching, list[_Ranked]]:
        """The candidates of the index, ranked."""
        with self._lock:
            self._texts.follow(self._index.view(timeout_s))
            found = self._matching(query, min_weight, tag)
        return found, sorted(_ranked(found, self._clock()), key=lambda each: each.place)

    def _matching(self, query: str, min_weight: float, tag: str) -> _Matching:
        texts, meanings = self._texts, self._meanings
        similar: dict[str, float] = {}
        problem = None
        asked = texts.asked(query)
        numbers = texts.search(asked, min_weight, POOL, tag)
        if meanings is not None:
            meanings.follow(texts)
            similar, problem = meanings.search(query, min_weight, POOL, WEAK)
            numbers = list(dict.fromkeys((*numbers, *texts.numbers_of(similar))))
        found = list(texts.texts(numbers).values())
        if meanings is not None:
            similar |= meanings.similarities(text.id for text in found if text.id not in similar)
        hits = (_Hit(text, text.mask(asked.words), similar.get(text.id)) for text in found)
        wanted = (hit for hit in hits if hit.mask or (hit.similarity is not None and hit.similarity > WEAK))
        return _Matching(asked, tuple(hit for hit in wanted if hit.text.is_wanted(min_weight, tag)), problem)


def _words(texts: Iterable[OwnedText]) -> Iterator[tuple[str, str]]:
    return ((text.id, words_of(text)) for text in texts)


def _ranked(matching: _Matching, now: datetime) -> Iterator[_Ranked]:
    """The candidates with their scores."""
    found = [(hit, matching.asked.coverage(hit.mask)) for hit in matching.hits]
    best = max((coverage for _, coverage in found), default=0.0) or 1.0
    has_vectors = any(hit.similarity is not None for hit, _ in found)
    for hit, coverage in found:
        skill, words, similarity = listed_in(hit.text), coverage / best, hit.similarity or 0.0
        relevance = similarity + WORDS_SHARE * words if has_vectors else words
        by = "meaning" if similarity > MIN_SIMILARITY else "words" if hit.mask else "weak"
        score = relevance * (health(skill.quality, 0, now).overall + skill.quality.reports_weight)
        yield _Ranked(skill, hit.text, score, coverage, similarity, by)


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of words that both have (Dice)."""
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 0.0
