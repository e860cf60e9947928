"""`graph namespaces` and `graph show`."""

from __future__ import annotations

from typing import Any

import click

from cortex_skills.cli.commands import Command
from cortex_skills.cli.options import Common
from cortex_skills.cli.output import Output
from cortex_skills.errors import CortexError


@click.command("namespaces", cls=Command)
@click.pass_obj
def namespaces(common: Common) -> None:
    """List the namespaces of the store."""
    from cortex_graph import namespaces_of

    with common.plugin(reads=True) as plugin:
        found = namespaces_of(plugin.graph.store, plugin.config.base_iri)
    common.out.answer(found, lambda: common.out.text("\n".join(found)) if found else None)
    if not found and not common.out.as_json:
        common.out.note("the store is empty")


@click.command("show", cls=Command)
@click.argument("triple_id", metavar="ID")
@click.pass_obj
def show(common: Common, triple_id: str) -> None:
    """Show a triple and its provenance record: agent, skill, time and proofs.

    ID is the hash that an assertion returned, or the `id` of a triple.
    """
    with common.plugin(reads=True) as plugin:
        triple = plugin.graph.get_triple(triple_id)
        if triple is None:
            raise CortexError(
                "invalid_arguments",
                f"no triple of {plugin.graph.namespace} has the id {triple_id}",
                hint="give the hash of an assertion, or another --namespace",
            )
        record = plugin.graph.provenance_of(triple_id)
        proofs = plugin.graph.proofs_of(triple_id)
    provenance = None if record is None else {**record, "proofs": proofs}
    common.out.answer({**triple, "provenance": provenance}, lambda: _show(common.out, triple, provenance))


def _show(out: Output, triple: dict[str, Any], provenance: dict[str, Any] | None) -> None:
    import json

    shown = json.dumps(triple["object"], ensure_ascii=False)
    out.line(f"{triple['subject']} {triple['predicate']} {shown}")
    if provenance is None:
        out.line("no provenance record: it was imported, or written by another program")
        return
    skill = provenance["skill"]
    if skill and provenance["skillVersion"]:
        skill = f"{skill} {provenance['skillVersion']}"
    rows = {"agent": provenance["agent"], "skill": skill, "time": provenance["time"]}
    for name, value in rows.items():
        out.line(f"  {name}: {value or 'unknown'}")
    for proof in provenance["proofs"]:
        out.line(f"  proof: {proof}")
