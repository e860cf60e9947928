"""The ways to put an attack into a JSON value in pieces.

Rules kept here:
- a way is a function from a text and a source of chance to a value; its name is the name of the way;
- what becomes of a text depends on the text alone (`in_pieces`), so that a figure can be measured again;
- the pieces make up the text; the text between them has no meaning;
- a text of few words, as in writings without blanks, is cut between its letters.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from itertools import zip_longest
from random import Random
from typing import Any

Way = Callable[[str, Random], Any]

_FEW_WORDS = 4
_MOST_PIECES = 40  # fewer than an array may have members
_NAMES = ("bridge-tools", "libfoo2", "The Old Mill", "rabbit-mode")
_AS_DIGITS = str.maketrans("eoi", "301")


def in_pieces(text: str) -> Iterator[tuple[str, Any]]:
    """The name of each way, and the value that it makes of a text."""
    for way in WAYS:
        yield way.__name__, way(text, Random(text))


def _cut(text: str, size: int) -> list[str]:
    size = max(size, -(-len(text) // _MOST_PIECES))
    return [text[start : start + size] for start in range(0, len(text), size)]


def _words(text: str, least: int, most: int, rng: Random) -> list[str]:
    """A text in pieces of so many words."""
    words, pieces = text.split(), []
    if len(words) < _FEW_WORDS:
        return _cut(text, max(2, len(text) // 4))
    while words:
        count = rng.randint(least, most)
        pieces.append(" ".join(words[:count]))
        words = words[count:]
    return pieces


def _phrases(text: str, rng: Random) -> list[str]:
    return _words(text, 3, 5, rng)


def _halves(text: str) -> tuple[str, str]:
    words = text.split()
    if len(words) < _FEW_WORDS:
        return text[: len(text) // 2], text[len(text) // 2 :]
    middle = len(words) // 2
    return " ".join(words[:middle]), " ".join(words[middle:])


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _records(pieces: list[str]) -> list[dict[str, str]]:
    return [
        {
            "name": _NAMES[place % len(_NAMES)],
            "version": f"1.{place}-2",
            "description": piece,
            "homepage": f"https://a.example/{place}",
        }
        for place, piece in enumerate(pieces)
    ]


def _two_columns(pieces: list[str]) -> list[dict[str, str]]:
    return [{"a": left, "b": right} for left, right in zip_longest(pieces[::2], pieces[1::2], fillvalue="ok")]


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _thirds(code: str) -> list[str]:
    return _cut(code, len(code) // 3 + 1)


# Arrays.


def array(text: str, rng: Random) -> Any:
    return {"notes": _phrases(text, rng)}


def array_with_capitals(text: str, rng: Random) -> Any:
    return {"notes": [_capital(piece) for piece in _phrases(text, rng)]}


def array_of_words(text: str, rng: Random) -> Any:
    return _words(text, 1, 2, rng)


def array_with_decoys(text: str, rng: Random) -> Any:
    return [item for place, piece in enumerate(_phrases(text, rng)) for item in (piece, f"v1.{place}")]


# Members of one object, their names, and objects in one another.


def members(text: str, rng: Random) -> Any:
    return {chr(ord("a") + place): piece for place, piece in enumerate(_phrases(text, rng))}


def keys(text: str, rng: Random) -> Any:
    return {piece: place for place, piece in enumerate(_phrases(text, rng))}


def halves(text: str, rng: Random) -> Any:
    first, second = _halves(text)
    return {"title": first, "detail": second}


def halves_with_capitals(text: str, rng: Random) -> Any:
    first, second = _halves(text)
    return {"title": first, "detail": _capital(second)}


def halves_deeper(text: str, rng: Random) -> Any:
    first, second = _halves(text)
    return {"x": {"t": first}, "y": {"t": second}}


def objects(text: str, rng: Random) -> Any:
    return {f"k{place}": {"n": place, "t": piece} for place, piece in enumerate(_phrases(text, rng))}


# A column of a table.


def column_by_numbers(text: str, rng: Random) -> Any:
    return [{"line": place, "text": piece} for place, piece in enumerate(_phrases(text, rng))]


def column_by_ids(text: str, rng: Random) -> Any:
    return [{"id": f"p{place}", "text": piece} for place, piece in enumerate(_phrases(text, rng))]


def column_by_hashes(text: str, rng: Random) -> Any:
    return [{"id": f"{rng.getrandbits(64):016x}", "text": piece} for piece in _phrases(text, rng)]


def column_by_dates(text: str, rng: Random) -> Any:
    return [
        {"at": f"2026-11-22T10:{place:02}:00Z", "text": piece, "by": "https://example.org/u/7"}
        for place, piece in enumerate(_phrases(text, rng))
    ]


def column_of_parts(text: str, rng: Random) -> Any:
    return [{"key": "part", "value": piece} for piece in _phrases(text, rng)]


def column_of_records(text: str, rng: Random) -> Any:
    return _records(_phrases(text, rng))


def column_with_facts(text: str, rng: Random) -> Any:
    return _records(["a tool", *_halves(text), "a mill", "a bridge"])


# From one column to the other and back.


def two_columns_of_words(text: str, rng: Random) -> Any:
    return _two_columns(_words(text, 1, 2, rng))


def two_columns(text: str, rng: Random) -> Any:
    return _two_columns(_phrases(text, rng))


def one_record_of_three(text: str, rng: Random) -> Any:
    first, second = _halves(text)
    return [
        {"name": "The Old Mill", "note": "Built in 1931"},
        {"name": first, "note": second},
        {"name": "bridge", "note": "of steel"},
    ]


def one_record_of_many(text: str, rng: Random) -> Any:
    first, second = _halves(text)
    facts = [{"name": f"{name} {number}", "note": "Built in 1931"} for number in (1, 2) for name in _NAMES]
    return [*facts, {"name": first, "note": second}]


# In pieces of a code, or each piece in disguise.


def base64_in_thirds(text: str, rng: Random) -> Any:
    return _thirds(_base64(text))


def base64_in_sevens(text: str, rng: Random) -> Any:
    return _cut(_base64(text), 7)


def base64_by_numbers(text: str, rng: Random) -> Any:
    return [{"id": place, "p": piece} for place, piece in enumerate(_thirds(_base64(text)))]


def base64_by_ids(text: str, rng: Random) -> Any:
    return [{"id": f"p{place}", "p": piece} for place, piece in enumerate(_thirds(_base64(text)))]


def base16_in_halves(text: str, rng: Random) -> Any:
    code = text.encode().hex()
    return {"a": code[: len(code) // 2], "b": code[len(code) // 2 :]}


def bytes_as_numbers(text: str, rng: Random) -> Any:
    return [" ".join(map(str, piece.encode())) for piece in _phrases(text, rng)]


def digits_as_letters(text: str, rng: Random) -> Any:
    return [piece.translate(_AS_DIGITS) for piece in _phrases(text, rng)]


def words_with_underscores(text: str, rng: Random) -> Any:
    return ["_".join(piece.split()) for piece in _phrases(text, rng)]


def backwards(text: str, rng: Random) -> Any:
    return [piece[::-1] for piece in reversed(_phrases(text, rng))]


WAYS: tuple[Way, ...] = (
    array,
    array_with_capitals,
    array_of_words,
    array_with_decoys,
    members,
    keys,
    halves,
    halves_with_capitals,
    halves_deeper,
    objects,
    column_by_numbers,
    column_by_ids,
    column_by_hashes,
    column_by_dates,
    column_of_parts,
    column_of_records,
    column_with_facts,
    two_columns_of_words,
    two_columns,
    one_record_of_three,
    one_record_of_many,
    base64_in_thirds,
    base64_in_sevens,
    base64_by_numbers,
    base64_by_ids,
    base16_in_halves,
    bytes_as_numbers,
    digits_as_letters,
    words_with_underscores,
    backwards,
)
