"""What a rule is, and whether it holds in a sentence: a word, the words it needs near it, and how near.

Rules kept here:
- a rule names categories of words (`lexicon`), never a sentence, so it holds in every language;
- the kind of a text is that of the first rule that holds in its first sentence with one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from cortex_skills.injection.grammar import TO_READER
from cortex_skills.injection.lexicon import BITS, LATE, MAYBE, ORDER, QUOTED, VERBS
from cortex_skills.injection.signatures import SIGNS

_BEFORE_VERB = 3  # words before a verb that gives an order may belong to it, unless its language puts verbs last


@dataclass(frozen=True, slots=True)
class WordRule:
    """One way to word an instruction.

    Attributes:
        kind: what is reported.
        head: categories of the word that the rule begins at.
        need: groups of categories; one of each group must be near.
        signs: signs (`signatures.SIGNS`) of which the text must have one; 0 for none.
        back, ahead: how many words before and behind the head are near.
        ordering: whether the head must be a verb that gives an order.
        soft: whether the rule passes over text that looks like a title.
        unless: categories that must not be near.

    """

    kind: str
    head: int
    need: tuple[int, ...]
    signs: int
    back: int
    ahead: int
    ordering: bool
    soft: bool
    unless: int


def rule(
    kind: str,
    head: str,
    *need: str,
    signs: str = "",
    back: int = 8,
    ahead: int = 12,
    soft: bool = False,
    unless: str = "",
) -> WordRule:
    """A rule by the names of its categories; those of a group are separated by blanks; `quoted` is a quotation mark."""
    mask = _any_of(head)
    wanted = sum(SIGNS[name] for name in signs.split())
    groups = tuple(map(_any_of, need))
    return WordRule(kind, mask, groups, wanted, back, ahead, bool(mask & VERBS), soft, _any_of(unless))


def first_kind(rules: Sequence[WordRule], among: Iterable[list[int]], signs: int, is_title: bool) -> str | None:
    """The kind of the first rule that holds in one of some sentences; None when none does.

    Args:
        rules: in the order of their precedence.
        among: sentences as `grammar` gives them.
        signs: the lesser signs of the text.
        is_title: whether the text looks like a title.

    """
    asked = [rule for rule in rules if (not rule.signs or rule.signs & signs) and not (rule.soft and is_title)]
    for words in among:
        whole = reduce(or_, words, 0)
        for one in asked:
            if one.head & whole and all(group & whole for group in one.need) and _holds(one, words):
                return one.kind
    return None


def _any_of(names: str) -> int:
    return sum(QUOTED if name == "quoted" else BITS[name] for name in names.split())


def _holds(rule: WordRule, words: list[int]) -> bool:
    return any(mask & rule.head and _holds_at(rule, words, place) for place, mask in enumerate(words))


def _holds_at(rule: WordRule, words: list[int], place: int) -> bool:
    mask = words[place]
    back = min(rule.back, _BEFORE_VERB) if rule.ordering and not mask & LATE else rule.back
    near = reduce(or_, words[max(place - back, 0) : place] + words[place + 1 : place + 1 + rule.ahead], 0)
    if near & rule.unless or not all(near & group for group in rule.need):
        return False
    return not rule.ordering or bool(mask & ORDER) or bool(mask & MAYBE and near & TO_READER)
