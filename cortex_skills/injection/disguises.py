"""The readings of a text in which its letters are disguised: digits for letters, letters apart, words run together.

Rules kept here:
- a disguise is undone only where the text shows it often enough, and in the sentences that show it;
- one pass of a set of RE2 patterns finds which disguises a text may show; the exact patterns run for those only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import re2

from cortex_skills.injection.decode import changed, turned
from cortex_skills.injection.normalize import fold

_BIDIRECTIONAL = re.compile("[\u202a-\u202e\u2066-\u2069]")

# Digits and signs for letters.
_LEET = tuple(str.maketrans("013457@$!|89", letters) for letters in ("oieastasilbg", "oleastaslibg"))
_LEET_WORD = re.compile(r"[a-z][@$!|013457](?=[a-z@$!|013457])|\b[013457@$][a-z]{2,}|[a-z][013457@$]\b")
_FEWEST_LEET = 2
# Words without blanks, and letters with something between them.
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_FEWEST_HUMPS = 3
_SHORT = 600  # characters
_LONG_WORD = re.compile(r"(?:[^\W\d_]{16,}[-.,!? ]?)+")
_LETTERS_APART = re.compile(r"(?:\b\w[\s.\-_*/|,'\"·]{1,6}){5,}\w\b")
_LETTER_BEFORE = (re.compile(r"\b(\w)[-.*/|·](?=\w\b)"), re.compile(r"\b(\w) (?=\w\b)"))
_BREAKS = "-.*_/|·"
_BROKEN_WORD = re.compile(rf"[^\W\d_][{_BREAKS}](?=[^\W\d_])")
_BROKEN_SHARE = 12  # once in so many characters
# What each disguise needs, in the order of these numbers.
_MARKS = (
    r"[a-z][@$!|013457][a-z@$!|013457]|\b[013457@$][a-z]{2}|[a-z][013457@$](?:[^0-9A-Za-z_]|$)",
    r"(?:[\pL\pN_][\s.\-_*/|,'\"·]{1,6}){5}[\pL\pN_]",
    r"\pL{16}",
)
_HUMPS = "(?s:(?:[a-z][A-Z]|[A-Z][A-Z][a-z]).*){2}"
_IN_LEET, _IN_APART, _IN_LONG = range(len(_MARKS))


def readings(text: str, folded: str, plain: str) -> Iterator[str]:
    """The text as it is written, as it looks, and without each disguise that it shows.

    Args:
        text: as it was given.
        folded: the same, `normalize.fold`.
        plain: the same, `normalize.look_alike`.
    """
    yield plain
    if folded != plain:
        yield changed(plain, folded)
    marks = marks_in(plain)
    if _IN_LEET in marks and (part := _sentences_with(_LEET_WORD, _FEWEST_LEET, plain)):
        yield from dict.fromkeys(part.translate(letters) for letters in _LEET)
    if not text.isascii() and _BIDIRECTIONAL.search(text):
        yield fold(_BIDIRECTIONAL.sub("\n", text))
    yield from turned(plain)
    if _IN_APART in marks and _LETTERS_APART.search(plain):
        yield from (together for before in _LETTER_BEFORE if (together := before.sub(r"\1", plain)) != plain)
    if _humps().search(text.encode("utf-8", "replace")) and (part := _sentences_with(_HUMP, _FEWEST_HUMPS, text)):
        yield fold(_HUMP.sub(" ", part))


def without_blanks(plain: str) -> Iterator[str]:
    """The parts of a text whose words are broken up or run together."""
    marks = marks_in(plain)
    if _IN_APART in marks:
        yield from (match.group() for match in _LETTERS_APART.finditer(plain))
    if _IN_LONG in marks:
        yield from (match.group() for match in _LONG_WORD.finditer(plain))
    if _is_broken(sum(map(plain.count, _BREAKS)), plain) and _is_broken(len(_BROKEN_WORD.findall(plain)), plain):
        yield plain


def _is_broken(breaks: int, plain: str) -> bool:
    return breaks * _BROKEN_SHARE > len(plain)


def marks_in(plain: str) -> frozenset[int]:
    """Which of the disguises a folded text may show."""
    return frozenset(_marks().Match(plain.encode("utf-8", "replace")) or ())


def _sentences_with(pattern: re.Pattern[str], fewest: int, text: str) -> str:
    """The sentences in which a pattern occurs: often enough together or, in a text that is not short, each."""
    if len(pattern.findall(text)) < fewest:
        return ""
    parts = text.replace(". ", ".\n").replace("? ", "?\n").split("\n")
    least = 1 if len(text) <= _SHORT else fewest
    return "\n".join(part for part in parts if len(pattern.findall(part)) >= least)


@cache
def _marks() -> Any:
    found = re2.Set.SearchSet()
    for pattern in _MARKS:
        found.Add(pattern)
    found.Compile()
    return found


@cache
def _humps() -> Any:
    return re2.compile(_HUMPS)
