"""Letters that are written as numbers, or as dots and strokes, as text.

Rules kept here:
- pure, never raises, and gives nothing unless the numbers are a text that can be read;
- the base is the one that all the numbers of a row have: 2, 8, 10 or 16, in every way that is common to mark it; the
  columns of a dump (its offsets, and the text beside it) are no numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from cortex_skills.enrichment.detecting.bases import text_of

_MOST = 10  # of so many numbers one may be none
_OFFSETS = re.compile(r"(?m)^(?:0x)?[0-9a-fA-F]{4,8}(?:: ?| {2})")
_COLUMNS = re.compile(r"(?m) {2,}\S.*$")
_MARKS = ("0x", "0o", "0b")
_BINARY, _OCTAL, _DECIMAL, _HEXADECIMAL = map(frozenset, ("01", "01234567", "0123456789", "0123456789abcdefABCDEF"))
_ALPHABET, _LAST, _BYTE, _LAST_CHARACTER, _SHORTEST_BINARY = 96, 26, 256, 0x110000, 4
_CODES = """
    .- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --..
    ----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----. .-.-.- --..-- ..--.. .----. -..-. ---...
"""
_MORSE = dict(zip(re.findall("[.-]+", _CODES), "abcdefghijklmnopqrstuvwxyz0123456789.,?'/:", strict=True))
_STROKES = str.maketrans("·•–—−", "..---")


class _Row(NamedTuple):
    """Numbers without the mark of their base, and that mark."""

    bare: list[str]
    mark: str


def _row(run: str) -> _Row:
    lines = _COLUMNS.sub("", _OFFSETS.sub("", run)) if "\n" in run else run
    written = re.findall("[0-9a-zA-Z]+", lines)
    plain = [number for number in written if number.isdecimal()]
    # A word before or behind the numbers may look like one in base 16.
    written = plain if len(plain) * _MOST > len(written) * (_MOST - 1) else written
    mark = written[0][:2].lower() if written else ""
    bare = [number[2:] if number[:2].lower() in _MARKS else number.rstrip("hH") for number in written]
    return _Row([number for number in bare if number], mark if mark in _MARKS else "")


def numbers(run: str) -> Iterator[str]:
    """Characters as numbers in a row, in base 2, 8, 10 or 16."""
    row = _row(run)
    digits = frozenset("".join(row.bare))
    if not row.bare:
        return
    if digits <= _BINARY and len(row.bare[0]) >= _SHORTEST_BINARY:
        yield from text_of(bytes(code for number in row.bare if (code := int(number, 2)) < _BYTE))
    elif digits <= _DECIMAL and not row.mark:
        codes = [int(number) for number in row.bare]
        if _LAST < max(codes) < _LAST_CHARACTER:
            yield from text_of("".join(map(chr, codes)).encode("utf-8", "replace"))
    if digits <= _OCTAL and row.mark != "0x":
        yield from text_of(bytes(code for number in row.bare if (code := int(number, 8)) < _BYTE))
    if digits <= _HEXADECIMAL and all(len(number) % 2 == 0 for number in row.bare):
        yield from text_of(bytes.fromhex("".join(row.bare)))


def places(run: str) -> Iterator[str]:
    """Letters as their places in the alphabet."""
    words = re.split(r"[^0-9-]+" if "-" in run else r"\s*[/|,;\n]\s*|\s{2,}", run)
    values = [[int(place) for place in re.findall("[0-9]+", word)] for word in words]
    if max((max(word, default=0) for word in values), default=_LAST + 1) <= _LAST:
        for between in (" ", ""):
            yield between.join("".join(chr(_ALPHABET + place) for place in word if place) for word in values)


def binary(run: str) -> Iterator[str]:
    """Characters of eight or of seven binary digits."""
    for size in (8, 7):
        yield from text_of(bytes(int(run[at : at + size], 2) for at in range(0, len(run) - size + 1, size)))


def decimals(run: str) -> Iterator[str]:
    """Characters of three decimal digits."""
    yield from text_of(bytes(int(run[at : at + 3]) for at in range(0, len(run), 3)))


def morse(run: str) -> Iterator[str]:
    """International Morse code (ITU-R M.1677-1); strokes part the words."""
    words = re.split(r"\s*[/|\n]\s*|\s{2,}", run.translate(_STROKES))
    yield " ".join("".join(_MORSE.get(letter, "") for letter in word.split()) for word in words)
