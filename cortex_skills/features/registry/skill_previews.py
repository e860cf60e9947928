"""What a change of several skills would do with each, without doing it.

Rules kept here:
- a verdict is made by the functions that the change itself uses, for the caller who asks;
- skills that are deleted together are looked at in the order of their deletion: one that only they depend on is
  deleted, too;
- nothing is changed, and nothing is promised: the change decides again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from cortex_skills.errors import CortexError
from cortex_skills.features.registry.documents.document import SkillDocument
from cortex_skills.features.registry.parts import found_record, registry_in
from cortex_skills.features.registry.records import lifecycle
from cortex_skills.features.registry.records.registry import Registered, SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillKey, SkillRecord, VersionSignature
from cortex_skills.features.registry.registry_settings import RegistrySettings
from cortex_skills.features.registry.skill_changes import changeable, deletion_order, origin_for
from cortex_skills.features.registry.sources import synchronise_configured
from cortex_skills.features.registry.views import AnySkillName, differences, shown_record
from cortex_skills.operations.operation import AS_IS, OperationCall, operation

Change = Literal["promote", "deprecate", "retire", "delete"]
_RIGHTS = {"promote": "promote", "deprecate": "deprecate", "retire": "deprecate", "delete": "delete"}


@dataclass(frozen=True, slots=True)
class PreviewChange:
    """A change, and the skills that it is for."""

    change: Change
    names: Annotated[tuple[AnySkillName, ...], Field(min_length=1, max_length=1_000)]


class PreviewedSkill(TypedDict):
    """What the change would do with one skill."""

    name: Annotated[str, Field(description="As it was given.")]
    lifecycle: Annotated[str | None, Field(description="Its state now; null for one that is not registered.")]
    following: Annotated[str | None, Field(description="Its state then, or `deleted`; null where it is refused.")]
    code: Annotated[str | None, Field(description="Why it is refused; null where it is not.")]
    message: str | None


@operation("registry.preview", effect="reads", permission="registry")
def preview_change(call: OperationCall, given: PreviewChange) -> list[PreviewedSkill]:
    """Return what a change would do with each of several skills, in the order in which they are named."""
    names = list(dict.fromkeys(given.names))
    gone: set[SkillKey] = set()
    found: dict[str, PreviewedSkill] = {}
    for name in deletion_order(call.part(registry_in), names) if given.change == "delete" else names:
        found[name] = _previewed(call, given.change, name, gone)
    return [found[name] for name in names]


def _previewed(call: OperationCall, change: Change, name: str, gone: set[SkillKey]) -> PreviewedSkill:
    """What becomes of one skill, where some are gone by then; it is added to those if it is deleted."""
    state: str | None = None
    try:
        state = found_record(call, name).standing.lifecycle
        record = changeable(call, _RIGHTS[change], name)
        following = _following(call.part(registry_in), change, record, gone)
    except CortexError as error:
        return {"name": name, "lifecycle": state, "following": None, "code": error.code, "message": error.message}
    if following == "deleted":
        gone.add(record.key)
    return {"name": name, "lifecycle": state, "following": following, "code": None, "message": None}


def _following(registry: SkillRegistry, change: Change, record: SkillRecord, gone: set[SkillKey]) -> str:
    if change == "promote":
        return registry.raised(record).lifecycle
    if change == "deprecate":
        return lifecycle.deprecated(str(record.key), record.standing, "a reason").lifecycle
    if change == "retire":
        registry.check_unused(record.key)
        return lifecycle.archived(record.standing).lifecycle
    registry.check_deletable(record, gone)
    return "deleted"


@dataclass(frozen=True, slots=True)
class PreviewDocument:
    """A document, as for `registry.register`."""

    document: Annotated[SkillDocument, AS_IS]


class PreviewedDocument(TypedDict):
    """What would be registered, and what an agent would read of it."""

    version: Annotated[int, Field(ge=1, description="The number of its version then.")]
    created: Annotated[bool, Field(description="Whether that is a new version.")]
    lifecycle: Annotated[str, Field(description="Its state then.")]
    reads: Annotated[str, Field(description="What `skill_read` returns, cleaned.")]
    listed: Annotated[str, Field(description="Its line in an answer of `skill_find`, cleaned.")]
    changes: Annotated[list[str], Field(description="The lines of the difference to the current version.")]


@operation("registry.preview_document", effect="reads", permission="write")
def preview_document(call: OperationCall, given: PreviewDocument) -> PreviewedDocument:
    """Return what `registry.register` would do with a document, and what an agent would read of it."""
    from cortex_skills.features.registry.tools.registered_skills import line_of_skill, text_of_skill

    registry, document, policy = call.part(registry_in), given.document, call.host.cleaning
    origin = origin_for(call, document)
    done = registry.preview(document, origin=origin)
    version, before = done.version, registry.find(done.version.key)
    if before is None:
        standing = lifecycle.first_standing(origin)
        record = SkillRecord(version.key, version.id, standing, lifecycle.Quality(), version.created)
    elif not done.created:
        record = before
    else:
        standing = lifecycle.following_standing(before.standing, origin)
        record = replace(before, version_id=version.id, standing=standing)
    view = shown_record(registry, record, policy, version=version)
    earlier = None if before is None else registry.document(registry.version(before.version_id))
    return {
        "version": version.number,
        "created": done.created,
        "lifecycle": record.standing.lifecycle,
        "reads": text_of_skill(registry, record, version, policy, document)[0],
        "listed": line_of_skill(registry, record, view, policy, version),
        "changes": [] if earlier is None else differences(earlier, document),
    }


@dataclass(frozen=True, slots=True)
class PreviewFolders:
    """No arguments: the folders are those of the configuration (`registry.folders`)."""


class PreviewedFolder(TypedDict):
    """What would become of the skill in one folder."""

    folder: Annotated[str, Field(description="The name of the folder.")]
    name: Annotated[str | None, Field(description="Of the skill; null where it cannot be read or is refused.")]
    version: Annotated[int | None, Field(description="The number of its version then.")]
    created: Annotated[bool, Field(description="Whether that is a new version.")]
    digest: Annotated[str | None, Field(description="Of its document.")]
    code: Annotated[str | None, Field(description="Why it is refused; null where it is not.")]
    message: str | None
    warnings: Annotated[list[str], Field(description="What is left out of it.")]


@operation("registry.preview_folders", effect="reads", permission="write")
def preview_folders(call: OperationCall, given: PreviewFolders) -> list[PreviewedFolder]:  # noqa: ARG001 - none
    """Return what would be registered of the skills in the configured folders, and what refused, and why."""
    registry = call.part(registry_in)
    known: set[SkillKey] = set()

    def register(*, document: SkillDocument, signature: VersionSignature | None) -> Registered:
        done = registry.preview(document, origin=origin_for(call, document), signature=signature, known=known)
        known.add(done.version.key)
        return done

    folders = call.host.config.section(RegistrySettings).folders
    report = synchronise_configured(registry, folders, actor=call.caller.actor, register=register)
    warnings: dict[Path, list[str]] = {}
    for place, warning in report.warnings:
        warnings.setdefault(place, []).append(warning)
    rows: dict[Path, PreviewedFolder] = {
        place: {
            "folder": place.name,
            "name": done.version.key.name if done else None,
            "version": done.version.number if done else None,
            "created": done is not None and done.created,
            "digest": done.version.digest if done else None,
            "code": error.code if error else None,
            "message": error.message if error else None,
            "warnings": warnings.get(place, []),
        }
        for place in sorted({*report.found, *report.refused, *warnings})
        for done, error in [(report.found.get(place), report.refused.get(place))]
    }
    return list(rows.values())
