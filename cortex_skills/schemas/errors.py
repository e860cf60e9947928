"""What a compiled schema finds wrong with a document from outside, in a time that the document cannot stretch.

Rules kept here:
- the library works out every error before it tells the first, at some 15 µs each, and holds the interpreter all that
  time: a million wrong members would stop every other thread for 15 s. So the first error is asked for by itself,
  which ends at once, and the others only of a document with few members.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, ValidationError

FEW = 2_000


def first_error(validator: Draft202012Validator, document: Any) -> ValidationError | None:
    """The first thing that is wrong with a document; None when nothing is.

    Raises:
        ValueError, TypeError, OverflowError, RecursionError: it is no JSON.

    """
    from jsonschema_rs import ValidationError

    try:
        validator.validate(document)
    except ValidationError as error:
        return error
    return None


def errors_of(validator: Draft202012Validator, document: Any, most: int) -> list[ValidationError]:
    """What is wrong with a document, at most `most` things; of one with more than `FEW` members only the first.

    Raises:
        ValueError, TypeError, OverflowError, RecursionError: it is no JSON.

    """
    first = first_error(validator, document)
    if first is None:
        return []
    return list(islice(validator.iter_errors(document), most)) if _has_few_members(document) else [first]


def _has_few_members(document: Any) -> bool:
    left, pending = FEW, [document]
    while pending:
        value = pending.pop()
        if isinstance(value, dict | list):
            left -= len(value)
            if left < 0:
                return False
            pending.extend(value.values() if isinstance(value, dict) else value)
    return True
