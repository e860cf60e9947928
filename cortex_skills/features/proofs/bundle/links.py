"""The links of the chain in a bundle, and the link of the skill.

Rules kept here:
- the skill's files are those of the bundle; none is written to disk or run;
- the signature is checked first, then its publisher; a publisher is not reported for an invalid signature;
- a publisher of whom the verifier knows nothing is `not checked`; what contradicts the trust store is refuted;
- the signature must be of the skill and the version that made the assertion.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.bundle.bundle import Bundle
from cortex_skills.features.proofs.verdict import Check, Verdict
from cortex_skills.safe_io.display import shown_name
from cortex_skills.signatures.statement import Signature, read_signature
from cortex_skills.signatures.trust import Trust, accepted
from cortex_skills.signatures.verifier import check_holds


@dataclass(frozen=True, slots=True)
class Link:
    """One link.

    Attributes:
        name: `issuer`, `anchor`, `proof`, `requirement`, `skill`, `logic` or `assertion`.
        about: what it is about, in a few words for people.
        checks: its parts; at least one.
    """

    name: str
    about: str
    checks: tuple[Check, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict of all parts."""
        return Verdict.of_all(check.verdict for check in self.checks)

    def why(self) -> str:
        """Why the link is not verified, by its first such part; empty when it is."""
        bad = [check for check in self.checks if check.verdict is Verdict.REFUTED] or [
            check for check in self.checks if check.verdict is not Verdict.VERIFIED
        ]
        return "" if not bad else f"{bad[0].part}: {bad[0].reasons[0] if bad[0].reasons else bad[0].verdict.value}"

    def to_json(self) -> dict[str, Any]:
        """The link in an answer."""
        checks = [check.to_json() for check in self.checks]
        return {"link": self.name, "about": self.about, "verdict": self.verdict.value, "checks": checks}


def broken(links: Iterable[Link]) -> Link | None:
    """The link to report for a chain that is not verified: the first that is refuted, else the first not evaluated.

    A requirement can fail because an earlier link does; then the earlier link is reported.
    """
    bad = [link for link in links if link.verdict is not Verdict.VERIFIED]
    first = next((link for link in bad if link.verdict is Verdict.REFUTED), None)
    return first if first is not None and first.name != "requirement" else next(iter(bad), None)


def check_skill(bundle: Bundle, acting: tuple[str, str], publishers: Trust, now: datetime) -> Link:
    """Check the skill in a bundle: its files are signed by a trusted publisher."""
    about = skill_text(acting)
    try:
        signature = read_signature(bundle.signature)
        check_holds(signature, *acting, bundle.skill_files())
    except CortexError as error:
        return Link("skill", about, (_signature(about, error.message),))
    try:
        accepted(signature.statement, publishers, now, first_use=False)
    except CortexError as error:
        publisher = _publisher(signature, error.message)
        if _is_unknown(error, signature, publishers):
            publisher = replace(publisher, verdict=Verdict.NOT_CHECKED)
        return Link("skill", about, (_signature(about), publisher))
    return Link("skill", about, (_signature(about), _publisher(signature)))


def _is_unknown(error: CortexError, signature: Signature, publishers: Trust) -> bool:
    """Whether an error is only that the trust store has neither the publisher nor the skill."""
    statement = signature.statement
    is_known = statement.publisher in publishers.publishers or statement.skill in publishers.seen
    return not is_known and error.details.get("publisher") == statement.publisher


def skill_text(skill: tuple[str, str]) -> str:
    """Name and version of a skill, for display."""
    return " ".join(shown_name(each) for each in skill if each) or "no skill"


def _signature(about: str, *reasons: str) -> Check:
    establishes = f"the files of {about} are the ones that its publisher signed"
    does_not = "that the skill does what it should, or that it is what ran"
    return Check.of("signature", not reasons, establishes, does_not, *reasons)


def _publisher(signature: Signature, *reasons: str) -> Check:
    establishes = f"{signature.statement.publisher}, whom you trust, published it"
    return Check.of("publisher", not reasons, establishes, "that the publisher is right", *reasons)
