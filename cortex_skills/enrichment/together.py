"""What says an instruction only as a whole, and which of it has to go.

Rules kept here:
- of an object or array that says an instruction only as a whole, the fewest neighbouring members that say it are
  removed, and of those not what stands between two that say it by themselves; of an array of pieces of a text all;
- what is within a member comes first: a member that says it alone is made smaller before it is removed;
- members are asked about where what was found stands; where that is not known, all are halved to find the guilty ones;
- bounded work: what still says one after `ROUNDS` is removed whole.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import chain, pairwise
from typing import Any, NamedTuple

from cortex_skills.enrichment.neighbours import Neighbours
from cortex_skills.enrichment.pieces import Member, Piece, members_of, said
from cortex_skills.enrichment.pruning import key_shown
from cortex_skills.enrichment.steps import NOTHING, Path, Removal, pointer
from cortex_skills.enrichment.verdicts import Verdicts

ROUNDS = 6
_WORDS_OF_TEXT = 6


class _Found(NamedTuple):
    """Neighbouring members that say an instruction.

    Attributes:
        kind: of the instruction.
        first, behind: the places of the first of them, and behind the last.

    """

    kind: str
    first: int
    behind: int


class Together:
    """One search of a value, and what was removed in it.

    Args:
        quotations: strings that stay.
        verdicts: what is known of texts.
        neighbours: those of the whole value, and of its facts.

    """

    def __init__(self, quotations: Collection[str], verdicts: Verdicts, neighbours: Neighbours) -> None:
        self.removals: list[Removal] = []
        # As which the whole was read that said nothing.
        self.clean: Neighbours | None = None
        self._quotations, self._verdicts, self._neighbours = quotations, verdicts, neighbours

    def kept(self, value: Any, path: Path = (), name: str = "") -> Any:
        """What stays of `value`, which stands under a name, when its strings and keys are judged together."""
        if type(value) not in (dict, list) or not value:
            return value
        old, members = value, members_of(value)
        for _ in range(ROUNDS):
            neighbours = self._neighbours.with_pieces(tuple(said(value, self._quotations, name)))
            guilty = dict(self._verdicts.found(neighbours.joined))
            if not guilty:
                if not path:
                    self.clean = neighbours
                return value
            if type(value) is list and _are_pieces_of_one(members):
                return self._remove(f"split_{next(iter(guilty.values()))}", path, len(members))
            # From the last one on, so that the places of the others stay.
            for some in reversed(self._found(guilty, neighbours, [self._said(member, name) for member in members])):
                self._shrink(members, some, old, path, name)
            if not members:
                return NOTHING
            value = _made_of(members, old)
        return self._remove("split", path, len(members))

    def _said(self, member: Member, name: str) -> list[Piece]:
        """The key of a member, if it has one, and all that stands in it."""
        key, item = member
        if type(key) is not str:
            return said(item, self._quotations, name)
        return [(None, key), *said(item, self._quotations, key)]

    def _found(self, guilty: dict[str, str], neighbours: Neighbours, pieces: list[list[Piece]]) -> list[_Found]:
        """The fewest members that say an instruction together, and others that say one, in their order.

        Args:
            guilty: texts that hold an instruction, and its kind.
            neighbours: as which the pieces were read.
            pieces: of each member.

        """
        texts = [text for some in pieces for _, text in some]
        owners = [owner for owner, some in enumerate(pieces) for _ in some]
        found: list[_Found] = []
        told: list[set[int]] = []
        for number, text in enumerate(neighbours.joined):
            if text not in guilty:
                continue
            places, kind = neighbours.places(number), guilty[text]
            if not places:
                return [_Found(kind, *self._halved(len(pieces), lambda first, end: self._say(pieces[first:end])))]
            if any(map(set(places).issuperset, told)):
                continue
            for first, last in self._fewest([texts[place] for place in places], text):
                told.append({places[first], places[last]})
                found.append(_Found(kind, owners[places[first]], owners[places[last]] + 1))
        return _apart(found)

    def _fewest(self, texts: list[str], whole: str) -> list[tuple[int, int]]:
        """The places of the first and the last of the fewest texts that say what `whole`, all of them, says."""
        pairs = list(map("\n".join, pairwise(texts)))
        guilty = {text for text, _ in self._verdicts.found(pairs)}
        if guilty:
            return [(place, place + 1) for place, pair in enumerate(pairs) if pair in guilty]
        first, behind = self._halved(
            len(texts), lambda first, end: self._verdicts.says_so("\n".join(texts[first:end]), whole)
        )
        return [(first, behind - 1)]

    @staticmethod
    def _halved(count: int, say: Callable[[int, int], bool]) -> tuple[int, int]:
        """The places of the first, and behind the last, of the fewest of so many that together say an instruction."""
        low, high = 1, count
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if say(0, middle) else (middle + 1, high)
        behind = low
        low, high = 0, behind - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if say(middle, behind) else (low, middle - 1)
        return low, behind

    def _shrink(self, members: list[Member], found: _Found, value: Any, path: Path, name: str) -> None:
        """Take what says an instruction out of the members that say it."""
        kind, first, behind = found
        some = members[first:behind]
        inner = [(key, self.kept(item, (*path, key), key if type(key) is str else name)) for key, item in some]
        if any(new is not old for (_, new), (_, old) in zip(inner, some, strict=True)):
            members[first:behind] = [member for member in inner if member[1] is not NOTHING]
            return
        guilty = range(first, behind)
        # What stands between two that say it by themselves is none of it.
        if len(guilty) > 2 and self._say([self._said(some[0], name), self._said(some[-1], name)]):
            guilty = range(first, behind, behind - 1 - first)
        for place in guilty:
            key = members[place][0]
            shown = key_shown(_place(value, key)) if type(value) is dict else key
            self._remove(f"split_{kind}", (*path, shown))
        for place in reversed(guilty):
            del members[place]

    def _say(self, pieces: Iterable[list[Piece]]) -> bool:
        """Whether members say an instruction when their pieces are read one after the other."""
        neighbours = self._neighbours.with_pieces(tuple(chain.from_iterable(pieces)))
        return self._verdicts.any_in(neighbours.joined)

    def _remove(self, reason: str, path: Path, count: int = 1) -> Any:
        self.removals.append(Removal(reason, pointer(path), count))
        return NOTHING


def _apart(found: Iterable[_Found]) -> list[_Found]:
    """Members in their order, without those that share one with others before them."""
    apart: list[_Found] = []
    for some in sorted(found, key=lambda some: (some.behind, -some.first)):
        if not apart or some.first >= apart[-1].behind:
            apart.append(some)
    return apart


def _made_of(members: list[Member], value: dict[str, Any] | list[Any]) -> Any:
    """The object or array of some members; the same one when none was changed."""
    old = members_of(value)
    if len(old) == len(members) and all(new[1] is item for new, (_, item) in zip(members, old, strict=True)):
        return value
    return dict(members) if isinstance(value, dict) else [item for _, item in members]


def _are_pieces_of_one(members: list[Member]) -> bool:
    """Whether the members of an array are strings, so short that they are pieces of a text rather than texts."""
    if not all(type(item) is str for _, item in members):
        return False
    return sum(len(item.split()) for _, item in members) < _WORDS_OF_TEXT * len(members)


def _place(value: dict[str, Any], key: str | int) -> int:
    return next(place for place, name in enumerate(value) if name == key)
