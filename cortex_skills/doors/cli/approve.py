"""`approve`: grant the permissions that a skill asks a running host for.

Rules kept here:
- only permissions that a host has written down are granted, and each is shown with its skill and folder;
- nothing is loaded here: the hosts that watch the folder load the skill.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import Common
from cortex_skills.doors.cli.path_types import PathOrName
from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    from cortex_skills.lifecycle.reload.granted_permissions import PermissionRequest


@click.command(cls=Command)
@click.argument("name", metavar="[NAME]", type=PathOrName(), required=False)
@click.pass_obj
def approve(common: Common, name: str | None) -> None:
    """Grant permissions that a new skill, or a new version of one, asks for.

    NAME is the name of the skill, or its folder when several have that name. Without it the requests are listed. A host
    with hotReload that has rejected the skill loads it then.
    """
    from cortex_skills.lifecycle.reload.granted_permissions import GrantedPermissions

    grants = GrantedPermissions.of_user()
    requests = grants.requests()
    if name is not None:
        request = _chosen(name, requests)
        grants.approve(request)
        text = f"{request.name} in {request.folder} may now use {', '.join(request.asked)}"
        common.out.answer({**asdict(request), "approved": True}, lambda: common.out.line(text))
        return
    rows = [[request.name, ", ".join(request.asked), request.folder, request.at] for request in requests]
    common.out.answer(
        [asdict(request) for request in requests],
        lambda: common.out.table(("name", "asks for", "folder", "since"), rows),
    )


def _chosen(name: str, requests: list[PermissionRequest]) -> PermissionRequest:
    from cortex_graph.naming.spelling import nearest

    found = [each for each in requests if each.name == name or each.folder == str(Path(name).resolve())]
    if len(found) == 1:
        return found[0]
    if found:
        hint = f"name its folder: {', '.join(each.folder for each in found)}"
        raise CortexError("skill_ambiguous", f"{len(found)} skills named {name} ask for permissions", hint=hint)
    near = nearest(name, [each.name for each in requests])
    hint = f"did you mean {near[0]}?" if near else "`cortex-skills approve` lists the requests"
    raise CortexError("skill_not_found", f"no skill {name!r} waits for an approval", hint=hint)
