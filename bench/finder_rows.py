"""The rows of finding, with vectors of this machine: a search and a page of a list, among 100,000 skills and 1,000.

The skills are on disk. Processor time: the thread of the caller does all of it. A query counts if it finds as many
skills among few as among many: each of them is read from the registry.
"""

from __future__ import annotations

import random
import tempfile
import time
from datetime import UTC, datetime
from functools import partial
from itertools import accumulate, chain, cycle
from pathlib import Path

from bench.measure import Row, in_turn_s
from cortex_graph import open_store
from cortex_graph.naming.names import Names
from cortex_skills.features.finder.static_vectors import StaticVectors
from cortex_skills.features.registry.documents.document import SkillDocument, front_of
from cortex_skills.features.registry.records.lifecycle import Quality, first_standing
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillKey, SkillRecord, SkillVersion
from cortex_skills.features.registry.skill_finder import SkillFinder
from cortex_skills.features.registry.views import record_view
from eval.finding import pairs

FEW, MANY = 1_000, 100_000
WORDS, LENGTH = 20_000, 14
ROUNDS = 40
LIMIT, PAGE = 10, 50
_CHUNK = 2_000


def rows() -> list[Row]:
    """All rows."""
    with tempfile.TemporaryDirectory() as scratch:
        few, many = (finder_of(count, Path(scratch, str(count))) for count in (FEW, MANY))
        try:
            return _rows(few, many)
        finally:
            for finder in (few, many):
                finder._registry.store.close()


def _rows(few: SkillFinder, many: SkillFinder) -> list[Row]:
    questions = [question for _, question in pairs("skill_questions.tsv")][:ROUNDS]
    queries = [each for each in questions if all(len(of.find(each, LIMIT).skills) == LIMIT for of in (few, many))]
    turns = {finder: cycle(queries) for finder in (few, many)}

    def searches(finder: SkillFinder):
        return lambda: finder.find(next(turns[finder]), LIMIT)

    of_many, of_few = in_turn_s([searches(many), searches(few)], 1, rounds=ROUNDS, clock=time.process_time)
    pages = [partial(_page, finder) for finder in (many, few)]
    for page in pages:  # the first one of each order makes it
        page("all", None), page("people", "released")
    all_of = in_turn_s([partial(page, "all", None) for page in pages], 1, rounds=ROUNDS, clock=time.process_time)
    some_of = in_turn_s(
        [partial(page, "people", "released") for page in pages], 1, rounds=ROUNDS, clock=time.process_time
    )
    few_words = f"the same among {FEW:,}"
    return [
        Row(f"find a skill among {MANY:,}", of_many, few_words, of_few, 1.3),
        Row(f"the second page of {MANY:,} skills, by success", all_of[0], few_words, all_of[1], 1.3),
        Row("the same of those in one state", some_of[0], few_words, some_of[1], 1.3),
    ]


def _page(finder: SkillFinder, group: str, state: str | None) -> None:
    for skill in finder.listing().ordered(group, state, "success")[PAGE : 2 * PAGE]:
        record_view(finder._registry, finder._registry.record(skill.key), datetime.now(UTC), level=lambda _: "unsigned")


def finder_of(count: int, folder: Path) -> SkillFinder:
    """A finder over the skills of the questions and others, of random words in a Zipf distribution, indexed.

    Those of the questions are there so that a query finds as many skills among few as among many.
    """
    registry = SkillRegistry(open_store(folder), Names("bench"), lambda: None)
    chance = random.Random(count)
    real = sorted({word for _, text in pairs("skills.tsv") for word in text.lower().rstrip(".").split()})
    words = real + ["w" + "".join(chance.choices("bcdfgklmnprt", k=6)) for _ in range(WORDS - len(real))]
    chance.shuffle(words)
    weights = list(accumulate(1 / rank for rank in range(1, WORDS + 1)))
    drawn = (" ".join(chance.choices(words, cum_weights=weights, k=LENGTH)) for _ in range(count))
    texts = chain((text for _, text in pairs("skills.tsv")), drawn)
    for begin in range(0, count, _CHUNK):
        numbers = range(begin, min(count, begin + _CHUNK))
        registry.store.insert([[quad for n in numbers for quad in _quads(registry, n, next(texts))]])
    finder = SkillFinder(registry, StaticVectors())
    finder.find("warm up", timeout_s=3600)
    return finder


def _quads(registry: SkillRegistry, number: int, description: str):
    key = SkillKey("bench", f"skill-{number}")
    document = SkillDocument(namespace=key.namespace, name=key.name, description=description)
    now = datetime.now(UTC)
    version = SkillVersion(
        id=f"{number:08d}-0000-4000-8000-000000000000",
        key=key,
        number=1,
        created=now,
        digest="0" * 64,
        compat_digest="0" * 64,
        kind=document.kind,
        description=description,
        front=front_of(document),
    )
    record = SkillRecord(key, version.id, first_standing("human"), Quality(), now)
    return [*registry.terms.quads_of_version(version), *registry.terms.quads_of_record(record)]
