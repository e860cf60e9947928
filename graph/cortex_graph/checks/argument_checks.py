"""Checks of the arguments of `NamespacedGraph`: untrusted mappings from clients.

Rules kept here:
- an unknown key, a wrong type, a limit out of range or a malformed id is an error that names the field;
- in a pattern, a missing key and null both match anything.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping
from typing import Any

from cortex_graph.exceptions import invalid
from cortex_graph.naming.spelling import nearest

MAX_LIMIT = 1000

TRIPLE_KEYS = ("subject", "predicate", "object")
PATTERN_KEYS = (*TRIPLE_KEYS, "limit", "cursor")

_HASH = re.compile(r"[0-9a-f]{64}")


def check_triple(given: Any) -> tuple[Any, Any, Any]:
    """Return the subject, predicate and object of a mapping with exactly these keys."""
    _check_keys("triple", given, TRIPLE_KEYS)
    for key in TRIPLE_KEYS:
        if given.get(key) is None:
            raise invalid(key, "is missing")
    return given["subject"], given["predicate"], given["object"]


def check_limit(given: Any, default: int) -> int:
    """Return the number of triples of a page, an integer from 1 to `MAX_LIMIT`."""
    if given is None:
        return default
    if type(given) is not int or not 1 <= given <= MAX_LIMIT:
        raise invalid("limit", f"is {_short(given)}", hint=f"a whole number from 1 to {MAX_LIMIT}")
    return given


def check_cursor(given: Any) -> str | None:
    """Return a cursor as text, or None."""
    if given is not None and not isinstance(given, str):
        raise invalid("cursor", f"must be a string, not {type(given).__name__}")
    return given or None


def check_pattern(given: Any) -> Mapping[str, Any]:
    """Return a mapping that has no keys other than those of a pattern."""
    return _check_keys("pattern", given, PATTERN_KEYS)


def check_id(given: Any) -> str:
    """Return the id of a triple: 64 lower-case hexadecimal digits."""
    if not isinstance(given, str) or not _HASH.fullmatch(given):
        hint = "64 lower-case hexadecimal digits; commands, tools and addresses take the first six or more"
        raise invalid("id", f"is {_short(given)}, which is not the id of a triple", hint=hint)
    return given


def _check_keys(what: str, given: Any, known: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise invalid(what, f"must be a mapping, not {type(given).__name__}", hint=f"with {', '.join(known)}")
    for key in given:
        if key not in known:
            near = nearest(key, known) if isinstance(key, str) else []
            raise invalid(_short(key), "is unknown", hint=f"{', '.join(near) or ', '.join(known)}?")
    return given


def _short(given: Any) -> str:
    text = given if isinstance(given, str) else reprlib.repr(given)  # bounded, at any depth
    return text if len(text) <= 80 else f"{text[:79]}…"
