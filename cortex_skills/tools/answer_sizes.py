"""How long answers with triples are: hosts cut or refuse longer ones, so that a finished write seems to have failed.

Rules kept here:
- an answer to a write names the triple and its hash, and at most `IN_WRITES` characters of a long object;
- the triples of a query take at most `PAGE` bytes, text and details together, unless the call has a limit or a cursor;
  then `LONGEST_PAGE`, which is less than the 25,000 tokens that hosts take. A page ends before the triple that would
  be too much, and has a cursor;
- a long object is cut only in answers, and then its length is in the answer (`objectLength`, and in the text).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cortex_skills.safe_io.display import json_text

IN_WRITES = 200
PAGE = 10_000  # 2,500 tokens
LONGEST_PAGE = 90_000
OF_PROOF = 1_300  # bytes of a proof without premises
_OF_FORM = 60  # bytes of the names in an object that is a mapping
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
    if sum(map(_roughly, triples)) + beside * len(triples) <= most:
        return len(triples)  # without writing them
    used = 0
    for place, triple in enumerate(triples):
        used += size_of(triple) + beside
        if used > most:
            return max(1, place)
    return len(triples)


def _roughly(triple: Mapping[str, Any]) -> int:
    """At least `size_of` a triple, in less time: a character has at most twelve bytes in JSON, of ASCII six."""
    object_, of_form = triple["object"], 0
    if isinstance(object_, dict):
        object_, of_form = "".join(map(str, object_.values())), 2 * _OF_FORM
    text = f"{triple['subject']}{triple['predicate']}{object_}"
    return (12 if text.isascii() else 24) * (len(text) + 9) + _FRAME + of_form
