"""What a rule is, and whether it holds in a sentence: a word, the words it needs near it, and how near.

Rules kept here:
- a rule names categories of words (`lexicon`), never a sentence, so it holds in every language;
- the kind of a text is that of the first rule that holds in its first sentence with one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import or_

from cortex_skills.injection.grammar import NEAR, TO_READER
from cortex_skills.injection.lexicon import BITS, LATE, MAYBE, ORDER, QUOTED, SIGN_BITS, VERBS
from cortex_skills.injection.signatures import SIGNS

_MOST_CACHED = 1 << 15
_BEFORE_VERB = 3  # words before a verb that gives an order may belong to it, unless its language puts verbs last


@dataclass(frozen=True, slots=True)
class WordRule:
    """One way to word an instruction.

    Attributes:
        kind: what is reported.
        head: categories of the word that the rule begins at.
        need: groups of categories; one of each group must be near.
        signs: signs (`lexicon.SIGN_BITS`) of which one must be in the sentence or next to it, `grammar.NEAR` words away
            at most; 0 for none.
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

    @property
    def groups(self) -> tuple[int, ...]:
        """The groups of which the sentence and its surroundings have one each."""
        return (*self.need, self.signs) if self.signs else self.need


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
    wanted = sum(SIGN_BITS[SIGNS[name]] for name in signs.split())
    groups = tuple(map(_any_of, need))
    return WordRule(kind, mask, groups, wanted, back, ahead, bool(mask & VERBS), soft, _any_of(unless))


class WordRules(tuple[WordRule, ...]):
    """Rules in the order of their precedence."""

    def __init__(self, _: Iterable[WordRule] = ()) -> None:
        self._known: dict[int, tuple[WordRule, ...]] = {}

    def that_may_hold(self, whole: int) -> tuple[WordRule, ...]:
        """The rules that may hold in a sentence whose words have these categories together."""
        found = self._known.get(whole)
        if found is None:
            found = tuple(one for one in self if one.head & whole and all(group & whole for group in one.groups))
            if len(self._known) < _MOST_CACHED:
                self._known[whole] = found
        return found


def first_kind(rules: WordRules, among: Iterable[list[int]], is_title: bool) -> str | None:
    """The kind of the first rule that holds in one of some sentences; None when none does.

    Args:
        rules: to look for.
        among: sentences as `grammar` gives them.
        is_title: whether the text looks like a title.
    """
    for words in among:
        for one in rules.that_may_hold(reduce(or_, words, 0)):
            if not (one.soft and is_title) and _holds(one, words):
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
    if rule.signs and not reduce(or_, words[max(place - NEAR, 0) : place + NEAR + 1], 0) & rule.signs:
        return False
    return not rule.ordering or bool(mask & ORDER) or bool(mask & MAYBE and near & TO_READER)
