"""`graph import` and `graph export`: a namespace as an RDF file.

Rules kept here:
- import and export see only the configured namespace;
- a file with an error anywhere imports nothing;
- an export to a pipe or a file is RDF, byte for byte; on a terminal control characters are escaped.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import Choice, Common, reads_as_of
from cortex_skills.doors.cli.output import are, counted
from cortex_skills.doors.cli.path_types import GivenPath
from cortex_skills.doors.cli.standard_input import standard_input
from cortex_skills.features.graph.cli.streams import Visible, standard_output

if TYPE_CHECKING:
    from cortex_graph import GraphStore
    from cortex_graph.transfer import ImportResult

_SHOWN = 5  # prefixes
# The names of `cortex_graph.FORMATS`, repeated because importing it would slow down --help.
_FORMAT = click.option(
    "--format",
    "form",
    type=Choice(["turtle", "n-triples", "n-quads", "trig", "json-ld", "rdf-xml"]),
    help="The format [by the file's extension].",
)


@click.command("import", cls=Command)
@click.argument("file", metavar="FILE", type=GivenPath(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@_FORMAT
@click.option(
    "--with-provenance",
    is_flag=True,
    help="Restore the provenance records of an export of this namespace.",
)
@click.pass_obj
def import_(common: Common, file: Path, form: str | None, with_provenance: bool) -> None:
    """Add the statements of an RDF file to the namespace.

    FILE may be - for standard input, with --format, and compressed by gzip. The whole file is imported, or nothing.
    """
    from cortex_skills.features.graph.transfer_operations import import_ as import_statements

    is_piped = str(file) == "-"
    if is_piped and form is None:
        raise click.UsageError("standard input has no extension: give --format")
    source = standard_input() if is_piped else file
    with common.plugin() as plugin, common.out.progress(f"importing {file}") as progress:
        given: dict[str, Any] = {
            "source": source,
            "format": form,
            "with_provenance": with_provenance,
            "progress": progress,
        }
        done = plugin.operate(import_statements, door="command", **given)
        namespace = plugin.graph.namespace
    _note_omissions(common, done, with_provenance)
    document: dict[str, Any] = {"file": str(file), "namespace": namespace, "statements": done.statements}
    if with_provenance:
        document["records"] = done.records
    if done.members:
        document["ignoredMembers"] = dict(done.members)
    if done.other_prefixes:
        document["otherPrefixes"] = dict(done.other_prefixes)
    text = f"{counted(done.statements, 'statement')} of {file} {are(done.statements)} in {namespace}"
    if with_provenance:
        text += f", with {counted(done.records, 'record')}"
    common.out.answer(document, lambda: common.out.line(text))


def _note_omissions(common: Common, done: ImportResult, with_provenance: bool) -> None:
    if done.left_out:
        common.out.note(
            f"{counted(done.left_out, 'record')} omitted: the triple does not exist, or the store has a record already"
        )
    if done.ignored:
        hint = "of other namespaces" if with_provenance else "(--with-provenance imports it)"
        common.out.note(f"{counted(done.ignored, 'statement')} of provenance {hint} omitted")
    if done.members:
        common.out.note(f"omitted: {done.shown_members()}")
    for prefix, start in islice(done.other_prefixes.items(), _SHOWN):
        common.out.note(
            f"{prefix}: of the file is <{start}> here, so names that it begins are written in full; another prefix in "
            "the file makes them short"
        )
    if not done.statements and not done.records:
        common.out.note("the file has no statements")


@click.command("export", cls=Command)
@click.argument(
    "file", metavar="[FILE]", required=False, type=GivenPath(dir_okay=False, allow_dash=True, path_type=Path)
)
@_FORMAT
@click.option(
    "--with-provenance",
    is_flag=True,
    help="Include the provenance records, in a separate graph (trig, n-quads, json-ld).",
)
@reads_as_of
@click.pass_obj
def export(common: Common, file: Path | None, form: str | None, with_provenance: bool) -> None:
    """Write all triples of the namespace out.

    Without FILE, or with -, they go to standard output, as Turtle (with --with-provenance: TriG) unless --format says
    otherwise. Of a store that has lost acknowledged writes the rest is written, and the exit code is 2.
    """
    from cortex_graph import export_rdf

    if str(file) == "-":
        file = None
    if file is None and common.out.as_json:
        raise click.UsageError("with --json, standard output holds the report: give a FILE for the triples")
    with common.plugin(reads=True) as plugin:
        if file is None:
            target = cast("IO[bytes]", Visible(common.out) if common.out.is_terminal else standard_output())
            form = form or ("trig" if with_provenance else "turtle")
            count = export_rdf(plugin.graph, target, form, with_provenance=with_provenance)
            target.flush()
            _refuse_damaged(plugin.graph.store)
            if not count:
                common.out.note(f"{plugin.graph.namespace} is empty; `graph namespaces` lists those that are not")
            return
        with common.out.progress(f"exporting to {file}") as progress:
            count = export_rdf(plugin.graph, file, form, with_provenance=with_provenance, progress=progress)
            namespace = plugin.graph.namespace
            _refuse_damaged(plugin.graph.store)
    document = {"file": str(file), "namespace": namespace, "statements": count}
    text = f"{counted(count, 'statement')} of {namespace} {are(count)} in {file}"
    common.out.answer(document, lambda: common.out.line(text))


def _refuse_damaged(store: GraphStore) -> None:
    """Report, after what is left was written, that acknowledged writes are missing."""
    from cortex_graph.store import InFolder

    if isinstance(store, InFolder) and store.damage is not None:
        raise store.damage
