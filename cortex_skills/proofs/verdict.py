"""What a check says: one of three values, what it establishes, and what it does not.

Rules kept here:
- what was not checked is `not_evaluated`, never `verified`;
- a verdict over several parts is `refuted` when any part is, and `verified` only when every part is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from cortex_skills.proofs.wording import instructs

_LEFT_OUT = "(left out: what the proof says here reads like an instruction)"


class Verdict(StrEnum):
    """What came of a check."""

    VERIFIED = "verified"
    REFUTED = "refuted"
    NOT_EVALUATED = "not_evaluated"

    @classmethod
    def of_all(cls, verdicts: Iterable[Verdict]) -> Verdict:
        """The verdict of a whole; `not_evaluated` when it has no parts."""
        found = set(verdicts)
        if cls.REFUTED in found:
            return cls.REFUTED
        return cls.VERIFIED if found == {cls.VERIFIED} else cls.NOT_EVALUATED


@dataclass(frozen=True, slots=True)
class Check:
    """What came of checking one part of a proof or of what an assertion carries.

    Attributes:
        part: what was checked, as a word that a program can go by: `signature`, `logic`, `anchor`, ….
        verdict: what came of it.
        establishes: what holds if the verdict is `verified`, in a sentence for a person.
        does_not_establish: what does not follow from it, in a sentence for a person.
        reasons: why the verdict is what it is; empty when there is nothing to say.

    """

    part: str
    verdict: Verdict
    establishes: str
    does_not_establish: str
    reasons: tuple[str, ...] = ()

    def for_a_model(self) -> Check:
        """The same, without what somebody else's proof tells a model to do."""

        def cleaned(text: str) -> str:
            return _LEFT_OUT if instructs(text) else text

        return replace(self, establishes=cleaned(self.establishes), reasons=tuple(map(cleaned, self.reasons)))

    def to_json(self) -> dict[str, Any]:
        """The check as an answer has it."""
        return {
            "part": self.part,
            "verdict": self.verdict.value,
            "establishes": self.establishes,
            "doesNotEstablish": self.does_not_establish,
            "reasons": list(self.reasons),
        }
