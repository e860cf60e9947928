"""`graph backup` and `graph restore`: a whole store, with all its namespaces."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.cli.commands import Command
from cortex_skills.cli.graph.wording import are, counted
from cortex_skills.cli.options import Common

if TYPE_CHECKING:
    from cortex_graph.transfer import Backup


@click.command("backup", cls=Command)
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path))
@click.pass_obj
def backup(common: Common, folder: Path) -> None:
    """Back the whole store up into a new FOLDER.

    All namespaces and their provenance, as they are at one moment; others may write meanwhile. The folder appears once
    the backup is whole.
    """
    from cortex_graph.transfer import back_up

    with common.plugin() as plugin, common.out.progress(f"backing up to {folder}") as progress:
        made = back_up(plugin.graph.store, folder, progress=progress)
    text = f"{counted(made.triples, 'triple')} of {counted(len(made.graphs), 'graph')} {are(made.triples)} in {folder}"
    common.out.answer(_document(made), lambda: common.out.line(text))


@click.command("restore", cls=Command)
@click.argument("folder", metavar="FOLDER", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--replace", is_flag=True, help="Let go what the store holds.")
@click.pass_obj
def restore(common: Common, folder: Path, replace: bool) -> None:
    """Restore a backup from FOLDER into the store.

    The backup is verified first. A store that holds something is left as it is, unless --replace is given; a store in a
    folder must not be in use.
    """
    from cortex_graph.transfer import restore as restore_backup

    store = common.settings().store
    with common.out.progress(f"restoring {folder}") as progress:
        done = restore_backup(folder, store, replace=replace, progress=progress)
    text = f"{counted(done.triples, 'triple')} of {counted(len(done.graphs), 'graph')} {are(done.triples)} in {store}"
    common.out.answer(_document(done) | {"store": str(store)}, lambda: common.out.line(text))


def _document(made: Backup) -> dict[str, Any]:
    graphs = {iri: {"triples": digest.count, "sha256": digest.sha256} for iri, digest in made.graphs.items()}
    return {"folder": str(made.folder), "kind": made.kind, "time": made.time.isoformat(), "graphs": graphs}
