"""How long answers with triples are: hosts cut or refuse longer ones, so that a finished write seems to have failed.

Rules kept here:
- an answer to a write names the triple and its hash, and at most `IN_WRITES` characters of a long object;
- the triples of a query take at most `PAGE` bytes, text and details together, unless the call has a limit or a cursor;
  then `LONGEST_PAGE`, which is less than the 25,000 tokens that hosts take. A page ends before the triple that would
  be too much, and has a cursor;
- the details of a list of records have those that are within `OF_RECORDS` tokens, unless the call has a limit;
- a long object is cut only in answers, and then its length is in the answer (`objectLength`, and in the text).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from cortex_skills.safe_io.display import json_text
from cortex_skills.tools.token_estimate import tokens_of

IN_WRITES = 200
PAGE = 10_000  # 2,500 tokens
LONGEST_PAGE = 90_000
OF_RECORDS = 2_300  # tokens of the details of a list, unless the call has a limit
OF_PROOF = 1_300  # bytes of a proof without premises
_PLAIN = re.compile(r"[A-Za-z0-9 _.:/#@+,-]*")  # as it is in JSON
_FRAME = 150  # bytes of the id, the names of the members and the punctuation of a triple


def with_short_object(triple: Mapping[str, Any], most: int = IN_WRITES) -> dict[str, Any]:
    """A triple with at most so many characters of its object, and `objectLength` if that is not all.

    >>> with_short_object({"subject": "a", "predicate": "b", "object": "long text"}, 4)
    {'subject': 'a', 'predicate': 'b', 'object': 'long', 'objectLength': 9}
    """
    object_ = triple["object"]
    text = object_.get("value") if isinstance(object_, Mapping) else object_
    if not isinstance(text, str) or len(text) <= most:
        return dict(triple)
    beginning = {**object_, "value": text[:most]} if isinstance(object_, Mapping) else text[:most]
    return {**triple, "object": beginning, "objectLength": len(text)}


def fitting(triple: Mapping[str, Any], most: int) -> dict[str, Any]:
    """A triple that takes at most so many bytes, with as much of its object."""
    shown, length = dict(triple), most // 2
    while size_of(shown) > most and length > IN_WRITES:
        length -= length // 8
        shown = with_short_object(triple, length)
    return shown


def size_of(triple: Mapping[str, Any]) -> int:
    """The bytes of a triple in the text and in the details of an answer, at most."""
    names = sum(len(json_text(triple[part]).encode()) for part in ("subject", "predicate"))
    return 2 * (names + len(json_text(triple["object"]).encode())) + _FRAME


def how_many_fit(triples: Sequence[Mapping[str, Any]], most: int, beside: int = 0) -> int:
    """How many triples, with `beside` bytes for each, fit into so many bytes; at least one."""
    if _roughly(triples) + beside * len(triples) <= most:
        return len(triples)  # without writing them
    used = 0
    for place, triple in enumerate(triples):
        used += size_of(triple) + beside
        if used > most:
            return max(1, place)
    return len(triples)


def first_records(records: Sequence[Mapping[str, Any]], used: int = 0) -> int:
    """How many of some records are within `OF_RECORDS`, after others with so many tokens; at least one.

    >>> first_records([{"name": "a"}] * 10_000) < 10_000, first_records([{"name": "a " * 10_000}])
    (True, 1)
    """
    for place, record in enumerate(records):
        used += tokens_of(json_text(record))
        if used > OF_RECORDS:
            return max(1, place)
    return len(records)


def _roughly(triples: Sequence[Mapping[str, Any]]) -> int:
    """At least the `size_of` of all triples, in less time: a character has at most 12 bytes in JSON, of ASCII 6."""
    text = "".join([f"{each['subject']}{each['predicate']}{each['object']}" for each in triples])
    longest = 2 if _PLAIN.fullmatch(text) else 12 if text.isascii() else 24  # twice the bytes of a character
    return longest * (len(text) + 9 * len(triples)) + _FRAME * len(triples)
