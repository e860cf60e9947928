r"""The content of a version as it is stored: one canonical JSON text, and blobs; and its two digests.

Rules kept here:
- the text has everything of a document but the bytes of its body and files, which it names by their SHA-256;
- what is read is checked: a text that is malformed, a blob that is missing or has other bytes, and a document that is
  invalid are `graph_corrupt`;
- the digest, which is signed and shown, covers everything: two documents that differ in anything have different ones.
  It is `SHA-256("cortex-skill-document/1\0" + JCS)`, where JCS is the RFC 8785 form of an object with all front matter,
  the steps, the SHA-256 of the body, and the path, kind, SHA-256 and size of each resource, ordered by path, with
  `"executable": true` for one that can be started and without that member for any other;
- the compat digest is that of other registries of the format, so that skills can be compared across them. It does not
  cover metadata, paths, kinds, executable files and steps, and is ambiguous: a body that ends in the hash of a resource
  has the digest of the shorter body with that resource. Nothing is decided by it. It is the SHA-256 of the compact JSON
  with sorted keys of six members, of the body, and of the SHA-256 of each resource, ordered by these 32 bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NoReturn

from cortex_skills.errors import CortexError
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


_DOMAIN = b"cortex-skill-document/1\0"


def compat_digest(document: SkillDocument) -> str:
    """The digest of other registries, in hexadecimal."""
    front = {
        "allowed_tools": list(document.allowed_tools),
        "compatibility": document.compatibility,
        "description": document.description,
        "license": document.license,
        "name": document.name,
        "namespace": document.namespace,
    }
    whole = sha256(json.dumps(front, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode())
    whole.update(document.body.encode())
    for digest in sorted(sha256(resource.data).digest() for resource in document.resources):
        whole.update(digest)
    return whole.hexdigest()


def digest(document: SkillDocument) -> str:
    """The digest of everything in a document, in hexadecimal."""
    import rfc8785

    return sha256(_DOMAIN + rfc8785.dumps(_content(document))).hexdigest()


def _content(document: SkillDocument) -> dict[str, Any]:
    body = document.body.encode()
    return {
        "namespace": document.namespace,
        "name": document.name,
        "description": document.description,
        "license": document.license,
        "compatibility": document.compatibility,
        "allowed_tools": list(document.allowed_tools),
        "metadata": _plain(document.metadata),
        "trigger_pattern": document.trigger_pattern,
        "depends_on": list(document.depends_on),
        "conflicts_with": list(document.conflicts_with),
        "composes_with_reflections": _plain(document.reflections),
        "semantic": _plain(document.semantic),
        "steps": [step.to_json() for step in document.steps],
        "body": {"sha256": sha256(body).hexdigest(), "size": len(body)},
        "resources": [
            {"path": each.path, "kind": each.kind, "sha256": each.sha256, "size": len(each.data)} | flag_of(each)
            for each in document.resources
        ],
    }


def flag_of(resource: SkillResource) -> dict[str, bool]:
    """The member `executable` of a resource that can be started; none for any other."""
    return {"executable": True} if resource.executable else {}


def _plain(value: Any) -> Any:
    """A JSON value made of dicts and lists; whole numbers beyond 53 bits, which RFC 8785 does not have, as objects."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else {"$integer": str(value)}
    if isinstance(value, float):
        return {"$double": value.hex()}  # 1.0 is not 1
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    return {key if not key.startswith("$") else f"${key}": _plain(member) for key, member in value.items()}
