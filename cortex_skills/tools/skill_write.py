"""`skill_write`: create, change and connect registered skills.

Rules kept here:
- what is written here is `learned`; a name that is taken is refused by `create`, and a skill of a person or of the
  package is not overwritten by `update`, whatever the permissions are;
- an update changes the fields that are given, and no others; it is refused when the skill got another version since it
  was read, by the caller (`expected_version`) or here;
- who may promote, deprecate, delete and merge what is decided by `policy/registry_changes.py`;
- a skill that others depend on is not deleted, and the answer names them; `bulk_delete` has an answer for each name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cortex_skills.errors import CortexError
from cortex_skills.policy.registry_changes import check_learned_name, check_may_restand
from cortex_skills.registry.inline import FIELDS, inline_document, updated_document
from cortex_skills.registry.registration import Registered
from cortex_skills.registry.registry import SkillRegistry
from cortex_skills.registry.skill_record import SkillRecord
from cortex_skills.safe_io.display import shown_name, whole_characters
from cortex_skills.tools.base import Call, Outcome, Tool
from cortex_skills.tools.registered_skills import EXPECTED_VERSION, SKILL_NAME, named_record

_MAX_BULK = 50


def _create(call: Call, registry: SkillRegistry) -> Outcome:
    given = call.arguments
    namespace, _, name = given["name"].rpartition("/")
    fields = {name: given[name] for name in FIELDS if name in given}
    document = inline_document({**fields, "name": name}, namespace or registry.terms.names.namespace)
    check_learned_name(document.name)
    done = registry.register(document, actor=call.agent, origin="learned", create_only=True, author=call.caller)
    return _registered("create", done, f"Created {done.version.key}, a candidate.")


def _update(call: Call, registry: SkillRegistry) -> Outcome:
    record = named_record(call, call.arguments["name"])
    before = registry.document(registry.version(record.version_id))
    document = updated_document(before, call.arguments)
    expected = call.arguments.get("expected_version", record.version_id)
    done = registry.register(
        document, actor=call.agent, origin="learned", expected_version=expected, author=call.caller
    )
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


def _delete(call: Call, registry: SkillRegistry) -> Outcome:
    name = _deleted(call, registry, call.arguments["name"])
    return Outcome(f"Deleted {name}.", {"operation": "delete", "skill": name})


def _deleted(call: Call, registry: SkillRegistry, name: str) -> str:
    record = named_record(call, name)
    check_may_restand("delete", str(record.key), record.standing.origin, call.skill.manifest)
    registry.purge(record.key, actor=call.agent)
    return str(record.key)


def _bulk_delete(call: Call, registry: SkillRegistry) -> Outcome:
    results: list[dict[str, Any]] = []
    for name in _needed(call, "names"):
        try:
            results.append({"name": _deleted(call, registry, name), "deleted": True})
        except CortexError as error:
            problem = {"code": error.code, "message": error.message, **error.details}
            results.append({"name": name, "deleted": False, "error": problem})
    lines = [
        f"{shown_name(each['name'])}: {'deleted' if each['deleted'] else each['error']['message']}" for each in results
    ]
    deleted = sum(each["deleted"] for each in results)
    lines.insert(0, f"{deleted} of {len(results)} deleted.")
    return Outcome("\n".join(lines), {"operation": "bulk_delete", "deleted": deleted, "results": results})


def _merge(call: Call, registry: SkillRegistry) -> Outcome:
    target, source = named_record(call, call.arguments["name"]), named_record(call, _needed(call, "source"))
    for record in (target, source):
        check_may_restand("merge", str(record.key), record.standing.origin, call.skill.manifest)
    done = registry.merge(target.key, source.key, actor=call.agent, author=call.caller)
    return _registered("merge", done, f"{source.key} is merged into {target.key}, version {done.version.number}.")


def _promote(call: Call, registry: SkillRegistry) -> Outcome:
    record = named_record(call, call.arguments["name"])
    check_may_restand("promote", str(record.key), record.standing.origin, call.skill.manifest)
    return _standing("promote", registry.promote(record.key, actor=call.agent))


def _deprecate(call: Call, registry: SkillRegistry) -> Outcome:
    record = named_record(call, call.arguments["name"])
    check_may_restand("deprecate", str(record.key), record.standing.origin, call.skill.manifest)
    reason = whole_characters(_needed(call, "reason"))
    return _standing("deprecate", registry.deprecate(record.key, reason, actor=call.agent))


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
        known |= FIELDS.keys()
    if unknown := sorted(call.arguments.keys() - known):
        what = ", ".join(unknown)
        raise CortexError("invalid_arguments", f"{operation} does not take {what}", hint="leave it out")
    return _OPERATIONS[operation](call, call.host.skills_to_use)


def _needed(call: Call, field: str) -> Any:
    if field not in call.arguments:
        raise CortexError("invalid_arguments", f"{call.arguments['operation']} needs {field}", hint=f"give {field}")
    return call.arguments[field]


SKILL_WRITE = Tool(
    name="skill_write",
    description=(
        "Write registered skills: create or update one that was learned, delete, merge, promote or deprecate, and ask "
        "what depends on what. A new skill is a candidate until its use shows that it works."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "operation": {"type": "string", "enum": list(_OPERATIONS)},
            "name": SKILL_NAME,
            "names": {
                "type": "array",
                "items": SKILL_NAME,
                "minItems": 1,
                "maxItems": _MAX_BULK,
                "uniqueItems": True,
                "description": "For bulk_delete.",
            },
            "source": {**SKILL_NAME, "description": "For merge: the skill that is merged into `name`, and archived."},
            "reason": {"type": "string", "minLength": 1, "maxLength": 500, "description": "For deprecate."},
            "expected_version": {**EXPECTED_VERSION, "description": "For update: as for `memory_skill_register`."},
            **FIELDS,
        },
        "required": ["operation"],
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "operation": {"type": "string"},
            "skill": {"type": "string"},
            "skill_id": {"type": "string", "description": "The id of the new version."},
            "version": {"type": "integer"},
            "created": {"type": "boolean", "description": "Whether there is a new version."},
            "lifecycle": {"type": "string"},
            "names": {"type": "array", "items": {"type": "string"}},
            "results": {"type": "array", "items": {"type": "object"}},
        },
        "required": ["operation"],
    },
    permissions=("registry:learn",),
    budget=None,
    profile="registry",
    read_only=False,
    destructive=True,
    idempotent=False,
    run=_run,
)
