"""A link of the chain that a bundle is: what it is about, and what came of each of its parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from cortex_skills.proofs.verdict import Check, Verdict


@dataclass(frozen=True, slots=True)
class Link:
    """One link.

    Attributes:
        name: `issuer`, `anchor`, `proof`, `requirement`, `skill`, `logic` or `assertion`.
        about: which of its kind, in a few words for a person.
        checks: its parts; at least one.

    """

    name: str
    about: str
    checks: tuple[Check, ...]

    @property
    def verdict(self) -> Verdict:
        """Of the link as a whole."""
        return Verdict.of_all(check.verdict for check in self.checks)

    def why(self) -> str:
        """Why it does not hold, by the first part that does not; empty when it does."""
        bad = [check for check in self.checks if check.verdict is Verdict.REFUTED] or [
            check for check in self.checks if check.verdict is not Verdict.VERIFIED
        ]
        return "" if not bad else f"{bad[0].part}: {bad[0].reasons[0] if bad[0].reasons else bad[0].verdict.value}"

    def to_json(self) -> dict[str, Any]:
        """The link as an answer has it."""
        checks = [check.to_json() for check in self.checks]
        return {"link": self.name, "about": self.about, "verdict": self.verdict.value, "checks": checks}


def broken(links: Iterable[Link]) -> Link | None:
    """The link to name when the chain does not hold: the first that is refuted, else the first that was not checked.

    A requirement that is not met for want of a link before it is not what is broken: that link is.
    """
    bad = [link for link in links if link.verdict is not Verdict.VERIFIED]
    first = next((link for link in bad if link.verdict is Verdict.REFUTED), None)
    return first if first is not None and first.name != "requirement" else next(iter(bad), None)
