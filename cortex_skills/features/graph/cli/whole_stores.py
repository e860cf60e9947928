"""`graph check`, `graph backup`, `graph restore` and `graph copy`: whole stores, with all their namespaces."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import Common, holds_store, missing_store
from cortex_skills.doors.cli.output import Output, are, counted
from cortex_skills.doors.cli.path_types import GivenPath, PathOrName

if TYPE_CHECKING:
    from cortex_graph.transfer import Backup
    from cortex_skills.features.graph.transfer_operations import CopiedStore


@click.command("check", cls=Command)
@click.pass_obj
def check(common: Common) -> None:
    """Read all files of the store, and compare its indexes.

    Also checks that no acknowledged write is missing. Other processes may use the store meanwhile.
    """
    from cortex_graph.transfer import check as check_store

    settings = common.settings()
    store, folder = settings.store, settings.store_folder
    if folder is not None and not _may_hold_store(folder):
        raise missing_store(folder)
    with common.out.progress(f"checking {store}") as progress:
        found = check_store(store, progress)
    text = (
        f"{counted(found.triples, 'triple')} of {counted(len(found.graphs), 'graph')} {are(found.triples)} intact in "
        f"{store}, and no acknowledged write is missing"
    )
    missing = sum(found.missing_times.values())
    if missing:
        text += f". {missing:,} entries of the index of times were missing: it is written again with the next listing"
    document = {"store": str(store), "graphs": found.graphs, "writes": found.changes, "missingTimes": missing}
    common.out.answer(document, lambda: common.out.line(text))


@click.command("backup", cls=Command)
@click.argument("folder", metavar="FOLDER", type=GivenPath(path_type=Path))
@click.pass_obj
def backup(common: Common, folder: Path) -> None:
    """Back up the whole store to a new FOLDER.

    The backup holds all namespaces and their provenance at one moment; other processes may write meanwhile. The folder
    is created when the backup is complete and its files were checked, as by `graph check`.
    """
    from cortex_graph.transfer import back_up
    from cortex_skills.config.host_identity import HostIdentity

    with common.plugin(reads=True) as plugin, common.out.progress(f"backing up to {folder}") as progress:
        host = HostIdentity.of(plugin.config)
        made = back_up(plugin.graph.store, folder, progress=progress, made_by=f"{host.name} {host.id}")
    text = f"{counted(made.triples, 'triple')} of {counted(len(made.graphs), 'graph')} {are(made.triples)} in {folder}"
    common.out.answer(_document(made), lambda: common.out.line(text))


@click.command("restore", cls=Command)
@click.argument("folder", metavar="FOLDER", type=GivenPath(exists=True, file_okay=False, path_type=Path))
@click.option("--replace", is_flag=True, help="Replace the content of the store.")
@click.pass_obj
def restore(common: Common, folder: Path, replace: bool) -> None:
    """Restore a backup from FOLDER into the store.

    The backup is verified first. A store that is not empty is unchanged unless --replace is given; a store in a folder
    must not be in use.
    """
    from cortex_skills.features.graph import transfer_operations

    store = common.settings().store
    with common.out.progress(f"restoring {folder}") as progress:
        given = {"folder": folder, "into": store, "replace": replace, "progress": progress}
        done = common.operate(transfer_operations.restore, store=common.settings().store_name, **given)
    text = f"{counted(done.triples, 'triple')} of {counted(len(done.graphs), 'graph')} {are(done.triples)} in {store}"
    common.out.answer(_document(done) | {"store": str(store)}, lambda: common.out.line(text))


def _document(made: Backup) -> dict[str, Any]:
    graphs = {iri: {"triples": digest.count, "sha256": digest.sha256} for iri, digest in made.graphs.items()}
    about = {"folder": str(made.folder), "kind": made.kind, "time": made.time.isoformat(), "madeBy": made.made_by}
    return {**about, "graphs": graphs}


@click.command("copy", cls=Command)
@click.option("--from", "source", metavar="STORE", type=PathOrName(), required=True, help="The source store.")
@click.option("--to", "target", metavar="STORE", type=PathOrName(), required=True, help="The target store.")
@click.option("--preview", is_flag=True, help="Print what would be copied, with counts, and change nothing.")
@click.option(
    "--replace", is_flag=True, help="Replace what the target has beside its statements, such as its registered skills."
)
@click.option("--only-statements", is_flag=True, help="Copy statements, records, memories and prefixes only.")
@click.pass_obj
def copy(common: Common, source: str, target: str, *, preview: bool, replace: bool, only_statements: bool) -> None:
    """Copy namespaces, with all that is kept for them, from one store to another of any kind.

    Copies all namespaces, or the one of --namespace. The statements of the target are kept. The copy is verified by
    counts and canonical hashes; run it again to resume an interrupted copy, or to copy new triples.
    """
    from cortex_graph import open_store
    from cortex_graph.stores.location import folder_of
    from cortex_graph.transfer.copying import preview_copy
    from cortex_skills.features.graph import transfer_operations
    from cortex_skills.features.graph.copied_parts import StorePair

    folder = folder_of(source)
    if source == target or (folder is not None and folder_of(target) and folder == folder_of(target)):
        raise click.UsageError("--from and --to name the same store")
    if folder is not None and not _may_hold_store(folder):
        raise missing_store(folder)
    only = None if common.namespace is None else [common.namespace]
    with (
        closing(open_store(source)) as old,
        closing(open_store(target)) as new,
        common.out.progress(f"copying to {target}") as progress,
    ):
        pair = StorePair(old, new, common.settings(store=source), common.settings(store=target), progress)
        given = transfer_operations.StoreCopy(pair, target, only, replace, only_statements)
        if preview:
            graphs = preview_copy(old, new, only, base=common.settings().base_iri)
            done = transfer_operations.CopiedStore(graphs, transfer_operations.parts_of_copy(given))
        else:
            done = common.operate(
                transfer_operations.copy,
                pair=pair,
                store=target,
                namespaces=only,
                replace=replace,
                only_statements=only_statements,
            )
    document = {
        "copied": [asdict(graph) for graph in done.graphs],
        "parts": [part.to_json() for part in done.parts],
    }
    common.out.answer(document, lambda: _show(common.out, done))
    if not done.graphs and not done.parts:
        common.out.note(f"{source} holds no namespace")


def _may_hold_store(folder: Path) -> bool:
    """Whether a folder holds a store, or what is left of a damaged one."""
    return holds_store(folder) or any(folder.glob("*.sst"))


def _show(out: Output, done: CopiedStore) -> None:
    from cortex_graph.transfer.copying import CopyPreview

    for graph in done.graphs:
        if isinstance(graph, CopyPreview):
            beside = f"; the target has {graph.there:,}"
        elif graph.extra:
            beside = f", and {counted(graph.extra, 'other')} in the target"
        else:
            beside = ", with the same canonical hash"
        out.line(f"{graph.graph}: {counted(graph.triples, 'triple')}{beside}")
    for part in done.parts:
        text = f"{part.namespace}, {part.name}: {counted(part.triples, 'triple')}; the target lacked {part.missing:,}"
        text += f"; {counted(part.files, 'artifact')} with bytes" if part.files else ""
        out.line(text + (f"; {part.other:,} others in the target" if part.other else ""))
        for note in part.notes:
            out.line(f"  {note}")
