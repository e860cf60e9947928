"""Requirements of a verifier: that a number lies in a range, or that a value is in a set.

Rules kept here:
- the verifier states what is sufficient: a proof that a birth year lies between 0 and 9999 is easily made;
- a stronger proof meets a requirement: a narrower range, fewer members;
- the proof must be about the subject of the assertion, and be verified with its anchor.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pyoxigraph import NamedNode

from cortex_graph import GraphError
from cortex_graph.naming.names import Names
from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.verdict import Check
from cortex_skills.features.proofs.zk.claims import Claim, MembershipClaim, RangeClaim

_RANGE = re.compile(r"(-?[0-9]{1,20})\.\.(-?[0-9]{1,20})")
_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,19}")


@dataclass(frozen=True, slots=True)
class Requirement:
    """What must be proved about one property.

    Attributes:
        text: the requirement as written.
        predicate: the name of the property.
        bounds: the least and the greatest number; None for a set.
        members: the values of the set.
    """

    text: str
    predicate: str
    bounds: tuple[int, int] | None = None
    members: frozenset[str | int] = frozenset()

    def is_met(self, claim: Claim, subject: NamedNode, predicate: NamedNode) -> bool:
        """Whether a claim meets the requirement for a subject and a property."""
        if not isinstance(claim, RangeClaim | MembershipClaim):
            return False
        place = claim.commitment
        if (place.subject, place.predicate) != (subject.value, predicate.value):
            return False
        if isinstance(claim, RangeClaim):
            return self.bounds is not None and self.bounds[0] <= claim.minimum and claim.maximum <= self.bounds[1]
        return self.bounds is None and set(claim.members) <= self.members

    def check(self, verified: Iterable[Claim], subject: NamedNode, names: Names) -> Check:
        """Check that one of the verified claims meets the requirement.

        Raises:
            CortexError: `invalid_arguments`: the property is not a valid name.
        """
        try:
            predicate = names.node(self.predicate, "predicate")
        except GraphError as error:
            raise CortexError("invalid_arguments", f"{self.text[:100]!r} is not a requirement: {error}") from None
        met = any(self.is_met(claim, subject, predicate) for claim in verified)
        return Check.of(
            "requirement",
            met,
            f"what you require is proved about the subject: {self.text}, for {predicate}",
            "that you require the right thing, or that the issuer uses that property with the same meaning",
            f"no verified proof shows this about the subject: {self.text}",
        )


def read_requirement(text: str) -> Requirement:
    """Read a requirement: `birthYear=1900..2008`, or `residence=BE,DE,NL`.

    Raises:
        CortexError: `invalid_arguments`: the text is not a requirement.
    """
    predicate, _, wanted = text.partition("=")
    if predicate and (found := _RANGE.fullmatch(wanted)):
        bounds = int(found[1]), int(found[2])
        if bounds[0] <= bounds[1]:
            return Requirement(text, predicate, bounds)
    elif predicate and wanted and all(parts := wanted.split(",")):
        return Requirement(text, predicate, members=frozenset(part for each in parts for part in _values(each)))
    hint = "write a range as birthYear=1900..2008, or a set as residence=BE,DE,NL"
    raise CortexError("invalid_arguments", f"{text[:100]!r} is not a requirement", hint=hint)


def _values(member: str) -> tuple[str | int, ...]:
    """A member as text, and as a number when it is one."""
    return (member, int(member)) if _NUMBER.fullmatch(member) else (member,)
