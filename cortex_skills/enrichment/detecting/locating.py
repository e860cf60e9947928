r"""The texts, of some that follow each other, in which an instruction may stand by its form.

Rules kept here:
- the reader says where which patterns may stand (`looking`), RE2 whether they do, where it is not sure;
- pure and linear; a text is told when a pattern may hold in a line of it: of what goes over lines, the reader tells.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from cortex_skills.enrichment.detecting import patterns
from cortex_skills.enrichment.detecting.answers import Place, Told

# Of so many lines each is looked at; of more, all texts.
_FEW = 8


def formed(told: Told) -> set[int]:
    """The numbers of the texts that may be an instruction by their form."""
    found = {place.number for place in told.places if place.is_sure}
    left: dict[int, list[Place]] = {}
    for place in told.places:
        if not place.is_sure and place.number not in found:
            left.setdefault(place.pattern, []).append(place)
    return found.union(*(_numbers(told, pattern, places) for pattern, places in left.items()))


def _may_stand(told: Told, place: Place) -> bool:
    # With the line ends around it, which may belong to a match.
    return patterns.may_stand(place.pattern, told.texts[max(place.start - 1, 0) : place.start + place.size + 1])


def _numbers(told: Told, pattern: int, places: list[Place]) -> Iterator[int]:
    """The numbers of the texts that matches of a pattern touch."""
    if len(places) > _FEW:
        yield from _anywhere(told, pattern)
        return
    yield from (place.number for place in places if _may_stand(told, place))


def _anywhere(told: Told, pattern: int) -> Iterator[int]:
    """The same, where matches may stand in any."""
    for match in patterns.anywhere(pattern).finditer(told.texts):
        first = bisect_left(told.ends, match.start())
        yield from range(first, bisect_left(told.ends, match.end() - 1, first) + 1)
