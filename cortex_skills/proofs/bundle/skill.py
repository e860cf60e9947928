"""The link of the skill: that its files are the ones which a publisher signed whom the verifier trusts.

Rules kept here:
- the files are those of the bundle, and lie nowhere; nothing of them is run;
- the signature first, then whose it is; of one that does not hold, nothing else is said;
- the signature has to be of the very skill and version that made the assertion.
"""

from __future__ import annotations

from datetime import datetime

from cortex_skills.errors import CortexError
from cortex_skills.escaping import shown_name
from cortex_skills.proofs.bundle.document import Bundle
from cortex_skills.proofs.bundle.links import Link
from cortex_skills.proofs.verdict import Check, Verdict
from cortex_skills.signatures.statement import Signature, read_signature
from cortex_skills.signatures.trust import Trust, accepted
from cortex_skills.signatures.verifier import check_holds


def check_skill(bundle: Bundle, acting: tuple[str, str], publishers: Trust, now: datetime) -> Link:
    """What holds of the skill in a bundle.

    Args:
        bundle: as it was read.
        acting: the name of the skill that made the assertion, and its version.
        publishers: whom the verifier trusts.
        now: the time to go by, with its zone.

    """
    about = named(acting)
    try:
        signature = _held(bundle, acting)
    except CortexError as error:
        return Link("skill", about, (_signature(about, error.message),))
    try:
        accepted(signature.statement, publishers, now, first_use=False)
    except CortexError as error:
        return Link("skill", about, (_signature(about), _publisher(signature, error.message)))
    return Link("skill", about, (_signature(about), _publisher(signature)))


def named(skill: tuple[str, str]) -> str:
    """A skill and its version, to be shown."""
    return " ".join(shown_name(each) for each in skill if each) or "no skill"


def _held(bundle: Bundle, acting: tuple[str, str]) -> Signature:
    signature = read_signature(bundle.signature)
    check_holds(signature, *acting, bundle.skill_files())
    return signature


def _signature(about: str, *reasons: str) -> Check:
    return Check(
        "signature",
        Verdict.REFUTED if reasons else Verdict.VERIFIED,
        f"the files of {about} are the very ones that its publisher signed",
        "that the skill does what it should, or that it is what ran",
        reasons,
    )


def _publisher(signature: Signature, *reasons: str) -> Check:
    return Check(
        "publisher",
        Verdict.REFUTED if reasons else Verdict.VERIFIED,
        f"{signature.statement.publisher}, whom you trust, published it",
        "that the publisher is right",
        reasons,
    )
