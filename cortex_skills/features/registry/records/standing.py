"""Changes of the standing and the counters of registered skills, and the gain of a learned skill.

The gain is how often a learned skill succeeds, beside what the agents had without it.

Rules kept here:
- with the skill: the outcomes of its current version that count (`lifecycle.py`): those of the host, and one of each
  agent who did not write it. What a model reports (`skill_feedback`) is none;
- without it: the ended sessions in which no skill with steps was loaded. One counts a success when all tools of the
  skill succeeded and none failed, and a failure when one of them failed: as a loaded skill does;
- sessions are counted by their tools that succeeded and those that failed, in the graph, `{base}NS/tool-use/HASH`, at
  most `MAX_SETS` of these sets;
- a skill is verified from `MIN_OUTCOMES` measured outcomes on, if the lower bound of its 95 % interval is not below
  that of the sessions without it. So few successes do not beat many;
- each change is one transaction with its event;
- the rules of states and tiers are those of `lifecycle.py`; who may ask for a change is decided by the caller;
- an outcome is recorded with its event, so that the success of a skill can be counted again. One that was measured
  from the calls of an agent counts as `lifecycle.py` states, and has that agent in its event;
- a report of an agent is kept once, the latest, and an author's never; it changes no state, tier or outcome.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import cast

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.naming.vocabulary import TYPE
from cortex_graph.store import Pattern
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.documents.document import front_matter
from cortex_skills.features.registry.records import lifecycle, terms
from cortex_skills.features.registry.records.events import RegistryChange
from cortex_skills.features.registry.records.lifecycle import (
    ALL_REDUNDANT,
    MAX_REPORTS,
    Quality,
    Standing,
    health,
    wilson,
)
from cortex_skills.features.registry.records.reading import RegistryReader
from cortex_skills.features.registry.records.skill_record import SkillKey, SkillRecord, SkillVersion
from cortex_skills.safe_io.display import whole_characters

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


class StandingChanges(RegistryReader):
    """Promotes, deprecates and archives skills, and counts their outcomes."""

    def promote(self, key: SkillKey, *, actor: str, unmeasured: bool = False) -> SkillRecord:
        """Raise the state of a skill by one.

        Args:
            key: the skill.
            actor: in whose name it is done.
            unmeasured: verify a learned skill whose gain was not measured, because a person has checked it.

        Raises:
            CortexError: `state_conflict`: it is released; `gain_not_measured`: a learned skill is verified if it
                does not do worse than the agents did without it; `skill_not_found`.
        """

        def stand(record: SkillRecord) -> Standing:
            return self.raised(record, unmeasured=unmeasured)

        return self._restand(key, "skill.promoted", stand, actor, unmeasured=True if unmeasured else None)

    def raised(self, record: SkillRecord, *, unmeasured: bool = False) -> Standing:
        """The standing that `promote` gives a skill; nothing is changed.

        Raises:
            CortexError: as `promote`.
        """
        standing = lifecycle.promoted(str(record.key), record.standing)
        if standing.lifecycle == "verified" and standing.origin == "learned" and not unmeasured:
            self._check_gain(record)
        return standing

    def _check_gain(self, record: SkillRecord) -> None:
        gain = gain_of(self, record)
        if not gain.is_shown:
            raise CortexError(
                "gain_not_measured",
                f"{record.key} is not verified: {gain}",
                hint=f"{MIN_OUTCOMES} measured uses that do not do worse, or a person who checks it: "
                "`cortex-skills registry promote --unmeasured`",
                details=gain.to_json(),
            )

    def deprecate(self, key: SkillKey, reason: str, *, actor: str) -> SkillRecord:
        """Take a skill out of use, with a reason.

        Raises:
            CortexError: `state_conflict`: it is deprecated; `invalid_arguments`: the reason is empty;
                `skill_not_found`.
        """
        return self._restand(
            key, "skill.deprecated", lambda r: lifecycle.deprecated(str(key), r.standing, reason), actor
        )

    def retire(self, key: SkillKey, reason: str = "", *, actor: str) -> SkillRecord:
        """Archive a skill, which no other one may depend on.

        Raises:
            CortexError: `skill_in_use`: others depend on it; `skill_not_found`.
        """

        def archived(record: SkillRecord) -> Standing:
            self.check_unused(key)
            return lifecycle.archived(record.standing, reason)

        return self._restand(key, "skill.retired", archived, actor)

    def unretire(self, key: SkillKey, *, actor: str) -> SkillRecord:
        """Bring an archived skill back, as degraded.

        Raises:
            CortexError: `state_conflict`: it is not archived; `skill_not_found`.
        """

        def back(record: SkillRecord) -> Standing:
            if record.standing.lifecycle != "archived":
                raise CortexError("state_conflict", f"{key} is not archived, but {record.standing.lifecycle}")
            return lifecycle.promoted(str(key), record.standing)

        return self._restand(key, "skill.unretired", back, actor)

    def degrade(self, key: SkillKey, reason: str, *, actor: str) -> SkillRecord:
        """Mark a skill as degraded, with a reason."""
        return self._restand(
            key, "skill.degraded", lambda r: replace(r.standing, lifecycle="degraded", reason=reason), actor
        )

    def trust(self, key: SkillKey, tier: int, *, actor: str) -> SkillRecord:
        """Give a skill a trust tier, 1 to 4.

        Raises:
            CortexError: `invalid_arguments`: there is no such tier; `skill_not_found`.
        """
        if tier not in (1, 2, 3, 4):
            raise CortexError("invalid_arguments", f"{tier} is not a trust tier", hint="1 to 4")
        return self._restand(key, "skill.trusted", lambda r: replace(r.standing, trust_tier=tier), actor)

    def maintain(self, similar: Callable[[SkillRecord], int], *, actor: str) -> list[SkillRecord]:
        """Deprecate learned skills that are not used, and degrade those that fail; returns those that were changed.

        Args:
            similar: how many other skills are similar to one.
            actor: in whose name it is done.
        """
        changed = []
        for record, _ in self.to_maintain(similar):
            new = self._restand(record.key, "skill.maintained", lambda r: self._maintained(r, similar), actor)
            changed.append(new)
        return changed

    def to_maintain(self, similar: Callable[[SkillRecord], int]) -> list[tuple[SkillRecord, Standing]]:
        """The skills that `maintain` would change, and the standing that each would get."""
        pairs = [(record, self._maintained(record, similar)) for record in self.all_records()]
        return [(record, standing) for record, standing in pairs if standing != record.standing]

    def outcome(
        self,
        key: SkillKey,
        *,
        success: bool,
        actor: str,
        note: str = "",
        version_id: str | None = None,
        user: str | None = None,
    ) -> SkillRecord:
        """Record a measured use, with success or without; a verified skill that proves itself gets tier 2.

        Args:
            key: the skill.
            success: whether it led to what it promises.
            actor: who used it.
            note: why, at most 500 characters of which are kept.
            version_id: the version that was used; the current one by default.
            user: whose calls it was measured from, as the interface knows them: it counts once for a version. None for
                an outcome that the host measured.
        """
        who = None if user is None else whole_characters(user)

        def decide() -> RegistryChange[SkillRecord]:
            record, now = self.record(key), datetime.now(UTC)
            is_current = version_id in (None, record.version_id)
            if who is None:
                quality = record.quality.after(success=success, now=now, is_current=is_current)
            else:
                wrote = record.standing.origin == "learned" and who in record.authors
                quality = record.quality.after_use(
                    who, success=success, now=now, is_current=is_current, is_author=wrote
                )
            used = replace(record, quality=quality)
            tier = lifecycle.tier_after(record.standing, used.evidence)
            new = replace(used, standing=replace(record.standing, trust_tier=tier))
            details = {
                "success": success,
                "note": note[:500],
                "invocations": quality.invocations,
                "version": version_id or record.version_id,
            }
            if who is not None:
                details["user"] = who
            return self._rewrite("skill.used", new, record, details)

        return self.log.change(decide, actor)

    def report(
        self,
        key: SkillKey,
        *,
        success: bool,
        actor: str,
        reporter: str | None = None,
        session: str = "",
        note: str = "",
    ) -> tuple[SkillRecord, str]:
        """Keep what an agent reports about a skill; it replaces the agent's earlier report.

        Args:
            key: the skill.
            success: whether it worked, as the agent states.
            actor: on whose behalf.
            reporter: who reports, as the interface knows them; the actor by default.
            session: the id of the session of the report (`LearnedIn.session`); empty for that of the plugin.
            note: why, at most 500 characters of which are kept in the event.

        Returns:
            The record, and why the report does not count; empty when it does.
        """
        who = whole_characters(actor if reporter is None else reporter)

        def problem_of(record: SkillRecord) -> str:
            learned_in = self.version(record.version_id).learned_in
            if session and learned_in is not None and learned_in.session == session:
                return "it was learned in this session"
            return _not_counted(record, who)

        def decide() -> RegistryChange[SkillRecord]:
            record = self.record(key)
            quality = record.quality.reported(who, success=success)
            if problem_of(record) or (quality == record.quality and not note):
                return RegistryChange(record)
            details = {"success": success, "note": note[:500], "reporter": who}
            return self._rewrite("skill.reported", replace(record, quality=quality), record, details)

        record = self.log.change(decide, actor)
        return record, problem_of(record)

    def loaded(self, key: SkillKey, tokens: int, *, actor: str) -> SkillRecord:
        """Record that a skill was loaded, and what that cost."""

        def decide() -> RegistryChange[SkillRecord]:
            record = self.record(key)
            quality = record.quality.loaded(tokens, datetime.now(UTC))
            return self._rewrite("skill.loaded", replace(record, quality=quality), record, {"tokens": tokens})

        return self.log.change(decide, actor)

    def _maintained(self, record: SkillRecord, similar: Callable[[SkillRecord], int]) -> Standing:
        standing, quality, now = record.standing, record.evidence, datetime.now(UTC)
        # Similar skills are searched for only where they can make a difference: that is the slow part.
        if lifecycle.maintained(standing, quality, health(quality, ALL_REDUNDANT, now)) == standing:
            return standing
        return lifecycle.maintained(standing, quality, health(quality, similar(record), now))

    def _restand(
        self,
        key: SkillKey,
        kind: str,
        stand: Callable[[SkillRecord], Standing],
        actor: str,
        unmeasured: bool | None = None,
    ) -> SkillRecord:
        def decide() -> RegistryChange[SkillRecord]:
            record = self.record(key)
            standing = stand(record)
            if standing == record.standing:
                return RegistryChange(record)
            details: dict[str, object] = {
                "from": record.standing.lifecycle,
                "to": standing.lifecycle,
                "tier": standing.trust_tier,
                "reason": standing.reason,
            }
            if unmeasured is not None:
                details["unmeasured"] = unmeasured
            new = replace(record, standing=standing)
            if standing.lifecycle == "verified" != record.standing.lifecycle:
                new = replace(new, validated=datetime.now(UTC))
            return self._rewrite(kind, new, record, details)

        return self.log.change(decide, actor)

    def _rewrite(
        self, kind: str, new: SkillRecord, old: SkillRecord, details: Mapping[str, object]
    ) -> RegistryChange[SkillRecord]:
        whole = {**named(new.key), **details}
        return RegistryChange(new, kind, whole, insert=self._written(new, old), remove=self._gone(new, old))

    def _written(self, new: SkillRecord, old: SkillRecord | None) -> list[Quad]:
        """The quads of a record that the store does not have yet."""
        before = set() if old is None else set(self._quads(self.terms.record(old.key)))
        return [quad for quad in self.terms.quads_of_record(new) if quad not in before]

    def _gone(self, new: SkillRecord, old: SkillRecord | None) -> list[Quad]:
        """The stored quads of a record that it no longer has."""
        if old is None:
            return []
        after = set(self.terms.quads_of_record(new))
        return [quad for quad in self._quads(self.terms.record(old.key)) if quad not in after]

    def check_unused(self, key: SkillKey, gone: Collection[SkillKey] = ()) -> None:
        """Refuse a change of a skill that others depend on, without those that are gone by then.

        Raises:
            CortexError: `skill_in_use`.
        """
        others = [each for each in self.dependents(key) if each not in gone]
        if others:
            names = ", ".join(other.name for other in others[:20])
            raise CortexError(
                "skill_in_use",
                f"{key} cannot be removed: {names} depend on it",
                hint="change or remove those first",
                details={"dependents": [str(other) for other in others]},
            )


def _not_counted(record: SkillRecord, reporter: str) -> str:
    """Why the report of an agent about a skill does not count; empty when it does."""
    quality = record.quality
    if reporter in record.authors:
        return "who wrote a skill does not report on it"
    if record.standing.origin == "learned" and not record.authors:
        return "it is not known who wrote it; a next version states it"
    if quality.reporting >= MAX_REPORTS and reporter not in quality.reported_working | quality.reported_failing:
        return f"{MAX_REPORTS} agents have reported already"
    return ""


def named(key: SkillKey) -> dict[str, object]:
    """The skill that an event is about, for its payload."""
    return {"namespace": key.namespace, "name": key.name}
