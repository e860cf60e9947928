"""A document that a client gives inline: the text of a `SKILL.md`, or its fields.

Rules kept here:
- fields have the names of the older dialect of `SKILL.md`; files are texts, or bytes in Base64;
- an update has the fields that are given, and the others of the document before.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from cortex_skills.features.registry.document import SkillDocument, SkillResource, Step
from cortex_skills.features.registry.skill_md import read_skill_md, steps_of
from cortex_skills.manifest import ManifestError
from cortex_skills.safe_io.schemas import Problem

_TEXT: dict[str, Any] = {"type": "string"}
_REMOVABLE: dict[str, Any] = {"type": ["string", "null"], "description": "null removes it."}
_NAMES: dict[str, Any] = {"type": "array", "items": {"type": "string", "maxLength": 256}, "maxItems": 1000}
_FLAG: dict[str, Any] = {"type": "boolean", "description": "Whether it can be started as a program.", "default": False}
_STEP: dict[str, Any] = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "description": "What to do."},
        "tool": {"type": ["string", "null"], "description": "The tool that does it."},
        "details": _TEXT,
    },
    "required": ["action"],
    "additionalProperties": False,
}
_RESOURCE: dict[str, Any] = {
    "type": "object",
    "properties": {"path": {"type": "string", "maxLength": 1024}, "text": _TEXT, "base64": _TEXT, "executable": _FLAG},
    "required": ["path"],
    "additionalProperties": False,
}

FIELDS: dict[str, Any] = {
    "description": {"type": "string", "description": "What it does and when to use it: 1 to 1,024 characters."},
    "body": {"type": "string", "description": "The instructions, in Markdown."},
    "steps": {
        "type": "array",
        "items": _STEP,
        "maxItems": 200,
        "description": "The steps; those of the body (`1. **Title** — use tool_name`) when they are not given.",
    },
    "allowed_tools": {**_NAMES, "description": "The tools that it uses."},
    "trigger_pattern": {**_REMOVABLE, "description": "What a request that it serves looks like; null removes it."},
    "depends_on": {**_NAMES, "description": "Registered skills that it needs."},
    "conflicts_with": {**_NAMES, "description": "Skills that it must not be used with."},
    "license": _REMOVABLE,
    "compatibility": _REMOVABLE,
    "metadata": {"type": "object", "description": "Anything else, as JSON."},
    "resources": {"type": "array", "items": _RESOURCE, "maxItems": 4096, "description": "Its files."},
}
"""The JSON Schemas of the fields of a document, without its name."""

_TUPLES = ("allowed_tools", "depends_on", "conflicts_with")


def inline_document(given: str | Mapping[str, Any], namespace: str) -> SkillDocument:
    """The document of a text or of fields.

    Args:
        given: the text of a `SKILL.md`, or `name`, perhaps `namespace`, and `FIELDS`.
        namespace: the namespace of a document that names none.

    Raises:
        ManifestError: with all problems.
    """
    if isinstance(given, str):
        return read_skill_md(given, namespace=namespace)
    fields = {"namespace": given.get("namespace", namespace), "name": given["name"]}
    return SkillDocument.checked(**{"description": None} | fields | _fields(given))


def updated_document(before: SkillDocument, given: Mapping[str, Any]) -> SkillDocument:
    """A document with the fields that are given.

    Raises:
        ManifestError: with all problems.
    """
    return before.changed(**_fields(given))


def _fields(given: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {name: given[name] for name in FIELDS if name in given}
    fields |= {name: tuple(fields[name]) for name in _TUPLES if name in fields}
    if "steps" in fields:
        steps = [Step(step["action"], step.get("tool"), step.get("details", "")) for step in fields["steps"]]
        fields["steps"] = tuple(steps)
    elif "body" in fields:
        fields["steps"] = steps_of(fields["body"])
    if "resources" in fields:
        fields["resources"] = tuple(map(_resource, fields["resources"]))
    return fields


def _resource(given: Mapping[str, Any]) -> SkillResource:
    path = ("resources", given["path"])
    if ("text" in given) == ("base64" in given):
        raise ManifestError([Problem(path, "must have `text` or `base64`", "give one of the two")])
    try:
        data = given["text"].encode() if "text" in given else base64.b64decode(given["base64"], validate=True)
    except (UnicodeEncodeError, binascii.Error, ValueError):
        raise ManifestError([Problem(path, "is not valid Unicode or Base64")]) from None
    return SkillResource(given["path"], data, given.get("executable", False))
