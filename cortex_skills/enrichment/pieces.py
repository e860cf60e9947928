"""The keys and strings of a value, and the ways in which they are read one after the other.

Rules kept here:
- in the order of the value, a line each, as words, and run together; a key of one word names a value, and is read with
  other keys alone;
- neighbours are read together as far as one sentence may run, so that the work is linear;
- `runs` says the same in few texts: each piece, and each text of `joined`, is a line of a run or some neighbours.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

# Whether it is a key, and its text.
Piece = tuple[bool, str]
Member = tuple[str | int, Any]

_WORD = 24
_REACH = 24  # words, a little more than the widest rule
_TURN = 24  # characters, among which who speaks is named, and a colon
_ENDS = frozenset(".!?;…。！？；؟।")


def members_of(value: dict[str, Any] | list[Any]) -> list[Member]:
    """The members of an object, or of an array with their places."""
    return list(value.items()) if isinstance(value, dict) else list(enumerate(value))


def said(value: Any, quotations: Collection[str] = ()) -> list[Piece]:
    """Every key and string of a JSON value in order, but for strings that are quotations."""
    found: list[Piece] = []

    def look(item: Any) -> None:
        if type(item) is str:
            if item not in quotations:
                found.append((False, item))
        elif type(item) is dict:
            for key, member in item.items():
                found.append((True, key))
                look(member)
        elif type(item) is list:
            for member in item:
                look(member)

    look(value)
    return found


def joined(pieces: Sequence[Piece]) -> list[str]:
    """The texts as which some pieces are read together."""
    return Neighbours(pieces).joined()


def runs(pieces: Sequence[Piece]) -> list[str]:
    """Texts that hold each piece, and each text of `joined`, as a line or as neighbouring lines."""
    return Neighbours(pieces).runs()


class Neighbours:
    """Some pieces in their order, for `joined` and `runs` of the same."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        values = [piece for is_key, piece in pieces if not is_key]
        keys = [piece for is_key, piece in pieces if is_key]
        self._names = set(filter(is_word, keys))
        self._orders = [values]
        if not self._names.issuperset(keys):
            self._orders.append([piece for is_key, piece in pieces if not is_key or piece not in self._names])
        self._whole = {piece for piece in self._orders[-1] if piece.rstrip()[-1:] in _ENDS}
        self._sizes = _Sizes()
        speakers = {piece for piece in self._orders[-1] if ":" in (head := piece[:_TURN]) or "：" in head}
        self._turns = [_together([piece for piece in order if piece in speakers]) for order in self._orders]
        words = [list(filter(is_word, values)), keys if len(self._orders) == 1 else []]
        self._run_together = [blank.join(some) for some in words if len(some) > 1 for blank in (" ", "")]

    def joined(self) -> list[str]:
        """The texts as which the pieces are read together."""
        found: list[str] = []
        for order, turns in zip(self._orders, self._turns, strict=True):
            found += self._windows(order)
            if turns:
                found.append(turns)
        return found + self._run_together

    def runs(self) -> list[str]:
        """Texts that hold each piece, and each text of `joined`, as a line or as neighbouring lines."""
        found = ["\n".join(self._orders[-1]), "\n".join(set(self._names))]
        if len(self._orders) > 1:
            found.append("\n".join(self._unfinished(self._orders[0])))
        return list(dict.fromkeys(filter(None, (*found, *self._turns, *self._run_together))))

    def _windows(self, pieces: list[str]) -> list[str]:
        """Neighbours that one sentence may run through, a line each."""
        found: list[str] = []
        start = 0
        for end, piece in enumerate(pieces, 1):
            if piece in self._whole or end == len(pieces):
                if end - start == 2:
                    found.append(f"{pieces[start]}\n{piece}")
                elif end - start > 2:
                    found += self._windows_of(pieces[start:end])
                start = end
        return found

    def _windows_of(self, sentence: list[str]) -> Iterator[str]:
        """Some neighbours in windows: one holds the words that a rule looks at, and the next one begins within it."""
        start, size = 0, 0
        for end, piece in enumerate(sentence[:-1], 1):
            size += self._sizes[piece]
            if size >= 2 * _REACH and end - start > 1:
                yield "\n".join(sentence[start:end])
                # The next window begins so far back that what runs through both is whole in one of them.
                place, size = end, 0
                while place > start + 1 and size < _REACH:
                    place -= 1
                    size += self._sizes[sentence[place]]
                if size < _REACH:
                    # What begins in the first piece may run further than this window does.
                    yield "\n".join(sentence[start : self._end_of_reach(sentence, start)])
                start = place
        yield "\n".join(sentence[start:])

    def _end_of_reach(self, sentence: list[str], first: int) -> int:
        """Behind the last piece that something that begins in the first one may run into."""
        end, between = first + 1, 0
        while end < len(sentence) and between < _REACH:
            between += self._sizes[sentence[end]]
            end += 1
        return end

    def _unfinished(self, pieces: list[str]) -> Iterator[str]:
        """The pieces that do not end as a sentence does, and those that follow one."""
        follows = False
        for piece in pieces:
            is_unfinished = piece not in self._whole
            if is_unfinished or follows:
                yield piece
            follows = is_unfinished


class _Sizes(dict[str, int]):
    """How many words a piece has, counted when it is first asked for."""

    def __missing__(self, piece: str) -> int:
        size = self[piece] = len(piece.split())
        return size


def is_word(piece: str) -> bool:
    """Whether a piece is short and without blanks."""
    return len(piece) <= _WORD and " " not in piece


def _together(pieces: list[str]) -> str:
    """Some pieces, a line each; empty when there are less than two."""
    return "\n".join(pieces) if len(pieces) > 1 else ""
