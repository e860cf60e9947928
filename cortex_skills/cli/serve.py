"""`serve`: the plugin over HTTP, until it is told to end."""

from __future__ import annotations

from contextlib import ExitStack

import click

from cortex_skills.cli.commands import Command
from cortex_skills.cli.options import Common


@click.command(cls=Command)
@click.option("--host", metavar="ADDRESS", help="Where to listen [127.0.0.1, or cortex.host].")
@click.option(
    "--port", metavar="PORT", type=click.IntRange(0, 65535), help="The port; 0 for a free one [19090, or cortex.port]."
)
@click.pass_obj
def serve(common: Common, host: str | None, port: int | None) -> None:
    """Serve the graph over HTTP, to those who have a token.

    SPARQL is at /sparql, the tools for agents (MCP) at /mcp, the Cortex REST API at /api/v1, its description at
    /openapi.json. `cortex-skills token create` makes a token. Ctrl-C or SIGTERM ends it, once what is under way is
    done.
    """
    settings = common.settings()
    with ExitStack() as open_now:
        plugin = open_now.enter_context(common.loaded(settings) if common.skills else common.plugin(settings))
        from cortex_skills.server.running import serve as run

        def ready(url: str) -> None:
            document = {"url": url, "namespace": plugin.graph.namespace, "store": settings.store_name}
            common.out.answer(document, lambda: common.out.line(f"listening at {url} (Ctrl-C ends it)"))

        run(plugin, host or settings.cortex.host, settings.cortex.port if port is None else port, ready)
