"""A skill with the reflections that it composes with, within a budget of tokens; pure.

Rules kept here:
- a document declares namespaces, each with the least depth of its reflections: a list of `{namespace, min_depth}`, or
  `{namespaces, min_depth}`. The least depth 0, which is the default, takes observations too. What an earlier version
  registered in another form is reported and not read;
- a namespace is read as far as the host allows it, and a reflection within the least depth and `MAX_DEPTH`;
- score = recency (1 − age / 365.25 days, at least 0) + recall (uses / 50, at most 1); the best come first, each text
  once;
- what does not fit into the budget is counted, and smaller ones that follow are taken. The body is not counted;
- how many tokens a text takes is estimated (`tools/token_estimate.py`): a word of up to eight letters is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from cortex_graph.checks.datetimes import date_time
from cortex_graph.naming.names import is_namespace
from cortex_skills.features.memory.model import Memory
from cortex_skills.features.registry.records.skill_record import SkillVersion
from cortex_skills.manifest.declared_reflections import MAX_DEPTH, MAX_ENTRIES, entries_of
from cortex_skills.operations.json_types import Count, MemoryId, SkillVersionId
from cortex_skills.tools.token_estimate import tokens_of

BUDGET, MAX_BUDGET = 4_000, 32_000  # tokens
_YEAR_S = 365.25 * 24 * 3600
_MANY_USES = 50
_WORD = 8  # letters that are one token: 40 words with 20 full stops are at most 70, as ai-memory counts


@dataclass(frozen=True, slots=True)
class Declared:
    """A namespace whose reflections a skill composes with; with a problem when it is not read."""

    namespace: str
    min_depth: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ComposedReflection:
    """A reflection that fits, its text as it is shown, and its score."""

    namespace: str
    memory: Memory
    text: str
    score: float
    tokens: int


@dataclass(frozen=True, slots=True)
class Composition:
    """What is composed.

    Attributes:
        declared: the namespaces, read or not.
        reflections: the best first.
        tokens: what they cost together, estimated.
        dropped: how many did not fit.
        withheld: how many have a text that is not shown.
    """

    declared: tuple[Declared, ...]
    reflections: tuple[ComposedReflection, ...]
    tokens: int
    dropped: int
    withheld: int


def declared_namespaces(given: object, may_read: Callable[[str], bool]) -> tuple[Declared, ...]:
    """The declarations of a document (`composes_with_reflections`).

    Args:
        given: as the document has them.
        may_read: whether the host allows to read the reflections of a namespace.
    """
    return tuple(_declared(entry, may_read) for entry in (entries_of(given) or [])[:MAX_ENTRIES])


def _declared(entry: object, may_read: Callable[[str], bool]) -> Declared:
    name = entry.get("namespace") if isinstance(entry, Mapping) else None
    least = entry.get("min_depth", 0) if isinstance(entry, Mapping) else None
    if not isinstance(name, str) or not is_namespace(name):
        return Declared("", problem="is not the name of a namespace")
    if not isinstance(least, int) or isinstance(least, bool) or least < 0:
        return Declared(name, problem="min_depth is not a whole number from 0")
    if not may_read(name):
        return Declared(name, min(least, MAX_DEPTH + 1), "the host does not allow it (`registry.reflectionNamespaces`)")
    return Declared(name, min(least, MAX_DEPTH + 1))


def composed(
    declared: tuple[Declared, ...],
    reflections: Callable[[str, bool], list[Memory]],
    shown: Callable[[Memory], str | None],
    budget: int,
    now: datetime,
) -> Composition:
    """The reflections that fit into a budget.

    Args:
        declared: the namespaces.
        reflections: all reflections of a namespace that the caller may read, or all memories.
        shown: the text of one as it is shown; None for one that is not.
        budget: tokens.
        now: the current time, with its zone.
    """
    ranked = sorted(_scored(declared, reflections, now), key=lambda each: (-each[0], each[1], each[2].id))
    taken: list[ComposedReflection] = []
    seen: set[str] = set()
    tokens = dropped = withheld = 0
    for score, namespace, memory in ranked:
        if memory.text in seen:
            continue
        seen.add(memory.text)
        text = shown(memory)
        if text is None:
            withheld += 1
            continue
        cost = tokens_of(text, _WORD)
        if tokens + cost > budget:
            dropped += 1
            continue
        tokens += cost
        taken.append(ComposedReflection(namespace, memory, text, round(score, 6), cost))
    return Composition(declared, tuple(taken), tokens, dropped, withheld)


def _scored(
    declared: tuple[Declared, ...], reflections: Callable[[str, bool], list[Memory]], now: datetime
) -> Iterator[tuple[float, str, Memory]]:
    read: dict[str, list[Memory]] = {}
    for each in declared:
        if each.problem:
            continue
        if each.namespace not in read:
            is_any = any(other.min_depth == 0 for other in declared if other.namespace == each.namespace)
            read[each.namespace] = reflections(each.namespace, is_any)
        for memory in read[each.namespace]:
            if each.min_depth <= memory.depth <= MAX_DEPTH:
                yield score_of(memory, now), each.namespace, memory


def score_of(memory: Memory, now: datetime) -> float:
    """How much a reflection counts now, 0 to 2."""
    age = max(0.0, (now - memory.time).total_seconds())
    return max(0.0, 1 - age / _YEAR_S) + min(memory.uses, _MANY_USES) / _MANY_USES


class ComposedNamespace(TypedDict):
    """A namespace whose reflections the skill declares."""

    namespace: str
    min_depth: Count
    max_reflection_depth: Count
    problem: Annotated[str | None, Field(description="Why it was not read.")]


class ComposedEntry(TypedDict):
    """A reflection that fits, or an observation."""

    id: MemoryId
    namespace: str
    content: str
    created_at: str
    access_count: Count
    reflection_depth: Annotated[int, Field(ge=0, le=3)]
    memory_kind: Literal["reflection", "observation"]
    score: Annotated[float, Field(ge=0, le=2)]


class CompositionView(TypedDict):
    """The reflections that a version composes with."""

    skill_id: SkillVersionId
    skill_namespace: str
    skill_name: str
    compositional_namespaces: list[ComposedNamespace]
    reflections: list[ComposedEntry]
    budget_tokens: Count
    tokens_used: Annotated[Count, Field(description="Estimated.")]
    memories_dropped: Annotated[Count, Field(description="How many did not fit.")]


def composition_view(version: SkillVersion, found: Composition, budget: int) -> CompositionView:
    """What a skill is composed with, without its body; the names are those of other registries."""
    return {
        "skill_id": version.id,
        "skill_namespace": version.key.namespace,
        "skill_name": version.key.name,
        "compositional_namespaces": [
            {
                "namespace": each.namespace,
                "min_depth": each.min_depth,
                "max_reflection_depth": MAX_DEPTH,
                "problem": each.problem or None,
            }
            for each in found.declared
        ],
        "reflections": [
            {
                "id": each.memory.id,
                "namespace": each.namespace,
                "content": each.text,
                "created_at": date_time(each.memory.time),
                "access_count": each.memory.uses,
                "reflection_depth": each.memory.depth,
                "memory_kind": "reflection" if each.memory.depth else "observation",
                "score": each.score,
            }
            for each in found.reflections
        ],
        "budget_tokens": budget,
        "tokens_used": found.tokens,
        "memories_dropped": found.dropped,
    }
