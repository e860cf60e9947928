"""`serve` and `mcp`: serve the plugin over HTTP, or over standard input and output."""

from __future__ import annotations

import sys
from contextlib import ExitStack

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.logs import set_log
from cortex_skills.doors.cli.options import SKILL, Common
from cortex_skills.errors import CortexError

LOG_FORMAT = click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    help="How the log is written: as text [default], or a JSON document a line, with its time.",
)


@click.command(cls=Command)
@click.option("--host", metavar="ADDRESS", help="The address to listen on [127.0.0.1, or cortex.host].")
@click.option(
    "--port", metavar="PORT", type=click.IntRange(0, 65535), help="The port; 0 for a free one [19090, or cortex.port]."
)
@click.option("--access-log", is_flag=True, help="Write a line for each request to the log: no header, query or body.")
@LOG_FORMAT
@click.pass_obj
def serve(common: Common, host: str | None, port: int | None, access_log: bool, log_format: str) -> None:
    """Serve the graph over HTTP, to clients with a token.

    SPARQL is at /sparql, the tools for agents (MCP) at /mcp, the Cortex REST API at /api/v1, its description at
    /openapi.json, pages for a browser at /explore. `cortex-skills token create` creates a token. Ctrl-C or SIGTERM
    ends the server after its requests are answered. /livez and /readyz are for probes, /metrics for Prometheus.
    """
    set_log(log_format, requests=access_log)
    common.serves, settings = True, common.settings()
    address = host or settings.serving.host, settings.serving.port if port is None else port
    if settings.asks_cortex and address == (settings.cortex.host, settings.cortex.port):
        hint = "serve at another port, --port; `cortex.host` and `cortex.port` name the Cortex that is asked"
        raise CortexError("config_invalid", f"the store is the Cortex at {address[0]}:{address[1]}", hint=hint)
    with ExitStack() as open_now:
        plugin = open_now.enter_context(
            common.loaded(settings, strict=False) if common.names_skills else common.plugin(settings)
        )
        from cortex_skills.audit.opening import MEMORY
        from cortex_skills.doors.explorer.code_socket import path_for
        from cortex_skills.doors.server.serve import serve as run

        def ready(url: str) -> None:
            document = {"url": url, "namespace": plugin.graph.namespace, "store": settings.store_name}
            common.out.answer(document, lambda: common.out.line(f"listening at {url} (Ctrl-C ends it)"))
            if settings.store == MEMORY and (journal := plugin.audit.journal) is not None:
                common.out.note(
                    f"the store is in memory, and ends with this process; the audit is kept in {journal.folder}"
                )

        run(plugin, *address, ready, codes_at=path_for(settings))


@click.command(cls=Command)
@SKILL
@LOG_FORMAT
@click.pass_obj
def mcp(common: Common, skill: str | None, log_format: str) -> None:
    """Serve the tools of skills to an agent host, over standard input and output (MCP).

    Without --skills and --installed it serves the skill of the package called notebook: a memory that is a graph.
    The host starts this command and speaks the Model Context Protocol with it. The log is written to standard error.
    Several processes can share one --store.
    """
    from cortex_skills.lifecycle.active_skills import acting_skill
    from cortex_skills.skill_folder.builtin import NOTEBOOK, builtin_skill

    set_log(log_format)
    if sys.stdin is None or sys.stdout is None:
        raise click.UsageError("standard input and output must be open: the host speaks over them")
    if sys.stdin.isatty():
        common.out.note("waiting for an agent host on standard input; Ctrl-C ends it")
    common.serves = True
    if not common.names_skills:
        common.skills = [builtin_skill(NOTEBOOK)]
    with common.plugin() as plugin:

        def load() -> None:
            common.load_all(plugin, strict=False)
            if skill is not None:
                acting_skill(skill, plugin.skills)

        expected = {name: each for folder in common.skills for name, each in plugin.expected(folder).items()}
        if not expected or skill not in (None, *expected):
            load()  # to report what is wrong
        from cortex_skills.doors.mcp.stdio import serve as serve_stdio

        serve_stdio(plugin, agent=common.agent, skill=skill, load=load if expected else None, expected=expected)
