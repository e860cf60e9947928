"""What an English verb does in its place in a sentence, said slowly and plainly: what the reader is held against.

Rules kept here:
- which words do what beside others is the product's (`roles`); where a verb gives an order is written here once more.
"""

from __future__ import annotations

from cortex_skills.enrichment.detecting.lexicon import BITS, CLAUSE, MAYBE, ORDER, PLAIN, QUOTED, VERBS
from cortex_skills.enrichment.detecting.roles import ROLES

DEEDS = sum(BITS[name] for name in ("act", "send", "execute", "wipe", "launch", "enact", "wield"))
NEAR = 4  # so far a helping verb reaches


def placed(words: list[str], found: list[int]) -> list[int]:
    """The categories of the words of a sentence in their places; verbs that only name something are none.

    Args:
        words: the words.
        found: the categories that each may have, wherever it stood.

    """
    row = found[:]
    order_seen = False
    for place, mask in enumerate(found):
        if _is_english_verb(mask):
            mask = _placed(words, row, place, order_seen)
            order_seen = order_seen or bool(mask & ORDER)
            row[place] = mask & ~PLAIN
    return row


def with_late_orders(words: list[str], found: list[int]) -> list[int]:
    """The same, with orders that begin in the middle of a sentence."""
    row = placed(words, found)
    for place in range(1, len(words)):
        if not _is_english_verb(found[place]) or row[place] & ORDER:
            continue
        if _leads_on(words, place) or (_is(words, place, "always_verb") and not _tells(words, place)):
            row[place] = (found[place] | ORDER) & ~PLAIN
        elif _is_bidden(words, place):
            row[place] = (found[place] | MAYBE) & ~PLAIN
    return row


def _is_english_verb(mask: int) -> bool:
    return bool(mask & PLAIN and mask & VERBS)


def _is(words: list[str], place: int, role: str) -> bool:
    return 0 <= place < len(words) and words[place] in ROLES[role]


def _leads(words: list[str]) -> bool:
    """Whether a sentence begins as one whose order stands behind a comma."""
    return _is(words, 0, "leading") or (_is(words, 1, "colon") and _is(words, 2, "leading"))


def _placed(words: list[str], row: list[int], place: int, order_seen: bool) -> int:
    """The categories of an English verb, by what stands before it."""
    mask = row[place]
    noun = mask if mask & ORDER else mask & ~VERBS
    if _is(words, place + 1, "after_noun"):
        return noun
    if place == 0:
        return mask | ORDER
    last, kind = place - 1, row[place - 1]
    if kind & (CLAUSE | QUOTED):
        is_label = _is(words, 0, "opening") and _is(words, last, "bracket")
        if _is(words, last, "closing") and not is_label:
            return noun
        return mask | (ORDER if not _is(words, last, "comma") or order_seen or _leads(words) else MAYBE)
    if words[last].endswith("ly") and _is(words, place - 2, "before_maybe"):
        last -= 1
    if kind & BITS["not"] and mask & DEEDS and not _is(words, place, "protective"):
        mask &= ~DEEDS
        noun = mask if mask & ORDER else mask & ~VERBS
    if mask & BITS["ignore"] and _is(words, last, "permitting"):
        return mask | MAYBE
    if _is(words, last, "joining"):
        return mask | (ORDER if order_seen else MAYBE)
    if _is(words, last, "before_order"):
        return mask | ORDER
    if kind & BITS["not"] and (place == 1 or _is(words, place - 2, "before_not")):
        return mask | ORDER
    if _is(words, last, "you"):
        return mask | ORDER if _is(words, place - 2, "asking") else mask & ~VERBS
    if _is(words, last, "before_maybe") or (_is(words, last, "to") and _is(words, place - 2, "before_to")):
        return mask | MAYBE
    return noun


def _leads_on(words: list[str], place: int) -> bool:
    """Whether what stands before leads from a fact to an order."""
    if _is(words, place - 1, "leading_on"):
        return True
    if _is(words, place - 2, "your"):
        return _is(words, place - 1, "output") and _is(words, place - 3, "within")
    from_here = _is(words, place - 2, "from_point") and _is(words, place - 1, "on")
    return from_here or (_is(words, place - 2, "the") and _is(words, place - 1, "way"))


def _is_bidden(words: list[str], place: int) -> bool:
    """Whether somebody is told to do it."""
    if place > 2 and words[place - 2 : place] == ["that", "you"]:
        return _is(words, place - 3, "demanded")
    return _is(words, place - 1, "to") and _is(words, place - 2, "bidden")


def _tells(words: list[str], place: int) -> bool:
    """Whether a verb tells what somebody does."""
    before = words[place - 1]
    if _is(words, place - 1, "telling") or not before[0].isalnum() or before.endswith("ly"):
        return True
    if any(_is(words, at, "helping") for at in range(place - NEAR, place)):
        return True
    return before.endswith("s") and not before.endswith(("ss", "us", "is"))
