"""`/api/skills`: registered skills by their names, as the clients of a procedural memory call them.

Rules kept here:
- `read` reads, `write` registers and exports, `registry` changes where a skill stands and deletes;
- a `GET` changes nothing: maintenance is a `POST` of its own;
- a registration changes the members that are given, and nothing else.
"""

from __future__ import annotations

from functools import partial

from cortex_skills.doors.http.bodies import invalid
from cortex_skills.doors.rest.model_types import NamespaceQuery
from cortex_skills.doors.rest.operations import ApiAnswer, ApiCall, Operations
from cortex_skills.errors import CortexError
from cortex_skills.features.registry import skill_changes as changes
from cortex_skills.features.registry import skill_reads as reads
from cortex_skills.features.registry.dialects import prism
from cortex_skills.features.registry.document import SkillDocument
from cortex_skills.features.registry.registry import SkillRegistry
from cortex_skills.features.registry.rest import registry_models as models
from cortex_skills.features.registry.rest.registered_skills import exported, registry_of, skill_view
from cortex_skills.features.registry.skill_finder import Among
from cortex_skills.features.registry.skill_record import SkillKey, SkillRecord
from cortex_skills.features.registry.sources import synchronise_configured
from cortex_skills.features.registry.views import document_view, key_of

_LIMIT = 50
_REASON = "deprecated over the API"
_UNKNOWN = ("skill_not_found",)
_CHANGES = ("skill_not_found", "graph_busy")
_STATES = ("state_conflict",)

OPERATIONS = Operations()


@OPERATIONS.add("GET", "/api/skills", {200: list[models.RegisteredSkillView]}, query=models.SkillListQuery, pool="slow")
def list_procedural_skills(call: ApiCall) -> ApiAnswer:
    """List skills with an origin and a state; `/api/v1/skill/list` has pages.

    Deprecated and archived skills are listed when their state is asked for.
    """
    registry, query = registry_of(call), call.query
    origin = prism.ORIGINS.get(query.get("origin", ""), query.get("origin"))
    level = registry.levels()
    records = reads.listed(call.operate, query.get("limit", _LIMIT), origin=origin, lifecycle=query.get("lifecycle"))
    return ApiAnswer(200, [skill_view(registry, record, level) for record in records])


@OPERATIONS.add(
    "GET",
    "/api/skills/find",
    {200: models.FoundSkillsView},
    query=models.FindSkillsQuery,
    errors=("graph_busy",),
    pool="slow",
)
def find_skills(call: ApiCall) -> ApiAnswer:
    """Find skills by words, and by meaning if `finder.embedder` is set; the best first.

    They are those that agents are shown: reliable ones, and candidates on request.
    """
    registry, query = registry_of(call), call.query
    among: Among = "candidates" if query.get("candidates") else "reliable"
    found = call.operate(reads.find_skills, query=query["query"], limit=query.get("limit", 10), among=among)
    level = registry.levels()
    skills = [skill_view(registry, each.record, level) | {"found": each.to_json()} for each in found.skills]
    return ApiAnswer(200, {"skills": skills, "problem": str(found.problem) if found.problem else None})


@OPERATIONS.add("GET", "/api/skills/stats", {200: models.SkillStats}, query=NamespaceQuery, pool="slow")
def get_skill_stats(call: ApiCall) -> ApiAnswer:
    """Count the skills."""
    return ApiAnswer(200, prism.figures(call.operate(reads.get_figures)))


@OPERATIONS.add(
    "GET",
    "/api/skills/detail",
    {200: models.SkillDetail},
    query=models.NamedSkillQuery,
    errors=(*_UNKNOWN, "graph_busy", "graph_corrupt", "signature_invalid"),
    pool="slow",
)
def get_skill_detail(call: ApiCall) -> ApiAnswer:
    """Return a skill with its document, verified."""
    name = _named_in_query(call)
    found = call.operate(reads.show_skill, skill=name)
    document = document_view(found.document)
    kept = {name: document[name] for name in ("license", "compatibility", "allowedTools", "steps", "resources")}
    kept |= {"content": document["body"], "health": call.operate(reads.get_health, skill=name)}
    return ApiAnswer(200, {**skill_view(registry_of(call), found.record), **kept})


