"""The thread of evidence of an assertion: agent, skill at its version, rules, proof, issuer's signature.

Rules kept here:
- five links, always in this order; each is known, there and not checked, missing, or refuted;
- a link is known when the record states it, or its proof was verified for this reader now. A list checks no proofs;
- everything is a function of what was read and checked before; nothing is read here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache

from cortex_graph.assertions import Assertion
from cortex_skills.features.proofs.assertions import Part
from cortex_skills.features.proofs.kinds.base import SIGNER
from cortex_skills.features.proofs.logic.document import KIND as LOGIC
from cortex_skills.features.proofs.signing import KIND as CREDENTIAL
from cortex_skills.features.proofs.verdict import Verdict


class LinkState(StrEnum):
    """What is known of a link."""

    KNOWN = "known"
    UNCHECKED = "not checked"
    MISSING = "missing"
    REFUTED = "refuted"


_DOTS = {LinkState.KNOWN: "●", LinkState.UNCHECKED: "◐", LinkState.MISSING: "○", LinkState.REFUTED: "◆"}


@dataclass(frozen=True, slots=True)
class EvidenceLink:
    """One link: its state, and the state in words."""

    name: str
    state: LinkState
    words: str


@dataclass(frozen=True)
class EvidenceThread:
    """The five links.

    Attributes:
        links: in their order.
        proofs: how many proofs the record links to.
    """

    links: tuple[EvidenceLink, ...]
    proofs: int = 0

    @cached_property
    def dots(self) -> str:
        """A character for each link: filled: known; half: not checked; hollow: missing; diamond: refuted."""
        return "".join(_DOTS[link.state] for link in self.links)

    @cached_property
    def spoken(self) -> str:
        """All links in words, those of the same words together, and the number of proofs."""
        by_words: dict[str, list[str]] = {}
        for link in self.links:
            by_words.setdefault(link.words, []).append(link.name)
        parts = [f"{', '.join(names)} {words}" for words, names in by_words.items()]
        if self.proofs:
            parts.append(f"{self.proofs} proof{'s' if self.proofs > 1 else ''}")
        return f"Evidence: {'; '.join(parts)}"


def recorded_thread(assertion: Assertion | None) -> EvidenceThread:
    """The thread as far as the record shows it, without checking a proof.

    Args:
        assertion: the assertion; None for a triple without a record.
    """
    if assertion is None:
        return _WITHOUT_RECORD
    return _recorded(assertion.agent is not None, assertion.skill is not None, len(assertion.proofs))


@lru_cache(maxsize=256)
def _recorded(has_agent: bool, has_skill: bool, proofs: int) -> EvidenceThread:
    origin = (_stated("agent", has_agent), _stated("skill", has_skill))
    return EvidenceThread((*origin, *_unchecked(proofs)), proofs)


def _unchecked(proofs: int) -> Iterator[EvidenceLink]:
    for name in ("rules", "proof", "signature"):
        if proofs:
            yield EvidenceLink(name, LinkState.UNCHECKED, "not checked in a list")
        else:
            yield EvidenceLink(name, LinkState.MISSING, "not recorded")


def checked_thread(assertion: Assertion | None, parts: Sequence[Part]) -> EvidenceThread:
    """The thread after all proofs of the assertion were checked for this reader.

    Args:
        assertion: the assertion; None for a triple without a record.
        parts: the results of the checks. That a withdrawn statement is not in the graph refutes no link.
    """
    agent, skill = _origin(assertion)
    record = [part.check.verdict for part in parts if part.check.part == "record" and part.proof is None]
    if Verdict.REFUTED in record:
        why = "the record is of another statement"
        agent, skill = (EvidenceLink(link.name, LinkState.REFUTED, why) for link in (agent, skill))
    if assertion is not None and assertion.withdrawn is not None:
        parts = [part for part in parts if not _is_of_withdrawal(part)]
    logic = [part for part in parts if part.kind == LOGIC]
    credentials = [part for part in parts if part.kind == CREDENTIAL]
    others = [part for part in parts if part.proof is not None and part not in credentials]
    rules = [part for part in logic if part.check.part not in ("signature", SIGNER)]
    return EvidenceThread(
        (
            agent,
            skill,
            _checked("rules", rules, "none were applied"),
            _checked("proof", others, "none"),
            _checked("signature", credentials, "none: no issuer outside vouches for it"),
        ),
        len({part.proof for part in parts if part.proof is not None}),
    )


def _is_of_withdrawal(part: Part) -> bool:
    """Whether a part states no more of a proof of a withdrawn statement than that the statement left the graph."""
    return part.kind == LOGIC and part.check.part == "statement" and part.check.verdict is Verdict.REFUTED


def _origin(assertion: Assertion | None) -> tuple[EvidenceLink, EvidenceLink]:
    if assertion is None:
        words = "unknown: imported, or written without a record"
        return EvidenceLink("agent", LinkState.MISSING, words), EvidenceLink("skill", LinkState.MISSING, words)
    return _stated("agent", assertion.agent is not None), _stated("skill", assertion.skill is not None)


def _stated(name: str, is_known: bool) -> EvidenceLink:
    if not is_known:
        return EvidenceLink(name, LinkState.MISSING, "not recorded")
    return EvidenceLink(name, LinkState.KNOWN, "recorded")


def _checked(name: str, parts: Sequence[Part], without: str) -> EvidenceLink:
    if not parts:
        return EvidenceLink(name, LinkState.MISSING, without)
    by_proof: dict[str | None, list[Verdict]] = {}
    for part in parts:
        by_proof.setdefault(part.proof, []).append(part.check.verdict)
    untrusted = {part.proof for part in parts if part.check.part == SIGNER and part.check.verdict != Verdict.VERIFIED}
    counted = [Verdict.of_all(each) for proof, each in by_proof.items() if proof not in untrusted]
    if Verdict.REFUTED in counted:
        return EvidenceLink(name, LinkState.REFUTED, "refuted")
    if Verdict.VERIFIED in counted:
        return EvidenceLink(name, LinkState.KNOWN, "verified for you now")
    why = "by a signer that is not trusted here" if untrusted and not counted else "not checked"
    return EvidenceLink(name, LinkState.UNCHECKED, why)


_WITHOUT_RECORD = EvidenceThread((*_origin(None), *_unchecked(0)))
