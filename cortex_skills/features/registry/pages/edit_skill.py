"""`/explore/registry/{name}/edit`: the next version of a registered skill, written in a form.

Rules kept here:
- a preview changes nothing; it is made by the functions of the page of the skill: what an agent will read, and the
  difference to the current version;
- only the fields that were changed are registered, by the operation of the REST API; a field that is too long for a
  form is left out of it, and stays as it is;
- the form names the version that it was made from, and is refused when another one is the current one by the time that
  it is registered;
- a form that is refused is shown again with what was typed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.display import OF_HEADING, ShownText, shown_text
from cortex_skills.doors.explorer.field_text import from_field, to_field, with_line_feeds
from cortex_skills.doors.explorer.page import Action, ExplorerPage, Faulty, PageCall, Redirected, not_found
from cortex_skills.doors.explorer.page_queries import RegisteredSkillQuery
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.rest.schemas import check
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.dialects import prism
from cortex_skills.features.registry.dialects.prism import ProceduralSkill
from cortex_skills.features.registry.documents.document import MAX_DESCRIPTION, SkillDocument, Step
from cortex_skills.features.registry.documents.skill_md import steps_of
from cortex_skills.features.registry.pages.registered import (
    CHARACTERS,
    LINES,
    PATH,
    SkillOfPage,
    found_skill,
    namespace_of,
    shown_changes,
    shown_key,
    skill_address,
)
from cortex_skills.features.registry.records.lifecycle import following_standing
from cortex_skills.features.registry.rest.procedural_skills import store_skill
from cortex_skills.features.registry.tools.registered_skills import text_of_skill
from cortex_skills.safe_io.strict_json import read_json

# Characters of a field: with all of them at nine bytes each, a form is shorter than `_LONGEST_FORM`.
_MOST = {"description": MAX_DESCRIPTION, "trigger": 4_096, "body": 64 << 10, "steps": 16 << 10, "tools": 4_096}
_LONGEST_FORM = 900_000  # bytes
_ROWS = {"description": 3, "trigger": 2, "body": 18, "steps": 6, "tools": 3}
_LABELS = {
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


@dataclass(frozen=True, slots=True)
class EditPage:
    """The form.

    Attributes:
        name: of the skill.
        version: the number of the version that the form was made from.
        following: the number of the next one.
        standing: what saving changes of its state, in words; empty if it stays.
        fields: what can be changed.
        left_out: the labels of the fields that are too long for a form, in words.
        fault: why nothing was saved; None if nothing was refused.
        reads: what an agent will read; None before a preview.
        reads_words: how much of it there is.
        changes: the difference to the current version.
        back: the page of the skill.
    """

    name: ShownText
    version: str
    following: int
    standing: str
    fields: tuple[EditField, ...]
    left_out: str
    fault: tuple[ShownText, ShownText] | None
    reads: tuple[ShownText, ...] | None
    reads_words: str
    changes: tuple[tuple[str, ShownText], ...]
    back: str


def view(call: PageCall) -> EditPage:
    """The form with the current version.

    Raises:
        HttpError: `not_found`.
        Redirected: an earlier version is not edited, the current one is.
    """
    found = _edited(call)
    if found.shown.id != found.record.version_id:
        raise Redirected(address_of_edit(call, found))
    return _page(call, found, str(found.shown.number), _fields(found.registry.document(found.shown)))


def address_of_edit(call: PageCall, found: SkillOfPage) -> str:
    """The form of a skill; empty for a skill of another namespace, which is registered again by its own registry."""
    key = found.record.key
    if key.namespace != found.registry.terms.names.namespace:
        return ""
    return addresses.address(f"{addresses.registered_skill(key.name)}/edit", namespace=call.query.get("namespace"))


def _edited(call: PageCall) -> SkillOfPage:
    found = found_skill(call)
    if not address_of_edit(call, found):
        raise not_found("a skill of another namespace is not edited here")
    return found


def _fields(document: SkillDocument) -> dict[str, str]:
    """The fields of a document, as they are sent back."""
    texts = {"description": document.description, "trigger": document.trigger_pattern or "", "body": document.body}
    fields = {name: to_field(with_line_feeds(text)) for name, text in texts.items()}
    fields["steps"] = "\n".join(map(_line_of, document.steps))
    fields["tools"] = "\n".join(to_field(tool, part=True) for tool in document.allowed_tools)
    return {name: text for name, text in fields.items() if len(text) <= _MOST[name]}


def _line_of(step: Step) -> str:
    params = "" if step.params is None else json.dumps(dict(step.params), ensure_ascii=False)
    parts = [to_field(text, part=True) for text in (step.action, step.tool or "", step.details, params)]
    return " | ".join(parts).rstrip(" |")


def _changed(document: SkillDocument, fields: Mapping[str, str]) -> dict[str, Any]:
    """What of a document the fields change, as members of the operation."""
    before = _fields(document)
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
    elif "body" in changed and document.steps == steps_of(document.body):
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


def _next(document: SkillDocument, body: Mapping[str, Any]) -> SkillDocument:
    """The document that the operation would register."""
    return document.changed(**prism.document_fields(body))


def _page(
    call: PageCall,
    found: SkillOfPage,
    version: str,
    fields: Mapping[str, str],
    *,
    document: SkillDocument | None = None,
    error: CortexError | HttpError | None = None,
) -> EditPage:
    """The form.

    Args:
        call: the call.
        found: the skill.
        version: the number of the version that the form was made from.
        fields: what is in the fields.
        document: what would be registered, for a preview.
        error: why the form is refused.
    """
    following = max(each.number for each in found.versions) + 1
    before = found.record.standing
    is_agent = call.principal.holder == "agent"
    standing = following_standing(before, "learned" if is_agent else "human")
    maker = "an agent" if is_agent else "a person"
    words = f"it is {before.lifecycle} now, and {standing.lifecycle} as a skill of {maker} after saving"
    reads: tuple[ShownText, ...] | None = None
    reads_words = ""
    changes: tuple[tuple[str, ShownText], ...] = ()
    if document is not None:
        current = found.registry.version(found.record.version_id)
        record, shown = replace(found.record, standing=standing), replace(current, number=following)
        text, _ = text_of_skill(found.registry, record, shown, call.service.plugin.cleaning, document)
        lines = text.splitlines()
        reads = tuple(shown_text(line, CHARACTERS) for line in lines[:LINES])
        reads_words = f"{min(len(lines), LINES):,} of {len(lines):,} lines"
        changes = tuple(shown_changes(found.registry.document(current), document))
    return EditPage(
        shown_text(shown_key(found.registry, found.record.key), OF_HEADING),
        version,
        following,
        "" if standing == before else words,
        tuple(_shown_fields(fields)),
        ", ".join(label for name, (label, _) in _LABELS.items() if name not in fields),
        None if error is None else (shown_text(error.message, 1_000), shown_text(error.hint, 1_000)),
        reads,
        reads_words,
        changes,
        skill_address(call, found.registry, found.record.key),
    )


def _shown_fields(fields: Mapping[str, str]) -> Iterator[EditField]:
    for name, (label, help_text) in _LABELS.items():
        if name in fields:
            text = to_field(with_line_feeds(fields[name]), typed=True)
            yield EditField(name, label, help_text, text, _ROWS[name], _MOST[name])


# --- actions


def _preview(call: PageCall, fields: Mapping[str, str]) -> EditPage:
    """The form again, with what an agent will read and the difference.

    Raises:
        Faulty: the document would be refused.
    """
    found = _edited(call)
    version = _checked_version(fields)
    try:
        document = found.registry.document(found.registry.version(found.record.version_id))
        _check_version(found, version)
        body = check(ProceduralSkill, {"name": found.record.key.name, **_changed(document, fields)})
        return _page(call, found, version, fields, document=_next(document, body))
    except (CortexError, HttpError) as error:
        raise _again(call, found, version, fields, error) from None


def _save(call: PageCall, fields: Mapping[str, str]) -> str:
    """Register the next version.

    Raises:
        Faulty: nothing was saved.
    """
    found = _edited(call)
    version = _checked_version(fields)
    try:
        document = found.registry.document(found.registry.version(found.record.version_id))
        _check_version(found, version)
        changed = _changed(document, fields)
        if not changed:
            raise CortexError("invalid_arguments", "nothing was changed, and nothing saved", hint="change a field")
        body = check(
            ProceduralSkill, {"name": found.record.key.name, "expectedVersion": found.record.version_id, **changed}
        )
        store_skill(replace(call.api(namespace=namespace_of(call)), body=body))
    except (CortexError, HttpError) as error:
        raise _again(call, found, version, fields, error) from None
    return skill_address(call, found.registry, found.record.key)


def _checked_version(fields: Mapping[str, str]) -> str:
    version = fields.get("version", "")
    return version if version.isdecimal() and len(version) < 10 else "0"


def _check_version(found: SkillOfPage, version: str) -> None:
    """Refuse a form that was made from another version than the current one."""
    current = found.registry.version(found.record.version_id).number
    if version != str(current):
        message = f"version {current} is the current one now, and the form was made from version {version}"
        raise CortexError("skill_changed", f"{message}: nothing was saved", hint="open the form again, and copy")


def _again(
    call: PageCall, found: SkillOfPage, version: str, fields: Mapping[str, str], error: CortexError | HttpError
) -> Faulty:
    return Faulty(_page(call, found, version, fields, error=error), error)


PAGE = ExplorerPage(
    f"{PATH}/{{name}}/edit",
    "edit",
    "edit_skill.html",
    view,
    query=RegisteredSkillQuery,
    permission="write",
    is_public=False,
    actions={
        "preview": Action("Preview", "write", _preview, form="edit", changes=False),
        "save": Action("Save", "write", _save, form="edit"),
    },
    longest_form=_LONGEST_FORM,
    pool="slow",
    place=210,
)
