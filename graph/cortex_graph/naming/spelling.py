"""Known words for a misspelt or shortened one."""

from __future__ import annotations

from collections.abc import Iterable

MAX_WORD = 64  # a longer word is not a misspelling, and slow to compare
_SHORTEST_PART = 3


def nearest(word: str, known: Iterable[str], count: int = 1, likeness: float = 0.6) -> list[str]:
    """The known words that `word` begins, is part of, or is similar to, in this order and without regard to case.

    Args:
        word: the misspelt or shortened one.
        known: the known ones.
        count: how many at most.
        likeness: of a similar word, 0 to 1 (`difflib.SequenceMatcher.ratio`).

    >>> nearest("pred", ["subject", "predicate"])
    ['predicate']
    >>> nearest("timeout", ["memoryLimitBytes", "executionTimeoutMs", "timeOuts"], 2)
    ['timeOuts', 'executionTimeoutMs']
    >>> nearest("objekt", ["subject", "object"])
    ['object']
    """
    from difflib import get_close_matches

    if not 0 < len(word) <= MAX_WORD:
        return []
    folded = word.casefold()
    by_folded = {other.casefold(): other for other in known}
    found = [other for other in by_folded if other.startswith(folded)]
    if len(folded) >= _SHORTEST_PART:
        found += [other for other in by_folded if folded in other]
    found += get_close_matches(folded, by_folded, n=count, cutoff=likeness)
    return [by_folded[other] for other in dict.fromkeys(found)][:count]
