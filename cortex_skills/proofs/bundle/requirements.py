"""What a verifier wants to have proved: that a number lies within bounds, or that a value is one of some.

Rules kept here:
- it is the verifier who says what is enough: that somebody was born between 0 and 9999 is easily proved;
- a proof that claims more than is wanted is enough: a narrower range, fewer members;
- it has to be about the subject of the assertion, and to hold with its anchor.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pyoxigraph import NamedNode

from cortex_graph import GraphError
from cortex_graph.names import Names
from cortex_skills.errors import CortexError
from cortex_skills.proofs.verdict import Check, Verdict
from cortex_skills.proofs.zk.claims import Claim, MembershipClaim, RangeClaim

_RANGE = re.compile(r"(-?[0-9]{1,20})\.\.(-?[0-9]{1,20})")
_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,19}")


@dataclass(frozen=True, slots=True)
class Requirement:
    """What is to be proved of one property.

    Attributes:
        text: as the verifier wrote it.
        predicate: the property's name.
        bounds: the least and the greatest number; None for a set.
        members: the values of the set.

    """

    text: str
    predicate: str
    bounds: tuple[int, int] | None = None
    members: frozenset[str | int] = frozenset()

    def is_met(self, claim: Claim, subject: NamedNode, predicate: NamedNode) -> bool:
        """Whether a claim says what is wanted, of this property of this subject."""
        if not isinstance(claim, RangeClaim | MembershipClaim):
            return False
        place = claim.commitment
        if (place.subject, place.predicate) != (subject.value, predicate.value):
            return False
        if isinstance(claim, RangeClaim):
            return self.bounds is not None and self.bounds[0] <= claim.minimum and claim.maximum <= self.bounds[1]
        return self.bounds is None and set(claim.members) <= self.members

    def check(self, held: Iterable[Claim], subject: NamedNode, names: Names) -> Check:
        """Whether one of the claims that hold is what is wanted.

        Args:
            held: the claims of the proofs that hold, anchors included.
            subject: whom the assertion is about.
            names: of the assertion's namespace, in which the property is named.

        Raises:
            CortexError: `invalid_arguments`: the property has no name that could be one.

        """
        try:
            predicate = names.node(self.predicate, "predicate")
        except GraphError as error:
            raise CortexError("invalid_arguments", f"{self.text[:100]!r} is no requirement: {error}") from None
        met = any(self.is_met(claim, subject, predicate) for claim in held)
        return Check(
            "requirement",
            Verdict.VERIFIED if met else Verdict.REFUTED,
            f"what you require is proved of the subject: {self.text}, of {predicate}",
            "that you require the right thing, or that the issuer means by that property what you do",
            () if met else (f"no proof that holds shows this of the subject: {self.text}",),
        )


def read_requirement(text: str) -> Requirement:
    """A requirement as it is written: `birthYear=1900..2008`, or `residence=BE,DE,NL`.

    Raises:
        CortexError: `invalid_arguments`: it is none.

    """
    predicate, _, wanted = text.partition("=")
    if predicate and (found := _RANGE.fullmatch(wanted)):
        bounds = int(found[1]), int(found[2])
        if bounds[0] <= bounds[1]:
            return Requirement(text, predicate, bounds)
    elif predicate and wanted and all(parts := wanted.split(",")):
        return Requirement(text, predicate, members=frozenset(part for each in parts for part in _meant(each)))
    hint = "write a range as birthYear=1900..2008, or a set as residence=BE,DE,NL"
    raise CortexError("invalid_arguments", f"{text[:100]!r} is no requirement", hint=hint)


def _meant(member: str) -> tuple[str | int, ...]:
    """A member as a text, and as the number that it may be."""
    return (member, int(member)) if _NUMBER.fullmatch(member) else (member,)
