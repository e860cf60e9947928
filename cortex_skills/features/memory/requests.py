"""Validates the arguments of `memory.remember` and `memory.recall`, which come from skills and agents.

Rules kept here:
- a text has 1 to 512 characters without surrounding whitespace, the limit for a text that a model gets (`enrichment`);
- a reflection has 1 to 20 sources, and is at most 3 deep;
- at most 8 tags of at most 40 characters; importance is a number from 0 to 1; a query has at most 1,000 characters;
- an unknown option or one of the wrong type is an error that names it; null is the same as absent.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from cortex_skills.enrichment.limits import STRING_LIMIT
from cortex_skills.errors import CortexError
from cortex_skills.features.memory.model import MemoryQuery, NewMemory
from cortex_skills.safe_io.schemas import did_you_mean

MAX_TEXT = STRING_LIMIT
MAX_TAGS = 8
MAX_TAG = 40
MAX_QUERY = 1000
MAX_LIMIT = 50

# No white space by any reading: patterns of JSON Schema, Python and Rust differ about these characters.
VISIBLE = r"[^\s\u0085\u001c-\u001f\ufeff]"

MAX_SOURCES = 20
IMPORTANCE = 0.5
MIN_IMPORTANCE = 0.3
LIMIT = 5


def new_memory(text: Any, options: Any = None) -> NewMemory:
    """The memory to remember, from `(text, {importance, tags})`.

    Raises:
        CortexError: `invalid_arguments`.
    """
    given = _options(options, ("importance", "tags"))
    return NewMemory(
        _text(text, "text", MAX_TEXT, hint="remember one fact in each memory"),
        _fraction(given.get("importance"), "importance", IMPORTANCE),
        _tags(given.get("tags")),
    )


def memory_query(query: Any, options: Any = None) -> MemoryQuery:
    """The query to recall by, from `(query, {limit, minImportance})`.

    Raises:
        CortexError: `invalid_arguments`.
    """
    given = _options(options, ("limit", "minImportance"))
    return MemoryQuery(
        _text(query, "query", MAX_QUERY),
        _limit(given.get("limit")),
        _fraction(given.get("minImportance"), "minImportance", MIN_IMPORTANCE),
    )


def _options(given: Any, known: Collection[str]) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise _invalid("options", f"must be an object, not {type(given).__name__}", f"{{{', '.join(known)}}}")
    for key in given:
        if key not in known:
            near = did_you_mean(key, known) if isinstance(key, str) else ""
            raise _invalid(str(key)[:80], "is not an option", near or f"{{{', '.join(known)}}}")
    return given


def _text(given: Any, field: str, longest: int, hint: str = "") -> str:
    if not isinstance(given, str):
        raise _invalid(field, f"must be a string, not {type(given).__name__}")
    text = given.strip() if len(given) <= 4 * longest else given
    if not text or len(text) > longest:
        raise _invalid(field, f"must have 1 to {longest} characters, and has {len(text)}", hint)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _invalid(field, "contains a lone surrogate", "give valid Unicode text") from None
    return text


def _tags(given: Any) -> tuple[str, ...]:
    if given is None:
        return ()
    if not isinstance(given, list | tuple) or len(given) > MAX_TAGS:
        raise _invalid("tags", f"must be a list of at most {MAX_TAGS} words")
    return tuple(sorted({_text(tag, "tags", MAX_TAG) for tag in given}))


def _fraction(given: Any, field: str, default: float) -> float:
    if given is None:
        return default
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
        raise _invalid(field, "must be a number from 0 to 1")
    return float(given)


def _limit(given: Any) -> int:
    if given is None:
        return LIMIT
    is_number = isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given)
    if not is_number or given != int(given) or not 1 <= given <= MAX_LIMIT:
        raise _invalid("limit", f"must be a whole number from 1 to {MAX_LIMIT}")
    return int(given)


def _invalid(field: str, problem: str, hint: str = "") -> CortexError:
    return CortexError("invalid_arguments", f"{field} {problem}", hint=hint, details={"field": field})
