"""The permissions that skills ask a running host for: listed, and granted.

Rules kept here:
- they are the owner's: no token can list or grant them;
- only permissions that a host has written down are granted; nothing is loaded here: the hosts that watch the folder
  load the skill.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cortex_graph.naming.spelling import nearest
from cortex_skills.errors import CortexError
from cortex_skills.lifecycle.reload.granted_permissions import GrantedPermissions, PermissionRequest
from cortex_skills.operations.caller import OWNER
from cortex_skills.operations.operation import ObjectState, OperationCall, operation


@dataclass(frozen=True, slots=True)
class ListPermissions:
    """No arguments."""


@operation("skills.permissions", effect="reads", permission=OWNER)
def list_permissions(call: OperationCall, given: ListPermissions) -> list[PermissionRequest]:  # noqa: ARG001 - none
    """List the permissions that skills ask for, and that wait for the owner."""
    return GrantedPermissions.of_user().requests()


def granted_to(call: OperationCall) -> ObjectState | None:
    """The folder of a skill, and the permissions that were granted to it."""
    folder = Path(call.about)
    return (call.about, ", ".join(sorted(GrantedPermissions.of_user().granted(folder))) or "none")


@dataclass(frozen=True, slots=True)
class GrantPermissions:
    """The name of a skill, or its folder where several have that name."""

    skill: str


@operation("skills.grant", effect="changes", permission=OWNER, object_="skill", state=granted_to)
def grant_permissions(call: OperationCall, given: GrantPermissions) -> PermissionRequest:
    """Grant the permissions that a new skill, or a new version of one, asks for."""
    grants = GrantedPermissions.of_user()
    request = _chosen(given.skill, grants.requests())
    call.about = request.folder
    call.before = granted_to(call)
    call.facts |= {"skill": request.name, "asked": ", ".join(request.asked)}
    grants.approve(request)
    return request


def _chosen(name: str, requests: list[PermissionRequest]) -> PermissionRequest:
    found = [each for each in requests if each.name == name or each.folder == str(Path(name).resolve())]
    if len(found) == 1:
        return found[0]
    if found:
        hint = f"name its folder: {', '.join(each.folder for each in found)}"
        raise CortexError("skill_ambiguous", f"{len(found)} skills named {name} ask for permissions", hint=hint)
    near = nearest(name, [each.name for each in requests])
    hint = f"did you mean {near[0]}?" if near else "`cortex-skills approve` lists the requests"
    raise CortexError("skill_not_found", f"no skill {name!r} waits for an approval", hint=hint)
