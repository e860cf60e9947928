"""What is granted at an installation: from answers, and from what an earlier version was granted.

Rules kept here:
- everything is pure. A denial wins over a grant, an answer over an earlier one;
- what nobody answered is open, and an artifact with an open request is not installed;
- what this host never allows (capabilities of the device) is denied without a question;
- a denial of a part of a request denies the whole: a request is never cut into what is left;
- a grant that is narrower than the request answers it; one that the artifact does not request is not kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.installed.artifact_grants import NEVER_HERE, Grant, common, covers, overlap

_MAX_SHOWN = 20


@dataclass(frozen=True, slots=True)
class GrantAnswers:
    """What the user answered: grants, denials, and what becomes of the rest (True, False, or None for open)."""

    grant: frozenset[Grant] = frozenset()
    deny: frozenset[Grant] = frozenset()
    rest: bool | None = None


@dataclass(frozen=True, slots=True)
class GrantDecision:
    """What is granted, what is denied, and which requests are open."""

    granted: frozenset[Grant]
    denied: frozenset[Grant]
    open: frozenset[Grant]

    def check_complete(self, what: str) -> None:
        """Refuse an installation with open requests.

        Args:
            what: the artifact, for the message.

        Raises:
            CortexError: `grants_required`; its hint names the options that answer.
        """
        if not self.open:
            return
        names = [str(grant) for grant in sorted(self.open)]
        more = f" and {len(names) - _MAX_SHOWN} more" if len(names) > _MAX_SHOWN else ""
        raise CortexError(
            "grants_required",
            f"{what} requests {', '.join(names[:_MAX_SHOWN])}{more}, which was neither granted nor denied",
            hint="answer with --grant KIND=VALUE or --deny KIND=VALUE for each, --grant-all or --deny-all",
            details={"requested": names},
        )


def decide(
    wanted: Iterable[Grant],
    answers: GrantAnswers,
    requested_before: Iterable[Grant] = (),
    granted_before: Iterable[Grant] = (),
) -> GrantDecision:
    """What is granted, denied and open.

    Args:
        wanted: what the artifact requests.
        answers: of the user.
        requested_before: what the version before requested, and was answered.
        granted_before: what it was granted.
    """
    requested_before, granted_before = tuple(requested_before), tuple(granted_before)
    granted, denied, asked = set[Grant](), set[Grant](), set[Grant]()
    for grant in wanted:
        answer = _answer(grant, answers)
        if answer is None and _covered(grant, requested_before) and answers.rest is not True:
            answer = common([grant], granted_before)
        elif answer is None and answers.rest is not None:
            answer = {grant} if answers.rest else set()
        if answer is None:
            asked.add(grant)
        elif answer:
            granted |= answer
        else:
            denied.add(grant)
    return GrantDecision(frozenset(granted), frozenset(denied), frozenset(asked))


def _answer(grant: Grant, answers: GrantAnswers) -> set[Grant] | None:
    """What is granted of a request by its own answers; None without one."""
    if grant.kind in NEVER_HERE or _covered(grant, answers.deny):
        return set()
    is_denied = any(overlap(each, grant) for each in answers.deny)
    if not is_denied and _covered(grant, answers.grant):
        return {grant}
    narrower = {each for each in answers.grant if covers(grant, each)}
    narrower = {each for each in narrower if not any(overlap(each, denied) for denied in answers.deny)}
    return narrower if narrower or is_denied else None


def _covered(grant: Grant, by: Iterable[Grant]) -> bool:
    return any(covers(each, grant) for each in by)
