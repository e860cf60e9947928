"""Triples as a model reads them: a line each, unambiguous whatever is in them.

Rules kept here:
- a line is `subject predicate object`, the object as JSON; no name and no value can begin a line of its own or look
  like another triple: a name with anything unusual in it is written as a JSON string;
- characters that cannot be seen, or that turn the writing direction, are escaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from cortex_skills.scanner.findings import visible

_PLAIN_NAME = re.compile(r"[^\s\"<>{}\\]+")


def line_of(triple: Mapping[str, Any]) -> str:
    """One triple as one line."""
    return f"{shown_name(triple['subject'])} {shown_name(triple['predicate'])} {shown_value(triple['object'])}"


def shown_name(name: str) -> str:
    """A name; in quotes when it holds spaces, quotes or what cannot be seen."""
    return name if _PLAIN_NAME.fullmatch(name) and visible(name) == name else shown_value(name)


def shown_value(value: Any) -> str:
    """A value as JSON on one line."""
    return visible(json.dumps(value, ensure_ascii=False))
