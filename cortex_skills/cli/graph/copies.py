"""`graph copy`: from one store to another, while they are used."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from cortex_skills.cli.commands import Command
from cortex_skills.cli.graph.wording import counted
from cortex_skills.cli.options import Common
from cortex_skills.cli.output import Output
from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    from cortex_graph.transfer import Copied


@click.command("copy", cls=Command)
@click.option("--from", "source", metavar="STORE", required=True, help="Where the triples are.")
@click.option("--to", "target", metavar="STORE", required=True, help="Where they shall be, too.")
@click.pass_obj
def copy(common: Common, source: str, target: str) -> None:
    """Copy namespaces, with their provenance, from one store to another of any kind.

    All namespaces, or the one of --namespace. What is in the target stays. The copy is verified by counts and canonical
    hashes; run it again to go on with one that was interrupted, or to bring over what is new.
    """
    from cortex_graph import open_store
    from cortex_graph.stores.folders import folder_of
    from cortex_graph.transfer import copy_store

    folder = folder_of(source)
    if source == target or (folder is not None and folder_of(target) and folder == folder_of(target)):
        raise click.UsageError("--from and --to name the same store")
    if folder is not None and not folder.exists():
        raise CortexError("graph_unavailable", f"there is no store in {source}", hint="look at its name")
    only = None if common.namespace is None else [common.namespace]
    with (
        closing(open_store(source)) as old,
        closing(open_store(target)) as new,
        common.out.progress(f"copying to {target}") as progress,
    ):
        done = copy_store(old, new, only, base=common.settings().base_iri, progress=progress)
    common.out.answer({"copied": [asdict(graph) for graph in done]}, lambda: _show(common.out, done))
    if not done:
        common.out.note(f"{source} holds no namespace")


def _show(out: Output, done: list[Copied]) -> None:
    for graph in done:
        beside = f", beside {counted(graph.extra, 'other')}" if graph.extra else ", and the same canonical hash"
        out.line(f"{graph.graph}: {counted(graph.triples, 'triple')}{beside}")
