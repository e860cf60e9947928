"""MetaHuman OS: the manifest of its operator skills, and the entries of its audit.

Its manifests are taken as they are written, and the journal of this plugin has the names of its audit
(`audit/lines.py`). The tables name each member of its interfaces (`packages/core/src/skills.ts` and `audit.ts`), and
what it is here, or why it is not kept.

Rules kept here:
- pure: a mapping in, a mapping out;
- in a manifest of MetaHuman OS `allowedDirectories` restricts the input `path`, and `commandWhitelist` the input
  `command`, where no input has the format that they restrict here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NOT_KEPT = "not kept: "

MANIFEST: Mapping[str, str] = {
    "id": "id",
    "name": "name",
    "description": "description",
    "category": "category",
    "inputs": "inputs",
    "inputs.type": "inputs.type",
    "inputs.required": "inputs.required",
    "inputs.description": "inputs.description",
    "inputs.validation": f"{NOT_KEPT}a function is no JSON; `schema` states what a value may be",
    "outputs": "outputs",
    "outputs.type": "outputs.type",
    "outputs.description": "outputs.description",
    "risk": "risk",
    "cost": "cost",
    "minTrustLevel": "minTrustLevel",
    "requiresApproval": "requiresApproval",
    "allowedDirectories": "allowedDirectories",
    "commandWhitelist": "commandWhitelist",
}

AUDIT: Mapping[str, str] = {
    "timestamp": "timestamp",
    "level": "level",
    "category": "category",
    "event": "event",
    "actor": "actor",
    "details.skillId": "details.action",
    "details.inputs": "details.inputs",
    "details.outputs": "details.outputs",
    "details.success": "details.success",
    "details.error": "details.outputs.error",
    "details.durationMs": "details.durationMs",
    "details.trustLevel": "details.trustLevel",
    "details.requiresApproval": "details.approvalRequired",
    "details.approvedBy": "details.approvedBy",
    "userId": "details.agent",
    "action": f"{NOT_KEPT}entries of actions do not have it",
    "message": f"{NOT_KEPT}entries of actions do not have it",
    "metadata": f"{NOT_KEPT}entries of actions do not have it",
}

APPROVAL: Mapping[str, str] = {
    "id": "id",
    "skillId": "action",
    "skillName": f"{NOT_KEPT}the manifest of the action has it",
    "skillDescription": f"{NOT_KEPT}the manifest of the action has it",
    "inputs": "inputs",
    "timestamp": "created",
    "risk": "risk",
    "status": "state",
    "resolvedAt": "resolvedAt",
    "resolvedBy": "resolvedBy",
}

_TARGETS = {"allowedDirectories": ("path", "workspace-path"), "commandWhitelist": ("command", "command")}


def with_targets(document: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest whose lists restrict an input by its format; unchanged where one has the format already.

    >>> given = {"inputs": {"path": {"type": "string"}}, "allowedDirectories": ["docs"]}
    >>> with_targets(given)["inputs"]
    {'path': {'type': 'string', 'schema': {'format': 'workspace-path'}}}
    """
    found = dict(document)
    for key, (name, form) in _TARGETS.items():
        inputs = found.get("inputs")
        if key not in found or not isinstance(inputs, Mapping) or not isinstance(inputs.get(name), Mapping):
            continue
        declared = inputs[name]
        schemas = [one.get("schema") for one in inputs.values() if isinstance(one, Mapping)]
        is_free = isinstance(declared.get("schema", {}), Mapping) and "format" not in declared.get("schema", {})
        if is_free and declared.get("type") == "string" and not any(_has(schema, form) for schema in schemas):
            schema = {**declared.get("schema", {}), "format": form}
            found["inputs"] = {**inputs, name: {**declared, "schema": schema}}
    return found


def _has(schema: object, form: str) -> bool:
    return isinstance(schema, Mapping) and schema.get("format") == form
