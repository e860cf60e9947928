"""JSON without secrets: what is kept of the arguments and results of calls, and leaves this process.

Rules kept here:
- at every depth, the value of a member whose name is that of a secret is replaced, whatever its type is, and so are
  parts of texts that look like one: keys of services, tokens, private keys, passwords in addresses and assignments,
  and runs of 20 characters or more with letters and digits;
- an object such as `{"name": "password", "value": …}` and the item after `--password` count as such members;
- names of members are texts too;
- texts, lists, objects and depth are limited; what is left out is replaced by a note;
- too much is replaced rather than too little: an identifier of 20 characters looks like a token.

>>> redacted({"user": "ada", "api_key": 7, "list": [{"Authorization": "Bearer abc"}], "text": "password=hunter2 ok"})
{'user': 'ada', 'api_key': '[redacted]', 'list': [{'Authorization': '[redacted]'}], 'text': 'password=[redacted] ok'}
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any

MASK = "[redacted]"
MAX_TEXT = 500  # characters
MAX_MEMBERS = 50
MAX_DEPTH = 8

_NAMING = ("name", "key", "field", "header", "variable")  # of objects that name a value in a member
_VALUES = ("value", "text", "content")
_LONGEST_NAME = 64

_NAMES = re.compile(
    r"pass(word|wd|phrase|code)|pwd|secret|token|api_?key|access_?key|private_?key|signing_?key|encryption_?key"
    r"|credential|authorization|cookie|session_?id|bearer|jwt|otp|mnemonic|seed_?phrase|(^|_)auth(_|$)|^key$|^pin$|^cvv?c?$"
)
_SHORTEST = 10  # a text of letters and digits that is shorter has no secret that is found here
_MAX_SEARCHED = 8 * MAX_TEXT  # characters: the time of some patterns grows faster than the text
_LAST_WORD = re.compile(r"\S*\Z")  # which may be the beginning of a secret
_SEPARATORS = re.compile(r"[^a-z0-9]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PARTS = (
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    re.compile(r"(?i)\b(?:bearer|basic)\s+[^\s\"',;]+"),
    re.compile(r"(?<=://)[^\s/@:]*:[^\s/@]*(?=@)"),
    re.compile(r"\b(?:sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|xox[abprs]|AKIA|ASIA|AIza|eyJ)[-_A-Za-z0-9.]{8,}"),
    re.compile(
        r"(?<![A-Za-z0-9+/_=-])(?=[A-Za-z0-9+/_=-]{20})(?=[A-Za-z0-9+/_=-]*[0-9])(?=[A-Za-z0-9+/_=-]*[A-Za-z])[A-Za-z0-9+/_=-]{20,}"
    ),
)
# What a text must contain, case-folded, for each of them to match: this is quick to see.
_MARKS = (("-----begin",), ("bearer", "basic"), ("://",), ("",), ("",))
_ASSIGNABLE = ("pass", "secret", "token", "key", "credential")
_ASSIGNED = re.compile(
    r"(?i)((?:[a-z0-9_-]{0,40}(?:pass(?:word|wd|phrase)|secret|token|api[_-]?key|access[_-]?key|credential)[a-z0-9_-]{0,40})"
    r"\\?[\"']?\s*[:=]\s*\\?[\"']?)([^\s\"',;&\\]+)"
)


def redacted(value: Any, depth: int = 0) -> Any:
    """A JSON value without what looks like a secret, and of limited size."""
    if isinstance(value, str):
        return redacted_text(value)
    if isinstance(value, dict):
        if depth >= MAX_DEPTH:
            return MASK
        names_one = any(isinstance(value.get(name), str) and _is_secret(value[name]) for name in _NAMING)
        kept = {
            _shown_name(name): MASK
            if _is_secret(name) or (names_one and name in _VALUES)
            else redacted(member, depth + 1)
            for name, member in list(value.items())[:MAX_MEMBERS]
        }
        return kept if len(value) <= MAX_MEMBERS else {**kept, "…": f"{len(value) - MAX_MEMBERS} more"}
    if isinstance(value, list | tuple):
        if depth >= MAX_DEPTH:
            return MASK
        pairs = zip([None, *value], value[:MAX_MEMBERS], strict=False)
        items = [MASK if _is_option(before) else redacted(member, depth + 1) for before, member in pairs]
        return items if len(value) <= MAX_MEMBERS else [*items, f"… {len(value) - MAX_MEMBERS} more"]
    return value if value is None or isinstance(value, bool | int | float) else MASK


def _is_option(before: object) -> bool:
    """Whether the item before one is the name of a secret, as in the arguments of a program."""
    return isinstance(before, str) and len(before) < _LONGEST_NAME and " " not in before and _is_secret(before)


def redacted_text(text: str) -> str:
    """A text without what looks like a secret, of at most 500 characters."""
    if len(text) < _SHORTEST and text.isalnum():
        return text
    if len(text) > _MAX_SEARCHED:
        text = _LAST_WORD.sub("…", text[:_MAX_SEARCHED], count=1)
    folded = text.casefold()
    for marks, part in zip(_MARKS, _PARTS, strict=True):
        if any(mark in folded for mark in marks):
            text = part.sub(MASK, text)
    if any(word in folded for word in _ASSIGNABLE):
        text = _ASSIGNED.sub(rf"\1{MASK}", text)
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"


def _is_secret(name: object) -> bool:
    """Whether the name of a member is that of a secret: `apiKey`, `API-KEY`, `x_api_key`."""
    if not isinstance(name, str):
        return True
    return _names_secret(name) if len(name) <= _LONGEST_NAME else _searched_name(name)


def _searched_name(name: str) -> bool:
    words = _HUMP.sub("_", unicodedata.normalize("NFKC", name))
    return _NAMES.search(_SEPARATORS.sub("_", words.casefold()).strip("_")) is not None


def _shown_name(name: str) -> str:
    return _redacted_name(name) if len(name) <= _LONGEST_NAME else redacted_text(name)


_names_secret = lru_cache(maxsize=1024)(_searched_name)  # the names of members repeat
_redacted_name = lru_cache(maxsize=1024)(redacted_text)
