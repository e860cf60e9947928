"""`/api/v1/skill`: registered skills by the ids of their versions, as the clients of agent skill registries call them.

Rules kept here:
- `read` reads, `write` registers and exports;
- a folder that a client names is below `registry.importRoot` or `registry.exportRoot`, and an answer names no other
  folder of this machine;
- a document is verified whenever it is read: digest, signature, and each file.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from cortex_skills.doors.http.bodies import invalid
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.rest.model_types import NamespaceQuery, SkillVersionId
from cortex_skills.doors.rest.operations import ApiAnswer, ApiCall, Operations
from cortex_skills.doors.rest.schemas import check
from cortex_skills.features.registry import skill_changes as changes
from cortex_skills.features.registry import skill_reads as reads
from cortex_skills.features.registry.content import front_matter
from cortex_skills.features.registry.dialects import ai_memory
from cortex_skills.features.registry.folders import SkillFolder, read_skill_folder
from cortex_skills.features.registry.jails import import_folder
from cortex_skills.features.registry.parts import registry_in
from cortex_skills.features.registry.registry import SkillRegistry
from cortex_skills.features.registry.rest import registry_models as models
from cortex_skills.features.registry.skill_md import read_skill_md
from cortex_skills.features.registry.skill_record import SkillRecord, SkillVersion
from cortex_skills.features.registry.views import record_view

_UNKNOWN = ("skill_not_found",)
_UNSOUND = ("graph_corrupt", "signature_invalid")

OPERATIONS = Operations()


def registry_of(call: ApiCall) -> SkillRegistry:
    """The registry of the namespace of a call.

    Raises:
        HttpError: the caller may not use it.
    """
    return call.part(registry_in)


def skill_view(registry: SkillRegistry, record: SkillRecord, level: Any = None) -> dict[str, Any]:
    """A registered skill, as all answers show it."""
    view = record_view(registry, record, datetime.now(UTC), level=level)
    front = front_matter(registry.version(record.version_id).front)
    return {"id": record.version_id, **view, **{name: front[name] for name in ("trigger_pattern", "metadata")}}


@OPERATIONS.add(
    "POST",
    "/api/v1/skill/register",
    {200: models.RegisteredVersion},
    permission="write",
    query=NamespaceQuery,
    body=models.SkillToRegister,
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
def register_skill(call: ApiCall) -> ApiAnswer:
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
    return ApiAnswer(200, ai_memory.registered(done, registry.levels(), read.warnings))


def _read(call: ApiCall, registry: SkillRegistry) -> SkillFolder:
    namespace = registry.terms.names.namespace
    if ("inline_skill" in call.body) == ("folder_path" in call.body):
        raise invalid("give `inline_skill` or `folder_path`", field="document")
    if "inline_skill" in call.body:
        return SkillFolder(read_skill_md(call.body["inline_skill"], namespace=namespace))
    folder = import_folder(call.service.plugin.config, call.body["folder_path"])
    return read_skill_folder(folder, namespace, accept_changed=call.body.get("accept_changed", False))


@OPERATIONS.add(
    "GET", "/api/v1/skill/list", {200: models.RegistryPage}, query=models.RegistryPageQuery, errors=(), pool="slow"
)
def list_registered_skills(call: ApiCall) -> ApiAnswer:
    """List registered skills, a page at a time; a page may have fewer of them than its limit.

    Deprecated and archived skills are listed when their state is asked for.
    """
    registry, query = registry_of(call), call.query
    given = {name: query[name] for name in ("filter", "lifecycle", "limit", "cursor") if name in query}
    page = call.operate(reads.list_skills, skill_namespace=query.get("skillNamespace"), **given)
    level = registry.levels()
    found = [skill_view(registry, record, level) for record in page.records]
    return ApiAnswer(200, {"skills": found, "count": len(found), "nextCursor": page.cursor})


@OPERATIONS.add(
    "GET",
    "/api/v1/skill/{id}",
    {200: models.VersionDetail},
    query=NamespaceQuery,
    errors=(*_UNKNOWN, *_UNSOUND),
)
def get_skill_version(call: ApiCall) -> ApiAnswer:
    """Return a version of a skill with its document; earlier versions too."""
    found = call.operate(reads.read_version, version=check(SkillVersionId, call.path["id"]))
    return ApiAnswer(200, ai_memory.version_detail(found, registry_of(call).levels()))


@OPERATIONS.add(
    "GET",
    "/api/v1/skill/{id}/resource",
    {200: models.SkillResourceView},
    query=models.SkillFileQuery,
    errors=("not_found", *_UNKNOWN, *_UNSOUND),
)
def get_skill_resource(call: ApiCall) -> ApiAnswer:
    """Return a file of a version of a skill."""
    version = check(SkillVersionId, call.path["id"])
    file = call.operate(reads.read_file, version=version, path=call.query["path"])
    if file is None:
        raise HttpError("not_found", "the skill has no file at this path", hint="`resources` of the version lists them")
    return ApiAnswer(200, ai_memory.resource(version, file))


@OPERATIONS.add(
    "POST",
    "/api/v1/skill/{id}/export",
    {200: models.ExportedSkill},
    permission="write",
    query=NamespaceQuery,
    body=models.ExportTarget,
    errors=(*_UNKNOWN, *_UNSOUND, "skill_exists", "graph_busy"),
    pool="slow",
)
def export_skill_version(call: ApiCall) -> ApiAnswer:
    """Write a version of a skill to a new folder, with its digests and its signature."""
    _, version = version_of(call)
    return ApiAnswer(200, exported(call, version, call.body.get("target_folder", "")))


def exported(call: ApiCall, version: SkillVersion, target: str) -> dict[str, Any]:
    """Export a version to a folder of clients, and return the answer."""
    done = call.operate(changes.export, skill=str(version.key), folder=target, version=version.id)
    about = {"id": version.id, "version": version.number, "digest": version.digest}
    return {"ok": True, "exported": True, "path": done.folder, **about}


def version_of(call: ApiCall) -> tuple[SkillRegistry, SkillVersion]:
    """The version that the path names, and its registry."""
    registry = registry_of(call)
    return registry, registry.version(check(SkillVersionId, call.path["id"]))
