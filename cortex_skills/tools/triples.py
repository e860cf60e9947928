"""Triples as a model reads them: a line each, unambiguous whatever is in them.

Rules kept here:
- a line is `subject predicate object`, the object as JSON; no name and no value can begin a line of its own, look like
  another triple, or open a tag: a name with anything unusual in it is written as a JSON string;
- what cannot be seen, or turns the writing direction, is escaped (`escaping`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cortex_skills.escaping import PLAIN, json_text, shown_name

# With two quotes and no escape, both are of the object; so the two names before it hold no blank, or there were more.
_PLAIN_LINE = re.compile(f'[{PLAIN}]+ [{PLAIN}]+ "[ {PLAIN}]*"')


def line_of(triple: Mapping[str, Any]) -> str:
    """One triple as one line."""
    subject, predicate, object_ = triple["subject"], triple["predicate"], triple["object"]
    if type(object_) is str and _PLAIN_LINE.fullmatch(line := f'{subject} {predicate} "{object_}"'):
        return line  # as below, and as most are
    return f"{shown_name(subject)} {shown_name(predicate)} {json_text(object_)}"
