"""The second step: nothing that tells a model what to do.

Rules kept here:
- every string and every key is judged (`detecting`); what is an instruction is removed whole, its kind is the reason;
- keys and strings are judged together, too: in the order of the value, a line each, as words, and run together. Of an
  object or array that says an instruction only as a whole, the fewest neighbouring members that say it are removed, and
  of an array of strings all;
- a string that is exactly what the graph holds under a predicate for quotations stays, and so does nothing else;
- a path never holds the text that was removed: the place of a key stands for the key;
- bounded work: the parts are halved to find the guilty ones, and after `ROUNDS` the whole is removed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

from cortex_skills.enrichment.steps import NOTHING, Cleaned, Path, Removal, pointer

ROUNDS = 6
_WORD = 24
_REACH = 24  # words, a little more than the widest rule
_TURN, _COLONS = 24, frozenset(":：")  # where who speaks is named
_ENDS = frozenset(".!?;…。！？；؟।")

_Member = tuple[str | int, Any]


def drop_instructions(value: Any, quotations: Collection[str] = ()) -> Cleaned:
    """`value` without instructions.

    Args:
        value: JSON types only, bounded in depth and length.
        quotations: strings that stay as they are.

    """
    from cortex_skills.enrichment.detecting import detect

    walk = _Walk(detect, frozenset(quotations))
    kept = walk.keep(value, ())
    if kept is not NOTHING:
        kept = walk.keep_together(kept, (), ROUNDS)
    return Cleaned(kept, tuple(walk.removals))


class _Walk:
    """One walk over a value, and what was removed on it."""

    def __init__(self, detect: Callable[[str], str | None], quotations: Collection[str]) -> None:
        self.removals: list[Removal] = []
        self._detect = detect
        self._quotations = quotations

    def keep(self, value: Any, path: Path) -> Any:
        """What stays of `value` when each string and key is judged by itself."""
        if type(value) is str:
            kind = None if value in self._quotations else self._detect(value)
            return value if kind is None else self._remove(kind, path)
        if type(value) is list:
            kept = [self.keep(item, (*path, place)) for place, item in enumerate(value)]
            left = [item for item in kept if item is not NOTHING]
            return NOTHING if value and not left else left
        if type(value) is dict:
            members = {}
            for place, (key, item) in enumerate(value.items()):
                kind = self._detect(key)
                if kind is not None:
                    self._remove(kind, (*path, f"(key {place})"))
                    continue
                kept_item = self.keep(item, (*path, key))
                if kept_item is not NOTHING:
                    members[key] = kept_item
            return NOTHING if value and not members else members
        return value

    def keep_together(self, value: Any, path: Path, rounds: int) -> Any:
        """What stays of `value` when its strings and keys are judged together."""
        if type(value) not in (dict, list) or not value or self._together(_members(value)) is None:
            return value
        inner = [(key, self.keep_together(item, (*path, key), rounds)) for key, item in _members(value)]
        members = [member for member in inner if member[1] is not NOTHING]
        for _ in range(rounds):
            kind = self._together(members)
            if kind is None:
                break
            if all(type(item) is str for _, item in members) and type(value) is list:
                return self._remove(f"split_{kind}", path, len(members))
            first, last = self._guilty(members)
            for key, _item in members[first:last]:
                shown = f"(key {self._place(value, key)})" if type(value) is dict else key
                self._remove(f"split_{kind}", (*path, shown))
            members = members[:first] + members[last:]
        else:
            if self._together(members) is not None:
                return self._remove("split", path, max(len(members), 1))
        if not members:
            return NOTHING
        return dict(members) if type(value) is dict else [item for _, item in members]

    def _guilty(self, members: list[_Member]) -> tuple[int, int]:
        """The range of the fewest neighbours that together say an instruction, found by halving."""
        low, high = 1, len(members)
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._together(members[:middle]) is not None else (middle + 1, high)
        last = low
        low, high = 0, last - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._together(members[middle:last]) is not None else (low, middle - 1)
        return low, last

    def _together(self, members: list[_Member]) -> str | None:
        """The kind of instruction that members say when they are read one after the other."""
        pieces = [(is_key, piece) for is_key, piece in _said(members) if piece not in self._quotations]
        if len(pieces) > 1:
            for text in _joined(pieces):
                kind = self._detect(text)
                if kind is not None:
                    return kind
        return None

    @staticmethod
    def _place(value: dict[str, Any], key: str | int) -> int:
        return next(place for place, name in enumerate(value) if name == key)

    def _remove(self, reason: str, path: Path, count: int = 1) -> Any:
        self.removals.append(Removal(reason, pointer(path), count))
        return NOTHING


def _joined(pieces: list[tuple[bool, str]]) -> Iterator[str]:
    """The ways in which pieces are read as one text; a key of one word names a value, and is no part of it."""
    values = [piece for is_key, piece in pieces if not is_key]
    sentences = [piece for is_key, piece in pieces if not is_key or not _is_word(piece)]
    if len(values) > 1:
        yield from _windows(values)
    if len(sentences) > max(len(values), 1):
        yield from _windows(sentences)
    for words in ([piece for piece in values if _is_word(piece)], [piece for is_key, piece in pieces if is_key]):
        if len(words) > 1 and all(map(_is_word, words)):
            yield " ".join(words)
            yield "".join(words)


def _windows(pieces: list[str]) -> Iterator[str]:
    """Neighbours that one sentence may run through, a line each, and those that may be turns of a chat.

    A window holds the words that a rule looks at, and the next one begins within it.
    """
    start, size = 0, 0
    sizes = [len(piece.split()) for piece in pieces]
    for end, piece in enumerate(pieces, 1):
        size += sizes[end - 1]
        whole = end == len(pieces) or piece.rstrip()[-1:] in _ENDS
        count = end - start
        if count > 1 and (whole or size >= 2 * _REACH):
            yield "\n".join(pieces[start:end])
            # The next window begins so far back that what runs through both is whole in one of them.
            place, size = end, 0
            while place > start + 1 and size < _REACH:
                place -= 1
                size += sizes[place]
            start = place
        if whole:
            start, size = end, 0
    turns = [piece for piece in pieces if not _COLONS.isdisjoint(piece[:_TURN])]
    if len(turns) > 1:
        yield "\n".join(turns)


def _is_word(piece: str) -> bool:
    return len(piece) <= _WORD and " " not in piece


def _members(value: dict[str, Any] | list[Any]) -> list[_Member]:
    return list(value.items()) if isinstance(value, dict) else list(enumerate(value))


def _said(members: list[_Member]) -> Iterator[tuple[bool, str]]:
    """Every key and string of members in order; True with a key."""
    for key, item in members:
        if type(key) is str:
            yield True, key
        if type(item) is str:
            yield False, item
        elif type(item) in (dict, list):
            yield from _said(_members(item))
