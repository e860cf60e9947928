"""The rows of finding: a search among 100,000 skills beside one among 1,000, with vectors of this machine."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from itertools import accumulate

from bench.measure import Row, in_turn_s
from cortex_graph import open_store
from cortex_graph.names import Names
from cortex_skills.finder.static_vectors import StaticVectors
from cortex_skills.registry.content import front_of
from cortex_skills.registry.document import SkillDocument
from cortex_skills.registry.lifecycle import first_standing
from cortex_skills.registry.quality import Quality
from cortex_skills.registry.registry import SkillRegistry
from cortex_skills.registry.skill_finder import SkillFinder
from cortex_skills.registry.skill_record import SkillKey, SkillRecord, SkillVersion
from eval.finding import pairs

FEW, MANY = 1_000, 100_000
WORDS, LENGTH = 20_000, 14
ROUNDS = 40
LIMIT = 10
_CHUNK = 2_000


def rows() -> list[Row]:
    """All rows."""
    queries = [question for _, question in pairs("skill_questions.tsv")][:ROUNDS]
    few, many = (finder_of(count) for count in (FEW, MANY))
    turns = {finder: iter(queries * 3) for finder in (few, many)}

    def searches(finder: SkillFinder):
        return lambda: finder.find(next(turns[finder]), LIMIT)

    of_many, of_few = in_turn_s([searches(many), searches(few)], 1, rounds=ROUNDS)
    return [
        Row(f"find a skill among {MANY:,}", of_many, f"the same among {FEW:,}", of_few, 1.3),
    ]


def finder_of(count: int) -> SkillFinder:
    """A finder over skills with descriptions of random words in a Zipf distribution, indexed."""
    registry = SkillRegistry(open_store("memory:"), Names("bench"), lambda: None)
    chance = random.Random(count)
    real = sorted({word for _, text in pairs("skills.tsv") for word in text.lower().rstrip(".").split()})
    words = real + ["w" + "".join(chance.choices("bcdfgklmnprt", k=6)) for _ in range(WORDS - len(real))]
    chance.shuffle(words)
    weights = list(accumulate(1 / rank for rank in range(1, WORDS + 1)))
    texts = (" ".join(chance.choices(words, cum_weights=weights, k=LENGTH)) for _ in range(count))
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
