"""What a rule is: a word, what must stand around it, and how far.

Rules kept here:
- a rule speaks of classes of words (`lexicon`), never of one sentence; which language they are of does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass

from cortex_skills.enrichment.detecting.lexicon import BITS, QUOTED, VERBS

# What the text as a whole holds; found by `signs`.
SIGNS = {name: 1 << place for place, name in enumerate(("URL", "MAIL", "MONEY", "IDENTIFIER", "RISKY", "PLACEHOLDER"))}
URL, MAIL, MONEY, IDENTIFIER, RISKY, PLACEHOLDER = SIGNS.values()


def _any(words: str) -> int:
    return sum(QUOTED if word == "quoted" else BITS[word] for word in words.split())


@dataclass(frozen=True)
class Rule:
    """One way to say an instruction.

    Attributes:
        kind: what is reported.
        head: categories of the word that the rule starts at.
        need: groups of categories, one of each of which must be near.
        signs: signs of which the text must hold one; 0 when it need not.
        back, ahead: how many words belong to it.
        ordering: whether the head must be a verb that gives an order.
        soft: whether it is left out of what looks like a title.
        unless: categories that must not be near.

    """

    kind: str
    head: int
    need: tuple[int, ...]
    signs: int = 0
    back: int = 8
    ahead: int = 12
    ordering: bool = False
    soft: bool = False
    unless: int = 0


def rule(
    kind: str,
    head: str,
    *need: str,
    signs: int = 0,
    back: int = 8,
    ahead: int = 12,
    soft: bool = False,
    unless: str = "",
) -> Rule:
    """A rule whose categories are named, those of a group apart by blanks; `quoted` is a quotation mark."""
    mask = _any(head)
    ordering = bool(mask & VERBS)
    return Rule(kind, mask, tuple(map(_any, need)), signs, back, ahead, ordering, soft, _any(unless))
