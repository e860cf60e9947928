"""Triples as a model reads them: a line each, unambiguous whatever is in them.

Rules kept here:
- a line is `subject predicate object`, the object as JSON; no name and no value can begin a line of its own, look like
  another triple, or open a tag: a name with anything unusual in it is written as a JSON string;
- what cannot be seen, or turns the writing direction, is escaped (`escaping`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cortex_skills.escaping import json_text, shown_name


def line_of(triple: Mapping[str, Any]) -> str:
    """One triple as one line."""
    return f"{shown_name(triple['subject'])} {shown_name(triple['predicate'])} {json_text(triple['object'])}"
