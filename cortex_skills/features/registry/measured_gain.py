"""What a learned skill gains: how often it succeeds, beside what the agents had without it.

Rules kept here:
- with the skill: the outcomes of its current version that count (`quality.py`): those of the host, and one of each
  agent who did not write it. What a model reports (`skill_feedback`) is none;
- without it: the ended sessions in which no skill with steps was loaded. One counts a success when all tools of the
  skill succeeded and none failed, and a failure when one of them failed: as a loaded skill does;
- sessions are counted by their tools that succeeded and those that failed, in the graph, `{base}NS/tool-use/HASH`, at
  most `MAX_SETS` of these sets;
- a skill is verified from `MIN_OUTCOMES` measured outcomes on, if the lower bound of its 95 % interval is not below
  that of the sessions without it. So few successes do not beat many.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import cast

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.naming.vocabulary import TYPE
from cortex_graph.store import Pattern
from cortex_skills.features.registry import terms
from cortex_skills.features.registry.content import front_matter
from cortex_skills.features.registry.events import RegistryChange
from cortex_skills.features.registry.quality import Quality, wilson
from cortex_skills.features.registry.reading import RegistryReader
from cortex_skills.features.registry.skill_record import SkillRecord, SkillVersion

MIN_OUTCOMES = 3
MAX_SETS = 1_000
_MAX_TOOLS = 100  # of one session


@dataclass(frozen=True, slots=True)
class MeasuredGain:
    """Successes and outcomes with a skill, and without it."""

    successes: int
    outcomes: int
    successes_without: int
    outcomes_without: int

    @property
    def is_shown(self) -> bool:
        """Whether the skill can be verified."""
        low, low_without = wilson(self.successes, self.outcomes)[0], self._low_without
        return self.outcomes >= MIN_OUTCOMES and low >= low_without

    @property
    def _low_without(self) -> float:
        return wilson(self.successes_without, self.outcomes_without)[0]

    def to_json(self) -> dict[str, int]:
        """The numbers as a JSON object."""
        return asdict(self)

    def __str__(self) -> str:
        """The numbers, for a message."""
        low = wilson(self.successes, self.outcomes)[0]
        return (
            f"{self.successes} of {self.outcomes} measured uses succeeded (at least {low:.0%}), and "
            f"{self.successes_without} of {self.outcomes_without} sessions without it "
            f"(at least {self._low_without:.0%})"
        )


def gain_of(registry: RegistryReader, record: SkillRecord) -> MeasuredGain:
    """The measured gain of a skill."""
    quality: Quality = record.evidence
    tools = tools_of(registry.version(record.version_id))
    successes, outcomes = outcomes_without(registry, tools)
    return MeasuredGain(quality.current_successes, quality.current, successes, outcomes)


def tools_of(version: SkillVersion) -> frozenset[str]:
    """The tools that the steps of a version name."""
    return frozenset(step["tool"] for step in front_matter(version.front)["steps"] if step["tool"])


def outcomes_without(registry: RegistryReader, tools: Collection[str]) -> tuple[int, int]:
    """The successes and the outcomes of sessions with these tools, without a skill that names one."""
    wanted = frozenset(tools)
    successes = outcomes = 0
    for ok, failed, count in _sessions(registry):
        if wanted & failed:
            outcomes += count
        elif wanted and wanted <= ok:
            successes += count
            outcomes += count
    return successes, outcomes


def count_session(registry: RegistryReader, ok: Collection[str], failed: Collection[str], *, actor: str) -> bool:
    """Count a session that has ended, by its tools that succeeded and those that failed; False if it is not counted.

    Raises:
        GraphError: the write failed.
    """
    tools = {"ok": sorted({*ok} - {*failed}), "failed": sorted({*failed})}
    if not 1 <= len(tools["ok"]) + len(tools["failed"]) <= _MAX_TOOLS:
        return False
    text = json.dumps(tools, ensure_ascii=False, sort_keys=True)
    graph = registry.terms.graph
    node = registry.terms.names.beside("tool-use", sha256(text.encode(errors="replace")).hexdigest())

    def decide() -> RegistryChange[bool]:
        quads = list(registry.store.quads(Pattern(graph, node, terms.SESSIONS)))
        if not quads and registry.store.count(Pattern(graph, None, TYPE, terms.TOOL_USE), MAX_SETS) >= MAX_SETS:
            return RegistryChange(False)
        count = 1 + max((_number(quad) for quad in quads), default=0)
        insert = [Quad(node, terms.SESSIONS, Literal(str(count), datatype=terms.INTEGER), graph)]
        if not quads:
            insert += [Quad(node, TYPE, terms.TOOL_USE, graph), Quad(node, terms.TOOLS, Literal(text), graph)]
        return RegistryChange(True, "tools.used", {**tools, "sessions": count}, insert=insert, remove=quads)

    return registry.log.change(decide, actor)


def _sessions(registry: RegistryReader) -> Iterator[tuple[frozenset[str], frozenset[str], int]]:
    """The tools that succeeded, those that failed, and the number of sessions; what is malformed is skipped."""
    graph = registry.terms.graph
    for quad in registry.store.quads(Pattern(graph, None, TYPE, terms.TOOL_USE)):
        about = list(registry.store.quads(Pattern(graph, cast(NamedNode, quad.subject))))
        counts = [_number(each) for each in about if each.predicate == terms.SESSIONS]
        texts = [cast(Literal, each.object).value for each in about if each.predicate == terms.TOOLS]
        try:
            tools = json.loads(texts[0])
            yield frozenset(tools["ok"]), frozenset(tools["failed"]), max(counts, default=0)
        except (ValueError, LookupError, TypeError):
            continue


def _number(quad: Quad) -> int:
    text = quad.object.value if isinstance(quad.object, Literal) else ""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else 0
