"""The states of a skill, and who may change them; pure.

Rules kept here:
- `candidate → verified → released → degraded → deprecated → archived`. A promotion goes from candidate to verified,
  from verified to released, from degraded to verified, and from deprecated or archived to degraded; a released skill
  cannot be promoted;
- a new skill of the package is released with trust tier 4, one of a person with 3; a learned one is a candidate with
  tier 1;
- a new version of a learned skill that was verified or released is a candidate with tier 1 again;
- maintenance never raises a state, and never changes a skill of a person or of the package;
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

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from cortex_skills.errors import CortexError
from cortex_skills.features.registry.quality import Health, Quality
from cortex_skills.manifest.skill_names import appearance
from cortex_skills.policy.permissions import LEARN, MANAGE
from cortex_skills.safe_io.schemas import shown

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
    if health.overall < _UNHEALTHY[0] and quality.current >= _UNHEALTHY[1] and standing.lifecycle != "degraded":
        return Standing(standing.origin, "degraded", standing.trust_tier, "its health is low")
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
    from cortex_skills.injection import detect

    if detect(name.replace("-", " ")) in _INSTRUCTIONS:
        raise CortexError("invalid_arguments", "the name of the skill is an instruction", hint="choose another name")


_COMMANDS = {"promote": "promote", "deprecate": "deprecate", "delete": "purge", "merge": "merge"}
