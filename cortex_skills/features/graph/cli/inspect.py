"""`graph namespaces` and `graph show`: the namespaces of a store, and one triple with its record."""

from __future__ import annotations

from typing import Any

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import Common, reads_as_of
from cortex_skills.doors.cli.output import Output
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
@reads_as_of
@click.pass_obj
def show(common: Common, triple_id: str) -> None:
    """Show a triple and its provenance record: agent, skill, time and proofs; also one that was withdrawn.

    ID is the hash that an assertion returned, or the `id` of a triple; its first digits, at least six, are enough.
    """
    from cortex_graph.as_of import today_of
    from cortex_graph.assertions import history_of
    from cortex_graph.namespace.short_ids import full_triple_id

    with common.plugin(reads=True) as plugin:
        graph = plugin.graph
        triple_id = full_triple_id(today_of(graph), triple_id)
        history = history_of(graph, triple_id)
        if history is None:
            raise CortexError(
                "invalid_arguments",
                f"no triple of {graph.namespace} has the id {triple_id}",
                hint="give the hash of an assertion, or another --namespace",
            )
        triple, assertion = graph.as_json(history.quad), history.assertion
        proofs = [] if assertion is None else [graph.proofs.iri(each).value for each in assertion.proofs]
    answer: dict[str, Any] = {**triple, "provenance": None}
    if assertion is not None:
        answer["provenance"] = {**assertion.origin, "proofs": proofs}
        answer |= {} if assertion.withdrawn is None else {"withdrawn": assertion.withdrawn}
    common.out.answer(answer, lambda: _show(common.out, answer))


def _show(out: Output, answer: dict[str, Any]) -> None:
    import json

    shown = json.dumps(answer["object"], ensure_ascii=False)
    out.line(f"{answer['subject']} {answer['predicate']} {shown}")
    provenance = answer["provenance"]
    if provenance is None:
        out.line("no provenance record: it was imported, or written by another program")
    else:
        _show_origin(out, provenance)
        for proof in provenance["proofs"]:
            out.line(f"  proof: {proof}")
    if "withdrawn" in answer:
        out.line("withdrawn:")
        _show_origin(out, answer["withdrawn"])


def _show_origin(out: Output, origin: dict[str, Any]) -> None:
    skill = origin["skill"]
    if skill and origin["skillVersion"]:
        skill = f"{skill} {origin['skillVersion']}"
    for name, value in (("agent", origin["agent"]), ("skill", skill), ("time", origin["time"])):
        out.line(f"  {name}: {value or 'unknown'}")
