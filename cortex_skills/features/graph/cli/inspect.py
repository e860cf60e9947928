"""`graph namespaces` and `graph show`: the namespaces of a store, and one triple with its record."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.doors.cli.call import read_value
from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import Common, reads_as_of
from cortex_skills.doors.cli.output import Output
from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    from cortex_graph import NamespacedGraph

_PARTS = 3
_SHOWN = 10


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
@click.argument("parts", metavar="ID | SUBJECT PREDICATE [OBJECT]", nargs=-1, required=True)
@reads_as_of
@click.pass_obj
def show(common: Common, parts: tuple[str, ...]) -> None:
    """Show a triple and its provenance record: agent, skill, time and proofs; also one that was withdrawn.

    ID is the hash that an assertion returned, or the `id` of a triple; its first digits, at least six, are enough.
    SUBJECT PREDICATE [OBJECT] is a triple of today, where only one is so; an object that is a name is {"node": NAME}.
    """
    from cortex_graph.as_of import today_of
    from cortex_graph.assertions import history_of
    from cortex_graph.namespace.short_ids import full_triple_id
    from cortex_skills.features.graph.triple_text import line_of

    if len(parts) > _PARTS:
        raise click.UsageError("a triple has a subject, a predicate and an object: quote each")
    with common.plugin(reads=True) as plugin:
        graph = plugin.graph
        triple_id = full_triple_id(today_of(graph), parts[0] if len(parts) == 1 else _id_of(graph, *parts))
        history = history_of(graph, triple_id)
        if history is None:
            raise CortexError(
                "invalid_arguments",
                f"no triple of {graph.namespace} has the id {triple_id}",
                hint="give the hash of an assertion, or another --namespace",
            )
        triple, assertion = graph.as_json(history.quad), history.assertion
        proofs = [] if assertion is None else [graph.proofs.iri(each).value for each in assertion.proofs]
        line = line_of(triple, graph)
    answer: dict[str, Any] = {**triple, "provenance": None}
    if assertion is not None:
        answer["provenance"] = {**assertion.origin, "proofs": proofs}
        answer |= {} if assertion.withdrawn is None else {"withdrawn": assertion.withdrawn}
    common.out.answer(answer, lambda: _show(common.out, line, answer))


def _id_of(graph: NamespacedGraph, subject: str, predicate: str, value: str | None = None) -> str:
    """The id of the one triple that is so.

    Raises:
        CortexError: `invalid_arguments`: there is none, or more than one.
    """
    pattern: dict[str, Any] = {"subject": subject, "predicate": predicate, "limit": _SHOWN}
    if value is not None:
        pattern["object"] = read_value(value)
    found = graph.list_triples(pattern)["triples"]
    if len(found) == 1:
        id_: str = found[0]["id"]
        return id_
    if not found:
        hint = "`graph find TEXT` finds names"
        raise CortexError("invalid_arguments", f"no triple of {graph.namespace} is so", hint=hint)
    objects = ", ".join(json.dumps(each["object"], ensure_ascii=False) for each in found)
    raise CortexError("invalid_arguments", f"several triples are so: {objects}", hint="name the OBJECT")


def _show(out: Output, line: str, answer: dict[str, Any]) -> None:
    out.line(line)
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
