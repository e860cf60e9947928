"""The keys and strings of a value in its order, and what tells whether a sentence may go on from one to the next.

Rules kept here:
- a string stands under a name, the last key that leads to it: the strings of an array share one, and so do those in the
  same place of many records;
- what is told of a piece is told by itself, in any language; where it is in doubt, a sentence may go on.
"""

from __future__ import annotations

import re
import string
from collections.abc import Collection
from typing import Any

# The name that a string stands under, None for a key; and the text itself.
Piece = tuple[str | None, str]
Member = tuple[str | int, Any]

# What a piece is like, a bit each: no word is in it; no sentence goes on behind it; none does when the next one begins
# anew; it is short and without blanks; it may be of a code in pieces; of letters or words in pieces; it may name who
# speaks; it is read with others under its name.
WORDLESS, CLOSES, COMPLETE, WORD, CODE, LETTERS, TURN, OF_COLUMN = (1 << place for place in range(8))

_WORD = 24
_SIGN = 2  # characters of what may be a letter or a sign by itself
_TURN = 24  # characters, among which who speaks is named, and a colon
_ENDS = frozenset(".!?;…。！？；؟।")
_FEWEST_LETTERS = 3
_BEFORE_SENTENCE = " \"'“„«(*-"
_SHORT = 3
_BLANKS_OF_SENTENCE = 5
_GOING_ON = frozenset((*",:(-", ""))
# Of writings without capitals.
_UNCASED = re.compile("[\u0590-\u10ff\u1100-\u1cff\u2e80-\ua63f\uac00-\ud7ff]")


def members_of(value: dict[str, Any] | list[Any]) -> list[Member]:
    """The members of an object, or of an array with their places."""
    return list(value.items()) if isinstance(value, dict) else list(enumerate(value))


def said(value: Any, quotations: Collection[str] = (), name: str = "") -> list[Piece]:
    """Every key and string of a JSON value in order, but for strings that are quotations.

    Args:
        value: JSON types only.
        quotations: strings that are left out.
        name: the name that the value stands under.

    """
    found: list[Piece] = []

    def look(item: Any, name: str) -> None:
        if type(item) is str:
            if item not in quotations:
                found.append((name, item))
        elif type(item) is dict:
            for key, member in item.items():
                found.append((None, key))
                look(member, key)
        elif type(item) is list:
            for member in item:
                look(member, name)

    look(value, name)
    return found


class Words(dict[str, int]):
    """How many words pieces have, counted when it is first asked for."""

    def __missing__(self, text: str) -> int:
        count = self[text] = len(text.split())
        return count


class Shapes(dict[str, int]):
    """What pieces are like, told when it is first asked for.

    Attributes:
        words: how many they have.

    """

    def __init__(self) -> None:
        super().__init__()
        self.words = Words()

    def __missing__(self, text: str) -> int:
        if has_word(text):
            shape = OF_COLUMN | (CLOSES if ends_sentence(text) else COMPLETE if is_complete(text) else 0)
            if may_name_speaker(text):
                shape |= TURN
            if " " not in text:
                shape |= CODE | (WORD | LETTERS if is_word(text) else 0)
        else:
            shape = WORDLESS | CLOSES | CODE | (OF_COLUMN if is_address(text) else 0)
            if is_word(text):
                shape |= WORD | (LETTERS if len(text) <= _SIGN else 0)
        self[text] = shape
        return shape


def is_word(text: str) -> bool:
    """Whether a piece is short and without blanks."""
    return len(text) <= _WORD and " " not in text


def is_address(text: str) -> bool:
    """Whether an address of the web or of mail stands in a piece."""
    return "@" in text or "://" in text


def may_name_speaker(text: str) -> bool:
    """Whether a colon stands near the beginning of a piece, and none of an address."""
    head = text[:_TURN]
    return (":" in head and ":" in head.replace("://", "")) or "：" in head


def has_word(text: str) -> bool:
    """Whether a word stands in a piece; a sign beyond ASCII may be of one, and so may digits among letters.

    >>> [text for text in ("of steel", "pr3vi0us", "2.3.1-4", "https://a.org/b", "os.remove", "漢") if has_word(text)]
    ['of steel', 'pr3vi0us', '漢']
    """
    if not text.isascii():
        return True
    first, _, rest = text.partition(" ")
    return first.isalpha() or _is_word(first) or (rest != "" and any(map(_is_word, rest.split())))


def _is_word(token: str) -> bool:
    core = token.strip(string.punctuation)
    if core.isalpha():
        return True
    core = core.replace("-", "").replace("_", "").replace("'", "")
    if core.isdigit() or not core.isalnum():
        return False
    letters = len(core) if core.isalpha() else sum(map(str.isalpha, core))
    return letters >= _FEWEST_LETTERS and 2 * letters >= len(core)


def ends_sentence(text: str) -> bool:
    """Whether a piece ends as sentences do."""
    return text.rstrip()[-1:] in _ENDS


def begins_anew(text: str) -> bool:
    """Whether a piece begins as sentences do."""
    return text.lstrip(_BEFORE_SENTENCE)[:1].isupper()


def is_complete(text: str) -> bool:
    """Whether a piece is as long as sentences are, and does not end as if more followed."""
    return text.count(" ") >= _BLANKS_OF_SENTENCE and not is_open(text, _SHORT + 1)


def is_open(text: str, short: int = _SHORT) -> bool:
    """Whether a piece ends as if more followed: with a sign, or a word in small letters that is so short, or shorter.

    Where there are no capitals, any piece may.

    >>> [text for text in ("Repeat all of the", "starting with:", "A tool for RDF", "I", "無視する") if is_open(text)]
    ['Repeat all of the', 'starting with:', 'I', '無視する']
    """
    if not text.isascii() and _UNCASED.search(text):
        return True
    last = text.rpartition(" ")[2]
    return last[-1:] in _GOING_ON or (len(last) <= short and last.isalpha() and last.islower()) or len(text) == 1
