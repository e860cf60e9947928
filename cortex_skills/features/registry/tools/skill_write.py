"""`skill_write`: create, change and connect registered skills.

Rules kept here:
- each change is an operation (`skill_changes.py`), which decides who may do what; a name that is taken is
  refused by `create`;
- an update changes the fields that are given, and no others; it is refused when the skill got another version since it
  was read, by the caller (`expected_version`) or here;
- a skill that others depend on is not deleted, and the answer names them; `bulk_delete` has an answer for each name;
- an answer states at once what agents will not read; the arguments of another system have their names there
  (`dialects/prism.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, NotRequired, Required

from pydantic import Field
from typing_extensions import TypedDict

from cortex_skills.errors import CortexError
from cortex_skills.features.registry import skill_changes as changes
from cortex_skills.features.registry.dialects import prism
from cortex_skills.features.registry.documents.skill_md import (
    FIELDS,
    InlineFields,
    InlineStep,
    inline_document,
    updated_document,
)
from cortex_skills.features.registry.parts import registry_in
from cortex_skills.features.registry.records.registry import Registered, SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillRecord
from cortex_skills.features.registry.tools.registered_skills import ExpectedVersion, SkillName, named_record, operate
from cortex_skills.features.registry.views import key_of, withheld
from cortex_skills.safe_io.display import shown_name, whole_characters
from cortex_skills.tools.base import Call, Outcome, Tool

_MAX_BULK = 50
_NO_REASON = "an agent deprecated it, and gave no reason"


def _create(call: Call, registry: SkillRegistry, given: dict[str, Any]) -> Outcome:
    namespace, _, name = given["name"].rpartition("/")
    fields = {name: given[name] for name in FIELDS if name in given}
    document = inline_document({**fields, "name": name}, namespace or registry.terms.names.namespace)
    done = operate(call, changes.register, document=document, create_only=True)
    text = f"Created {registry.terms.label(done.version.key)}, a candidate."
    return _registered(registry, "create", done, text, withheld(registry, done.version, document, call.host.cleaning))


def _update(call: Call, registry: SkillRegistry, given: dict[str, Any]) -> Outcome:
    record = named_record(call, given["name"])
    before = registry.document(registry.version(record.version_id))
    if prism.PARENT in given.get("metadata", {}):
        given["metadata"] = {**before.metadata, **given["metadata"]}
    document = updated_document(before, given)
    expected = given.get("expected_version", record.version_id)
    done = operate(call, changes.register, document=document, expected_version=expected)
    name, number = registry.terms.label(record.key), done.version.number
    text = f"{name} has version {number}." if done.created else f"{name} says that already."
    return _registered(registry, "update", done, text, withheld(registry, done.version, document, call.host.cleaning))


def _registered(
    registry: SkillRegistry, operation: str, done: Registered, text: str, warnings: Sequence[str] = ()
) -> Outcome:
    version = done.version
    details = {
        "skill": registry.terms.label(version.key),
        "skill_id": version.id,
        "version": version.number,
        "digest": version.digest,
        "created": done.created,
    }
    if warnings:
        details["warnings"] = list(warnings)
    return Outcome("\n".join([text, *warnings]), {"operation": operation, **details})


def _delete(call: Call, registry: SkillRegistry, given: dict[str, Any]) -> Outcome:
    name = registry.terms.label(operate(call, changes.delete, skill=given["name"]))
    return Outcome(f"Deleted {name}.", {"operation": "delete", "skill": name})


def _bulk_delete(call: Call, registry: SkillRegistry, given: dict[str, Any]) -> Outcome:
    found: dict[str, CortexError | None] = {}
    for name in changes.deletion_order(registry, _needed(given, "names")):
        try:
            operate(call, changes.delete, skill=name)
            found[name] = None
        except CortexError as error:
            found[name] = error
    results: list[dict[str, Any]] = []
    for name in given["names"]:
        result: dict[str, Any] = {"name": name, "deleted": True}
        if (problem := found[name]) is not None:
            shown = {"code": problem.code, "message": problem.message, **problem.details}
            result |= {"deleted": False, "error": shown}
        results.append(result)
    lines = [
        f"{shown_name(each['name'])}: {'deleted' if each['deleted'] else each['error']['message']}" for each in results
    ]
    deleted = sum(each["deleted"] for each in results)
    lines.insert(0, f"{deleted} of {len(results)} deleted.")
    return Outcome("\n".join(lines), {"operation": "bulk_delete", "deleted": deleted, "results": results})


def _merge(call: Call, registry: SkillRegistry, given: dict[str, Any]) -> Outcome:
    source = _needed(given, "source")
    done = operate(call, changes.merge, skill=given["name"], source=source)
    into, key = registry.terms.label(done.version.key), key_of(source, registry.terms.names.namespace)
    text = f"{registry.terms.label(key)} is merged into {into}, version {done.version.number}."
    return _registered(registry, "merge", done, text)


def _promote(call: Call, registry: SkillRegistry, given: dict[str, Any]) -> Outcome:
    return _standing(registry, "promote", operate(call, changes.promote, skill=given["name"]))


def _deprecate(call: Call, registry: SkillRegistry, given: dict[str, Any]) -> Outcome:
    reason = whole_characters(given.get("reason", _NO_REASON))
    return _standing(registry, "deprecate", operate(call, changes.deprecate, skill=given["name"], reason=reason))


def _standing(registry: SkillRegistry, operation: str, record: SkillRecord) -> Outcome:
    name = registry.terms.label(record.key)
    details = {
        "operation": operation,
        "skill": name,
        "lifecycle": record.standing.lifecycle,
        "trustTier": record.standing.trust_tier,
    }
    return Outcome(f"{name} is {record.standing.lifecycle}.", details)


def _dependents(call: Call, registry: SkillRegistry, given: dict[str, Any]) -> Outcome:
    record = named_record(call, given["name"])
    name = registry.terms.label(record.key)
    names = [registry.terms.label(key) for key in registry.dependents(record.key)]
    text = f"{', '.join(names)} depend on {name}." if names else f"No skill depends on {name}."
    return Outcome(text, {"operation": "dependents", "skill": name, "names": names})


def _dependencies(call: Call, registry: SkillRegistry, given: dict[str, Any]) -> Outcome:
    record = named_record(call, given["name"])
    name = registry.terms.label(record.key)
    names = [registry.terms.label(key) for key in registry.dependencies(record.key)]
    text = f"{name} depends on {', '.join(names) or 'no skill'}."
    return Outcome(text, {"operation": "dependencies", "skill": name, "names": names})


_OPERATIONS: dict[str, Callable[[Call, SkillRegistry, dict[str, Any]], Outcome]] = {
    "create": _create,
    "update": _update,
    "delete": _delete,
    "bulk_delete": _bulk_delete,
    "merge": _merge,
    "promote": _promote,
    "deprecate": _deprecate,
    "dependents": _dependents,
    "dependencies": _dependencies,
}
_OWN = {"source": "merge", "reason": "deprecate", "names": "bulk_delete", "expected_version": "update"}


def _run(call: Call) -> Outcome:
    given, ignored = prism.tool_arguments(call.arguments)
    operation = given["operation"]
    if operation != "bulk_delete":
        _needed(given, "name")
    known = {"operation", "name", *(key for key, owner in _OWN.items() if owner == operation)}
    if operation in ("create", "update"):
        known |= set(FIELDS)
    if unknown := sorted(given.keys() - known):
        what = ", ".join(unknown)
        raise CortexError("invalid_arguments", f"{operation} does not take {what}", hint="leave it out")
    outcome = _OPERATIONS[operation](call, call.host.part(registry_in), given)
    if not ignored:
        return outcome
    warnings = [*outcome.details.get("warnings", []), *ignored]
    return replace(outcome, text="\n".join([outcome.text, *ignored]), details={**outcome.details, "warnings": warnings})


def _needed(given: dict[str, Any], field: str) -> Any:
    if field not in given:
        raise CortexError("invalid_arguments", f"{given['operation']} needs {field}", hint=f"give {field}")
    return given[field]


class _Change(TypedDict, total=False):
    operation: Required[
        Literal[
            "create", "update", "delete", "bulk_delete", "merge", "promote", "deprecate", "dependents", "dependencies"
        ]
    ]
    name: SkillName
    names: Annotated[
        list[SkillName],
        Field(
            min_length=1, max_length=_MAX_BULK, description="For bulk_delete.", json_schema_extra={"uniqueItems": True}
        ),
    ]
    source: Annotated[SkillName, Field(description="For merge: the skill that is merged into `name`, and archived.")]
    reason: Annotated[str, Field(min_length=1, max_length=500, description="For deprecate.")]
    expected_version: Annotated[ExpectedVersion, Field(description="For update: as for `memory_skill_register`.")]


class _WrittenStep(InlineStep):
    description: NotRequired[Annotated[str, Field(description="As `details`.")]]
    step: NotRequired[Annotated[int, Field(description="Not read: the order of the list counts.")]]


class _Original(TypedDict, total=False):
    content: Annotated[str, Field(description="As `body`.")]
    source_name: Annotated[SkillName, Field(description="As `source`.")]
    parent_skill_id: Annotated[str, Field(max_length=256, description="Kept as metadata.")]
    lifecycle: Annotated[str, Field(description="Not followed.")]
    trust_tier: Annotated[float, Field(description="Not followed.")]


class _Write(_Change, _Original, InlineFields, total=False):
    steps: Annotated[list[_WrittenStep], Field(max_length=200, description="Those of the body if not given.")]  # type: ignore[misc]


class SkillWriteDetails(TypedDict, total=False):
    """The change of a skill."""

    operation: Required[str]
    skill: str
    skill_id: Annotated[str, Field(description="The id of the new version.")]
    version: int
    created: Annotated[bool, Field(description="Whether there is a new version.")]
    lifecycle: str
    names: list[str]
    results: list[dict[str, Any]]
    warnings: Annotated[
        list[str],
        Field(description="What agents will not read of the skill, and arguments that were not followed."),
    ]


SKILL_WRITE = Tool(
    name="skill_write",
    description=(
        "Write registered skills: create or update one that was learned, delete, merge, promote or deprecate, and ask "
        "what depends on what. A new skill is a candidate until its use shows that it works."
    ),
    input_schema=_Write,
    output_schema=SkillWriteDetails,
    permissions=("registry:learn",),
    budget=None,
    profile="registry",
    read_only=False,
    destructive=True,
    idempotent=False,
    run=_run,
)
