"""`graph sparql`: a SPARQL query or update on the namespace.

Rules kept here:
- it reads and changes only the configured namespace; a text is an update only with `--update`;
- errors and empty answers name what may have been meant, as for agents;
- by default rows are a table on a terminal and a graph is Turtle; `--format` selects another format;
- a pipe receives the answer byte for byte, as it arrives.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import Choice, Common, reads_as_of
from cortex_skills.doors.cli.output import counted
from cortex_skills.doors.cli.path_types import GivenPath
from cortex_skills.doors.cli.standard_input import given_text
from cortex_skills.features.graph.cli.streams import Visible, standard_output

if TYPE_CHECKING:
    from cortex_graph import NamespacedGraph, QueryAnswer
    from cortex_skills.plugin import Plugin

_ROWS = ("json", "csv", "tsv")
_GRAPHS = ("turtle", "ntriples", "jsonld")
_TABLE_BYTES = 16 << 20


@click.command("sparql", cls=Command)
@click.argument("text", metavar="[QUERY]", required=False)
@click.option(
    "--file",
    "-f",
    type=GivenPath(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    help="Read the text from a file, or - for standard input.",
)
@click.option("--update", is_flag=True, help="The text is an update, which may change the namespace.")
@click.option(
    "--format",
    "form",
    type=Choice(["table", *_ROWS, *_GRAPHS]),
    help="How to write rows (table, json, csv, tsv) or a graph (turtle, ntriples, jsonld).",
)
@click.option("--timeout", type=click.FloatRange(0.01, 3600), default=30.0, show_default=True, help="Seconds.")
@reads_as_of
@click.pass_obj
def sparql(common: Common, text: str | None, file: Path | None, update: bool, form: str | None, timeout: float) -> None:
    """Run a SPARQL 1.1 query or update on the namespace.

    QUERY may be - for standard input. The prefixes of the namespace and rdf, rdfs, xsd, owl, prov, skos, schema,
    dcterms, sh and foaf are declared already. A table has nodes by their names, and strings in quotes.
    """
    if (text is None) == (file is None):
        raise click.UsageError("give a QUERY, or --file")
    query = given_text(Path("-") if file is None else file) if text in (None, "-") else text
    with common.plugin(reads=not update) as plugin:
        if update:
            if form is not None:
                raise click.UsageError("an update returns no rows: omit --format")
            _update(common, plugin, query, timeout)
        else:
            _query(common, plugin.graph, query, form or ("json" if common.out.as_json else None), timeout)


def _update(common: Common, plugin: Plugin, text: str, timeout: float) -> None:
    from cortex_skills.operations.namespace_operations import update

    given = {"update": text, "timeout_s": timeout, "is_recorded": bool(common.agent)}
    done = plugin.operate(update, door="command", by=common.agent or "", **given)
    words = f"{counted(done.inserted, 'triple')} written, {counted(done.removed, 'triple')} removed"
    common.out.answer({"inserted": done.inserted, "removed": done.removed}, lambda: common.out.line(words))


def _query(common: Common, graph: NamespacedGraph, text: str, form: str | None, timeout: float) -> None:
    from pyoxigraph import QueryResultsFormat, RdfFormat

    from cortex_graph.exceptions import InvalidArguments
    from cortex_graph.sparql.dataset import graphs_beside
    from cortex_graph.sparql.queries import query_graphs
    from cortex_graph.sparql.query_names import names_in_query
    from cortex_skills.features.graph.looking.sparql_rows import explained, notes_on_nothing

    rows = {"csv": QueryResultsFormat.CSV, "tsv": QueryResultsFormat.TSV}.get(form or "", QueryResultsFormat.JSON)
    graphs = {"ntriples": RdfFormat.N_TRIPLES, "jsonld": RdfFormat.JSON_LD}.get(form or "", RdfFormat.TURTLE)
    if form == "json" and common.out.as_json:
        graphs = RdfFormat.JSON_LD
    as_table = form in (None, "table")
    beside = graphs_beside(graph.store, [graph], memories=False)
    try:
        names = names_in_query([graph], text)
        names.check_graphs([graph.names.graph, graph.names.provenance_graph, *beside])
        answer = query_graphs(
            graph.store, [graph], text, results=rows, graphs_format=graphs, timeout_s=timeout, beside=beside
        )
    except InvalidArguments as error:
        raise explained(graph, text, error) from None
    for warning in answer.warnings:
        common.out.note(f"the result may be wrong: {warning}")
    with contextlib.closing(answer.chunks):
        is_graph = isinstance(answer.form, RdfFormat)
        if form in _GRAPHS and not is_graph:
            raise click.UsageError(f"the query returns rows: --format is one of {', '.join(('table', *_ROWS))}")
        if is_graph and (form == "table" or (form in _ROWS and not common.out.as_json)):
            raise click.UsageError(f"the query returns a graph: --format is one of {', '.join(_GRAPHS)}")
        if as_table and not is_graph:
            if not _table(common, graph, answer):
                for note in ("no rows", *notes_on_nothing(graph, names)):
                    common.out.note(note)
            return
        target = cast("IO[bytes]", Visible(common.out) if common.out.is_terminal else standard_output())
        for chunk in answer.chunks:
            target.write(chunk)
        if rows == QueryResultsFormat.JSON and not is_graph:
            target.write(b"\n")
        target.flush()


def _table(common: Common, graph: NamespacedGraph, answer: QueryAnswer) -> bool:
    """Write rows; returns whether there are any."""
    from pyoxigraph import QueryBoolean, QueryResultsFormat, parse_query_results

    from cortex_graph.sparql.queries import bounded

    content = b"".join(bounded(answer.chunks, _TABLE_BYTES))
    found = parse_query_results(content, QueryResultsFormat.JSON)
    if isinstance(found, QueryBoolean):
        common.out.line("true" if found else "false")
        return True
    columns, terms = [variable.value for variable in found.variables], graph.prefixes.terms()
    rows = [["" if row[name] is None else terms.written(row[name]) for name in columns] for row in found]
    common.out.table(columns, rows)
    return bool(rows)