@OPERATIONS.add(
    "POST",
    "/api/skills",
    {200: models.StoredSkill},
    permission="write",
    query=NamespaceQuery,
    body=models.ProceduralSkill,
    errors=(
        "manifest_invalid",
        "skill_exists",
        "skill_changed",
        *_STATES,
        "graph_corrupt",
        "signature_invalid",
        *_CHANGES,
    ),
)
def store_skill(call: ApiCall) -> ApiAnswer:
    """Register a skill, or its next version with the members that are given.

    A version that was registered meanwhile is not overwritten (409).
    """
    registry, body = registry_of(call), call.body
    fields = prism.document_fields(body)
    key = SkillKey(registry.terms.names.namespace, body["name"])
    record = registry.find(key)
    if record is None:
        fields["description"] = prism.first_description(fields, key.name)
        document = SkillDocument.checked(namespace=key.namespace, name=key.name, **fields)
    else:
        document = registry.document(registry.version(record.version_id)).changed(**fields)
    done = call.operate(
        changes.register,
        document=document,
        create_only=record is None,
        expected_version=body.get("expectedVersion", None if record is None else record.version_id),
    )
    return ApiAnswer(200, {"ok": True, "id": done.version.id, "created": done.created})


@OPERATIONS.add(
    "DELETE",
    "/api/skills",
    {200: models.DeletedSkills},
    permission="registry",
    query=models.SkillToDelete,
    body=models.SkillsToDelete,
    needs_body=False,
    errors=("skill_in_use", *_STATES, *_CHANGES),
    pool="slow",
)
def delete_skills(call: ApiCall) -> ApiAnswer:
    """Delete skills with all their versions; their events stay.

    One that others depend on is refused (409), with those others, unless they are deleted in the same request.
    """
    if ("name" in call.query) == (call.body is not None):
        raise invalid("give `name`, or a body with `names`", field="name")
    registry = registry_of(call)
    names = [call.query["name"]] if call.body is None else list(dict.fromkeys(call.body["names"]))
    errors: list[CortexError] = []
    for name in changes.deletion_order(registry, names):
        try:
            call.operate(changes.delete, skill=name)
        except CortexError as error:
            errors.append(error)
    if len(errors) == len(names):
        raise errors[0]
    messages = [error.message for error in errors]
    return ApiAnswer(200, {"ok": not errors, "deleted": len(names) - len(errors), "errors": messages})


@OPERATIONS.add(
    "POST",
    "/api/skills/merge",
    {200: models.ChangedSkill},
    permission="registry",
    query=NamespaceQuery,
    body=models.SkillsToMerge,
    errors=("manifest_invalid", "skill_exists", *_STATES, "graph_corrupt", "signature_invalid", *_CHANGES),
)
def merge_skills(call: ApiCall) -> ApiAnswer:
    """Merge a skill into another one."""
    registry = registry_of(call)
    done = call.operate(changes.merge, skill=_named_by(call, "target"), source=_named_by(call, "source"))
    return _changed(registry, registry.record(done.version.key))


@OPERATIONS.add(
    "POST",
    "/api/skills/deprecate",
    {200: models.ChangedSkill},
    permission="registry",
    query=NamespaceQuery,
    body=models.DeprecatedSkill,
    errors=(*_CHANGES, *_STATES),
)
def deprecate_skill(call: ApiCall) -> ApiAnswer:
    """Take a skill out of use."""
    reason = call.body.get("reason", _REASON)
    return _changed(registry_of(call), call.operate(changes.deprecate, skill=_named_by(call, "name"), reason=reason))


@OPERATIONS.add(
    "POST",
    "/api/skills/promote",
    {200: models.ChangedSkill},
    permission="registry",
    query=NamespaceQuery,
    body=models.SkillToPromote,
    errors=(*_CHANGES, *_STATES, "gain_not_measured"),
)
def promote_skill(call: ApiCall) -> ApiAnswer:
    """Raise the state of a skill by one.

    A learned skill is verified when its measured uses do not do worse than the agents did without it.
    """
    unmeasured = call.body.get("unmeasured", False)
    return _changed(
        registry_of(call), call.operate(changes.promote, skill=_named_by(call, "name"), unmeasured=unmeasured)
    )


