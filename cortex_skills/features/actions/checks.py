"""What the gate checks of one call of an action: its inputs, its targets, its approval and its outputs.

Rules kept here:
- each check raises its own error, which names the field;
- nothing is opened or connected to: an action checks again where it acts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import rfc8785

from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action_request import ActionRequest
from cortex_skills.features.actions.action_settings import ActionSettings
from cortex_skills.features.actions.manifest import COMMAND, PATH, WEB_ADDRESS, ActionManifest
from cortex_skills.policy.trust_levels import Refused
from cortex_skills.safe_io.schemas import errors_of, reason_of, shown
from cortex_skills.tools import Call


def exact_inputs(inputs: dict[str, Any], manifest: ActionManifest) -> dict[str, Any]:
    """The inputs as they will run: with the defaults of the manifest, and nothing that JSON has no exact form for."""
    defaults = {
        name: declared.schema["default"]
        for name, declared in manifest.inputs.items()
        if name not in inputs and "default" in declared.schema
    }
    try:
        exact: dict[str, Any] = json.loads(rfc8785.dumps({**defaults, **inputs}))
    except (ValueError, TypeError, RecursionError) as error:
        wrong = [name for name, value in inputs.items() if not _is_exact(value)]
        raise CortexError(
            "invalid_arguments",
            f"the arguments of {manifest.id} are not valid: {', '.join(wrong) or 'arguments'}: {str(error)[:200]}",
            hint="give finite numbers within 53 bits, and text that is Unicode",
            details={"errors": [{"field": name, "message": "has no exact form in JSON"} for name in wrong]},
        ) from None
    return exact


def check_as_approved(request: ActionRequest, manifest: ActionManifest, inputs: Mapping[str, Any], call: Call) -> None:
    """The call must be the one that a person approved."""
    if request.manifest_version != manifest.version:
        raise changed_since(manifest, "its manifest has changed")
    if request.namespace != call.host.graph.namespace:
        raise changed_since(manifest, "it was for another namespace")
    if dict(request.inputs) != inputs:
        raise changed_since(manifest, "its inputs are not those that were shown")


def check_commands(manifest: ActionManifest, inputs: Mapping[str, Any]) -> None:
    """Inputs with the format of a command must be among those of the manifest."""
    known = manifest.command_whitelist or ()
    for name in manifest.inputs_of(COMMAND):
        if name in inputs and inputs[name] not in known:
            raise CortexError(
                "command_refused",
                f"{name}: {shown(inputs[name])} is not a command that {manifest.id} may run",
                hint=f"one of {', '.join(known)}",
                details={"field": name, "allowed": list(known)},
            )


def check_places(manifest: ActionManifest, inputs: Mapping[str, Any], settings: ActionSettings) -> None:
    """Inputs with the format of a path or a web address must be what the manifest and the configuration allow."""
    for name in manifest.inputs_of(PATH):
        from cortex_skills.features.actions.paths import Workspace, refused

        if not settings.workspace:
            raise refused(name, "there is no workspace", "the owner sets actions.workspace")
        if name in inputs:
            Workspace.of(settings).parts_of(inputs[name], manifest.allowed_directories or (), name)
    for name in manifest.inputs_of(WEB_ADDRESS):
        from cortex_skills.features.actions.http_get import check_address

        if name in inputs:
            check_address(inputs[name], settings, name)


def checked_outputs(manifest: ActionManifest, outputs: object) -> dict[str, Any]:
    """The outputs, when they are what the manifest declares."""
    hint = "the action ran; correct its code or its manifest"
    if not isinstance(outputs, Mapping):
        raise failed_action(manifest, f"it ran, but its output is a {type(outputs).__name__}, not an object", hint)
    found = dict(outputs)
    try:
        errors = errors_of(manifest.output_validator, found, 5)
        length = len(json.dumps(found, ensure_ascii=False, allow_nan=False).encode())
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise failed_action(manifest, f"it ran, but its output is not JSON: {str(error)[:200]}", hint) from None
    if errors:
        places = [(".".join(map(str, e.instance_path)) or "its members", reason_of(e)) for e in errors]
        problems = "; ".join(f"{place}: {reason}" for place, reason in places)
        raise failed_action(manifest, f"it ran, but its output is not as declared: {problems}", hint)
    if length > manifest.limits.max_bytes:
        limit = manifest.limits.max_bytes
        raise failed_action(
            manifest, f"it ran, but its output has {length:,} bytes of {limit:,}", "ask for less at once"
        )
    return found


def failed_action(manifest: ActionManifest, what: str, hint: str) -> CortexError:
    """The error of an action that ran, or began to."""
    return CortexError("action_failed", f"{manifest.id}: {what}", hint=hint, details={"action": manifest.id})


def too_low(manifest: ActionManifest, refused: Refused) -> CortexError:
    """The error of a call below the lowest trust level of its action."""
    return CortexError(
        "trust_level_too_low",
        f"{manifest.id} needs the trust level {refused.needed}, and it is {refused.present}",
        hint=f"the owner sets it: cortex-skills trust-level set {refused.needed}",
        details={"action": manifest.id, "needed": refused.needed, "present": refused.present},
    )


def changed_since(manifest: ActionManifest, what: str) -> CortexError:
    """The error of an approved call that is no longer what a person was shown."""
    return CortexError(
        "approval_required",
        f"{manifest.id} was approved, but did not run: {what}",
        hint="ask again, so that a person sees what it would do now",
        details={"action": manifest.id},
    )


def _is_exact(value: object) -> bool:
    try:
        rfc8785.dumps(value)  # type: ignore[arg-type]
    except (ValueError, TypeError, RecursionError):
        return False
    return True
