"""`/api/v1/skill`: registered skills by the ids of their versions, as the clients of agent skill registries call them.

Rules kept here:
- `read` reads, `write` registers and exports;
- a folder that a client names is below `registry.importRoot` or `registry.exportRoot`, and an answer names no other
  folder of this machine;
- a document is verified whenever it is read: digest, signature, and each file.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from cortex_skills.doors.http.bodies import invalid
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.rest.model_types import (
    FROM_QUERY,
    ApiModel,
    Count,
    Cursor,
    Namespace,
    NamespaceQuery,
    NextCursor,
    SkillVersionId,
)
from cortex_skills.doors.rest.operations import ApiCall, Operations
from cortex_skills.doors.rest.schemas import check
from cortex_skills.features.registry import skill_changes as changes
from cortex_skills.features.registry import skill_reads as reads
from cortex_skills.features.registry.dialects import ai_memory
from cortex_skills.features.registry.dialects.prism import ExpectedVersion
from cortex_skills.features.registry.documents.document import MAX_PATH, front_matter
from cortex_skills.features.registry.documents.skill_md import read_skill_md
from cortex_skills.features.registry.folders import FORMS, Form, SkillFolder, import_folder, read_skill_folder
from cortex_skills.features.registry.parts import registry_in
from cortex_skills.features.registry.records.lifecycle import Lifecycle, Origin
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillRecord, SkillVersion
from cortex_skills.features.registry.views import Level, RecordView, record_view, withheld

_UNKNOWN = ("skill_not_found",)
_UNSOUND = ("graph_corrupt", "signature_invalid")


class SkillToRegister(ApiModel, total=False):
    """One of the first two."""

    inline_skill: Annotated[str, Field(min_length=1, max_length=2 << 20, description="The text of a `SKILL.md`.")]
    folder_path: Annotated[
        str, Field(min_length=1, max_length=MAX_PATH, description="A folder below `registry.importRoot`.")
    ]
    expected_version: ExpectedVersion
    accept_changed: Annotated[
        bool,
        Field(
            description="Register a folder that was changed after its export, as another document without a signature."
        ),
    ]


class SkillFileQuery(NamespaceQuery):
    """A file of a skill."""

    path: Annotated[
        str,
        Field(min_length=1, max_length=MAX_PATH, description="In the folder of the skill, or in its `resources/`."),
    ]


class RegistryPageQuery(ApiModel, total=False):
    """Which skills of a page."""

    registry: Annotated[Namespace, Field(description="The namespace of another registry that the token opens.")]
    namespace: Annotated[str, Field(max_length=64, description="Of the skills themselves; `%` for all.")]
    skillNamespace: Annotated[str, Field(max_length=64, description="The same.")]
    filter: Annotated[str, Field(max_length=256, description="Words; each is in the name or in the description.")]
    lifecycle: Lifecycle
    origin: Origin
    limit: Annotated[
        int, Field(ge=1, le=10**9, description=f"100 by default; more than {reads.MAX_PAGE:,} are as many."), FROM_QUERY
    ]
    cursor: Cursor


class ExportTarget(ApiModel, total=False):
    """Where to."""

    target_folder: Annotated[
        str, Field(max_length=MAX_PATH, description="Below `registry.exportRoot`; by default that folder itself.")
    ]
    form: Annotated[Form, Field(description="Who reads it; agentskills by default.")]


class RegisteredSkillView(RecordView):
    """A registered skill."""

    id: Annotated[SkillVersionId, Field(description="The id of the current version.")]
    trigger_pattern: str | None
    metadata: dict[str, Any]


class ListedSkillView(RecordView, ai_memory.VersionMembers):
    """A registered skill, with members of its current version."""

    trigger_pattern: str | None


class RegistryPage(TypedDict):
    """A page of skills."""

    skills: list[ListedSkillView]
    count: Annotated[Count, Field(description="On this page.")]
    nextCursor: NextCursor


class ExportedSkill(ai_memory.ExportedVersion):
    """The folder of the exported skill, relative to `registry.exportRoot`."""

    ok: Literal[True]
    path: str
    id: SkillVersionId
    version: Annotated[int, Field(ge=1)]


OPERATIONS = Operations()


def registry_of(call: ApiCall) -> SkillRegistry:
    """The registry of the namespace of a call.

    Raises:
        HttpError: the caller may not use it.
    """
    return call.part(registry_in)


def skill_view(registry: SkillRegistry, record: SkillRecord, level: Level | None = None) -> RegisteredSkillView:
    """A registered skill, as all answers show it."""
    view = record_view(registry, record, datetime.now(UTC), level=level)
    front = front_matter(registry.version(record.version_id).front)
    return {
        "id": record.version_id,
        **view,
        "trigger_pattern": front["trigger_pattern"],
        "metadata": front["metadata"],
    }


@OPERATIONS.add(
    "POST",
    "/api/v1/skill/register",
    permission="write",
    query=NamespaceQuery,
    body=SkillToRegister,
    errors=(
        "manifest_invalid",
        "skill_changed",
        "state_conflict",
        "skill_not_found",
        "graph_busy",
        "signature_invalid",
        "export_changed",
    ),
    pool="slow",
)
def register_skill(call: ApiCall) -> ai_memory.RegisteredVersion:
    """Register a skill, or its next version; nothing of it runs.

    A skill that is the same as the current version is not registered again.
    """
    registry = registry_of(call)
    read = _read(call, registry)
    done = call.operate(
        changes.register,
        document=read.document,
        expected_version=call.body.get("expected_version"),
        signature=read.signature,
    )
    warnings = [*read.warnings, *withheld(registry, done.version, read.document)]
    return ai_memory.registered(done, registry.levels(), warnings)


def _read(call: ApiCall, registry: SkillRegistry) -> SkillFolder:
    namespace = registry.terms.names.namespace
    if ("inline_skill" in call.body) == ("folder_path" in call.body):
        raise invalid("give `inline_skill` or `folder_path`", field="document")
    if "inline_skill" in call.body:
        return SkillFolder(read_skill_md(call.body["inline_skill"], namespace=namespace))
    folder = import_folder(call.service.plugin.config, call.body["folder_path"])
    return read_skill_folder(folder, namespace, accept_changed=call.body.get("accept_changed", False))


@OPERATIONS.add(
    "GET",
    "/api/v1/skill/{id}/resource",
    query=SkillFileQuery,
    errors=("not_found", *_UNKNOWN, *_UNSOUND),
)
def get_skill_resource(call: ApiCall) -> ai_memory.SkillResourceView:
    """Return a file of a version of a skill."""
    version = check(SkillVersionId, call.path["id"])
    file = call.operate(reads.read_file, version=version, path=call.query["path"])
    if file is None:
        raise HttpError("not_found", "the skill has no file at this path", hint="`resources` of the version lists them")
    return ai_memory.resource(version, file)


@OPERATIONS.add(
    "POST",
    "/api/v1/skill/{id}/export",
    permission="write",
    query=NamespaceQuery,
    body=ExportTarget,
    errors=(*_UNKNOWN, *_UNSOUND, "skill_exists", "graph_busy", "manifest_invalid"),
    pool="slow",
)
def export_skill_version(call: ApiCall) -> ExportedSkill:
    """Write a version of a skill to a new folder, with its digests and its signature."""
    _, version = version_of(call)
    target, form = call.body.get("target_folder", ""), call.body.get("form", FORMS[0])
    done = call.operate(changes.export, skill=str(version.key), folder=target, version=version.id, form=form)
    return exported(done, target)


def exported(done: changes.SkillExport, target: str = "") -> ExportedSkill:
    """What was exported, by the names of other registries."""
    version = done.version
    about = ai_memory.exported(done, target)
    return {"ok": True, "path": done.folder, "id": version.id, "version": version.number, **about}


def version_of(call: ApiCall) -> tuple[SkillRegistry, SkillVersion]:
    """The version that the path names, and its registry."""
    registry = registry_of(call)
    return registry, registry.version(check(SkillVersionId, call.path["id"]))


@OPERATIONS.add("GET", "/api/v1/skill/list", query=RegistryPageQuery, errors=(), pool="slow")
def list_registered_skills(call: ApiCall) -> RegistryPage:
    """List registered skills, a page at a time: those in use, or those in a state.

    A page may have fewer of them than its limit.
    """
    query = call.query
    call = replace(call, query={"namespace": query["registry"]} if "registry" in query else {})
    wanted = query.get("namespace", query.get("skillNamespace", "%"))
    given = {name: query[name] for name in ("filter", "lifecycle", "origin", "cursor") if name in query}
    limit = min(query.get("limit", 100), reads.MAX_PAGE)
    page = call.operate(reads.list_skills, skill_namespace=None if wanted == "%" else wanted, limit=limit, **given)
    registry = registry_of(call)
    level = registry.levels()
    with registry.reading_current(page.records):
        found = [_listed(registry, record, level) for record in page.records]
    return {"skills": found, "count": len(found), "nextCursor": page.cursor}


def _listed(registry: SkillRegistry, record: SkillRecord, level: Level) -> ListedSkillView:
    version = registry.version(record.version_id)
    front = front_matter(version.front)
    view = record_view(registry, record, datetime.now(UTC), level=level, version=version)
    return {**view, **ai_memory.members_of(version, front), "trigger_pattern": front["trigger_pattern"]}


def _version(call: ApiCall, found: reads.ShownSkill) -> ai_memory.VersionDetail:
    return ai_memory.version_detail(found, registry_of(call).levels())


OPERATIONS.serve(
    "GET",
    "/api/v1/skill/{id}",
    reads.read_version,
    name="getSkillVersion",
    names={"version": "id"},
    show=_version,
    errors=(*_UNKNOWN, *_UNSOUND),
)
