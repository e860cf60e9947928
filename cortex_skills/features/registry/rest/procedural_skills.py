"""`/api/skills`: registered skills by their names, as the clients of a procedural memory call them.

Rules kept here:
- `read` reads, `write` registers and exports, `registry` changes where a skill stands and deletes;
- a `GET` changes nothing: maintenance is a `POST` of its own;
- a registration changes the members that are given, and nothing else;
- a skill has the members of the registry and those of the original (`dialects/prism.py`). Skills have their names as
  they were written, and those of the namespace of the request without it;
- the bodies of a list have at most `_MAX_CONTENT` together; `content` of the others is null.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from cortex_skills.doors.http.bodies import invalid
from cortex_skills.doors.rest.model_types import FROM_QUERY, ApiModel, Count, NamespaceQuery, QueryBoolean
from cortex_skills.doors.rest.operations import ApiCall, Operations
from cortex_skills.errors import CortexError
from cortex_skills.features.finder.finder_settings import FinderSettings
from cortex_skills.features.registry import skill_changes as changes
from cortex_skills.features.registry import skill_previews as previews
from cortex_skills.features.registry import skill_reads as reads
from cortex_skills.features.registry.dialects import prism
from cortex_skills.features.registry.dialects.prism import ProcedureView
from cortex_skills.features.registry.documents.document import SkillDocument, StepView, front_matter
from cortex_skills.features.registry.documents.skill_md import steps_of
from cortex_skills.features.registry.records.lifecycle import Lifecycle
from cortex_skills.features.registry.records.registry import Registered, SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillKey, SkillRecord
from cortex_skills.features.registry.registry_settings import RegistrySettings
from cortex_skills.features.registry.rest.registered_skills import (
    ExportedSkill,
    exported,
    registry_of,
    skill_view,
)
from cortex_skills.features.registry.skill_finder import MAX_LIMIT, MAX_QUERY, Among, FoundBy
from cortex_skills.features.registry.sources import synchronise_configured
from cortex_skills.features.registry.views import (
    AnySkillName,
    FileView,
    Fraction,
    HealthView,
    SkillName,
    document_view,
    withheld,
)

_LIMIT = 50
_MAX_CONTENT = 16 << 20  # characters
_REASON = "deprecated over the API"
_UNKNOWN = ("skill_not_found",)
_CHANGES = ("skill_not_found", "graph_busy")
_STATES = ("state_conflict",)


class SkillListQuery(NamespaceQuery, total=False):
    """Which skills."""

    origin: Annotated[
        Literal["builtin", "human", "learned", "llm"],
        Field(description="`llm` is `learned`; `human` has those of the package too."),
    ]
    lifecycle: Lifecycle
    limit: Annotated[int, Field(ge=1, le=1000, description="50 by default."), FROM_QUERY]


class FindSkillsQuery(NamespaceQuery):
    """What a skill should do."""

    query: Annotated[str, Field(min_length=1, max_length=MAX_QUERY, pattern=r"\S", description="In any words.")]
    limit: NotRequired[Annotated[int, Field(ge=1, le=MAX_LIMIT, description="10 by default."), FROM_QUERY]]
    candidates: NotRequired[Annotated[QueryBoolean, Field(description="Candidates too; false by default.")]]


class NamedSkillQuery(NamespaceQuery):
    """A skill."""

    name: SkillName


class SkillToDelete(NamespaceQuery, total=False):
    """A skill."""

    name: SkillName


class SkillsToDelete(ApiModel):
    """Skills."""

    names: Annotated[list[AnySkillName], Field(min_length=1, max_length=1000)]


class SkillToExport(ApiModel):
    """A skill; its registered document is exported, and the other members are not read."""

    name: SkillName
    description: NotRequired[str]
    triggerPattern: NotRequired[str]
    content: NotRequired[str]


class FoundSkillView(ProcedureView):
    """A skill that was found."""

    found: FoundBy


class FoundSkillsView(TypedDict):
    """The skills that match a query, the best first."""

    skills: list[FoundSkillView]
    problem: Annotated[
        str | None,
        Field(description="Which skills were not found by meaning, although that is configured, and why."),
    ]


class SkillDetail(ProcedureView):
    """A registered skill with its document."""

    license: str | None
    compatibility: str | None
    allowedTools: list[str]
    stepList: list[StepView]
    resources: list[FileView]


class NotDeleted(TypedDict):
    """A skill that was not deleted, and why."""

    name: str
    error: str
    code: str


class DeletedSkills(TypedDict):
    """What was deleted, and what was not and why."""

    ok: bool
    deleted: Count
    errors: list[NotDeleted]


class ChangedSkill(TypedDict):
    """The skill after the change."""

    ok: Literal[True]
    skill: ProcedureView


class LoadedFolders(TypedDict):
    """What became of the skills in the configured folders."""

    ok: Annotated[bool, Field(description="Whether all of them are registered.")]
    loaded: Annotated[Count, Field(description="How many are registered, new or not.")]
    errors: list[str]
    warnings: Annotated[list[str], Field(description="What was left out of a skill, and folders that are not read.")]


class SkillHealth(HealthView):
    """The health of a skill."""

    name: str
    failureRisk: Annotated[Fraction, Field(description="As `risk`.")]


class MaintainedSkills(TypedDict):
    """The skills whose state was changed."""

    changed: list[ProcedureView]
    deprecated: Annotated[Count, Field(description="How many of them.")]
    degraded: Annotated[Count, Field(description="How many of them.")]


OPERATIONS = Operations()


@OPERATIONS.add("GET", "/api/skills", query=SkillListQuery, pool="slow")
def list_procedural_skills(call: ApiCall) -> list[ProcedureView]:
    """List skills with an origin and a state; `/api/v1/skill/list` has pages.

    Deprecated and archived skills are listed when their state is asked for.
    """
    query = call.query
    origins = prism.ORIGINS[query["origin"]] if "origin" in query else (None,)
    records = reads.listed(call.operate, query.get("limit", _LIMIT), origins=origins, lifecycle=query.get("lifecycle"))
    return _shown(call, records)


def _shown(call: ApiCall, records: Iterable[SkillRecord]) -> list[ProcedureView]:
    """Skills with the members of the registry and those of the original."""
    registry, finder, left = registry_of(call), call.service.plugin.config.section(FinderSettings), _MAX_CONTENT
    model = "" if finder.embedder == "none" else finder.model or finder.embedder
    level = registry.levels()
    found: list[ProcedureView] = []
    records = list(records)
    with registry.reading_current(records):
        for record in records:
            version = registry.version(record.version_id)
            body: str | None = registry.body(version)
            left -= len(body or "")
            if left < 0:
                body = None
            found.append(prism.skill(skill_view(registry, record, level), front_matter(version.front), body, model))
    return found


@OPERATIONS.add(
    "GET",
    "/api/skills/find",
    query=FindSkillsQuery,
    errors=("graph_busy",),
    pool="slow",
)
def find_skills(call: ApiCall) -> FoundSkillsView:
    """Find skills by words, and by meaning if `finder.embedder` is set; the best first.

    They are those that agents are shown: reliable ones, and candidates on request.
    """
    query = call.query
    among: Among = "candidates" if query.get("candidates") else "reliable"
    found = call.operate(reads.find_skills, query=query["query"], limit=query.get("limit", 10), among=among)
    shown = _shown(call, [each.record for each in found.skills])
    skills: list[FoundSkillView] = [
        {**view, "found": each.to_json()} for view, each in zip(shown, found.skills, strict=True)
    ]
    return {"skills": skills, "problem": str(found.problem) if found.problem else None}


@OPERATIONS.add(
    "GET",
    "/api/skills/detail",
    query=NamedSkillQuery,
    errors=(*_UNKNOWN, "graph_busy", "graph_corrupt", "signature_invalid"),
    pool="slow",
)
def get_skill_detail(call: ApiCall) -> SkillDetail:
    """Return a skill with its document, verified."""
    name = call.query["name"]
    found = call.operate(reads.show_skill, skill=name)
    document = document_view(found.document)
    return {
        **_shown(call, [found.record])[0],
        "health": call.operate(reads.get_health, skill=name),
        "license": document["license"],
        "compatibility": document["compatibility"],
        "allowedTools": document["allowedTools"],
        "stepList": document["steps"],
        "content": document["body"],
        "resources": document["resources"],
    }


@OPERATIONS.add(
    "POST",
    "/api/skills",
    permission="write",
    query=NamespaceQuery,
    body=prism.ProceduralSkill,
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
def store_skill(call: ApiCall) -> prism.StoredSkill:
    """Register a skill, or its next version with the members that are given.

    A version that was registered meanwhile is not overwritten (409).
    """
    registry, body = registry_of(call), call.body
    record, document = document_of(registry, body)
    done = call.operate(
        changes.register,
        document=document,
        create_only=record is None,
        expected_version=body.get("expectedVersion", None if record is None else record.version_id),
    )
    warnings = withheld(registry, done.version, document)
    return {"ok": True, "id": done.version.id, "created": done.created, "warnings": warnings}


def document_of(registry: SkillRegistry, body: Mapping[str, Any]) -> tuple[SkillRecord | None, SkillDocument]:
    """The document that a body (`prism.ProceduralSkill`) makes of a skill, and the record of that if there is one.

    Raises:
        CortexError: `manifest_invalid`; `graph_corrupt`, `signature_invalid`: what is registered is not whole.
    """
    fields = prism.document_fields(body)
    key = SkillKey(registry.terms.names.namespace, body["name"])
    record = registry.find(key)
    before = None if record is None else registry.document(registry.version(record.version_id))
    if "body" in fields and (before is None or before.steps == steps_of(before.body)):
        fields.setdefault("steps", steps_of(fields["body"]))
    if before is not None:
        return record, before.changed(**fields)
    fields["description"] = prism.first_description(fields, key.name)
    return None, SkillDocument.checked(namespace=key.namespace, name=key.name, **fields)


@OPERATIONS.add(
    "POST",
    "/api/skills/preview/document",
    permission="write",
    query=NamespaceQuery,
    body=prism.ProceduralSkill,
    errors=("manifest_invalid", *_CHANGES, *_STATES, "skill_exists", "graph_corrupt", "signature_invalid"),
)
def preview_skill(call: ApiCall) -> previews.PreviewedDocument:
    """Return what registering a skill would do, and what an agent would read of it; nothing is changed."""
    return call.operate(previews.preview_document, document=document_of(registry_of(call), call.body)[1])


@OPERATIONS.add(
    "DELETE",
    "/api/skills",
    permission="registry",
    query=SkillToDelete,
    body=SkillsToDelete,
    needs_body=False,
    errors=("skill_in_use", *_STATES, *_CHANGES),
    pool="slow",
)
def delete_skills(call: ApiCall) -> DeletedSkills:
    """Delete skills with all their versions; their events stay.

    One that others depend on is refused (409), with those others, unless they are deleted in the same request.
    """
    if ("name" in call.query) == (call.body is not None):
        raise invalid("give `name`, or a body with `names`", field="name")
    registry = registry_of(call)
    names = [call.query["name"]] if call.body is None else list(dict.fromkeys(call.body["names"]))
    errors: dict[str, CortexError] = {}
    for name in changes.deletion_order(registry, names):
        try:
            call.operate(changes.delete, skill=name)
        except CortexError as error:
            errors[name] = error
    if len(errors) == len(names):
        raise next(iter(errors.values()))
    problems: list[NotDeleted] = [
        {"name": name, "error": error.message, "code": error.code} for name, error in errors.items()
    ]
    return {"ok": not errors, "deleted": len(names) - len(errors), "errors": problems}


@OPERATIONS.add("POST", "/api/skills/load-human", permission="write", query=NamespaceQuery, pool="slow")
def load_human_skills(call: ApiCall) -> LoadedFolders:
    """Register the skills in the folders that the configuration names, those that are new or changed."""
    config = call.service.plugin.config
    report = synchronise_configured(
        registry_of(call),
        config.section(RegistrySettings).folders,
        actor=call.caller.name,
        register=partial(call.operate, changes.register),
    )
    errors = [f"{place.name}: {error.message}" for place, error in report.refused.items()]
    warnings = [f"{place.name}: {warning}" for place, warning in report.warnings]
    return {"ok": not errors, "loaded": len(report.found), "errors": errors, "warnings": warnings}


@OPERATIONS.add(
    "POST",
    "/api/skills/export",
    permission="write",
    query=NamespaceQuery,
    body=SkillToExport,
    errors=("skill_exists", "graph_corrupt", "signature_invalid", *_CHANGES),
    pool="slow",
)
def export_skill(call: ApiCall) -> ExportedSkill:
    """Write the current version of a skill to a new folder in `registry.exportRoot`."""
    return exported(call.operate(changes.export, skill=call.body["name"], folder=""))


@OPERATIONS.add(
    "POST",
    "/api/skills/maintain",
    permission="registry",
    query=NamespaceQuery,
    errors=("graph_busy",),
    pool="slow",
)
def maintain_skills(call: ApiCall) -> MaintainedSkills:
    """Deprecate learned skills that nothing uses, and degrade those that fail or whose memories have changed."""
    changed = call.operate(changes.maintain, namespace=registry_of(call).terms.names.namespace)
    return {
        "changed": _shown(call, changed),
        "deprecated": sum(each.standing.lifecycle == "deprecated" for each in changed),
        "degraded": sum(each.standing.lifecycle == "degraded" for each in changed),
    }


def _changed(call: ApiCall, record: SkillRecord) -> ChangedSkill:
    return {"ok": True, "skill": _shown(call, [record])[0]}


def _merged(call: ApiCall, done: Registered) -> ChangedSkill:
    return _changed(call, registry_of(call).record(done.version.key))


def _health(call: ApiCall, found: HealthView) -> SkillHealth:
    return {"name": call.query["name"], "failureRisk": found["risk"], **found}


def _figures(_: ApiCall, found: reads.MeanFigures) -> prism.SkillStats:
    return prism.figures(found)


def _edges(call: ApiCall, found: reads.SkillDependencies) -> prism.SkillEdges:
    registry = registry_of(call)
    needed_by, needs = (_shown(call, map(registry.record, keys)) for keys in (found.needed_by, found.needs))
    return {"name": call.query["name"], "dependents": needed_by, "dependencies": needs}


_BY_NAME = {"skill": "name"}
OPERATIONS.serve(
    "POST",
    "/api/skills/deprecate",
    changes.deprecate,
    names=_BY_NAME,
    show=_changed,
    name="deprecateSkill",
    given={"reason": _REASON},
    errors=(*_CHANGES, *_STATES),
)
OPERATIONS.serve(
    "POST",
    "/api/skills/promote",
    changes.promote,
    names=_BY_NAME,
    show=_changed,
    name="promoteSkill",
    errors=(*_CHANGES, *_STATES, "gain_not_measured"),
)
OPERATIONS.serve("GET", "/api/skills/folders", previews.preview_folders, name="previewSkillFolders", pool="slow")
OPERATIONS.serve("POST", "/api/skills/preview", previews.preview_change, name="previewSkillChange", pool="slow")
OPERATIONS.serve(
    "POST", "/api/skills/trust", changes.trust, names=_BY_NAME, show=_changed, name="trustSkill", errors=_CHANGES
)
OPERATIONS.serve(
    "POST",
    "/api/skills/merge",
    changes.merge,
    name="mergeSkills",
    names={"skill": "target"},
    show=_merged,
    errors=("manifest_invalid", "skill_exists", *_STATES, "graph_corrupt", "signature_invalid", *_CHANGES),
)
OPERATIONS.serve("GET", "/api/skills/stats", reads.get_figures, name="getSkillStats", show=_figures, pool="slow")
OPERATIONS.serve(
    "GET",
    "/api/skills/dependencies",
    reads.get_dependencies,
    name="getSkillDependencies",
    names=_BY_NAME,
    show=_edges,
    errors=_UNKNOWN,
)
OPERATIONS.serve(
    "GET", "/api/skills/history", reads.history, name="getSkillHistory", names=_BY_NAME, errors=_UNKNOWN, pool="slow"
)
OPERATIONS.serve(
    "GET",
    "/api/skills/diff",
    reads.compare,
    name="getSkillDifference",
    names=_BY_NAME,
    errors=(*_UNKNOWN, "graph_corrupt", "signature_invalid"),
    pool="slow",
)
OPERATIONS.serve(
    "GET",
    "/api/skills/events",
    reads.list_events,
    name="listSkillEvents",
    given={"limit": 100},
    errors=("graph_corrupt",),
    pool="slow",
)
OPERATIONS.serve(
    "GET",
    "/api/skills/events/verification",
    reads.verify_events,
    name="verifySkillEvents",
    errors=("graph_corrupt",),
    pool="slow",
)
OPERATIONS.serve(
    "GET",
    "/api/skills/health",
    reads.get_health,
    name="getSkillHealth",
    names=_BY_NAME,
    show=_health,
    errors=_CHANGES,
    pool="slow",
)
