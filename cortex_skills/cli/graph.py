"""`graph import`, `graph export` and `graph namespaces`: the triples themselves.

Rules kept here:
- import and export see the one configured namespace;
- a file that breaks anywhere imports nothing;
- what is exported to a pipe or a file is the RDF, byte for byte; on a terminal it is made visible.
"""

from __future__ import annotations

import codecs
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import click

from cortex_skills.cli.commands import Command, Group
from cortex_skills.cli.options import Common

if TYPE_CHECKING:
    from cortex_skills.cli.output import Output

# The names of `cortex_graph.FORMATS`, which takes too long to import for a line of help.
_FORMAT = click.option(
    "--format",
    "form",
    type=click.Choice(["turtle", "n-triples", "n-quads", "trig", "json-ld", "rdf-xml"]),
    help="The format [by the file's extension].",
)


@click.command("import", cls=Command)
@click.argument("file", metavar="FILE", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@_FORMAT
@click.pass_obj
def import_(common: Common, file: Path, form: str | None) -> None:
    """Add the statements of an RDF file to the namespace.

    FILE may be - for standard input, with --format. All of the file is imported, or nothing.
    """
    from cortex_graph import import_rdf

    standard_input = str(file) == "-"
    if standard_input and form is None:
        raise click.UsageError("standard input has no extension: give --format")
    source = sys.stdin.buffer if standard_input else file
    with common.plugin() as plugin, common.out.working(f"importing {file}"):
        count = import_rdf(plugin.graph, source, form)
        namespace = plugin.graph.namespace
    document = {"file": str(file), "namespace": namespace, "statements": count}
    common.out.answer(document, lambda: common.out.line(f"{_statements(count)} of {file} {_are(count)} in {namespace}"))


@click.command("export", cls=Command)
@click.argument(
    "file", metavar="[FILE]", required=False, type=click.Path(dir_okay=False, allow_dash=True, path_type=Path)
)
@_FORMAT
@click.pass_obj
def export(common: Common, file: Path | None, form: str | None) -> None:
    """Write all triples of the namespace out.

    Without FILE, or with -, they go to standard output, as Turtle unless --format says otherwise. The records of who
    asserted what are not among them.
    """
    from cortex_graph import export_rdf

    if str(file) == "-":
        file = None
    if file is None and common.out.as_json:
        raise click.UsageError("with --json, standard output holds the report: give a FILE for the triples")
    with common.plugin() as plugin:
        if file is None:
            target = cast("IO[bytes]", _Visible(common.out) if common.out.is_terminal else _standard_output())
            export_rdf(plugin.graph, target, form or "turtle")
            target.flush()
            if not plugin.graph.list_triples({"limit": 1})["triples"]:
                common.out.note(f"{plugin.graph.namespace} is empty; `graph namespaces` lists those that are not")
            return
        with common.out.working(f"exporting to {file}"):
            export_rdf(plugin.graph, file, form)
            count = plugin.graph.count()
            namespace = plugin.graph.namespace
    document = {"file": str(file), "namespace": namespace, "statements": count}
    common.out.answer(document, lambda: common.out.line(f"{_statements(count)} of {namespace} {_are(count)} in {file}"))


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


graph = Group(
    "graph",
    help="Import, export and list what is in the graph.",
    sections={"Commands": [import_, export, namespaces]},
)


class _Visible:
    """Takes the bytes of an export and writes them as lines for a terminal."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._rest = ""

    def write(self, data: bytes) -> int:
        """Take some bytes."""
        *lines, self._rest = (self._rest + self._decoder.decode(data)).split("\n")
        for line in lines:
            self._out.line(line)
        return len(data)

    def flush(self) -> None:
        """Write what is left of the last line."""
        if self._rest:
            self._out.line(self._rest)
            self._rest = ""


def _standard_output() -> IO[bytes]:
    if sys.stdout is None:
        raise click.UsageError("standard output is closed: give a FILE")
    sys.stdout.flush()
    return sys.stdout.buffer


def _show_each(out: Output, names: list[str]) -> None:
    for name in names:
        out.line(name)


def _statements(count: int) -> str:
    return f"{count} statement{'' if count == 1 else 's'}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
