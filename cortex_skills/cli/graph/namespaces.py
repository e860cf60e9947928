"""`graph namespaces`: which there are in the store."""

from __future__ import annotations

import click

from cortex_skills.cli.commands import Command
from cortex_skills.cli.options import Common
from cortex_skills.cli.output import Output


@click.command("namespaces", cls=Command)
@click.pass_obj
def namespaces(common: Common) -> None:
    """List the namespaces of the store."""
    from cortex_graph import namespaces_of

    with common.plugin() as plugin:
        found = namespaces_of(plugin.graph.store, plugin.config.base_iri)
    common.out.answer(found, lambda: _show_each(common.out, found))
    if not found and not common.out.as_json:
        common.out.note("the store is empty")


def _show_each(out: Output, names: list[str]) -> None:
    for name in names:
        out.line(name)
