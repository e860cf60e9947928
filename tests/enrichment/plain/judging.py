"""Which rule a sentence holds, asked of every rule at every word: what the reader is held against.

Rules kept here:
- the rules are the product's (`tables`); what it means that one holds is written here once more;
- the rules are asked by the categories that they start at, in the order of these, and then in their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_

from cortex_skills.enrichment.detecting.lexicon import BITS, CLAUSE, LATE, MAYBE, ORDER, VERBS
from cortex_skills.enrichment.detecting.rule import Rule
from cortex_skills.enrichment.detecting.tables import RULES
from tests.enrichment.plain import sentences
from tests.enrichment.plain.places import with_late_orders
from tests.enrichment.plain.sentences import Sentence

TO_READER = BITS["you"] | BITS["model"] | BITS["when_asked"]
SPOKEN_TO = TO_READER | BITS["helper"] | BITS["claim"]
BEFORE_VERB = 3
BY_HEAD = {head: [rule for rule in RULES if rule.head & head] for head in BITS.values()}


def judge(folded: str, signs: int = 0, is_title: bool = False) -> str | None:
    """The kind of instruction that a folded text gives by its words; None when it gives none."""
    return _first(sentences.sentences(folded), signs, is_title)


def run_together(plain: str) -> str | None:
    """The same, when it is read by its letters alone."""
    return _first(sentences.run_together(plain))


def _first(among: Iterable[Sentence], signs: int = 0, is_title: bool = False) -> str | None:
    for sentence in among:
        words = _words(sentence)
        for head, rules in BY_HEAD.items():
            places = [place for place, mask in enumerate(words) if mask & head]
            for rule in rules if places else ():
                is_asked = (not rule.signs or rule.signs & signs) and not (rule.soft and is_title)
                if is_asked and any(_holds(rule, words, place) for place in places):
                    return rule.kind
    return None


def _words(sentence: Sentence) -> list[int]:
    """What the words do in their places. Commas and the like are no words: they take no room in a window."""
    row = with_late_orders(sentence.tokens, sentence.row) if sentence.tokens else sentence.row
    words = [mask for mask in row if mask != CLAUSE]
    if reduce(or_, sentence.row, 0) & SPOKEN_TO:
        return words
    # What somebody else must do, or is told to do, is told.
    return [mask & ~VERBS if mask & MAYBE and not mask & ORDER else mask for mask in words]


def _holds(rule: Rule, words: list[int], place: int) -> bool:
    """Whether a rule holds at a word that has its head."""
    back = rule.back if words[place] & LATE or not rule.ordering else min(rule.back, BEFORE_VERB)
    window = words[max(place - back, 0) : place] + words[place + 1 : place + 1 + rule.ahead]
    near = reduce(or_, window, 0)
    if near & rule.unless or not all(near & group for group in rule.need):
        return False
    gives_order = words[place] & ORDER or (words[place] & MAYBE and near & TO_READER)
    return bool(gives_order) or not rule.ordering
