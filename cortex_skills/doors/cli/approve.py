"""`approve`: grant the permissions that a skill asks a running host for.

Rules kept here:
- what is granted is decided by the operation; each permission is shown with its skill and folder.
"""

from __future__ import annotations

from dataclasses import asdict

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import Common
from cortex_skills.doors.cli.path_types import PathOrName


@click.command(cls=Command)
@click.argument("name", metavar="[NAME]", type=PathOrName(), required=False)
@click.pass_obj
def approve(common: Common, name: str | None) -> None:
    """Grant permissions that a new skill, or a new version of one, asks for.

    NAME is the name of the skill, or its folder when several have that name. Without it the requests are listed. A host
    with hotReload that has rejected the skill loads it then.
    """
    from cortex_skills.lifecycle.grant_operations import grant_permissions, list_permissions

    if name is not None:
        request = common.operate(grant_permissions, skill=name)
        text = f"{request.name} in {request.folder} may now use {', '.join(request.asked)}"
        common.out.answer({**asdict(request), "approved": True}, lambda: common.out.line(text))
        return
    requests = common.operate(list_permissions)
    rows = [[request.name, ", ".join(request.asked), request.folder, request.at] for request in requests]
    common.out.answer(
        [asdict(request) for request in requests],
        lambda: common.out.table(("name", "asks for", "folder", "since"), rows),
    )
