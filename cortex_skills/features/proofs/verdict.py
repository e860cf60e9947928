"""The result of a check: one of four words, what it establishes, and what it does not.

Rules kept here:
- every interface has the same four words: `verified`, `well-formed`, `not checked`, `refuted`;
- a part that was not checked is `not checked`, never `verified`. What obeys the core rules, where no rule of its skill
  or namespace applied, is `well-formed`: nothing about its meaning was checked;
- the verdict of several parts is `refuted` when one part is, and `verified` only when all parts are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from cortex_skills.injection.quoted_instructions import instructs

_LEFT_OUT = "(left out: this text of the proof reads like an instruction)"


class Verdict(StrEnum):
    """The value of a check."""

    VERIFIED = "verified"
    WELL_FORMED = "well-formed"
    NOT_CHECKED = "not checked"
    REFUTED = "refuted"

    @property
    def holds(self) -> bool:
        """Whether everything was checked, and nothing is refuted."""
        return self in (Verdict.VERIFIED, Verdict.WELL_FORMED)

    @classmethod
    def of_all(cls, verdicts: Iterable[Verdict]) -> Verdict:
        """The verdict of several parts; `not checked` without parts."""
        found = set(verdicts)
        weakest = (each for each in (cls.REFUTED, cls.NOT_CHECKED, cls.WELL_FORMED) if each in found)
        return next(weakest, cls.VERIFIED if found else cls.NOT_CHECKED)

    @classmethod
    def of_proofs(cls, verdicts: Iterable[Verdict]) -> Verdict:
        """The verdict of several proofs of one statement: a verified one adds to those that show its form."""
        found = set(verdicts)
        return cls.of_all(found - {cls.WELL_FORMED} if cls.VERIFIED in found else found)


@dataclass(frozen=True, slots=True)
class Check:
    """The check of one part of a proof or of an assertion.

    Attributes:
        part: what was checked, a word for programs: `signature`, `logic`, `anchor`, ….
        verdict: the result.
        establishes: what holds if the verdict is `verified`, a sentence for people.
        does_not_establish: what does not follow from it, a sentence for people.
        reasons: the reasons for the verdict; may be empty.
        rules: the names of the rule sets that were applied; empty for a check that applies none.
    """

    part: str
    verdict: Verdict
    establishes: str
    does_not_establish: str
    reasons: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()

    @classmethod
    def of(cls, part: str, is_right: bool, establishes: str, does_not_establish: str, *why_not: str) -> Check:
        """A check that is verified, or refuted for some reasons."""
        if is_right:
            return cls(part, Verdict.VERIFIED, establishes, does_not_establish)
        return cls(part, Verdict.REFUTED, establishes, does_not_establish, why_not)

    def for_a_model(self) -> Check:
        """The check without texts of a proof that read like instructions to a model."""

        def cleaned(text: str) -> str:
            return _LEFT_OUT if instructs(text) else text

        reasons, rules = tuple(map(cleaned, self.reasons)), tuple(map(cleaned, self.rules))
        return replace(self, establishes=cleaned(self.establishes), reasons=reasons, rules=rules)

    def to_json(self) -> dict[str, Any]:
        """The check in an answer."""
        return {
            "part": self.part,
            "verdict": self.verdict.value,
            "establishes": self.establishes,
            "doesNotEstablish": self.does_not_establish,
            "reasons": list(self.reasons),
        }
