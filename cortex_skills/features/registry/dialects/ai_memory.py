"""The names of ai-memory, a store of skills: `/api/v1/skill` and the tools `memory_skill_*`. A pure mapping.

Rules kept here:
- each parameter that the original takes, and each member that it answers, is mapped, or named with the reason why it is
  not kept;
- its members are beside those of the registry. Its digest is the compat digest here: `digest` is that of everything;
- its path of a file is without `resources/`, and its kind of a file follows from that path.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from cortex_skills.features.memory.model import Memory
from cortex_skills.features.registry.documents.ai_memory_form import named_here
from cortex_skills.features.registry.documents.document import FileKind, SkillResource, StepView, front_matter
from cortex_skills.features.registry.records.reading import AttestLevel, attest_level
from cortex_skills.features.registry.records.registry import Registered
from cortex_skills.features.registry.records.skill_record import SkillVersion
from cortex_skills.features.registry.skill_changes import SkillExport
from cortex_skills.features.registry.skill_reads import ShownSkill
from cortex_skills.features.registry.views import FileView, Level, VersionView, document_view, version_view
from cortex_skills.manifest.declared_reflections import KEY
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
    superseded_id: Annotated[SkillVersionId | None, Field(description="The version before, if it is a new one.")]
    warnings: Annotated[list[str], Field(description="What was left out.")]


class VersionMembers(TypedDict):
    """The members of a version that the original has, and the registry has not or elsewhere."""

    id: SkillVersionId
    digest: str
    created_at: Annotated[int, Field(description="When it was registered, in seconds since 1970.")]
    license: str | None
    compatibility: str | None
    allowed_tools: list[str]
    signing_agent: Annotated[str | None, Field(description="The key that signed it, as `did:key`.")]
    metadata: dict[str, Any]


class VersionDetail(VersionView, VersionMembers):
    """A version with its document."""

    namespace: str
    name: str
    description: str
    trigger_pattern: str | None
    steps: list[StepView]
    body: str
    resources: list[FileView]
    current: Annotated[bool, Field(description="Whether it is the current version.")]
    superseded_by: Annotated[SkillVersionId | None, Field(description="The version after it.")]


class FileAbout(TypedDict):
    """A file of a skill; its content is verified."""

    skill_id: SkillVersionId
    path: str
    kind: FileKind
    size: Count
    sha256: str
    resource_path: Annotated[str, Field(description="Without `resources/`.")]
    resource_kind: Literal["script", "reference", "asset"]
    digest: Annotated[str, Field(description="The SHA-256 again.")]
    digest_verified: Literal[True]


class SkillResourceView(FileAbout):
    """A file of a skill with its content."""

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


PARAMETERS = {
    "register": ("folder_path", "inline_skill"),
    "list": ("namespace", "filter"),
    "get": ("skill_id",),
    "resource": ("skill_id", "resource_path"),
    "export": ("skill_id", "target_folder"),
    "promote_from_reflection": ("reflection_id", "skill_name", "skill_description", "parameters_schema"),
    "compositional_context": ("skill_id", "budget_tokens"),
}
"""By tool, without `memory_skill_`: the parameters of the original, which the tools here have too."""

_SKILL = ("id", "namespace", "name", "description", "digest", "created_at", "license", "compatibility", "allowed_tools")
ANSWERS = {
    "register": ("registered", "id", "namespace", "name", "digest", "signed", "superseded_id"),
    "list": ("count", *(f"skills.{name}" for name in (*_SKILL, "signing_agent", "metadata"))),
    "get": (
        *_SKILL,
        "body",
        "current",
        "signing_agent",
        "superseded_by",
        "metadata",
        "resources.path",
        "resources.kind",
    ),
    "resource": ("skill_id", "resource_path", "resource_kind", "content", "encoding", "digest", "digest_verified"),
    "export": ("exported", "skill_id", "target_folder", "digest", "resources_exported", "files"),
    "promote": (
        *("promoted", "skill_id", "namespace", "name", "digest", "signed", "sources_attached"),
        *("derived_from_reflection_id", "original_reflection_depth"),
    ),
    "compose": (
        *("skill_id", "skill_namespace", "skill_name", "body", "budget_tokens", "tokens_used", "memories_dropped"),
        *(f"compositional_namespaces.{name}" for name in ("namespace", "min_depth", "max_reflection_depth")),
        *(f"reflections.{name}" for name in ("id", "namespace", "content", "created_at", "access_count", "score")),
        *(f"reflections.{name}" for name in ("reflection_depth", "memory_kind")),
    ),
}
"""By call over HTTP: the members of an answer of the original, which an answer here has too."""

NOT_KEPT = {
    "register.agent_id": "who registers is the holder of the token",
    "promote.superseded_id": "a reflection becomes a new skill, and a name that is taken is refused",
    "compose.reflections.title": "a memory has a text and no title",
    "memory_skill_get.current": "the tool has the current version there; `superseded_by` names the one after a version",
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
        "superseded_id": version.previous if done.created else None,
        "warnings": list(warnings),
    }


def members_of(version: SkillVersion, front: Mapping[str, Any]) -> VersionMembers:
    """The members of a version.

    Args:
        version: the version.
        front: its front matter (`front_matter`).
    """
    reflections = {} if front["reflections"] is None else {KEY: front["reflections"]}
    return {
        "id": version.id,
        "digest": version.digest,
        "created_at": int(version.created.timestamp()),
        "license": front["license"],
        "compatibility": front["compatibility"],
        "allowed_tools": front["allowed_tools"],
        "signing_agent": version.public_key or None,
        "metadata": {**reflections, **front["metadata"]},
    }


def version_detail(found: ShownSkill, level: Level) -> VersionDetail:
    """A version with its document."""
    document = document_view(found.document)
    return {
        **version_view(found.version, level),
        **members_of(found.version, front_matter(found.version.front)),
        "namespace": document["namespace"],
        "name": document["name"],
        "description": document["description"],
        "trigger_pattern": document["triggerPattern"],
        "steps": document["steps"],
        "body": document["body"],
        "resources": document["resources"],
        "current": found.following is None,
        "superseded_by": found.following,
    }


def resource(version: str, file: SkillResource) -> SkillResourceView:
    """A file of a version with its content; one that is no text in Base64."""
    encoding: Literal["utf-8", "base64"]
    try:
        encoding, content = "utf-8", file.data.decode()
    except UnicodeDecodeError:
        encoding, content = "base64", b64encode(file.data).decode()
    return {**about_file(version, file), "encoding": encoding, "content": content}


def about_file(version: str, file: SkillResource) -> FileAbout:
    """A file of a version, without its content."""
    path = named_here(file.path)
    return {
        "skill_id": version,
        "path": file.path,
        "kind": file.kind,
        "size": len(file.data),
        "sha256": file.sha256,
        "resource_path": path,
        "resource_kind": _kind(path),
        "digest": file.sha256,
        "digest_verified": True,
    }


def _kind(path: str) -> Literal["script", "reference", "asset"]:
    if path.startswith("scripts/") or path.endswith((".sh", ".py")):
        return "script"
    return "reference" if path.startswith(("reference/", "references/")) else "asset"


class ExportedVersion(TypedDict):
    """What was exported."""

    exported: Literal[True]
    skill_id: SkillVersionId
    target_folder: Annotated[str, Field(description="As it was given.")]
    digest: str
    resources_exported: Count
    files: Annotated[list[str], Field(description="Without `resources/`.")]


def exported(done: SkillExport, target: str) -> ExportedVersion:
    """What was exported, and where to as the client gave it."""
    files = [named_here(path) for path in done.files]
    return {
        "exported": True,
        "skill_id": done.version.id,
        "target_folder": target,
        "digest": done.version.digest,
        "resources_exported": len(files),
        "files": files,
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
