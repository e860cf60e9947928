"""`mcp`: the plugin for one agent host, over standard input and output."""

from __future__ import annotations

import sys

import click

from cortex_skills.cli.commands import Command
from cortex_skills.cli.options import SKILL, Common


@click.command(cls=Command)
@SKILL
@click.pass_obj
def mcp(common: Common, skill: str | None) -> None:
    """Serve the tools of skills to an agent host, over standard input and output (MCP).

    The host starts this command and speaks the Model Context Protocol with it. The log is on standard error. Several
    of them on one --store share it.
    """
    from cortex_skills.policy import acting_skill

    if sys.stdin is None or sys.stdout is None:
        raise click.UsageError("standard input and output must be open: the host speaks over them")
    if sys.stdin.isatty():
        common.out.note("waiting for an agent host on standard input; Ctrl-C ends it")
    with common.loaded() as plugin:
        if skill is not None:
            acting_skill(skill, plugin.skills)
        from cortex_skills.server.mcp.stdio import serve

        serve(plugin, agent=common.agent, skill=skill)
