"""The states and the counters of a skill, and who may change them; pure.

Rules kept here:
- an outcome is a use that the plugin or the host measured: success `(sr·n + 1)/(n + 1)`, failure `sr·n/(n + 1)`;
  utility rises by 0.1 and falls by 0.05, within 0 and 1;
- what an agent reports is no outcome. Each agent has one report, the latest, and all reports together change the health
  by which found skills are ranked by less than `REPORTS_WEIGHT`. No state, tier or outcome follows from them;
- outcomes are either measured by the host (`plugin.outcome`), which counts each, or from the calls of an agent that
  loaded the skill. An agent counts once for a version, with its latest outcome, however often it uses the skill; so no
  agent decides alone. At most `MAX_USERS` agents count;
- the outcomes of the current version that count decide whether agents are shown a learned skill, whether it is verified
  and its risk; they alone change the utility. All outcomes are added up too, for people who look at them;
- freshness is computed when it is read: 1 before the first use, then `max(0.05, 1 − days/30)` since the last one;
- reading and loading count as loads, not as invocations;
- health = 0.35·utility + 0.25·(1 − redundancy) + 0.20·freshness + 0.20·(1 − risk), where redundancy is
  `min(1, 0.3·similar)` and risk `max(0, 1 − sr)` of the current version from three outcomes that count on, else 0.3;
- an interval of a success rate is Wilson's at 95 % (E. B. Wilson, 1927), so 3 of 3 does not beat 96 of 100;
- `candidate → verified → released → degraded → deprecated → archived`. A promotion goes from candidate to verified,
  from verified to released, from degraded to verified, and from deprecated or archived to degraded; a released skill
  cannot be promoted;
- a new skill of the package is released with trust tier 4, one of a person with 3; a learned one is a candidate with
  tier 1;
- a new version of a learned skill that was verified or released is a candidate with tier 1 again;
- maintenance never raises a state, and never changes a skill of a person or of the package. From five outcomes of the
  current version on it degrades a learned skill, a released one too, whose health is below 0.3, of which less than 30 %
  succeeded, or whose failures took all of its utility;
- a model can raise no trust and change no origin, and it changes learned skills only;
- a list has no deprecated or archived skill unless it is asked for that state;
- agents are shown a learned candidate for its outcomes with the current version that count: of the host, or of two
  agents who did not write it; and never for reports. Who wrote it is shown it when it worked for them;
- with `registry:learn` a skill of the graph changes what was learned, and nothing of a person or of the package;
- a promotion, and any change of the standing of a skill of a person or of the package, needs `registry:manage`, which
  the host gives by loading a skill that declares it;
- a learned skill does not take a name that looks like another one (UTS #39), so that it is not taken for it, nor one
  that is an instruction to a model.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from cortex_skills.errors import CortexError
from cortex_skills.manifest.skill_names import appearance, hyphenated
from cortex_skills.policy.permissions import LEARN, MANAGE
from cortex_skills.safe_io.schemas import shown

UTILITY_GAIN = 0.1
UTILITY_LOSS = 0.05
MIN_FRESHNESS = 0.05
FRESH_DAYS = 30
_Z = 1.959963984540054  # the 97.5 % quantile of the normal distribution
ALL_REDUNDANT = 4  # similar skills: the redundancy is 1 from that number on
REPORTS_WEIGHT = 0.05
MAX_REPORTS = 200  # agents whose reports are kept with a skill
MAX_USERS = 200  # agents whose outcomes with the current version are kept
_REPORTS_HALF = 4  # so many equal reports have half of the weight
_FEW = 3
_RISK_UNKNOWN = 0.3


@dataclass(frozen=True, slots=True)
class Quality:
    """The counters of a skill.

    Attributes:
        invocations: how many outcomes were measured, of all versions.
        successes: how many of them were successes.
        utility: 0 to 1.
        loads: how often it was read or loaded.
        loaded_tokens: what loading it cost altogether, in tokens.
        last_used_at: the time of the last outcome or load; None before the first.
        hosted: how many outcomes of the current version the host measured.
        hosted_successes: how many of these were successes.
        worked_for: the agents whose latest outcome with the current version is a success.
        failed_for: the agents whose latest outcome with the current version is a failure.
        reported_working: the agents whose latest report is that it worked.
        reported_failing: the agents whose latest report is that it did not.
    """

    invocations: int = 0
    successes: int = 0
    utility: float = 0.0
    loads: int = 0
    loaded_tokens: int = 0
    last_used_at: datetime | None = None
    hosted: int = 0
    hosted_successes: int = 0
    worked_for: frozenset[str] = frozenset()
    failed_for: frozenset[str] = frozenset()
    reported_working: frozenset[str] = frozenset()
    reported_failing: frozenset[str] = frozenset()

    @property
    def success_rate(self) -> float:
        """The share of successes, 0 to 1; 0 before the first outcome."""
        return self.successes / self.invocations if self.invocations else 0.0

    @property
    def users(self) -> int:
        """How many agents have an outcome with the current version."""
        return len(self.worked_for) + len(self.failed_for)

    @property
    def current(self) -> int:
        """How many outcomes of the current version count: all of the host, and one of each agent."""
        return self.hosted + self.users

    @property
    def current_successes(self) -> int:
        """How many of these are successes."""
        return self.hosted_successes + len(self.worked_for)

    @property
    def current_rate(self) -> float:
        """The share of successes of the current version, 0 to 1; 0 before its first outcome."""
        return self.current_successes / self.current if self.current else 0.0

    @property
    def reporting(self) -> int:
        """How many agents have reported whether it worked."""
        return len(self.reported_working) + len(self.reported_failing)

    @property
    def reports_weight(self) -> float:
        """What the reports add to the health by which found skills are ranked, within ±`REPORTS_WEIGHT`."""
        working, failing = len(self.reported_working), len(self.reported_failing)
        return REPORTS_WEIGHT * (working - failing) / (working + failing + _REPORTS_HALF)

    @property
    def token_cost(self) -> float:
        """The mean of what loading it costs, in tokens."""
        return self.loaded_tokens / self.loads if self.loads else 0.0

    def after(self, *, success: bool, now: datetime, is_current: bool = True) -> Quality:
        """The counters after one more outcome that the host measured, of the current version or of an earlier one."""
        return replace(
            self._added_up(success=success, now=now),
            utility=_moved(self.utility, UTILITY_GAIN if success else -UTILITY_LOSS),
            hosted=self.hosted + is_current,
            hosted_successes=self.hosted_successes + (is_current and success),
        )

    def after_use(
        self, user: str, *, success: bool, now: datetime, is_current: bool = True, is_author: bool = False
    ) -> Quality:
        """The counters after an outcome that was measured from the calls of an agent that loaded the skill.

        Args:
            user: the agent, as the interface knows it.
            success: how it ended.
            now: the current time, with its zone.
            is_current: whether the current version was loaded; an outcome of an earlier one is only added up.
            is_author: whether the agent wrote a learned skill: its outcome is kept, and changes no utility.
        """
        added = self._added_up(success=success, now=now)
        one = frozenset({user})
        had, failed = one <= self.worked_for, one <= self.failed_for
        if not is_current or (not (had or failed or is_author) and self.users >= MAX_USERS):
            return added
        utility = self.utility
        if not is_author and (had, failed) != (success, not success):
            undone = (UTILITY_LOSS if failed else 0.0) - (UTILITY_GAIN if had else 0.0)
            utility = _moved(utility, undone + (UTILITY_GAIN if success else -UTILITY_LOSS))
        working, failing = self.worked_for - one, self.failed_for - one
        return replace(
            added,
            utility=utility,
            worked_for=working | one if success else working,
            failed_for=failing if success else failing | one,
        )

    def _added_up(self, *, success: bool, now: datetime) -> Quality:
        return replace(self, invocations=self.invocations + 1, successes=self.successes + success, last_used_at=now)

    def without_uses_of(self, agents: frozenset[str]) -> Quality:
        """The counters in which the outcomes of these agents do not count."""
        return replace(self, worked_for=self.worked_for - agents, failed_for=self.failed_for - agents)

    def reported(self, agent: str, *, success: bool) -> Quality:
        """The counters with the report of an agent, which replaces its earlier one."""
        one = frozenset({agent})
        working, failing = self.reported_working - one, self.reported_failing - one
        return replace(
            self,
            reported_working=working | one if success else working,
            reported_failing=failing if success else failing | one,
        )

    def of_new_version(self, authors: frozenset[str]) -> Quality:
        """The counters of a skill whose document has changed: no outcome of it, and no report of its authors."""
        working, failing = self.reported_working - authors, self.reported_failing - authors
        return replace(
            self,
            hosted=0,
            hosted_successes=0,
            worked_for=frozenset(),
            failed_for=frozenset(),
            reported_working=working,
            reported_failing=failing,
        )

    def loaded(self, tokens: int, now: datetime) -> Quality:
        """The counters after it was loaded once more, which cost this many tokens."""
        return replace(self, loads=self.loads + 1, loaded_tokens=self.loaded_tokens + tokens, last_used_at=now)

    def merged(self, other: Quality) -> Quality:
        """The counters of two skills that become one: sums, and means weighted by invocations.

        The outcomes of the current version, and the reports, are those of this skill.
        """
        used = [moment for moment in (self.last_used_at, other.last_used_at) if moment is not None]
        invocations = self.invocations + other.invocations
        utility = max(self.utility, other.utility)
        if invocations:
            weighted = self.utility * self.invocations + other.utility * other.invocations
            utility = round(weighted / invocations, 9)
        return replace(
            self,
            invocations=invocations,
            successes=self.successes + other.successes,
            utility=utility,
            loads=self.loads + other.loads,
            loaded_tokens=self.loaded_tokens + other.loaded_tokens,
            last_used_at=max(used) if used else None,
        )

    def freshness(self, now: datetime) -> float:
        """How recently it was used, 0.05 to 1."""
        if self.last_used_at is None:
            return 1.0
        days = (now - self.last_used_at).total_seconds() / 86_400
        return min(1.0, max(MIN_FRESHNESS, 1 - days / FRESH_DAYS))

    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the success rate; (0, 1) before the first outcome."""
        return wilson(self.successes, self.invocations)


