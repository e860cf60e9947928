"""The content of a version as it is stored: one canonical JSON text, and blobs.

Rules kept here:
- the text has everything of a document but the bytes of its body and files, which it names by their SHA-256;
- what is read is checked: a text that is malformed, a blob that is missing or has other bytes, and a document that is
  invalid are `graph_corrupt`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NoReturn

from cortex_skills.errors import CortexError
from cortex_skills.features.registry.digests import flag_of
from cortex_skills.features.registry.document import SkillDocument, SkillResource, Step

_BODY = "body"
_PLAIN = ("namespace", "name", "description", "license", "compatibility", "trigger_pattern")
_LISTS = ("allowed_tools", "depends_on", "conflicts_with")
_BLOCKS = ("metadata", "reflections", "semantic")


def front_of(document: SkillDocument) -> str:
    """A document without the bytes of its body and files, as canonical JSON."""
    content: dict[str, Any] = {name: getattr(document, name) for name in (*_PLAIN, *_LISTS, *_BLOCKS)}
    content["steps"] = [step.to_json() for step in document.steps]
    content[_BODY] = sha256(document.body.encode()).hexdigest()
    content["resources"] = [
        {"path": each.path, "sha256": each.sha256, "size": len(each.data)} | flag_of(each)
        for each in document.resources
    ]
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=dict)


def document_of(front: str, bytes_of: Mapping[str, bytes]) -> SkillDocument:
    """The document of a version.

    Args:
        front: what `front_of` returned.
        bytes_of: the content of each blob, by its SHA-256, in hexadecimal.

    Raises:
        CortexError: `graph_corrupt`: a blob is missing or has other content, or the text is malformed.
    """
    try:
        content = _read(front)
        fields = {name: content[name] for name in (*_PLAIN, *_BLOCKS)}
        fields |= {name: tuple(content[name]) for name in _LISTS}
        steps = tuple(Step(**step) for step in content["steps"])
        blobs = {digest: _checked(digest, bytes_of) for digest in _digests(content)}
        resources = tuple(
            SkillResource(entry["path"], blobs[entry["sha256"]], entry.get("executable") is True)
            for entry in content["resources"]
        )
        body = blobs[content[_BODY]].decode()
        return SkillDocument.checked(stored=True, **fields, steps=steps, body=body, resources=resources)
    except CortexError as error:
        if error.code == "graph_corrupt":
            raise
        corrupt(f"a stored document is invalid: {error.message}")
    except (ValueError, KeyError, TypeError) as error:
        corrupt(f"a stored document is malformed: {error}")


def blobs_of(document: SkillDocument) -> dict[str, bytes]:
    """The content of each blob of a document, by its SHA-256, in hexadecimal."""
    body = document.body.encode()
    return {sha256(body).hexdigest(): body, **{each.sha256: each.data for each in document.resources}}


def front_matter(front: str) -> dict[str, Any]:
    """The members of a stored document, as JSON.

    Raises:
        CortexError: `graph_corrupt`: the text is malformed.
    """
    try:
        return _read(front)
    except (ValueError, TypeError) as error:
        corrupt(f"a stored document is malformed: {error}")


def blob_paths(front: str) -> dict[str, str]:
    """The SHA-256 of the body, under an empty path, and of each file, by path.

    Raises:
        CortexError: `graph_corrupt`: the text is malformed.
    """
    try:
        content = _read(front)
        return {"": content[_BODY], **{entry["path"]: entry["sha256"] for entry in content["resources"]}}
    except (ValueError, KeyError, TypeError) as error:
        corrupt(f"a stored document is malformed: {error}")


def _read(front: str) -> dict[str, Any]:
    content = json.loads(front)
    if not isinstance(content, dict):
        raise TypeError("it is no object")
    return content


def _digests(content: Mapping[str, Any]) -> set[str]:
    return {content[_BODY], *(entry["sha256"] for entry in content["resources"])}


def _checked(digest: str, bytes_of: Mapping[str, bytes]) -> bytes:
    data = bytes_of.get(digest)
    if data is None:
        corrupt(f"the content {digest[:12]}… of a skill is missing")
    if sha256(data).hexdigest() != digest:
        corrupt(f"the content {digest[:12]}… of a skill was changed")
    return data


def corrupt(problem: str) -> NoReturn:
    """Raise the error for a registry that was changed from outside: `graph_corrupt`."""
    hint = "`cortex-skills registry events verify` finds where it was changed; restore a backup"
    raise CortexError("graph_corrupt", problem, hint=hint)
