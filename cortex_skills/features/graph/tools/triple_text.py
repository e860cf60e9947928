"""Triples as text for a model, one unambiguous line each.

Rules kept here:
- a line is `subject predicate object`, the object as JSON; no name and no value can start a new line, look like another
  triple, or open a tag: a name with unusual characters is written as a JSON string;
- invisible characters and those that change the writing direction are escaped (`safe_io.display`);
- an instruction in a name or a value is withheld, and the line states that (`enrichment.triples`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from cortex_skills.enrichment.policy import RULE, Policy
from cortex_skills.enrichment.triples import why_withheld
from cortex_skills.safe_io.display import PLAIN, json_text, shown_name

# With exactly two quotes and no escape, both belong to the object, so that neither name contains a blank.
_PLAIN_LINE = re.compile(f'[{PLAIN}]+ [{PLAIN}]+ "[ {PLAIN}]*"')

# The lines of short triples of strings, since the same ones are often queried again; and the limits of the cache.
_LINES: dict[tuple[str, str, str], tuple[str, bool]] = {}
_MAX_CHARACTERS, _MAX_LINES = 1024, 4096


def line_of(triple: Mapping[str, Any]) -> str:
    """One triple as one line; nothing is withheld. Of a triple with `objectLength` the object is a beginning."""
    subject, predicate, object_ = triple["subject"], triple["predicate"], triple["object"]
    if "objectLength" in triple:
        text = object_["value"] if isinstance(object_, Mapping) else object_
        whole = {key: triple[key] for key in ("subject", "predicate", "object")}
        return f"{line_of(whole)} (the first {len(text):,} of {triple['objectLength']:,} characters)"
    if type(object_) is str and _PLAIN_LINE.fullmatch(line := f'{subject} {predicate} "{object_}"'):
        return line  # the same as below, for most triples
    return f"{shown_name(subject)} {shown_name(predicate)} {json_text(object_)}"


def lines_shown(triples: Sequence[Mapping[str, Any]], policy: Policy) -> list[tuple[str, bool]]:
    """The line of each triple for a model, and whether it is complete."""
    shown: list[tuple[str, bool] | None] = [None] * len(triples)
    if policy is RULE:
        shown = list(map(_cached, triples))
    new = [place for place, known in enumerate(shown) if known is None]
    if new:
        if len(_LINES) >= _MAX_LINES:
            _LINES.clear()
        for place, withheld in zip(new, why_withheld([triples[place] for place in new], policy), strict=True):
            shown[place] = line = _line(triples[place], withheld, policy)
            if policy is RULE:
                _cache(triples[place], line)
    return [line for line in shown if line is not None]


def _cached(triple: Mapping[str, Any]) -> tuple[str, bool] | None:
    object_ = triple["object"]
    if "objectLength" in triple:
        return None
    return _LINES.get((triple["subject"], triple["predicate"], object_)) if type(object_) is str else None


def _cache(triple: Mapping[str, Any], shown: tuple[str, bool]) -> None:
    key = (triple["subject"], triple["predicate"], triple["object"])
    if type(key[2]) is str and "objectLength" not in triple and sum(map(len, key)) < _MAX_CHARACTERS:
        _LINES[key] = shown


def _line(triple: Mapping[str, Any], withheld: tuple[str, str] | None, policy: Policy) -> tuple[str, bool]:
    if withheld is None:
        return line_of({**triple, "object": policy.marked(triple["object"])} if policy.mark else triple), True
    part, reason = withheld
    if part != "object":
        return f"(a triple is withheld: its {part}: {reason})", False
    return f"{shown_name(triple['subject'])} {shown_name(triple['predicate'])} (withheld: {reason})", False
