r"""The two digests of a skill document.

Rules kept here:
- the digest, which is signed and shown, covers everything: two documents that differ in anything have different ones.
  It is `SHA-256("cortex-skill-document/1\0" + JCS)`, where JCS is the RFC 8785 form of an object with all front matter,
  the steps, the SHA-256 of the body, and the path, kind, SHA-256 and size of each resource, ordered by path, with
  `"executable": true` for one that can be started and without that member for any other;
- the compat digest is that of other registries of the format, so that skills can be compared across them. It does not
  cover metadata, paths, kinds, executable files and steps, and is ambiguous: a body that ends in the hash of a resource
  has the digest of the shorter body with that resource. Nothing is decided by it.

    compat digest = SHA-256(front matter + body + SHA-256 of each resource, ordered by these 32 bytes)

where the front matter is compact JSON with sorted keys and unescaped UTF-8 of `allowed_tools`, `compatibility`,
`description`, `license`, `name` and `namespace`.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from cortex_skills.features.registry.document import SkillDocument, SkillResource

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
