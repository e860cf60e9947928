"""What an agent may do without a person, by the trust level that the owner set.

Rules kept here:
- pure: the level, the manifest of the action and one switch decide; nothing is read;
- below the lowest level of an action it is refused, and the refusal names both levels;
- `requiresApproval` wins over every level;
- a level that is missing or not known is `observe`, the lowest one;
- a rule of a person approves more risk at a higher level: at `observe` for none, and of high risk at
  `bounded_auto` alone.

>>> trust_level("bounded-auto"), trust_level(None)
('observe', 'observe')
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, get_args

TrustLevel = Literal["observe", "suggest", "supervised_auto", "bounded_auto"]
Risk = Literal["low", "medium", "high"]

LEVELS: tuple[TrustLevel, ...] = get_args(TrustLevel)
LOWEST: TrustLevel = "observe"

# The actions that `allowReadsWithoutApproval` concerns; no host can register another with one of these ids.
READS = frozenset({"fs_read", "search_index"})

_WITHOUT_APPROVAL: dict[TrustLevel, frozenset[Risk]] = {
    "observe": frozenset(),
    "suggest": frozenset(),
    "supervised_auto": frozenset({"low"}),
    "bounded_auto": frozenset({"low", "medium"}),
}
_BY_RULE: dict[TrustLevel, frozenset[Risk]] = {
    "observe": frozenset(),
    "suggest": frozenset({"low"}),
    "supervised_auto": frozenset({"low", "medium"}),
    "bounded_auto": frozenset({"low", "medium", "high"}),
}


class TrustSubject(Protocol):
    """What is decided about; a manifest of an action is one."""

    @property
    def id(self) -> str:
        """The id of the action."""

    @property
    def risk(self) -> Risk:
        """What it can harm."""

    @property
    def min_trust_level(self) -> TrustLevel:
        """The lowest level that may ask for it."""

    @property
    def requires_approval(self) -> bool:
        """Whether a person approves each call."""


@dataclass(frozen=True, slots=True)
class Run:
    """The action runs."""


@dataclass(frozen=True, slots=True)
class NeedsApproval:
    """A person has to approve the call; `reason` states why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The level is too low: the needed one, and the present one."""

    needed: TrustLevel
    present: TrustLevel


TrustDecision = Run | NeedsApproval | Refused


def trust_level(value: object) -> TrustLevel:
    """A level as it was stored; `observe` for anything that is not a level."""
    return next((level for level in LEVELS if level == value), LOWEST)


def decide(level: object, action: TrustSubject, *, allow_reads: bool = False) -> TrustDecision:
    """Whether an action runs, waits for a person, or is refused.

    Args:
        level: the trust level, as it was stored.
        action: the manifest of the action.
        allow_reads: whether files and memories are read at every level without approval.
    """
    present = trust_level(level)
    if LEVELS.index(present) < LEVELS.index(action.min_trust_level):
        return Refused(action.min_trust_level, present)
    if action.requires_approval:
        return NeedsApproval(f"{action.id} needs the approval of a person at every trust level")
    if action.risk in _WITHOUT_APPROVAL[present] or (allow_reads and action.id in READS):
        return Run()
    return NeedsApproval(f"at the trust level {present} an action of {action.risk} risk needs the approval of a person")


def may_be_ruled(level: object, risk: Risk) -> bool:
    """Whether a rule may approve a call with this risk."""
    return risk in _BY_RULE[trust_level(level)]
