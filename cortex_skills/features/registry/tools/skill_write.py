"""`skill_write`: create, change and connect registered skills.

Rules kept here:
- each change is an operation (`skill_changes.py`), which decides who may do what; a name that is taken is
  refused by `create`;
- an update changes the fields that are given, and no others; it is refused when the skill got another version since it
  was read, by the caller (`expected_version`) or here;
- a skill that others depend on is not deleted, and the answer names them; `bulk_delete` has an answer for each name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, Required

from pydantic import Field
from typing_extensions import TypedDict

from cortex_skills.errors import CortexError
from cortex_skills.features.registry import skill_changes as changes
from cortex_skills.features.registry.documents.skill_md import FIELDS, InlineFields, inline_document, updated_document
from cortex_skills.features.registry.parts import registry_in
from cortex_skills.features.registry.records.registry import Registered, SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillRecord
from cortex_skills.features.registry.tools.registered_skills import ExpectedVersion, SkillName, named_record, operate
from cortex_skills.features.registry.views import key_of
from cortex_skills.safe_io.display import shown_name, whole_characters
from cortex_skills.tools.base import Call, Outcome, Tool

_MAX_BULK = 50


def _create(call: Call, registry: SkillRegistry) -> Outcome:
    given = call.arguments
    namespace, _, name = given["name"].rpartition("/")
    fields = {name: given[name] for name in FIELDS if name in given}
    document = inline_document({**fields, "name": name}, namespace or registry.terms.names.namespace)
    done = operate(call, changes.register, document=document, create_only=True)
    return _registered("create", done, f"Created {done.version.key}, a candidate.")


def _update(call: Call, registry: SkillRegistry) -> Outcome:
    record = named_record(call, call.arguments["name"])
    before = registry.document(registry.version(record.version_id))
    document = updated_document(before, call.arguments)
    expected = call.arguments.get("expected_version", record.version_id)
    done = operate(call, changes.register, document=document, expected_version=expected)
    number = done.version.number
    text = f"{record.key} has version {number}." if done.created else f"{record.key} says that already."
    return _registered("update", done, text)


def _registered(operation: str, done: Registered, text: str) -> Outcome:
    version = done.version
    details = {
        "skill": str(version.key),
        "skill_id": version.id,
        "version": version.number,
        "digest": version.digest,
        "created": done.created,
    }
    return Outcome(text, {"operation": operation, **details})


def _delete(call: Call, _: SkillRegistry) -> Outcome:
    name = str(operate(call, changes.delete, skill=call.arguments["name"]))
    return Outcome(f"Deleted {name}.", {"operation": "delete", "skill": name})


def _bulk_delete(call: Call, registry: SkillRegistry) -> Outcome:
    found: dict[str, CortexError | None] = {}
    for name in changes.deletion_order(registry, _needed(call, "names")):
        try:
            operate(call, changes.delete, skill=name)
            found[name] = None
        except CortexError as error:
            found[name] = error
    results: list[dict[str, Any]] = []
    for name in call.arguments["names"]:
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


def _merge(call: Call, _: SkillRegistry) -> Outcome:
    source = _needed(call, "source")
    done = operate(call, changes.merge, skill=call.arguments["name"], source=source)
    key = key_of(source, done.version.key.namespace)
    return _registered("merge", done, f"{key} is merged into {done.version.key}, version {done.version.number}.")


def _promote(call: Call, _: SkillRegistry) -> Outcome:
    return _standing("promote", operate(call, changes.promote, skill=call.arguments["name"]))


def _deprecate(call: Call, _: SkillRegistry) -> Outcome:
    reason = whole_characters(call.arguments.get("reason", ""))
    return _standing("deprecate", operate(call, changes.deprecate, skill=call.arguments["name"], reason=reason))


def _standing(operation: str, record: SkillRecord) -> Outcome:
    details = {
        "operation": operation,
        "skill": str(record.key),
        "lifecycle": record.standing.lifecycle,
        "trustTier": record.standing.trust_tier,
    }
    return Outcome(f"{record.key} is {record.standing.lifecycle}.", details)


def _dependents(call: Call, registry: SkillRegistry) -> Outcome:
    record = named_record(call, call.arguments["name"])
    names = [str(key) for key in registry.dependents(record.key)]
    text = f"{', '.join(names)} depend on {record.key}." if names else f"No skill depends on {record.key}."
    return Outcome(text, {"operation": "dependents", "skill": str(record.key), "names": names})


def _dependencies(call: Call, registry: SkillRegistry) -> Outcome:
    record = named_record(call, call.arguments["name"])
    names = [str(key) for key in registry.dependencies(record.key)]
    text = f"{record.key} depends on {', '.join(names) or 'no skill'}."
    return Outcome(text, {"operation": "dependencies", "skill": str(record.key), "names": names})


_OPERATIONS: dict[str, Callable[[Call, SkillRegistry], Outcome]] = {
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
    operation = call.arguments["operation"]
    if operation != "bulk_delete":
        _needed(call, "name")
    known = {"operation", "name", *(key for key, owner in _OWN.items() if owner == operation)}
    if operation in ("create", "update"):
        known |= set(FIELDS)
    if unknown := sorted(call.arguments.keys() - known):
        what = ", ".join(unknown)
        raise CortexError("invalid_arguments", f"{operation} does not take {what}", hint="leave it out")
    return _OPERATIONS[operation](call, call.host.part(registry_in))


def _needed(call: Call, field: str) -> Any:
    if field not in call.arguments:
        raise CortexError("invalid_arguments", f"{call.arguments['operation']} needs {field}", hint=f"give {field}")
    return call.arguments[field]


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


class _Write(_Change, InlineFields):
    pass


class _Written(TypedDict, total=False):
    operation: Required[str]
    skill: str
    skill_id: Annotated[str, Field(description="The id of the new version.")]
    version: int
    created: Annotated[bool, Field(description="Whether there is a new version.")]
    lifecycle: str
    names: list[str]
    results: list[dict[str, Any]]


SKILL_WRITE = Tool(
    name="skill_write",
    description=(
        "Write registered skills: create or update one that was learned, delete, merge, promote or deprecate, and ask "
        "what depends on what. A new skill is a candidate until its use shows that it works."
    ),
    input_schema=_Write,
    output_schema=_Written,
    permissions=("registry:learn",),
    budget=None,
    profile="registry",
    read_only=False,
    destructive=True,
    idempotent=False,
    run=_run,
)
