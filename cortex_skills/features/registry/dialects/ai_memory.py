"""The names of ai-memory, a store of skills: `/api/v1/skill` and the tools `memory_skill_*`. A pure mapping.

Rules kept here:
- each member that the original answers is mapped, or named with the reason why it is not kept.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from cortex_skills.features.memory.model import Memory
from cortex_skills.features.registry.documents.document import FileKind, SkillResource, StepView
from cortex_skills.features.registry.records.reading import AttestLevel, attest_level
from cortex_skills.features.registry.records.registry import Registered
from cortex_skills.features.registry.skill_reads import ShownSkill
from cortex_skills.features.registry.views import FileView, Level, VersionView, document_view, version_view
from cortex_skills.operations.json_types import Count, MemoryId, SkillVersionId


class RegisteredVersion(TypedDict):
    """What the skill is registered as."""

    registered: Literal[True]
    created: Annotated[bool, Field(description="Whether it is a new version.")]
    id: SkillVersionId
    namespace: str
    name: str
    version: Annotated[int, Field(ge=1)]
    digest: str
    compat_digest: str
    signed: bool
    attest: AttestLevel
    superseded_id: Annotated[SkillVersionId | None, Field(description="The version before.")]
    warnings: Annotated[list[str], Field(description="What was left out.")]


class VersionDetail(VersionView):
    """A version with its document."""

    namespace: str
    name: str
    description: str
    license: str | None
    compatibility: str | None
    allowed_tools: list[str]
    metadata: dict[str, Any]
    trigger_pattern: str | None
    steps: list[StepView]
    body: str
    resources: list[FileView]


class SkillResourceView(TypedDict):
    """A file of a skill; its content is verified."""

    skill_id: SkillVersionId
    path: str
    kind: FileKind
    size: Count
    sha256: str
    encoding: Annotated[Literal["utf-8", "base64"], Field(description="Of the content: base64 if it is no text.")]
    content: str


class PromotedReflection(TypedDict):
    """The skill that was made of the reflection."""

    promoted: Literal[True]
    skill_id: SkillVersionId
    namespace: str
    name: str
    digest: str
    signed: bool
    derived_from_reflection_id: MemoryId
    original_reflection_depth: Annotated[int, Field(ge=1, le=3)]
    sources_attached: Count


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


def registered(done: Registered, level: Level, warnings: Sequence[str]) -> RegisteredVersion:
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


def version_detail(found: ShownSkill, level: Level) -> VersionDetail:
    """A version with its document."""
    document = document_view(found.document)
    return {
        **version_view(found.version, level),
        "namespace": document["namespace"],
        "name": document["name"],
        "description": document["description"],
        "license": document["license"],
        "compatibility": document["compatibility"],
        "allowed_tools": document["allowedTools"],
        "metadata": document["metadata"],
        "trigger_pattern": document["triggerPattern"],
        "steps": document["steps"],
        "body": document["body"],
        "resources": document["resources"],
    }


def resource(version: str, file: SkillResource) -> SkillResourceView:
    """A file of a version; one that is no text in Base64."""
    encoding: Literal["utf-8", "base64"]
    try:
        encoding, content = "utf-8", file.data.decode()
    except UnicodeDecodeError:
        encoding, content = "base64", b64encode(file.data).decode()
    return {
        "skill_id": version,
        "path": file.path,
        "kind": file.kind,
        "size": len(file.data),
        "sha256": file.sha256,
        "encoding": encoding,
        "content": content,
    }


def promoted(done: Registered, reflection: Memory) -> PromotedReflection:
    """The skill that a reflection became."""
    version = done.version
    return {
        "promoted": True,
        "skill_id": version.id,
        "namespace": version.key.namespace,
        "name": version.key.name,
        "digest": version.digest,
        "signed": bool(version.signature),
        "derived_from_reflection_id": reflection.id,
        "original_reflection_depth": reflection.depth,
        "sources_attached": len(reflection.reflects_on),
    }
