"""The names of ai-memory, a store of skills: `/api/v1/skill` and the tools `memory_skill_*`. A pure mapping.

Rules kept here:
- each member that the original answers is mapped, or named with the reason why it is not kept.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

from cortex_skills.features.registry.document import SkillResource
from cortex_skills.features.registry.reading import attest_level
from cortex_skills.features.registry.registration import Registered
from cortex_skills.features.registry.skill_reads import ShownSkill
from cortex_skills.features.registry.views import Level, document_view, version_view

ANSWERS = {
    "register": {"registered": "registered", "id": "id", "signed": "signed", "superseded_id": "superseded_id"},
    "list": {"count": "count", "id": "skills.id", "digest": "skills.current.digest", "metadata": "skills.metadata"},
    "get": {"id": "id", "digest": "digest", "metadata": "metadata", "body": "body", "resources": "resources"},
    "resource": {"content": "content", "encoding": "encoding", "digest": "sha256"},
}
"""By call: the members of an answer of the original, and where an answer here has them."""

NOT_KEPT = {
    "resource": {"digest_verified": "what does not have its digest is not answered, but refused"},
}


def registered(done: Registered, level: Level, warnings: Sequence[str]) -> dict[str, Any]:
    """What a skill is registered as."""
    version = done.version
    return {
        "registered": True,
        "created": done.created,
        "id": version.id,
        "namespace": version.key.namespace,
        "name": version.key.name,
        "version": version.number,
        "digest": version.digest,
        "compat_digest": version.compat_digest,
        "signed": bool(version.signature),
        "attest": attest_level(version, level),
        "superseded_id": version.previous,
        "warnings": list(warnings),
    }


def version_detail(found: ShownSkill, level: Level) -> dict[str, Any]:
    """A version with its document."""
    view = document_view(found.document)
    view |= {"allowed_tools": view.pop("allowedTools"), "trigger_pattern": view.pop("triggerPattern")}
    return {**version_view(found.version, level), **view}


def resource(version: str, file: SkillResource) -> dict[str, Any]:
    """A file of a version; one that is no text in Base64."""
    try:
        encoding, content = "utf-8", file.data.decode()
    except UnicodeDecodeError:
        encoding, content = "base64", b64encode(file.data).decode()
    about = {"path": file.path, "kind": file.kind, "size": len(file.data), "sha256": file.sha256}
    return {"skill_id": version, **about, "encoding": encoding, "content": content}
