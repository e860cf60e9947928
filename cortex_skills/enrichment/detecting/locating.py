r"""The texts, of some that follow each other, in which an instruction may stand by its form.

Rules kept here:
- the reader says where which patterns may stand (`looking`), RE2 whether they do;
- pure and linear; a text is told when a pattern may hold in it, or in it and its neighbours, whichever of them are left
  out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator
from functools import cache

from cortex_skills.enrichment.detecting import patterns
from cortex_skills.enrichment.detecting.answers import Place, Told
from cortex_skills.enrichment.detecting.rule import SIGNS

# Of so many lines each is looked at; of more, all texts.
_FEW = 8


def formed(told: Told) -> set[int]:
    """The numbers of the texts that may be an instruction by their form."""
    if not told.places:
        return set()
    by_pattern: dict[int, list[Place]] = {}
    for place in told.places:
        by_pattern.setdefault(place.pattern, []).append(place)
    return {number for pattern, places in by_pattern.items() for number in _numbers(told, pattern, places)}


def signs_in(told: Told, numbers: Collection[int]) -> int:
    """The lesser signs that may stand in some of the texts, a bit each."""
    found = 0
    for place in told.signs:
        if place.number < 0 or place.number in numbers:
            sign = _signs()[place.pattern]
            if sign & ~found and (place.number < 0 or _may_stand(told, place)):
                found |= sign
    return found


def text_of(told: Told, numbers: Iterable[int]) -> str:
    """Some of the texts, with line ends between them."""
    texts = (told.texts[told.ends[number - 1] + 1 if number else 0 : told.ends[number]] for number in numbers)
    return b"\n".join(texts).decode("utf-8", "surrogatepass")


@cache
def _signs() -> dict[int, int]:
    """The patterns that stand for lesser signs, and their bits."""
    return {number: SIGNS[name] for number, name in enumerate(patterns.names()) if name in SIGNS}


def _may_stand(told: Told, place: Place) -> bool:
    return patterns.may_stand(place.pattern, told.texts[place.start : place.start + place.size])


def _numbers(told: Told, pattern: int, places: list[Place]) -> Iterator[int]:
    """The numbers of the texts that matches of a pattern touch."""
    if len(places) > _FEW or any(place.number < 0 for place in places):
        yield from _anywhere(told, pattern)
        return
    yield from (place.number for place in places if _may_stand(told, place))


def _anywhere(told: Told, pattern: int) -> Iterator[int]:
    """The same, where matches may go over lines, and over lines that are read as one."""
    searched = patterns.anywhere(pattern)
    for texts in (told.texts, told.texts.replace(b"\n", b" ")) if told.are_short else (told.texts,):
        for match in searched.finditer(texts):
            first = bisect_left(told.ends, match.start())
            yield from range(first, bisect_left(told.ends, match.end() - 1, first) + 1)
