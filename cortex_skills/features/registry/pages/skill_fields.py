"""The fields of a form in which a skill is written, and what they change of a document.

Rules kept here:
- a field that is too long for a form is left out of it, and stays as it is;
- an invisible character is written as its code, and comes back as itself (`field_text.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cortex_skills.doors.explorer.field_text import from_field, to_field, with_line_feeds
from cortex_skills.features.registry.documents.document import MAX_DESCRIPTION, SkillDocument, Step
from cortex_skills.features.registry.documents.skill_md import steps_of
from cortex_skills.safe_io.strict_json import read_json

# Characters of a field: with all of them at nine bytes each, a form is shorter than `LONGEST_FORM`.
MOST = {"description": MAX_DESCRIPTION, "trigger": 4_096, "body": 64 << 10, "steps": 16 << 10, "tools": 4_096}
LONGEST_FORM = 900_000  # bytes
_ROWS = {"description": 3, "trigger": 2, "body": 18, "steps": 6, "tools": 3}
LABELS = {
    "description": ("Description", "What it does, and when to use it."),
    "trigger": ("Trigger pattern", "What a request that it serves looks like."),
    "body": ("Body", "Markdown."),
    "steps": (
        "Steps",
        "One a line: action | tool | details | arguments as JSON. Steps of the body follow it if they are unchanged.",
    ),
    "tools": ("Allowed tools", "One a line."),
}


@dataclass(frozen=True, slots=True)
class EditField:
    """A field: its name, label and help, its text as it is sent back, its rows, and the most characters of it."""

    name: str
    label: str
    help: str
    text: str
    rows: int
    most: int


def fields_of(document: SkillDocument) -> dict[str, str]:
    """The fields of a document, as they are sent back."""
    texts = {"description": document.description, "trigger": document.trigger_pattern or "", "body": document.body}
    fields = {name: to_field(with_line_feeds(text)) for name, text in texts.items()}
    fields["steps"] = "\n".join(map(_line_of, document.steps))
    fields["tools"] = "\n".join(to_field(tool, part=True) for tool in document.allowed_tools)
    return {name: text for name, text in fields.items() if len(text) <= MOST[name]}


def _line_of(step: Step) -> str:
    params = "" if step.params is None else json.dumps(dict(step.params), ensure_ascii=False)
    parts = [to_field(text, part=True) for text in (step.action, step.tool or "", step.details, params)]
    return " | ".join(parts).rstrip(" |")


def changed_members(document: SkillDocument | None, fields: Mapping[str, str]) -> dict[str, Any]:
    """What of a document the fields change, or make of none, as members of the operation."""
    before = dict.fromkeys(MOST, "") if document is None else fields_of(document)
    typed = {name: with_line_feeds(fields[name]) for name in before if name in fields}
    changed = {name for name, text in typed.items() if text.rstrip("\n") != before[name].rstrip("\n")}
    texts = {"description": "description", "trigger": "triggerPattern", "body": "content"}
    body: dict[str, Any] = {texts[name]: from_field(typed[name]) for name in texts if name in changed}
    if not body.get("triggerPattern", "-").strip():
        body["triggerPattern"] = None
    if "tools" in changed:
        body["allowedTools"] = [from_field(line.strip()) for line in typed["tools"].split("\n") if line.strip()]
    if "steps" in changed:
        body["steps"] = [_step(line) for line in typed["steps"].split("\n") if line.strip()]
    elif "body" in changed and document is not None and document.steps == steps_of(document.body):
        body["steps"] = [_member(step) for step in steps_of(body["content"])]
    return body


def _step(line: str) -> dict[str, Any]:
    action, tool, details = [part.strip() for part in [*line.split("|", 2), "", ""][:3]]
    text, _, last = details.rpartition("|")
    params = _arguments(from_field(last.strip()))
    if params is not None:
        details = text.strip()
    return _member(Step(from_field(action), from_field(tool) or None, from_field(details), params))


def _arguments(text: str) -> dict[str, Any] | None:
    """The arguments of a step; None for a text that is no JSON object."""
    try:
        found = read_json(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _member(step: Step) -> dict[str, Any]:
    params = {} if step.params is None else {"params": step.params}
    return {"action": step.action, "tool": step.tool, "description": step.details, **params}


def shown_fields(fields: Mapping[str, str]) -> Iterator[EditField]:
    """The fields with these texts, as a form shows them."""
    for name, (label, help_text) in LABELS.items():
        if name in fields:
            text = to_field(with_line_feeds(fields[name]), typed=True)
            yield EditField(name, label, help_text, text, _ROWS[name], MOST[name])
