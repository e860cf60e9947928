"""Triples as a model reads them: a line each, unambiguous whatever is in them.

Rules kept here:
- a line is `subject predicate object`, the object as JSON; no name and no value can begin a line of its own, look like
  another triple, or open a tag: a name with anything unusual in it is written as a JSON string;
- what cannot be seen, or turns the writing direction, is escaped (`escaping`);
- an instruction in a name or a value is withheld, and the line says so (`enrichment.triples`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from cortex_skills.enrichment.policy import RULE, Policy
from cortex_skills.enrichment.strictness import marked
from cortex_skills.enrichment.triples import why_withheld
from cortex_skills.escaping import PLAIN, json_text, shown_name

# With two quotes and no escape, both are of the object; so the two names before it hold no blank, or there were more.
_PLAIN_LINE = re.compile(f'[{PLAIN}]+ [{PLAIN}]+ "[ {PLAIN}]*"')

# Characters of a triple whose line is remembered; so many are.
_SHORT, _MOST = 1024, 4096


def line_of(triple: Mapping[str, Any]) -> str:
    """One triple as one line."""
    subject, predicate, object_ = triple["subject"], triple["predicate"], triple["object"]
    if type(object_) is str and _PLAIN_LINE.fullmatch(line := f'{subject} {predicate} "{object_}"'):
        return line  # as below, and as most are
    return f"{shown_name(subject)} {shown_name(predicate)} {json_text(object_)}"


# How short triples of texts were shown: the same ones are asked for again and again.
_REMEMBERED: dict[tuple[str, str, str], tuple[str, bool]] = {}


def lines_shown(triples: Sequence[Mapping[str, Any]], policy: Policy) -> list[tuple[str, bool]]:
    """Triples as a model may read them, a line each, and whether it is whole."""
    shown: list[tuple[str, bool] | None] = [None] * len(triples)
    if policy is RULE:
        shown = list(map(_remembered, triples))
    new = [place for place, known in enumerate(shown) if known is None]
    if new:
        if len(_REMEMBERED) >= _MOST:
            _REMEMBERED.clear()
        for place, withheld in zip(new, why_withheld([triples[place] for place in new], policy), strict=True):
            shown[place] = line = _line(triples[place], withheld, policy)
            if policy is RULE:
                _remember(triples[place], line)
    return [line for line in shown if line is not None]


def _remembered(triple: Mapping[str, Any]) -> tuple[str, bool] | None:
    object_ = triple["object"]
    return _REMEMBERED.get((triple["subject"], triple["predicate"], object_)) if type(object_) is str else None


def _remember(triple: Mapping[str, Any], shown: tuple[str, bool]) -> None:
    key = (triple["subject"], triple["predicate"], triple["object"])
    if type(key[2]) is str and sum(map(len, key)) < _SHORT:
        _REMEMBERED[key] = shown


def _line(triple: Mapping[str, Any], withheld: tuple[str, str] | None, policy: Policy) -> tuple[str, bool]:
    if withheld is None:
        return line_of({**triple, "object": marked(triple["object"], policy)} if policy.mark else triple), True
    part, reason = withheld
    if part != "object":
        return f"(a triple is withheld: its {part}: {reason})", False
    return f"{shown_name(triple['subject'])} {shown_name(triple['predicate'])} (withheld: {reason})", False