@dataclass(frozen=True, slots=True)
class Health:
    """The health of a skill, each part 0 to 1."""

    overall: float
    utility: float
    redundancy: float
    freshness: float
    risk: float


def health(quality: Quality, similar: int, now: datetime) -> Health:
    """The health of a skill.

    Args:
        quality: its counters.
        similar: how many other skills are similar to it.
        now: the current time, with its zone.
    """
    redundancy = min(1.0, 0.3 * similar)
    fresh = quality.freshness(now)
    current = quality.current
    risk = max(0.0, 1 - quality.current_successes / current) if current >= _FEW else _RISK_UNKNOWN
    overall = 0.35 * quality.utility + 0.25 * (1 - redundancy) + 0.20 * fresh + 0.20 * (1 - risk)
    return Health(overall, quality.utility, redundancy, fresh, risk)


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Wilson's score interval of a proportion, at 95 %.

    >>> tuple(round(bound, 3) for bound in wilson(96, 100)), tuple(round(bound, 3) for bound in wilson(3, 3))
    ((0.902, 0.984), (0.439, 1.0))
    """
    if trials == 0:
        return 0.0, 1.0
    share = successes / trials
    centre = share + _Z**2 / (2 * trials)
    spread = _Z * math.sqrt(share * (1 - share) / trials + _Z**2 / (4 * trials**2))
    scale = 1 + _Z**2 / trials
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def _moved(utility: float, change: float) -> float:
    return round(min(1.0, max(0.0, utility + change)), 9)


def utility_of(successes: int, failures: int) -> float:
    """The utility after outcomes whose order is not known: first the successes, then the failures."""
    return max(0.0, min(1.0, round(UTILITY_GAIN * successes, 9)) - round(UTILITY_LOSS * failures, 9))


Lifecycle = Literal["candidate", "verified", "released", "degraded", "deprecated", "archived"]
Origin = Literal["builtin", "human", "learned"]
STATES: tuple[Lifecycle, ...] = ("candidate", "verified", "released", "degraded", "deprecated", "archived")
ORIGINS: tuple[Origin, ...] = ("builtin", "human", "learned")

_PROMOTED: dict[Lifecycle, Lifecycle] = {
    "candidate": "verified",
    "verified": "released",
    "degraded": "verified",
    "deprecated": "degraded",
    "archived": "degraded",
}
_FIRST: dict[Origin, tuple[Lifecycle, int]] = {
    "builtin": ("released", 4),
    "human": ("released", 3),
    "learned": ("candidate", 1),
}
_UNUSED = (0.1, 3)  # freshness below, invocations below
_UNHEALTHY = (0.3, 5)  # health below, outcomes of the current version from
_RELIABLE_TIER = 2
_RELIABLE_USERS = 2  # agents, where the host measured nothing: one alone brings nothing to others
_RELIABLE_RATE, _RELIABLE_RATE_UNTRUSTED = 0.3, 0.5
TIER_TWO_OUTCOMES = 5


OUT_OF_USE: frozenset[Lifecycle] = frozenset({"deprecated", "archived"})


@dataclass(frozen=True, slots=True)
class Standing:
    """The standing of a skill.

    Attributes:
        origin: who made it.
        lifecycle: its state.
        trust_tier: 1 to 4.
        reason: why it was deprecated or degraded; empty otherwise.
    """

    origin: Origin
    lifecycle: Lifecycle
    trust_tier: int
    reason: str = ""


def first_standing(origin: Origin) -> Standing:
    """The standing of a new skill."""
    lifecycle, tier = _FIRST[origin]
    return Standing(origin, lifecycle, tier)


def revised(standing: Standing) -> Standing:
    """The standing with a new version by the same origin: a learned skill has to show again that it works."""
    if standing.origin == "learned" and standing.lifecycle in ("verified", "released"):
        return first_standing("learned")
    return standing


def following_standing(standing: Standing, origin: Origin) -> Standing:
    """The standing of a skill after its next version, of this origin, was registered."""
    return revised(standing) if standing.origin == origin else first_standing(origin)


def following_state(standing: Standing) -> Lifecycle | None:
    """The state after a promotion; None when there is no higher one."""
    return _PROMOTED.get(standing.lifecycle)


def is_listed(standing: Standing, lifecycle: str | None = None) -> bool:
    """Whether a list has a skill: one in the state that was asked for, or else one that is not out of use."""
    return standing.lifecycle not in OUT_OF_USE if lifecycle is None else standing.lifecycle == lifecycle


def promoted(name: str, standing: Standing) -> Standing:
    """The standing after a promotion, which clears the reason.

    Raises:
        CortexError: `state_conflict`: the skill is released.
    """
    following = following_state(standing)
    if following is None:
        raise CortexError("state_conflict", f"{name} is released already", hint="there is no higher state")
    return Standing(standing.origin, following, standing.trust_tier)


def deprecated(name: str, standing: Standing, reason: str) -> Standing:
    """The standing after a deprecation, which keeps its reason.

    Raises:
        CortexError: `state_conflict`: the skill is deprecated or archived; `invalid_arguments`: the reason is empty.
    """
    if not reason.strip():
        raise CortexError("invalid_arguments", f"{name} cannot be deprecated without a reason", hint="give one")
    if standing.lifecycle in ("deprecated", "archived"):
        raise CortexError("state_conflict", f"{name} is {standing.lifecycle} already", hint="there is nothing to do")
    return Standing(standing.origin, "deprecated", standing.trust_tier, reason)


def archived(standing: Standing, reason: str = "") -> Standing:
    """The standing of a skill that is put away."""
    return Standing(standing.origin, "archived", standing.trust_tier, reason)


def maintained(standing: Standing, quality: Quality, health: Health) -> Standing:
    """The standing that maintenance gives a skill; the same one where nothing is to be done."""
    if standing.origin != "learned" or standing.lifecycle in ("deprecated", "archived"):
        return standing
    if health.freshness < _UNUSED[0] and quality.invocations < _UNUSED[1]:
        return Standing(standing.origin, "deprecated", standing.trust_tier, "unused")
    if quality.current < _UNHEALTHY[1] or standing.lifecycle == "degraded":
        return standing
    if health.overall < _UNHEALTHY[0]:
        return Standing(standing.origin, "degraded", standing.trust_tier, "its health is low")
    if quality.current_rate < _RELIABLE_RATE or quality.utility == 0:
        return Standing(standing.origin, "degraded", standing.trust_tier, "it goes on failing")
    return standing


def tier_after(standing: Standing, quality: Quality) -> int:
    """The trust tier after an outcome: a verified learned skill that succeeds often enough gets tier 2."""
    is_verified = standing.origin == "learned" and standing.lifecycle in ("verified", "released")
    proves_itself = quality.current >= TIER_TWO_OUTCOMES and quality.current_rate >= _RELIABLE_RATE
    return max(standing.trust_tier, _RELIABLE_TIER) if is_verified and proves_itself else standing.trust_tier


def is_reliable(standing: Standing, quality: Quality) -> bool:
    """Whether every agent is shown a skill.

    Args:
        standing: of the skill.
        quality: the counters that decide about it (`SkillRecord.evidence`).
    """
    if standing.lifecycle in ("deprecated", "archived"):
        return False
    if standing.origin in ("human", "builtin") or standing.lifecycle in ("released", "verified"):
        return True
    if not quality.hosted and quality.users < _RELIABLE_USERS:
        return False
    least = _RELIABLE_RATE if standing.trust_tier >= _RELIABLE_TIER else _RELIABLE_RATE_UNTRUSTED
    return quality.current_rate >= least


_INSTRUCTIONS = frozenset({"override", "role", "fake_turn", "secret", "encoded", "hidden", "not_judged"})
MAKERS = {"human": "a person", "builtin": "the package"}


def check_may_restand(action: str, skill: str, origin: str, permissions: Collection[str], who: str) -> None:
    """Whether an agent may change the standing of a registered skill, or remove it.

    Args:
        action: `promote`, `deprecate`, `delete` or `merge`.
        skill: the registered skill.
        origin: who made it.
        permissions: of the agent.
        who: the acting skill, or the agent.

    Raises:
        CortexError: `permission_denied`.
    """
    needed = LEARN if action != "promote" and origin == "learned" else MANAGE
    if needed not in permissions:
        why = f", which was made by {MAKERS[origin]}," if origin in MAKERS else ""
        raise CortexError(
            "permission_denied",
            f"{action} of {skill}{why} needs {needed}, which {who} was not granted",
            hint=f"a person can do it: `cortex-skills registry {_COMMANDS[action]}`",
            details={"missing": [needed], "skill": who, "origin": origin},
        )


def check_learned_name(name: str) -> None:
    """Refuse a name for a learned skill that looks like one in Latin letters, or is an instruction to a model.

    Raises:
        CortexError: `invalid_arguments`.
    """
    like = appearance(name)
    if like != name and like.isascii():
        raise CortexError(
            "invalid_arguments",
            f"the name {shown(name)} looks like {like}, and is another one",
            hint="write it in Latin",
        )
    if is_instruction_name(name):
        raise CortexError("invalid_arguments", "the name of the skill is an instruction", hint="choose another name")


def is_instruction_name(name: str) -> bool:
    """Whether the words of a name are an instruction to a model."""
    from cortex_skills.injection import detect

    return detect(hyphenated(name).replace("-", " ")) in _INSTRUCTIONS


_COMMANDS = {"promote": "promote", "deprecate": "deprecate", "delete": "purge", "merge": "merge"}
