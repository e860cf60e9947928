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
_TURN, _COLONS = 24, frozenset(":：")  # where who speaks is named
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


def joined(pieces: Sequence[Piece]) -> Iterator[str]:
    """The texts as which some pieces are read together."""
    values, sentences = _values_and_sentences(pieces)
    if len(values) > 1:
        yield from _windows(values)
    if len(sentences) > max(len(values), 1):
        yield from _windows(sentences)
    yield from _run_together(pieces)


def runs(pieces: Sequence[Piece]) -> list[str]:
    """Texts that hold each piece, and each text of `joined`, as a line or as neighbouring lines."""
    values, sentences = _values_and_sentences(pieces)
    found = ["\n".join(sentences), "\n".join({piece for is_key, piece in pieces if is_key and is_word(piece)})]
    if len(sentences) > len(values):
        found.append("\n".join(_unfinished(values)))
    found += _turns(values), _turns(sentences), *_run_together(pieces)
    return list(dict.fromkeys(filter(None, found)))


def _unfinished(pieces: list[str]) -> Iterator[str]:
    """The pieces that do not end as a sentence does, and those that follow one."""
    follows = False
    for piece in pieces:
        is_unfinished = not _is_whole(piece)
        if is_unfinished or follows:
            yield piece
        follows = is_unfinished


def is_word(piece: str) -> bool:
    """Whether a piece is short and without blanks."""
    return len(piece) <= _WORD and " " not in piece


def _values_and_sentences(pieces: Sequence[Piece]) -> tuple[list[str], list[str]]:
    values = [piece for is_key, piece in pieces if not is_key]
    return values, [piece for is_key, piece in pieces if not is_key or " " in piece or len(piece) > _WORD]


def _run_together(pieces: Sequence[Piece]) -> Iterator[str]:
    """Short values, and keys that are all short, as words and without blanks."""
    keys = [piece for is_key, piece in pieces if is_key]
    for words in ([piece for is_key, piece in pieces if not is_key and is_word(piece)], keys):
        if len(words) > 1 and (words is not keys or all(map(is_word, keys))):
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
        whole = end == len(pieces) or _is_whole(piece)
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
    turns = _turns(pieces)
    if turns:
        yield turns


def _turns(pieces: list[str]) -> str:
    """The pieces that may name who speaks, a line each; empty when there are less than two."""
    turns = [piece for piece in pieces if not _COLONS.isdisjoint(piece[:_TURN])]
    return "\n".join(turns) if len(turns) > 1 else ""


def _is_whole(piece: str) -> bool:
    return piece.rstrip()[-1:] in _ENDS
