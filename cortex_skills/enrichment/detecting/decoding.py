"""What is written in code within a text: escapes, numbers, base 16, 32, 58, 64 and 85, Morse code, rot47.

Rules kept here:
- only what decodes to a text that can be read is given back; a hash, a key or a picture is none;
- the reader is asked first where a code may stand, and of which kind (`reading.codes`); a run that was broken into
  groups of one length is put together first;
- all codes are read, however many there are: none hides behind others;
- a sentence whose Latin letters are written one by one as numbers is a disguise whatever it says: nobody writes a fact
  so, and what was cut from its end cannot be judged;
- what is decoded is shorter than what it came from, so decoding again and again ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import NamedTuple

from cortex_skills.enrichment.detecting import groups, reading, rot47, ways
from cortex_skills.enrichment.detecting.escapes import unescaped

FEWEST_PLUSES = 3
_WORDS, _LETTERS, _FEWEST_OF_ROT47 = 6, 20, 2
_PLUS = re.compile(r"\+(?<=[^\W\d_]\+)(?=[^\W\d_])")
_HEADER_WORD = re.compile(r"=\?[\w-]{1,20}\?[qQ]\?|\?=")
_ESCAPED = ways.ESCAPES | ways.ENTITIES
_FIELD = re.compile(r"[?&;]\w{1,40}=")


class Decoded(NamedTuple):
    """A text that was written in code; whether that alone is a disguise."""

    text: str
    is_disguise: bool


def decoded(text: str, kinds: int | None = None) -> Iterator[Decoded]:
    """Every text that is written in code within `text`.

    Args:
        text: any text.
        kinds: the codes that are looked for, as bits of `ways`; those that the reader sees, when they are not known.

    """
    if kinds is None:
        kinds = reduce(or_, (line.kinds | (ways.ESCAPES if line.foreign else 0) for line in reading.codes(text)), 0)
    # What is no text goes where escapes do.
    plain, letters = unescaped(text) if kinds & _ESCAPED or not text.isascii() else (text, 0)
    if plain != text:
        yield Decoded(plain, letters >= _LETTERS and _is_sentence(plain))
        if "=?" in text:
            yield Decoded(_HEADER_WORD.sub("\n", plain).replace("_", " "), False)
    if is_address(text):
        yield Decoded(unescaped(_FIELD.sub("\n", text.replace("+", " "))).text, False)
    encoded = text.encode("utf-8", "replace")
    words = ways.words_in(encoded) if kinds & ways.BASES else []
    for way in ways.ways_in(kinds, words):
        for run in ways.runs_of(way, encoded, words):
            for plain in ways.read(way.decode, run):
                yield Decoded(plain, way.spells and _is_sentence(plain))
    for joined in groups.put_together(text) if kinds & ways.GROUPS else ():
        for plain in groups.based(joined):
            yield Decoded(plain, False)
    if kinds & ways.SIGNED and rot47.words_of_rot47(text) >= _FEWEST_OF_ROT47:
        yield Decoded(rot47.turned(text), False)


def is_address(text: str) -> bool:
    """Whether blanks and fields may be written as in an address."""
    return ("%20" in text and "=" in text) or pluses(text) >= FEWEST_PLUSES


def pluses(text: str) -> int:
    """How often `+` stands between letters."""
    return len(_PLUS.findall(text)) if "+" in text else 0


def _is_sentence(text: str) -> bool:
    """Whether a text is a sentence, by its words in Latin letters."""
    words = [word for word in text.split() if word.isascii() and word.strip(".,:;!?'\"").isalpha()]
    return len(words) >= _WORDS and sum(map(len, words)) >= _LETTERS
