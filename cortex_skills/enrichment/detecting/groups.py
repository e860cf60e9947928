"""Runs of code that were broken into groups of one length.

Rules kept here:
- pure and linear; a group is a piece of a text, of letters of base64 alone, and only the last may be shorter;
- three groups make a run, of sixteen letters at least.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby

from cortex_skills.enrichment.detecting import bases

_FEWEST, _FEWEST_LETTERS, _LONGEST_GROUP = 3, 16, 80
_GROUP_ENDS = "\"',.;:|"
_ALIKE = re.compile(b"\0\0+")  # lengths that are no others than the next, three at least
_LONGEST_TOLD = 255
_HEXADECIMAL = re.compile("[0-9a-fA-F]*")
_ALPHABET = re.compile("[A-Za-z0-9+/=_-]+")


@lru_cache(maxsize=1024)
def based(run: str) -> tuple[str, ...]:
    """What a run says that was put together, in whatever base it may be."""
    bare = run.rstrip("=")
    if _HEXADECIMAL.fullmatch(bare):
        plain = bases.hexadecimal(bare)
    elif bare.isupper() or (bare.islower() and not bare.isalpha()):
        plain = bases.base32(bare)
    else:
        plain = iter(())
    return *plain, *bases.base64(run)


def put_together(text: str) -> Iterator[str]:
    """Runs of a text that were broken into groups of one length, of which only the last may be shorter."""
    for end_of_group in _GROUP_ENDS:
        text = text.replace(end_of_group, " ")
    pieces = [*text.split(), ""]
    for start, end in groups(pieces):
        yield "".join(pieces[start:end]) + _rest_of(pieces[start], pieces[end])


def _rest_of(group: str, piece: str) -> str:
    """What of the piece behind some groups belongs to them."""
    return piece if len(piece) < len(group) and _is_of_alphabet(piece) else ""


def groups(pieces: list[str]) -> Iterator[tuple[int, int]]:
    """The beginning and the end of each row of groups of one length; the last of all pieces is empty."""
    try:
        sizes = bytes(map(len, pieces))
    except ValueError:
        # Those that are longer than any group may be taken to be alike.
        sizes = bytes([min(len(piece), _LONGEST_TOLD) for piece in pieces])
    others = int.from_bytes(sizes[:-1]) ^ int.from_bytes(sizes[1:])
    for alike in _ALIKE.finditer(others.to_bytes(len(sizes) - 1)):
        start, behind = alike.start(), alike.end() + 1
        if 1 < sizes[start] <= _LONGEST_GROUP:
            for fits, group in groupby(pieces[start:behind], _is_of_alphabet):
                end = start + sum(1 for _ in group)
                if fits and end - start >= _FEWEST and (end - start) * sizes[start] >= _FEWEST_LETTERS:
                    yield start, end
                start = end


def _is_of_alphabet(piece: str) -> bool:
    return _ALPHABET.fullmatch(piece) is not None
