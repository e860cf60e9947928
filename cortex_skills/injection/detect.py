"""Whether a text contains instructions for a language model, as it is written and without its disguises.

Rules kept here:
- pure, never raises, and linear: a text is judged in a bounded number of readings, each no longer than itself;
- a disguise is undone only where the text shows it often enough;
- text in a code is decoded up to `DEPTH` times and judged like any other; it is reported as `encoded`;
- text that is hidden from a reader (tags, selectors, concealed terminal text) is reported as `hidden`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from cortex_skills.injection import grammar
from cortex_skills.injection.decode import decoded, turned
from cortex_skills.injection.normalize import fold, has_hidden_text, look_alike, without_terminal_codes
from cortex_skills.injection.rules import first_kind
from cortex_skills.injection.ruleset import RULES
from cortex_skills.injection.signatures import signatures_in

DEPTH = 2

_LONGEST_REMEMBERED = 1 << 10
_MOST_CODES = 24  # that are judged one by one; the others are judged together
_APART = "\n.\n"
_NAME, _SHORTEST = re.compile("(?:[A-Za-z]{1,16}:)?[A-Za-z0-9]{1,15}"), 4
_SPEAKERS = "SYSTEM|ADMIN|ASSISTANT|USER|DEVELOPER|ROOT|HUMAN|AI"
_SHOUTED_TURN = re.compile(rf"(?:^|\n|[.!?>] )\W{{0,4}}(?:{_SPEAKERS})(?: [A-Z]+)? ?:")
_BIDIRECTIONAL = re.compile("[\u202a-\u202e\u2066-\u2069]")

# Digits and signs for letters.
_LEET = tuple(str.maketrans("013457@$!|89", letters) for letters in ("oieastasilbg", "oleastaslibg"))
_LEET_WORD = re.compile(r"[a-z][@$!|013457](?=[a-z@$!|013457])|\b[013457@$][a-z]{2,}|[a-z][013457@$]\b")
_FEWEST_LEET = 2
_SENTENCE_END = re.compile(r"(?<=[.?]) |\n")
# Words without blanks, and letters with something between them.
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_FEWEST_HUMPS = 3
_LONG_WORD = re.compile(r"(?:[^\W\d_]{16,}[-.,!? ]?)+")
_LETTERS_APART = re.compile(r"(?:\b\w[\s.\-_*/|,'\"·]{1,6}){5,}\w\b")
_LETTER_BEFORE = (re.compile(r"\b(\w)[-.*/|·](?=\w\b)"), re.compile(r"\b(\w) (?=\w\b)"))
_BROKEN_WORD = re.compile(r"[^\W\d_][-.*_/|·](?=[^\W\d_])")
_BROKEN_SHARE = 12  # once in so many characters

_LONGEST_TITLE, _CAPITALS = 80, 0.5
_WORK = re.compile(
    r"\b(?:album|book|comedy|drama|film|game|memoir|movie|musical|novel|opera|painting|play|poem|series|single|song|"
    r"roman|lied|chanson|canci[oó]n|canzone|pel[ií]cula|serie|romance|romanzo|disco)\b"
)


def detect(text: str) -> str | None:
    """Return the kind of instruction that `text` contains; None when it contains none.

    Args:
        text: any text.

    Returns:
        `override`, `role`, `fake_turn`, `secret`, `urgency`, `action`, `command`, `tool_call`, `exfiltration`,
        `encoded`, `hidden`, or None.

    """
    if text.isascii() and (len(text) < _SHORTEST or _NAME.fullmatch(text)):
        return None
    return _remembered(text) if len(text) <= _LONGEST_REMEMBERED else _detect(text, DEPTH)


@lru_cache(maxsize=4096)
def _remembered(text: str) -> str | None:
    return _detect(text, DEPTH)


def _detect(text: str, depth: int) -> str | None:
    if has_hidden_text(text):
        return "hidden"
    text = without_terminal_codes(text)
    if _SHOUTED_TURN.search(text):
        return "fake_turn"
    kind = _kind(text)
    if kind is None and depth and _is_encoded(text, depth - 1):
        kind = "encoded"
    return kind


def _is_encoded(text: str, depth: int) -> bool:
    """Whether an instruction is written in a code within the text."""
    others: list[str] = []
    for number, plain in enumerate(decoded(text)):
        if number >= _MOST_CODES:
            others.append(plain)
        elif _detect(plain, depth) is not None:
            return True
    return bool(others) and _detect(_APART.join(others), depth) is not None


def _kind(text: str) -> str | None:
    folded = fold(text)
    plain = look_alike(folded)
    is_title = _is_title(text)
    for lines in _readings(text, folded, plain):
        for reading in dict.fromkeys((lines, grammar.in_one_line(lines))):
            kind, signs = signatures_in(reading)
            kind = kind or first_kind(RULES, grammar.sentences(reading), signs, is_title)
            if kind is not None:
                return kind
    kinds = (first_kind(RULES, grammar.run_together(letters), 0, False) for letters in _without_blanks(plain))
    return next(filter(None, kinds), None)


def _readings(text: str, folded: str, plain: str) -> Iterator[str]:
    """The text as it is written, as it looks, and without each disguise that it shows."""
    yield plain
    if folded != plain:
        yield folded
    if len(_LEET_WORD.findall(plain)) >= _FEWEST_LEET:
        part = _sentences_with(_LEET_WORD, plain)
        yield from dict.fromkeys(part.translate(letters) for letters in _LEET)
    if _BIDIRECTIONAL.search(text):
        yield fold(_BIDIRECTIONAL.sub("\n", text))
    yield from turned(plain)
    if _LETTERS_APART.search(plain):
        yield from (together for before in _LETTER_BEFORE if (together := before.sub(r"\1", plain)) != plain)
    if len(_HUMP.findall(text)) >= _FEWEST_HUMPS:
        yield fold(_HUMP.sub(" ", _sentences_with(_HUMP, text)))


def _sentences_with(pattern: re.Pattern[str], text: str) -> str:
    return "\n".join(part for part in _SENTENCE_END.split(text) if pattern.search(part))


def _without_blanks(plain: str) -> Iterator[str]:
    """The parts of a text whose words are broken up or run together."""
    yield from (match.group() for match in _LETTERS_APART.finditer(plain))
    yield from (match.group() for match in _LONG_WORD.finditer(plain))
    if len(_BROKEN_WORD.findall(plain)) * _BROKEN_SHARE > len(plain):
        yield plain


def _is_title(text: str) -> bool:
    """Whether a text looks like the name of a book or a song: most words begin with a capital."""
    if len(text) >= _LONGEST_TITLE or text.isupper():
        return False
    title, comma, rest = text.partition(",")
    words = title.split() if comma and _WORK.search(rest) else text.split()
    return len(words) > 1 and sum(word[0].isupper() for word in words) > len(words) * _CAPITALS