@OPERATIONS.add(
    "POST",
    "/api/skills/trust",
    {200: models.ChangedSkill},
    permission="registry",
    query=NamespaceQuery,
    body=models.TrustedSkill,
    errors=_CHANGES,
)
def trust_skill(call: ApiCall) -> ApiAnswer:
    """Give a skill a trust tier."""
    return _changed(
        registry_of(call), call.operate(changes.trust, skill=_named_by(call, "name"), tier=call.body["tier"])
    )


@OPERATIONS.add(
    "POST", "/api/skills/load-human", {200: models.LoadedFolders}, permission="write", query=NamespaceQuery, pool="slow"
)
def load_human_skills(call: ApiCall) -> ApiAnswer:
    """Register the skills in the folders that the configuration names, those that are new or changed."""
    config = call.service.plugin.config
    report = synchronise_configured(
        registry_of(call),
        config.registry.folders,
        actor=call.caller.name,
        register=partial(call.operate, changes.register),
    )
    errors = [f"{place.name}: {error.message}" for place, error in report.refused.items()]
    warnings = [f"{place.name}: {warning}" for place, warning in report.warnings]
    return ApiAnswer(200, {"ok": not errors, "loaded": len(report.found), "errors": errors, "warnings": warnings})


@OPERATIONS.add(
    "POST",
    "/api/skills/export",
    {200: models.ExportedSkill},
    permission="write",
    query=NamespaceQuery,
    body=models.SkillToExport,
    errors=("skill_exists", "graph_corrupt", "signature_invalid", *_CHANGES),
    pool="slow",
)
def export_skill(call: ApiCall) -> ApiAnswer:
    """Write the current version of a skill to a new folder in `registry.exportRoot`."""
    registry, record = _named(call, call.body["name"])
    return ApiAnswer(200, exported(call, registry.version(record.version_id), ""))


@OPERATIONS.add(
    "GET", "/api/skills/dependencies", {200: models.SkillEdges}, query=models.NamedSkillQuery, errors=_UNKNOWN
)
def get_skill_dependencies(call: ApiCall) -> ApiAnswer:
    """Return the skills that a skill needs, and those that need it."""
    found = call.operate(reads.get_dependencies, skill=_named_in_query(call))
    return ApiAnswer(200, prism.dependencies(found))


@OPERATIONS.add(
    "GET", "/api/skills/health", {200: models.SkillHealth}, query=models.NamedSkillQuery, errors=_CHANGES, pool="slow"
)
def get_skill_health(call: ApiCall) -> ApiAnswer:
    """Return the health of a skill; maintenance is `POST /api/skills/maintain`."""
    name = _named_in_query(call)
    health = call.operate(reads.get_health, skill=name)
    return ApiAnswer(200, {"name": name, **health})


@OPERATIONS.add(
    "POST",
    "/api/skills/maintain",
    {200: models.MaintainedSkills},
    permission="registry",
    query=NamespaceQuery,
    errors=("graph_busy",),
    pool="slow",
)
def maintain_skills(call: ApiCall) -> ApiAnswer:
    """Deprecate learned skills that nothing uses, and degrade those that fail or whose memories have changed."""
    registry = registry_of(call)
    changed = call.operate(changes.maintain, namespace=registry.terms.names.namespace)
    level = registry.levels()
    return ApiAnswer(200, {"changed": [skill_view(registry, record, level) for record in changed]})


def _key(registry: SkillRegistry, name: str) -> SkillKey:
    try:
        return key_of(name, registry.terms.names.namespace)
    except CortexError as error:
        raise invalid(error.message, error.hint, field="name") from None


def _named_by(call: ApiCall, member: str) -> str:
    """The whole name of the skill that a member of the body names."""
    return str(_key(registry_of(call), call.body[member]))


def _named_in_query(call: ApiCall) -> str:
    """The whole name of the skill that the query string names."""
    return str(_key(registry_of(call), call.query["name"]))


def _named(call: ApiCall, name: str) -> tuple[SkillRegistry, SkillRecord]:
    registry = registry_of(call)
    return registry, registry.record(_key(registry, name))


def _changed(registry: SkillRegistry, record: SkillRecord) -> ApiAnswer:
    return ApiAnswer(200, {"ok": True, "skill": skill_view(registry, record)})
