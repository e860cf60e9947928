"""What is known of words, forms and characters, and dear to work out: what the reader is told, and words of English.

Rules kept here:
- it is worked out from the files of this folder, and kept between processes, since that takes a fifth of a second;
- what is kept is used for the very same files alone (`sources`), and only what is surely of them is kept.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import starmap
from typing import NamedTuple

from cortex_skills.enrichment.detecting import sources

# The characters that are told of at once, from the first to the last of each block: the scripts from Latin to Georgian,
# and Khmer; Latin and Greek with accents, punctuation, signs; kana; full-width forms; pictures.
_COMMON = (
    ("\0", "\u10ff"),
    ("\u1780", "\u17ff"),
    ("\u1e00", "\u27bf"),
    ("\u3000", "\u30ff"),
    ("\uff00", "\uffef"),
    ("\U0001f300", "\U0001f6ff"),
    ("\U0001f900", "\U0001f9ff"),
)
# Others that each become themselves, and are all the same: ideographs, and syllables of Hangul.
ALIKE = (("\u4e00", "\u9fff"), ("\uac00", "\ud7a3"))
_UNCOMMON = re.compile(f"[^{''.join(f'{first}-{last}' for first, last in _COMMON + ALIKE)}]")


class Lesson(NamedTuple):
    """What the reader is told at once.

    Attributes:
        function: which function of the reader takes it.
        numbers: with which numbers that is called.
        data: what it is given.

    """

    function: str
    numbers: tuple[int, ...]
    data: bytes


def block(first: str, last: str) -> str:
    """All characters from one to another."""
    return "".join(map(chr, range(ord(first), ord(last) + 1)))


def uncommon(text: str) -> set[str]:
    """The characters of a text that `lessons` do not tell of."""
    return set(_UNCOMMON.findall(text))


def lessons() -> list[Lesson]:
    """All that the reader is told when it is made, one after the other."""
    return list(_unpacked(_kept("lessons", lambda: _packed(worked_out()))))


@cache
def english() -> frozenset[str]:
    """The words of `lexicon.english`."""
    return frozenset(_kept("english", _english).decode().split())


def worked_out() -> list[Lesson]:
    """What `lessons` tells, from the files."""
    from html.entities import html5

    from cortex_skills.enrichment.detecting import characters, literals, patterns, rot47, shapes, tables, turned
    from cortex_skills.enrichment.detecting.rule import SIGNS

    # A pattern that stands for no lesser sign is an instruction.
    signs = [SIGNS.get(name, 0) for name in patterns.names()]
    speakers = " ".join(shapes.SPEAKERS).encode()
    singles = tables.singles().encode()
    alphabets, ways = turned.told()
    written = "\n".join(f"{word} {ways[word]}" for word in sorted(ways)).encode()
    rotated = " ".join(rot47.WORDS).encode()
    entities = " ".join(sorted(name for name in html5 if not name.endswith(";"))).encode()
    common, count = characters.told("".join(starmap(block, _COMMON)))
    return [
        Lesson("learn", (), tables.told()),
        Lesson("learn_single", (len(singles),), singles),
        Lesson("learn_forms", (), literals.told(patterns.every())),
        Lesson("learn_signs", (), struct.pack(f"<{len(signs)}I", *signs)),
        Lesson("learn_turned", (len(written), len(ways), len(alphabets) + 1), "".join(alphabets).encode() + written),
        Lesson("learn_rot47", (len(rotated),), rotated),
        Lesson("learn_speakers", (len(speakers),), speakers),
        Lesson("learn_entities", (len(entities),), entities),
        Lesson("classify", (count,), common),
        *(_alike(text) for text in starmap(block, ALIKE)),
    ]


def _alike(text: str) -> Lesson:
    from cortex_skills.enrichment.detecting import characters

    data = text.encode()
    return Lesson("classify_alike", (len(data), next(characters.classes(text))), data)


def _english() -> bytes:
    from cortex_skills.enrichment.detecting import lexicon

    return " ".join(sorted(lexicon.english())).encode()


def _kept(name: str, work_out: Callable[[], bytes]) -> bytes:
    from cortex_sandbox.cache import keep, recall

    stamp = sources.BEFORE_IMPORT
    found = recall(name, stamp) if stamp else None
    if found is None:
        found = work_out()
        # A file that was changed meanwhile may have been read as it is now.
        if stamp and sources.stamp() == stamp:
            keep(name, stamp, found)
    return found


def _packed(lessons: Sequence[Lesson]) -> bytes:
    """A line that tells of the lessons, and their data behind it."""
    head = [(lesson.function, lesson.numbers, len(lesson.data)) for lesson in lessons]
    return b"".join((json.dumps(head).encode(), b"\n", *(lesson.data for lesson in lessons)))


def _unpacked(packed: bytes) -> Iterator[Lesson]:
    at = packed.index(b"\n") + 1
    for function, numbers, size in json.loads(packed[:at]):
        yield Lesson(function, tuple(numbers), packed[at : at + size])
        at += size
