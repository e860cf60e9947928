"""JSON without secrets: what is kept of the arguments and results of calls, and leaves this process.

Rules kept here:
- at every depth, the value of a member whose name is that of a secret is replaced, whatever its type is, and so are
  the parts of texts that look like one: values that a name makes secrets (`secret_values`), and keys of services,
  private keys and passwords in addresses and commands (`secret_shapes`);
- an object such as `{"name": "password", "value": …}`, a pair such as `["Authorization", …]` and the item after
  `--password` count as such members;
- names of members are texts too;
- a text is searched as a reader sees it: without invisible characters and styles (NFKC). One without a secret stays as
  it is;
- texts, lists, objects and depth are limited; what is left out is replaced by a note;
- identifiers stay: UUIDs, IRIs, digests. What nothing names and what looks like a word or an identifier is not found.

>>> redacted({"user": "ada", "api_key": 7, "list": [{"Authorization": "Bearer abc"}], "text": "password=hunter2 ok"})
{'user': 'ada', 'api_key': '[redacted]', 'list': [{'Authorization': '[redacted]'}], 'text': 'password=[redacted] ok'}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from html import unescape
from itertools import islice
from typing import Any
from urllib.parse import unquote

from cortex_skills.safe_io.secret_names import LONGEST_NAME, Naming, as_seen, is_folder, naming, stated_by
from cortex_skills.safe_io.secret_shapes import MASK, without_phrases, without_words
from cortex_skills.safe_io.secret_values import without_values

MAX_TEXT = 500  # characters
MAX_MEMBERS = 50
MAX_DEPTH = 8

_NAMING = (
    "name",
    "key",
    "field",
    "header",
    "variable",
    "predicate",
    "property",
    "param",
    "parameter",
    "option",
    "setting",
    "attribute",
    "label",
    "id",
)  # of objects that name a value in a member
_FIELDS = (
    "selector",
    "element",
    "locator",
    "ref",
    "placeholder",
    "label",
    "name",
)  # of a page, which a person or an agent fills in
_OF_FIELDS = re.compile(r"(?i)\s+(?:field|input|box)\W*\Z")
_PROGRAMS = ("command", "program", "cmd", "executable")
_ARGUMENTS = frozenset(("args", "arguments", "argv"))
_VALUES = ("value", "val", "text", "content", "object")
_OF_STATEMENTS = ("predicate", "property")
_NAMING_OR_FIELD = frozenset((*_NAMING, *_FIELDS))
_MAY_HOLD = (str, list, tuple, dict)  # what a weak name makes a secret: no number, no truth value
_PRIVATE_PARTS = frozenset({"d", "p", "q", "dp", "dq", "qi", "k"})  # of a JSON Web Key (RFC 7518, §6)

_SHORTEST = 10  # a text of letters and digits that is shorter has no secret that is found here
_SHORTEST_HIDDEN = 4
_MAX_SEARCHED = 2 * MAX_TEXT  # characters: a secret may begin in what is kept, and end behind it
_LAST_WORD = re.compile(r"\S*\Z")  # which may be the beginning of a secret
_MAX_ESCAPES = 4  # times that a text was written as a JSON string
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_CODES: tuple[tuple[str, Callable[[str], str]], ...] = (("%", unquote), ("&", unescape))
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": " ", "f": " "}
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def redacted(value: Any, depth: int = 0) -> Any:
    """A JSON value without what looks like a secret, and of limited size."""
    if isinstance(value, str):
        return redacted_text(value)
    if isinstance(value, dict):
        return MASK if depth >= MAX_DEPTH else _redacted_members(value, depth)
    if isinstance(value, list | tuple):
        return MASK if depth >= MAX_DEPTH else _redacted_items(value, depth)
    return value if value is None or isinstance(value, bool | int | float) else MASK


def hidden_texts(value: Any, kept: Any) -> Iterator[str]:
    """The texts and numbers of a JSON value that are whole behind a mask in what `redacted` kept of it."""
    if kept == MASK:
        yield from _texts_in(value, 0)
    elif isinstance(value, dict) and isinstance(kept, dict):
        for member, shown in zip(value.values(), kept.values(), strict=False):
            yield from hidden_texts(member, shown)
    elif isinstance(value, list | tuple) and isinstance(kept, list):
        for item, shown in zip(value, kept, strict=False):
            yield from hidden_texts(item, shown)


def _texts_in(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, dict | list | tuple) and depth < MAX_DEPTH:
        for item in islice(value.values() if isinstance(value, dict) else value, MAX_MEMBERS):
            yield from _texts_in(item, depth + 1)
    elif isinstance(value, str | int) and len(text := str(value)) >= _SHORTEST_HIDDEN:
        yield text


def _redacted_members(value: dict[Any, Any], depth: int) -> dict[str, Any]:
    names_value = _names_value(value)
    is_key = "kty" in value
    program: str | None = None
    if not _ARGUMENTS.isdisjoint(value):
        program = next((value[name] for name in _PROGRAMS if isinstance(value.get(name), str)), None)
    kept: dict[str, Any] = {}
    for name, member in value.items():
        if len(kept) == MAX_MEMBERS:
            return {**kept, "…": f"{len(value) - MAX_MEMBERS} more"}
        shown, kind = _known(name) if isinstance(name, str) and len(name) <= LONGEST_NAME else _read_name(name)
        is_secret = kind and (kind != "weak" or isinstance(member, _MAY_HOLD))
        is_secret = is_secret and member is not None and not is_folder(name, member)
        if is_secret or (names_value and name in _VALUES) or (is_key and name in _PRIVATE_PARTS):
            kept[shown] = MASK
        elif program is not None and name in _ARGUMENTS and isinstance(member, list | tuple) and depth + 1 < MAX_DEPTH:
            kept[shown] = _redacted_items([program, *member], depth + 1)[1:]
        else:
            kept[shown] = redacted(member, depth + 1)
    return kept


def _names_value(value: dict[Any, Any]) -> bool:
    """Whether an object names the secret that another member of it is."""
    if _NAMING_OR_FIELD.isdisjoint(value):
        return False
    for name in _FIELDS:
        if isinstance(value.get(name), str) and naming(_OF_FIELDS.sub("", value[name])) in ("named", "strong"):
            return True
    for name in _NAMING:
        if name in value and isinstance(value[name], str):
            kind = naming(value[name])
            # of statements only those of a password: a token of a text is no secret
            if kind == "strong" or (kind == "named" and name not in _OF_STATEMENTS):
                return True
            if kind == "weak" and name in _OF_STATEMENTS and _is_owned(value[name], value.get("object")):
                return True
    return False


def _is_owned(predicate: str, thing: object) -> bool:
    """Whether a statement is that somebody has a password which it states: `hasPassword` and a text, no name."""
    return stated_by(predicate) == "strong" and isinstance(thing, str) and ":" not in thing


def _redacted_items(value: list[Any] | tuple[Any, ...], depth: int) -> list[Any]:
    is_pair = len(value) == 2 and isinstance(value[0], str) and " " not in value[0]
    is_command = any(isinstance(item, str) and item.startswith("-") for item in value[1:MAX_MEMBERS])
    items: list[Any] = []
    for place, item in enumerate(value[:MAX_MEMBERS]):
        before = value[place - 1] if place else None
        if before is not None and (_is_option(before) or (is_pair and naming(value[0]) not in ("", "weak"))):
            items.append(MASK)
        elif is_command and isinstance(item, str):
            items.append(_redacted_argument(value, place))
        else:
            items.append(redacted(item, depth + 1))
    return items if len(value) <= MAX_MEMBERS else [*items, f"… {len(value) - MAX_MEMBERS} more"]


def _is_option(before: object) -> bool:
    """Whether the item before one is an option for a secret, as in the arguments of a program."""
    return (
        isinstance(before, str)
        and before.startswith("-")
        and "=" not in before
        and len(before) < LONGEST_NAME
        and naming(before) != ""
    )


def _redacted_argument(value: list[Any] | tuple[Any, ...], place: int) -> str:
    """An argument of a program, which may be a secret because of those before it: `-u`, `ada:x`."""
    before = [item for item in value[max(0, place - 6) : place] if isinstance(item, str) and " " not in item]
    argument: str = value[place]
    command = " ".join([*before, argument])
    if " " not in argument and len(command) <= MAX_TEXT and (found := _without_secrets(command)) != command:
        return found.rpartition(" ")[2]
    return redacted_text(argument)


def redacted_text(text: str) -> str:
    """A text without what looks like a secret, of at most 500 characters."""
    if len(text) < _SHORTEST and text.isalnum():
        return text
    if len(text) > _MAX_SEARCHED:
        text = _LAST_WORD.sub("…", text[:_MAX_SEARCHED], count=1)
    seen = _as_seen(text)
    found = _without_secrets(seen)
    text = text if found == seen else found
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"


def _without_secrets(text: str) -> str:
    """A text without secrets: as it is, and as it is when it is decoded, or read as a JSON string once or more."""
    found = _searched(text)
    for mark, decoded in _CODES:
        if mark in found and (plain := _as_seen(decoded(found))) != found and (shown := _searched(plain)) != plain:
            found = shown
    seen = found
    for _ in range(_MAX_ESCAPES):
        if "\\" not in seen:
            break
        plain = _as_seen(_ESCAPE.sub(_unescaped, seen))
        seen = _searched(plain)
        found = found if seen == plain else seen
    return found


def _as_seen(text: str) -> str:
    return text if text.isascii() and not _CONTROL.search(text) else as_seen(text)


def _unescaped(escape: re.Match[str]) -> str:
    return _ESCAPES.get(escape[2], escape[2]) if escape[1] is None else chr(int(escape[1], 16))


def _searched(text: str) -> str:
    folded = text.casefold()
    found = without_phrases(text, folded)
    return without_words(without_values(found, folded if found is text else found.casefold()), _has_secret)


def _has_secret(text: str) -> bool:
    return _without_secrets(text) != text


def _read_name(name: object) -> tuple[str, Naming]:
    """The name of a member as it is kept, and whether it is that of a secret."""
    return (redacted_text(name), naming(name)) if isinstance(name, str) else (MASK, "named")


_known = lru_cache(maxsize=1024)(_read_name)  # the names of members repeat
