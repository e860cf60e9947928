"""Whether a text contains instructions for a language model, as it is written and without its disguises.

Rules kept here:
- pure, never raises, and linear: what is read is counted (`work`), and a text that takes more is `not_judged`;
- a long text is judged passage by passage (`passages`);
- text in a code is decoded up to `DEPTH` times and judged like any other; it is reported as `encoded`;
- text that is hidden from a reader (tags, selectors, concealed terminal text) is reported as `hidden`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

import re2

from cortex_skills.injection import grammar
from cortex_skills.injection.decode import decoded
from cortex_skills.injection.disguises import readings, without_blanks
from cortex_skills.injection.normalize import fold, has_hidden_text, look_alike, without_terminal_codes
from cortex_skills.injection.passages import PASSAGE, passages, seam, units
from cortex_skills.injection.rules import first_kind
from cortex_skills.injection.ruleset import RULES
from cortex_skills.injection.signatures import signatures_in
from cortex_skills.injection.work import OutOfWork, Work

DEPTH = 2
NOT_JUDGED = "not_judged"

_LONGEST_REMEMBERED = 1 << 10
_MOST_CODES = 24  # that are judged one by one; the others are judged together
_APART = "\n.\n"
_NAME, _SHORTEST = re.compile("(?:[A-Za-z]{1,16}:)?[A-Za-z0-9]{1,15}"), 4
_LINE_IN_SENTENCE = re.compile(r"[^\s.!?][ \t]*\n+[^\n]")
_SPEAKERS = "SYSTEM|ADMIN|ASSISTANT|USER|DEVELOPER|ROOT|HUMAN|AI"
_SHOUTED_TURN = rf"(?:^|\n|[.!?>] )\W{{0,4}}(?:{_SPEAKERS})(?: [A-Z]+)? ?:"

_LONGEST_TITLE, _CAPITALS = 80, 0.5
_WORK = re.compile(
    r"\b(?:album|book|comedy|drama|film|game|memoir|movie|musical|novel|opera|painting|play|poem|series|single|song|"
    r"roman|lied|chanson|canci[oó]n|canzone|pel[ií]cula|serie|romance|romanzo|disco)\b"
)


def detect(text: str, work: Work | None = None) -> str | None:
    """Return the kind of instruction that `text` contains; None when it contains none.

    Args:
        text: any text.
        work: what may be read, of a caller that judges several texts or has a time limit; None for as much as the
            text allows.

    Returns:
        `override`, `role`, `fake_turn`, `secret`, `urgency`, `action`, `command`, `tool_call`, `exfiltration`,
        `encoded`, `hidden`, None; or `not_judged` when there was not enough work or time left to judge it.
    """
    if text.isascii() and (len(text) < _SHORTEST or _NAME.fullmatch(text)):
        return None
    if work is None and len(text) <= _LONGEST_REMEMBERED:
        return _remembered(text)
    return _judged(text, Work(len(text)) if work is None else work)


@lru_cache(maxsize=4096)
def _remembered(text: str) -> str | None:
    return _judged(text, Work(len(text)))


def _judged(text: str, work: Work) -> str | None:
    try:
        return _detect(text, DEPTH, work)
    except OutOfWork:
        return NOT_JUDGED


def _detect(text: str, depth: int, work: Work) -> str | None:
    return next(filter(None, (_kind_of_passage(part, depth, work) for part in _parts(text))), None)


def _parts(text: str) -> Iterator[str]:
    """A text, or the passages of a long one and what is around the places where they meet."""
    if len(text) <= PASSAGE:
        yield text
        return
    parts = list(passages(units(text)))
    yield from map("".join, parts)
    for left, right in pairwise(parts):
        before, behind = seam(left, right)
        yield "".join((*left[-before:], *right[:behind]))


def _kind_of_passage(text: str, depth: int, work: Work) -> str | None:
    work.read(len(text))
    if has_hidden_text(text):
        return "hidden"
    text = without_terminal_codes(text)
    if _shouted_turn().search(text.encode("utf-8", "replace")):
        return "fake_turn"
    kind = _kind(text, work)
    if kind is None and depth and _is_encoded(text, depth - 1, work):
        kind = "encoded"
    return kind


def _is_encoded(text: str, depth: int, work: Work) -> bool:
    """Whether an instruction is written in a code within the text."""
    others: list[str] = []
    for number, plain in enumerate(decoded(text)):
        if number >= _MOST_CODES:
            others.append(plain)
        elif _detect(plain, depth, work) is not None:
            return True
    return bool(others) and _detect(_APART.join(others), depth, work) is not None


def _kind(text: str, work: Work) -> str | None:
    folded = fold(text)
    plain = look_alike(folded)
    is_title = _is_title(text)
    for lines in readings(text, folded, plain):
        if lines is not plain:
            work.read(len(lines))
        kind, marked = signatures_in(lines)
        in_one_line = grammar.in_one_line(lines) if _LINE_IN_SENTENCE.search(lines) else lines
        kind = kind or first_kind(RULES, grammar.sentences(marked, RULES.that_may_hold), is_title)
        if kind is None and in_one_line != lines:
            kind = signatures_in(in_one_line).kind
        if kind is not None:
            return kind
    for letters in without_blanks(plain):
        work.read(len(letters))
        kind = first_kind(RULES, grammar.run_together(letters), False)
        if kind is not None:
            return kind
    return None


@cache
def _shouted_turn() -> Any:
    return re2.compile(_SHOUTED_TURN)


def _is_title(text: str) -> bool:
    """Whether a text looks like the name of a book or a song: most words begin with a capital."""
    if len(text) >= _LONGEST_TITLE or text.isupper():
        return False
    title, comma, rest = text.partition(",")
    words = title.split() if comma and _WORK.search(rest) else text.split()
    return len(words) > 1 and sum(word[0].isupper() for word in words) > len(words) * _CAPITALS
