"""The block that a model reads: at most 4096 characters with its tags, always whole and well-formed.

Rules kept here:
- the block is an opening tag, JSON and a closing tag, each on a line; nothing in the JSON can close the tag;
- what does not fit is dropped by whole members, and `"truncated": true` reports it; objects within an array are
  records, which are kept whole or dropped; a truncated array or scalar becomes `{"data": ..., "truncated": true}`;
- text of more than three words carries the mark of the block: before its first word and before every eighth word after
  that. The opening tag names the mark, which is drawn for each block and cannot be guessed. Without the mark and the
  blank behind it the text is as it was (`read_block`).
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from cortex_skills.enrichment.fragments import ROOT, Fragment
from cortex_skills.enrichment.limits import limit
from cortex_skills.enrichment.policy import Policy
from cortex_skills.enrichment.removal import NOTHING, Cleaned
from cortex_skills.safe_io.display import json_text

BLOCK_LIMIT = 4096

OPENING = '<skill-enrichment type="data">\n'
CLOSING = "\n</skill-enrichment>"
_ROOM = BLOCK_LIMIT - len(OPENING) - len(CLOSING)
_TRUNCATED = '"truncated":true'
_BLOCK = re.compile(r'(?:\A|\n)<skill-enrichment type="data"(?: mark="([^"]*)")?>\n(.*)\n</skill-enrichment>\Z')

_SIGNS = "bcdfghjkmnpqrstvwxz23456789"  # no vowels: a mark is never a word
_MARK_LENGTH = 8
_FEW_WORDS = 3
_FEW_LETTERS = 24  # of writings that may have no blanks
_MARKED_RUN = re.compile(r"\S+(?:\s+\S+){0,7}")


class Writer:
    """Writes values as JSON with the marks of one block.

    Args:
        is_text: whether a string is text, which is marked when it is long.
        policy: whose mark replaces blanks.
    """

    def __init__(self, is_text: Callable[[Fragment], bool], policy: Policy) -> None:
        self.mark = "~" + "".join(secrets.choice(_SIGNS) for _ in range(_MARK_LENGTH))
        self._is_text = is_text
        self._policy = policy

    def write(self, value: Any, name: str = ROOT) -> str:
        """A JSON value, which is under a name, as text."""
        return json_text(self._policy.marked(self._marked(value, name)))

    def block(self, text: str, is_truncated: bool) -> str:
        """The block of a written value; of an object, when it is truncated."""
        if is_truncated:
            members = text[1:-1]
            text = f"{{{members},{_TRUNCATED}}}" if members else f"{{{_TRUNCATED}}}"
        return f"{self._opening(text)}{text}{CLOSING}"

    def room(self, text: str) -> int:
        """How many characters of JSON fit into a block, when it has the marks of a written value."""
        return BLOCK_LIMIT - len(self._opening(text)) - len(CLOSING)

    def _opening(self, text: str) -> str:
        return OPENING.replace(">", f' mark="{self.mark}">') if self.mark in text else OPENING

    def _marked(self, value: Any, name: str) -> Any:
        if type(value) is str:
            is_marked = _is_long(value) and self._is_text(Fragment((), name, value))
            return _MARKED_RUN.sub(lambda run: f"{self.mark} {run.group()}", value) if is_marked else value
        if type(value) is list:
            return [self._marked(item, name) for item in value]
        return {key: self._marked(item, key) for key, item in value.items()} if type(value) is dict else value


def read_block(answer: str) -> Any:
    """The JSON value of the block at the end of an answer, without marks; None when there is no block."""
    found = _BLOCK.search(answer)
    if found is None:
        return None
    mark, text = found.groups()
    return json.loads(text.replace(f"{mark} ", "") if mark else text)


class Fitted(NamedTuple):
    """What fits into a block.

    Attributes:
        value: without the member `truncated`; `NOTHING` when no member fits.
        text: the value as it is written.
        is_truncated: whether members were dropped, here or before.
        dropped: how many were dropped here.
    """

    value: Any
    text: str
    is_truncated: bool
    dropped: int


def fit(value: Any, is_truncated: bool, writer: Writer) -> Fitted:
    """What of `value` fits into a block.

    Args:
        value: JSON types only, bounded in depth.
        is_truncated: True when members were dropped already.
        writer: writes the value and its parts.
    """
    text = writer.write(value)
    room = writer.room(text)
    if not is_truncated and len(text) <= room:
        return Fitted(value, text, False, 0)
    # An array that is wrapped goes one level deeper, where its innermost members may be too deep.
    wrapped = Cleaned(value, ()) if type(value) is dict else limit({ROOT: value})
    dropped = sum(removal.count for removal in wrapped.removals)
    if wrapped.value is NOTHING:
        return Fitted(NOTHING, "", True, dropped)
    members = {key: item for key, item in wrapped.value.items() if key != "truncated"}
    shortener = _Shortener(writer)
    kept, _ = shortener.shortened(members, ROOT, room - len(_TRUNCATED) - len(","))
    return Fitted(kept, "" if kept is NOTHING else writer.write(kept), True, dropped + shortener.dropped)


class _Shortener:
    """Drops members until a value fits, and counts them."""

    def __init__(self, writer: Writer) -> None:
        self.dropped = 0
        self._write = writer.write

    def shortened(self, value: Any, name: str, room: int, in_array: bool = False) -> tuple[Any, int]:
        """What of the value under a name fits, `NOTHING` when nothing does; and how many characters it takes."""
        size = len(self._write(value, name))
        if size <= room:
            return value, size
        if type(value) is not list and (type(value) is not dict or in_array):
            self.dropped += 1
            return NOTHING, 0
        is_list = isinstance(value, list)
        members: Iterable[tuple[str, Any]] = value.items() if isinstance(value, dict) else [(name, i) for i in value]
        kept: list[tuple[str, Any]] = []
        left = room - len("[]")
        for key, item in members:
            before = (len(kept) > 0) + (0 if is_list else len(json_text(key)) + len(":"))
            part, taken = self.shortened(item, key, left - before, in_array or is_list)
            if part is not NOTHING:
                kept.append((key, part))
                left -= before + taken
        if not kept:
            return NOTHING, 0
        return ([part for _, part in kept] if is_list else dict(kept)), room - left


def _is_long(text: str) -> bool:
    return (
        len(text.split(maxsplit=_FEW_WORDS)) > _FEW_WORDS
        or (not text.isascii() and len(text) > _FEW_LETTERS)
        or "\n" in text
    )
