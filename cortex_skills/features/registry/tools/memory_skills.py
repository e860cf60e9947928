"""The tools of a store of skills: `memory_skill_register`, `_list`, `_get`, `_resource` and `_export`.

Rules kept here:
- a skill is named by the id of a version, or by its name, which is its current version;
- registering and exporting are operations (`skill_changes.py`); nothing of a skill runs;
- folders are named inside `registry.importRoot` and `registry.exportRoot` only (`folders.py`);
- the text of a skill is cleaned as `views.py` states; a file that a model must not read is withheld, and
  one that is not text is returned in Base64;
- a page of a list ends before it is longer than hosts take it, and has a cursor for the rest;
- a document and a file are verified against their digests when they are read.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, NotRequired
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from cortex_graph.store_access.read_ahead import Ahead
from cortex_skills.enrichment.text_lines import clean_lines
from cortex_skills.errors import CortexError
from cortex_skills.features.registry import skill_changes as changes
from cortex_skills.features.registry import skill_reads as reads
from cortex_skills.features.registry.dialects import ai_memory
from cortex_skills.features.registry.documents.document import front_matter
from cortex_skills.features.registry.documents.skill_md import InlineSkill, inline_document
from cortex_skills.features.registry.folders import FORMS, Form, SkillFolder, import_folder, read_skill_folder
from cortex_skills.features.registry.parts import registry_in
from cortex_skills.features.registry.records.skill_record import SkillRecord, SkillVersion
from cortex_skills.features.registry.tools.registered_skills import (
    ExpectedVersion,
    InState,
    ShownSkillDetails,
    named_record,
    operate,
    shown_skill,
)
from cortex_skills.features.registry.views import ORDINARY, described, is_trusted, key_of, shown_record, withheld
from cortex_skills.safe_io.display import between_marks, json_text, shown_name
from cortex_skills.safe_io.schemas import did_you_mean, shown
from cortex_skills.tools.answer_sizes import LONGEST_PAGE, OF_RECORDS
from cortex_skills.tools.base import Call, Outcome, Tool
from cortex_skills.tools.token_estimate import tokens_of

_AT_ONCE = 10  # records that are read before the size of a page is looked at
_LONGEST_LIST = 100
_MAX_TEXT = 1 << 15  # characters of a file that a model reads at once
SkillId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=512,
        description="The id of a version, or the name of a skill: NAME, or NAMESPACE/NAME.",
    ),
]
_Folder = Annotated[str, Field(min_length=1, max_length=1024)]


def named_version(call: Call) -> tuple[SkillRecord, SkillVersion]:
    """The record and the version that `skill_id` names."""
    given = call.arguments["skill_id"]
    registry = call.host.part(registry_in)
    try:
        identifier = str(UUID(given))
    except ValueError:
        record = named_record(call, given)
        return record, registry.version(record.version_id)
    version = registry.version(identifier)
    return registry.record(version.key), version


def _ahead(call: Call) -> Iterator[Ahead]:
    """What is read of the version that `skill_id` names."""
    given, registry = call.arguments["skill_id"], call.host.part(registry_in)
    try:
        yield from registry.ahead_of_version(str(UUID(given)))
    except ValueError:
        yield from registry.ahead_of([key_of(given, registry.terms.names.namespace)], versions=True)


def _register(call: Call) -> Outcome:
    given = call.arguments
    registry = call.host.part(registry_in)
    namespace = registry.terms.names.namespace
    if ("folder_path" in given) == ("inline_skill" in given):
        hint = "one of the two, and not both"
        raise CortexError("invalid_arguments", "a skill is registered from folder_path or from inline_skill", hint=hint)
    if "folder_path" in given:
        folder = import_folder(call.host.config, given["folder_path"])
        found = read_skill_folder(folder, namespace, accept_changed=given.get("accept_changed", False))
    else:
        found = SkillFolder(inline_document(given["inline_skill"], namespace))
    done = operate(
        call,
        changes.register,
        document=found.document,
        expected_version=given.get("expected_version"),
        signature=found.signature,
    )
    version = done.version
    state = "registered" if done.created else "registered already"
    warnings = [*found.warnings, *withheld(registry, version, found.document, call.host.cleaning)]
    lines = [f"{version.key} version {version.number} is {state}, with the id {version.id}.", *warnings]
    details = ai_memory.registered(done, registry.levels(), warnings)
    return Outcome("\n".join(lines), {"skill_id": version.id, "compatDigest": version.compat_digest, **details})


def _list(call: Call) -> Outcome:
    given = call.arguments
    registry, policy = call.host.part(registry_in), call.host.cleaning
    limit, cursor = min(given.get("limit", 20), _LONGEST_LIST), given.get("cursor")
    wanted: dict[str, Any] = {name: given[name] for name in ("filter", "lifecycle") if name in given}
    if given.get("namespace", "%") != "%":
        wanted["skill_namespace"] = given["namespace"]
    list_page, level = partial(operate, call, reads.list_skills, **wanted), registry.levels()
    lines: list[str] = []
    views: list[dict[str, Any]] = []
    size, tokens, is_asked = 0, 0, "limit" in given
    while len(views) < limit and size < LONGEST_PAGE // 3:
        page = list_page(cursor=cursor, limit=min(limit - len(views), _AT_ONCE if is_asked else 1))
        with registry.reading_current(page.records):
            found = [(record, registry.version(record.version_id)) for record in page.records]
        for record, version in found:
            own = ai_memory.members_of(version, front_matter(version.front))
            view = shown_record(registry, record, policy, level, own, version)
            text = json_text(view)
            tokens += tokens_of(text)
            if views and tokens > OF_RECORDS and not is_asked:
                break
            views.append(view)
            lines.append(f"{described(registry, record, view)} ({record.standing.lifecycle})")
            size += len(text.encode()) + len(lines[-1].encode())
        else:
            cursor = page.cursor
            if cursor is not None:
                continue
        break
    if cursor is not None:
        lines.append("(more follow: ask with the cursor)")
    return Outcome("\n".join(lines) or "No skill matches.", {"skills": views, "count": len(views), "cursor": cursor})


def _get(call: Call) -> Outcome:
    record, version = named_version(call)
    text, details = shown_skill(call, record, version.id)
    document = details["document"]
    own: dict[str, Any] = {**ai_memory.members_of(version, front_matter(version.front))}
    own |= {name: document[name] for name in ("license", "compatibility", "metadata", "body", "resources")}
    own |= {"allowed_tools": document["allowedTools"]}
    return Outcome(text, {**details, **own, "superseded_by": call.host.part(registry_in).following(version.id)})


def _resource(call: Call) -> Outcome:
    record, version = named_version(call)
    path = call.arguments["resource_path"]
    registry = call.host.part(registry_in)
    document = registry.document(version)
    found = document.resource(path)
    if found is None:
        known = [each.path for each in document.resources]
        hint = did_you_mean(path, known) or "memory_skill_get lists the files"
        raise CortexError("skill_not_found", f"{record.key} has no file {shown(path)}", hint=hint)
    details: dict[str, Any] = {**ai_memory.about_file(version.id, found)}
    if (content := _text_of(found.data)) is None:
        encoded = base64.b64encode(found.data[:_MAX_TEXT]).decode()
        details |= {"base64": encoded, "content": encoded, "encoding": "base64"}
        details["truncated"] = len(found.data) > _MAX_TEXT
        return Outcome(f"{shown_name(found.path)} has {len(found.data)} bytes, which are not text.", details)
    view = shown_record(registry, record, call.host.cleaning)
    text, removed = content[:_MAX_TEXT], 0
    if version.id != record.version_id or not is_trusted(record.standing, view["current"]["attest"]):
        if call.host.cleaning.drop_all_text:
            text, removed = "", 1
        else:
            cleaned = clean_lines(text, ORDINARY)
            text, removed = cleaned.text, cleaned.removed
    details |= {"text": text, "content": text, "encoding": "utf-8"}
    details |= {"truncated": len(content) > _MAX_TEXT, "strippedCount": removed}
    lines = [between_marks("file", found.path, text)]
    if removed:
        lines.append(f"({removed} lines were removed: a model must not read them)")
    if details["truncated"]:
        lines.append(f"({len(content) - _MAX_TEXT} more characters are not shown)")
    return Outcome("\n".join(lines), details)


def _text_of(data: bytes) -> str | None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _export(call: Call) -> Outcome:
    record, version = named_version(call)
    target, form = call.arguments["target_folder"], call.arguments.get("form", FORMS[0])
    done = operate(call, changes.export, skill=str(record.key), folder=target, version=version.id, form=form)
    text = f"{record.key} version {version.number} is exported to {shown_name(done.folder)}."
    details = ai_memory.exported(done, target)
    return Outcome(text, {"folder": done.folder, **details, "files": details["files"][:_LONGEST_LIST]})


@dataclass(frozen=True, slots=True)
class _Register:
    folder_path: (
        Annotated[_Folder, Field(description="A folder with a SKILL.md, inside registry.importRoot.")] | None
    ) = None
    inline_skill: (
        Annotated[
            Annotated[str, Field(min_length=1, max_length=2 << 20)] | InlineSkill,
            Field(description="The text of a SKILL.md, or its fields."),
        ]
        | None
    ) = None
    expected_version: ExpectedVersion | None = None
    accept_changed: Annotated[
        bool, Field(description="Register a folder that was changed after its export, without its signature.")
    ] = False


class SkillRegisterDetails(ai_memory.RegisteredVersion, TypedDict):
    """The version that was registered."""

    skill_id: Annotated[str, Field(description="The id of the version.")]
    compatDigest: str


MEMORY_SKILL_REGISTER = Tool(
    name="memory_skill_register",
    description="Register a skill, from a folder or inline: as a new skill, or as the next version of a learned one.",
    input_schema=_Register,
    output_schema=SkillRegisterDetails,
    permissions=("registry:learn",),
    budget=None,
    profile="registry",
    read_only=False,
    run=_register,
)


@dataclass(frozen=True, slots=True)
class _List:
    namespace: Annotated[str, Field(max_length=256, description="Of the skills; % for all.")] | None = None
    lifecycle: InState | None = None
    filter: Annotated[str, Field(max_length=256, description="Words of the name or the description.")] = ""
    limit: Annotated[int, Field(ge=1, description=f"At most {_LONGEST_LIST}.")] = 20
    cursor: Annotated[str, Field(max_length=4096, description="Of the answer before.")] | None = None


class SkillListDetails(TypedDict):
    """A page of skills."""

    skills: list[dict[str, Any]]
    count: int
    cursor: Annotated[str | None, Field(description="For the next page.")]


MEMORY_SKILL_LIST = Tool(
    name="memory_skill_list",
    description="List the registered skills, page by page.",
    input_schema=_List,
    output_schema=SkillListDetails,
    permissions=("registry:read",),
    budget=None,
    profile="registry",
    run=_list,
    ahead=lambda _: (),
)


@dataclass(frozen=True, slots=True)
class _Get:
    skill_id: SkillId


MEMORY_SKILL_GET = Tool(
    name="memory_skill_get",
    description="Read a registered skill, or one version of it.",
    input_schema=_Get,
    output_schema=ShownSkillDetails,
    permissions=("registry:read",),
    budget=None,
    profile="registry",
    run=_get,
    ahead=_ahead,
)


@dataclass(frozen=True, slots=True)
class _Resource:
    skill_id: SkillId
    resource_path: Annotated[str, Field(min_length=1, max_length=1024)]


class SkillResourceDetails(ai_memory.FileAbout, TypedDict):
    """A file of a skill."""

    content: str
    encoding: Annotated[str, Field(description="utf-8 or base64.")]
    text: NotRequired[str]
    base64: NotRequired[str]
    truncated: bool
    strippedCount: NotRequired[int]


MEMORY_SKILL_RESOURCE = Tool(
    name="memory_skill_resource",
    description="Read a file of a registered skill.",
    input_schema=_Resource,
    output_schema=SkillResourceDetails,
    permissions=("registry:read",),
    budget=None,
    profile="registry",
    run=_resource,
    ahead=_ahead,
)


@dataclass(frozen=True, slots=True)
class _Export:
    skill_id: SkillId
    target_folder: Annotated[_Folder, Field(description="A folder inside registry.exportRoot; created if missing.")]
    form: Annotated[Form, Field(description="Who reads it.")] = FORMS[0]


class SkillExportDetails(ai_memory.ExportedVersion):
    """What was exported, and where it is."""

    folder: Annotated[str, Field(description="Inside registry.exportRoot.")]


MEMORY_SKILL_EXPORT = Tool(
    name="memory_skill_export",
    description="Export a registered skill as a folder that another registry, or any reader of agentskills.io, reads.",
    input_schema=_Export,
    output_schema=SkillExportDetails,
    permissions=("registry:read",),
    budget=None,
    profile="registry",
    read_only=False,
    idempotent=False,
    run=_export,
)

MEMORY_SKILL_TOOLS = (
    MEMORY_SKILL_REGISTER,
    MEMORY_SKILL_LIST,
    MEMORY_SKILL_GET,
    MEMORY_SKILL_RESOURCE,
    MEMORY_SKILL_EXPORT,
)
