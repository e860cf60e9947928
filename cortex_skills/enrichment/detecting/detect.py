"""A text in every disguise that is known, each read and judged.

Rules kept here:
- pure, never raises, and linear: a text is looked at in a bounded number of views, each no longer than itself;
- a view that costs something is only made when the text shows a reason for it;
- what is written in code is decoded up to `DEPTH` times, and judged like anything else; it is reported as `encoded`;
- what is hidden from a reader's eye (tags, strings of selectors, concealed text of terminals) is one kind by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache, partial

from cortex_skills.enrichment.detecting import reading
from cortex_skills.enrichment.detecting.decoding import decoded
from cortex_skills.enrichment.detecting.folding import fold
from cortex_skills.enrichment.detecting.hidden import is_hidden
from cortex_skills.enrichment.detecting.looking import Looks, looks
from cortex_skills.enrichment.detecting.shapes import (
    ABOVE,
    ALL,
    BACKWARDS,
    BREAKS,
    BROKEN,
    CAMEL,
    CODE,
    DIGITS,
    DOUBLES,
    EVERYTHING,
    LETTERS,
    LONG,
    SPEAKERS,
    TURN,
    TURNED,
    WORDS,
)
from cortex_skills.enrichment.detecting.signs import seen_in
from cortex_skills.enrichment.detecting.turned import turned

DEPTH = 3
# So many codes of a text are judged each by itself; the others stand apart as sentences do.
_MOST_DECODED, _APART = 24, "\n.\n"

_HIDING = re.compile("[\ufe00-\ufe0f\U000e0000-\U000e01ef]")
_ANSI = re.compile("\x1b\\[[0-9;]{0,20}[a-zA-Z]")
_CONCEALED = re.compile("\x1b\\[(?:[0-9]{1,2};)*8m")
_LETTER_BY_LETTER = re.compile(r"(?:\b\w[\s.\-_*/|,'\"·]{1,6}){5,}\w\b")
_SHOUTED_TURN = re.compile(rf"(?:^|\n|[.!?>] )\W{{0,4}}(?:{'|'.join(SPEAKERS)})(?: [A-Z]+)? ?:")
_LONGEST_TITLE, _CAPITALS = 80, 0.5
_WORK = re.compile(
    r"\b(?:album|book|comedy|drama|film|game|memoir|movie|musical|novel|opera|painting|play|poem|series|single|song|"
    r"roman|lied|chanson|canci[oó]n|canzone|pel[ií]cula|serie|romance|romanzo|disco)\b"
)
_NAME, _SHORTEST = re.compile("(?:[A-Za-z]{1,16}:)?[A-Za-z0-9]{1,15}"), 4
_TURNED = re.compile("[\u202a-\u202e\u2066-\u2069]")


@lru_cache(maxsize=4096)
def detect(text: str, doubts: int = EVERYTHING) -> str | None:
    """The kind of instruction that `text` holds; None when it holds none.

    Args:
        text: any text.
        doubts: what may be in it, as bits of `shapes`, when that is known already, and that nothing is hidden in it.

    """
    return None if is_name(text) else _detect(text, DEPTH, [_MOST_DECODED], doubts)


def verdict(text: str, doubts: int) -> str | None:
    """What `detect` says of a text of which this is in doubt, which the reader may know by now.

    Args:
        text: any text.
        doubts: bits of `shapes`, and perhaps a rule above them.

    """
    rule = doubts >> ABOVE
    if rule:
        from cortex_skills.enrichment.detecting.tables import RULES

        held = RULES[rule - 1]
        if not (held.soft and _is_title(text)):
            return held.kind
    return detect(text, doubts & EVERYTHING)


def is_name(text: str) -> bool:
    """Whether `text` is no more than a name, which cannot say anything."""
    return text.isascii() and (len(text) < _SHORTEST or _NAME.fullmatch(text) is not None)


def _detect(text: str, depth: int, left: list[int], doubts: int = EVERYTHING) -> str | None:
    if doubts == EVERYTHING:
        # Of other texts it is known that nothing is hidden in them.
        if is_hidden(text) or ("\x1b" in text and _CONCEALED.search(text)):
            return "hidden"
        text = _ANSI.sub("", text)
        doubts = reading.doubts(text)
    if doubts & TURN and _SHOUTED_TURN.search(text):
        return "fake_turn"
    kind = _said(text, doubts) if doubts & ~ALL else None
    if kind is not None or depth == 0:
        return kind
    return "encoded" if doubts & CODE and _is_encoded(text, depth - 1, left) else None


def _is_encoded(text: str, depth: int, left: list[int]) -> bool:
    """Whether what is written in code in a text is an instruction; of many codes, the last are judged as one text."""
    others: list[str] = []
    for plain, is_disguise in decoded(text):
        left[0] -= 1
        if left[0] < 0 and not is_disguise:
            others.append(plain)
        elif is_disguise or _detect(plain, depth, left) is not None:
            return True
    return bool(others) and _detect(_APART.join(others), depth, left) is not None


def _said(text: str, doubts: int) -> str | None:
    """The kind of instruction that a text gives as it is read, and without its disguises."""
    read = _Read(text, doubts)
    is_title = partial(_is_title, text)
    for view, may_say in _views(read):
        kind = _judge(view, may_say, is_title)
        if kind is not None:
            return kind
    return _squeezed(read)


class _Read:
    """A text, as it is read, as it looks, and what the reader says of it; read as far as what is in doubt asks for."""

    def __init__(self, text: str, doubts: int) -> None:
        self.text = text
        self.doubts = doubts
        self.folded, self.plain = reading.folded(text)

    def without(self, disguise: int) -> Iterator[str]:
        """The text without a disguise that it shows, in all ways in which it may be read then."""
        if self.doubts & disguise:
            yield from (view.text for view in self._looks.views if view.disguise == disguise)

    def may_say(self, doubt: int) -> bool:
        """Whether the words may say an instruction, when the text is read in a way."""
        # To judge the words as they are costs no more than to ask about them.
        return bool(self.doubts & doubt and (doubt == WORDS or self._looks.says[0] & doubt))

    @cached_property
    def _looks(self) -> Looks:
        return looks([self.text])


def _is_title(text: str) -> bool:
    """Whether a text is written as the name of a book or a song: most words begin with a capital."""
    if len(text) >= _LONGEST_TITLE or text.isupper():
        return False
    # What kind of work it is may follow.
    title, comma, rest = text.partition(",")
    words = title.split() if comma and _WORK.search(rest) else text.split()
    return len(words) > 1 and sum(word[0].isupper() for word in words) > len(words) * _CAPITALS


def _judge(view: str, may_say: bool, is_title: Callable[[], bool]) -> str | None:
    found = reading.judge_alone(view)
    kind, signs = seen_in(view, found.forms) if found.forms else (None, 0)
    if kind is not None or not may_say:
        return kind
    return reading.judge(view, signs, is_title) if signs else found.kind(is_title)


def _views(read: _Read) -> Iterator[tuple[str, bool]]:
    """The text as it may be meant to be read, and whether it may say something then by its words.

    As it is written first, then as it looks.
    """
    plain, doubts, in_words = read.plain, read.doubts, read.may_say(WORDS)
    if doubts & WORDS:
        if read.folded != plain:
            yield read.folded, in_words
        yield plain, in_words
    yield from ((view, read.may_say(DIGITS)) for view in read.without(DIGITS))
    if (doubts & TURNED and "\u202e" in read.text) or read.may_say(TURNED) or any(read.without(TURNED)):
        yield from ((view, True) for view in turned(read.text, plain))
    yield from ((view, read.may_say(BACKWARDS)) for view in read.without(BACKWARDS))
    if doubts & WORDS and "\n" in plain:
        yield plain.replace("\n", " "), in_words
    if doubts & TURNED and not read.text.isascii() and _TURNED.search(read.text):
        yield fold(_TURNED.sub("\n", read.text)), True
    yield from ((view, read.may_say(BREAKS)) for view in read.without(BREAKS))
    spelled = list(read.without(LETTERS))
    if spelled and _LETTER_BY_LETTER.search(plain):
        yield from ((view, read.may_say(LETTERS)) for view in spelled)
    yield from ((view, read.may_say(DOUBLES)) for view in read.without(DOUBLES))


def _squeezed(read: _Read) -> str | None:
    """The kind of a text whose words were broken up, or run together."""
    if read.may_say(CAMEL):
        for view in read.without(CAMEL):
            kind = reading.judge(view)
            if kind is not None:
                return kind
    if read.may_say(LETTERS):
        for span in _LETTER_BY_LETTER.finditer(read.plain):
            kind = reading.run_together(span.group())
            if kind is not None:
                return kind
    kind = reading.long_words(read.plain) if read.may_say(LONG) else None
    if kind is None and read.may_say(BROKEN):
        kind = reading.run_together(read.plain)
    return kind
