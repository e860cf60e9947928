"""`/explore/NS/sparql`: a query of the reader, and its answer as a table, a map, a chart or as it comes.

Rules kept here:
- a query that came with a followed link is shown, and not run: `Run` is a button;
- the answer is that of `/sparql` for this namespace, with its limits; what a page shows of it is bounded, and a part is
  called a part;
- a text that cannot be parsed is a page with the place, the line and the hint, and keeps the text;
- `format=names` has what the editor completes, `format=check` what it underlines; neither runs the query.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from pyoxigraph import QueryResultsFormat, RdfFormat

from cortex_graph import NamespacedGraph
from cortex_graph.exceptions import GraphError, InvalidArguments
from cortex_skills.doors.explorer.addresses import ROOT, Addresses, namespace_root
from cortex_skills.doors.explorer.display import ShownTerm, ShownText, shown_text
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.page import ExplorerPage, Faulty, Form, PageCall
from cortex_skills.doors.explorer.page_queries import SparqlQuery
from cortex_skills.doors.explorer.pictures.charts import MAX_POINTS
from cortex_skills.doors.explorer.pictures.map import picture
from cortex_skills.doors.explorer.pictures.svg import Svg
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.errors import from_floor
from cortex_skills.features.explorer.answer_charts import HINT, AnswerChart, chart_of
from cortex_skills.features.explorer.completed_names import NamesToComplete
from cortex_skills.features.explorer.map_graph import graph_of_answer, map_of
from cortex_skills.features.explorer.query_answers import (
    Answer,
    Solutions,
    Triples,
    answer_to,
    problem,
    problem_of,
    streamed,
)
from cortex_skills.features.explorer.reading import Reading, TextLink
from cortex_skills.features.graph.looking.sparql_rows import explained

_PATH = "sparql"
_ROWS, _MOST_ROWS = 100, 1000
_MAPPED = 2000  # triples of a map
_RAW = 40_000  # characters
_LINE = 400
_VIEWS = ("table", "map", "chart", "raw")
_OF_ROWS = {"csv": "CSV", "tsv": "TSV", "json": "JSON", "xml": "XML"}
_OF_TRIPLES = {"turtle": "Turtle", "json-ld": "JSON-LD", "rdf-xml": "RDF/XML", "n-triples": "N-Triples"}


@dataclass(frozen=True, slots=True)
class ShownProblem:
    """What is wrong with the text: the place, and the line up to there and after it."""

    line: int
    column: int
    message: ShownText
    hint: ShownText
    before: ShownText
    after: ShownText


@dataclass(frozen=True, slots=True)
class AnswerView:
    """An answer.

    Attributes:
        view: which of the views it is.
        tabs: the views.
        words: how much it is.
        stopped: why it is not all; empty if it is.
        columns, rows: of the table.
        more: the address of a longer table; None if this is the longest, or all.
        picture: of the chart or the map.
        kinds: the charts that it can be.
        map_href: the page of the map.
        raw: the text.
        forms: the whole answer in other formats.
        warnings: what of it may be wrong.
    """

    view: str
    tabs: tuple[TextLink, ...]
    words: str
    stopped: str = ""
    columns: tuple[ShownText, ...] = ()
    rows: tuple[tuple[ShownTerm | None, ...], ...] = ()
    more: str | None = None
    picture: Svg | None = None
    kinds: tuple[TextLink, ...] = ()
    map_href: str | None = None
    raw: ShownText | None = None
    forms: tuple[TextLink, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SparqlView:
    """The page.

    Attributes:
        here: the address of the page without parameters.
        namespace: for the queries that a browser keeps.
        query: the text.
        is_followed: whether the text came with a followed link.
        shown: the view that is asked for.
        as_of: the moment that is asked for; empty for now.
        undated: how many statements have no known time, in words; empty for now.
        examples: queries over the predicates of the namespace.
        save: the page that saves the query in the namespace; empty without a query.
        compare: the page that compares its answers of two moments; empty without a query.
        problem: what is wrong with the text.
        failed: why there is no answer; empty if there is one.
        answer: the answer.
    """

    here: str
    namespace: str
    query: str
    is_followed: bool = False
    shown: str = ""
    as_of: str = ""
    undated: str = ""
    examples: tuple[TextLink, ...] = ()
    save: str = ""
    compare: str = ""
    problem: ShownProblem | None = None
    failed: str = ""
    answer: AnswerView | None = field(default=None)


def view(call: PageCall) -> SparqlView:
    """Show a query, and run it.

    Raises:
        HttpError: `not_found`: the namespace is not open to the caller.
        Faulty: the query has no answer.
    """
    reading = Reading.of(call, _PATH)
    text, today = call.query.get("query", ""), Addresses(reading.graph.namespace)
    asked: dict[str, Any] = {
        "here": f"{namespace_root(reading.graph.namespace)}/{_PATH}",
        "namespace": reading.graph.namespace,
        "query": to_field(text),
        "shown": call.query.get("view", ""),
        "as_of": reading.as_of_field().value,
        "undated": _undated(reading),
        "examples": _examples(reading),
        "save": today.page("queries", query=text) if text else "",
        "compare": today.page("changes", query=text) if text else "",
    }
    if not text.strip():
        return SparqlView(**asked)
    if not call.may_run:
        return SparqlView(**asked, is_followed=True)
    try:
        shown = call.query.get("view", "table")
        most = {"map": _MAPPED, "chart": MAX_POINTS}.get(shown, _limit(call))
        found = answer_to(call, reading.graph, text, most)
        warnings = () if isinstance(found, bool) else found.warnings
        return SparqlView(**asked, answer=replace(_shown(reading, found, shown), warnings=warnings))
    except InvalidArguments as error:
        refused = SparqlView(**asked, problem=_shown_problem(reading.graph, text, error))
        raise Faulty(refused, from_floor(error) or _unknown()) from None
    except GraphError as error:
        failed = f"{error.message}: {error.hint}" if error.hint else error.message
        raise Faulty(SparqlView(**asked, failed=failed), from_floor(error) or _unknown()) from None
    except HttpError as error:
        raise Faulty(SparqlView(**asked, failed=f"{error.message}: {error.hint}"), error) from None


def _undated(reading: Reading) -> str:
    """How many statements are included without a known time, as they were last counted: they are in every moment."""
    if reading.addresses.as_of is None:
        return ""
    counts = reading.call.graph.counts.latest(wait_s=0.0)
    if counts.counted_at is None or not counts.is_exact:
        return "Statements without a known time, such as imported ones, are included."
    return f"{counts.undated:,} statements without a known time, such as imported ones, are included."


def _unknown() -> HttpError:
    return HttpError("internal_error", "the query failed")


def _limit(call: PageCall) -> int:
    return int(call.query.get("limit", _ROWS))


def _shown(reading: Reading, found: Answer, shown: str) -> AnswerView:
    tabs = tuple(
        TextLink(name.capitalize(), reading.address(view=name, limit=None, chart=None), name == shown)
        for name in _VIEWS
    )
    if isinstance(found, bool):
        return AnswerView(shown, tabs, "Yes: there is such a solution" if found else "No: there is no such solution")
    stopped = "" if found.stopped is None else f"{found.stopped.message}: {found.stopped.hint}"
    labels = _OF_TRIPLES if isinstance(found, Triples) else _OF_ROWS
    forms = tuple(
        TextLink(label, reading.address(format=name, view=None, limit=None)) for name, label in labels.items()
    )
    if shown == "map":
        graph = graph_of_answer(found)
        if graph is None or not graph.triples:
            words = "A map needs triples: CONSTRUCT, or columns ?s ?p ?o"
            return AnswerView(shown, tabs, words, stopped, forms=forms)
        drawn = map_of(reading, graph, lambda: "The answer as a map")
        href = reading.addresses.page("map", query=reading.call.query["query"])
        words = f"{drawn.words} of the first {_MAPPED:,} triples" if found.has_more else drawn.words
        return AnswerView(shown, tabs, words, stopped, picture=picture(drawn.data), map_href=href, forms=forms)
    if shown == "chart":
        chart, kinds = _chart(reading, found)
        if chart is None or chart.picture is None:
            return AnswerView(shown, tabs, HINT, stopped, forms=forms)
        words = f"{chart.words}, the first of them" if found.has_more else chart.words
        return AnswerView(shown, tabs, words, stopped, picture=chart.picture, kinds=kinds, forms=forms)
    words = words_of(found)
    if shown == "raw":
        return AnswerView(shown, tabs, words, stopped, raw=shown_text(_raw(found), _RAW, lines=_MOST_ROWS), forms=forms)
    is_longer = found.has_more and not stopped and _limit(reading.call) < _MOST_ROWS
    more = reading.address(limit=_MOST_ROWS) if is_longer else None
    columns, rows = table_of(reading, found)
    return AnswerView(shown, tabs, words, stopped, columns, rows, more, forms=forms)


def table_of(
    reading: Reading, found: Solutions | Triples
) -> tuple[tuple[ShownText, ...], tuple[tuple[ShownTerm | None, ...], ...]]:
    """The columns and the rows of an answer."""
    if isinstance(found, Triples):
        names: tuple[str, ...] = ("subject", "predicate", "object")
        rows: list[tuple[object, ...]] = [(each.subject, each.predicate, each.object) for each in found.triples]
    else:
        names, rows = found.variables, list(found.rows)
    shown = tuple(tuple(None if term is None else reading.display.term(term) for term in row) for row in rows)
    return tuple(shown_text(name) for name in names), shown


def words_of(found: Solutions | Triples) -> str:
    """How much an answer is."""
    count, noun = (len(found.triples), "triple") if isinstance(found, Triples) else (len(found.rows), "row")
    counted = f"{count:,} {noun}{'' if count == 1 else 's'}"
    return f"the first {counted}" if found.has_more else f"{counted}, the whole answer"


def _chart(reading: Reading, found: Solutions | Triples) -> tuple[AnswerChart | None, tuple[TextLink, ...]]:
    """The chart of an answer, and links to the other ones that it can be; None for none."""
    if isinstance(found, Triples):
        return None, ()
    reading.display.terms(term for row in found.rows for term in row)
    chart = chart_of(found, lambda term: reading.display.term(term).called, reading.call.query.get("chart"))
    kinds = () if chart is None else chart.kinds
    links = tuple(
        TextLink(kind.capitalize(), reading.address(chart=kind), chart is not None and kind == chart.kind)
        for kind in kinds
    )
    return chart, links


def _raw(found: Solutions | Triples) -> str:
    if isinstance(found, Triples):
        return "\n".join(f"{triple} ." for triple in found.triples)
    lines = ["\t".join(f"?{name}" for name in found.variables)]
    lines += ["\t".join("" if term is None else str(term) for term in row) for row in found.rows]
    return "\n".join(lines)


def _shown_problem(graph: NamespacedGraph, text: str, error: InvalidArguments) -> ShownProblem:
    found = problem(explained(graph, text, error))
    lines = text.split("\n")
    line = lines[found.line - 1] if 0 < found.line <= len(lines) else ""
    at = max(0, found.column - 1)
    before, after = line[max(0, at - _LINE // 2) : at], line[at : at + _LINE // 2]
    message, hint = shown_text(found.message, _LINE), shown_text(found.hint, _LINE)
    return ShownProblem(found.line, found.column, message, hint, shown_text(before, _LINE), shown_text(after, _LINE))


def _examples(reading: Reading) -> tuple[TextLink, ...]:
    """Queries that have an answer here, made of the most frequent predicate."""
    counts = reading.graph.counts.latest()
    given = [
        (
            "How often each predicate is used",
            "SELECT ?predicate (COUNT(*) AS ?triples) WHERE { ?s ?predicate ?o }\n"
            "GROUP BY ?predicate ORDER BY DESC(?triples)",
        ),
        ("The first triples", "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o } LIMIT 100"),
    ]
    if counts.predicates:
        node = counts.predicates[0].predicate
        found = NamesToComplete(reading.graph).written(node)
        written = f"<{node.value}>" if "declare" in found else found["label"]
        given += [
            (
                f"Everything with {found['label']}",
                f"SELECT ?subject ?value WHERE {{\n  ?subject {written} ?value .\n}} LIMIT 100",
            ),
            (
                f"The most frequent values of {found['label']}",
                f"SELECT ?value (COUNT(*) AS ?times) WHERE {{ ?s {written} ?value }}\n"
                "GROUP BY ?value ORDER BY DESC(?times) LIMIT 20",
            ),
        ]
    return tuple(
        TextLink(shown_text(label, 80).plain, reading.addresses.page(_PATH, query=text)) for label, text in given
    )


def _names(call: PageCall) -> bytes:
    """The names that an editor completes."""
    return to_json({"names": NamesToComplete(call.graph).all()})


def _check(call: PageCall) -> bytes:
    """What is wrong with a text, without running it."""
    text = call.query.get("query", "")
    found = problem_of(call.graph, text) if text.strip() else None
    problems = (
        []
        if found is None
        else [{"line": found.line, "column": found.column, "message": found.message, "hint": found.hint}]
    )
    return to_json({"problems": problems})


def _in(form: QueryResultsFormat | RdfFormat, file_type: str) -> Form:
    def write(call: PageCall) -> Iterator[bytes]:
        if not call.may_run:
            hint = "open the page, look at the query, and run it there"
            raise HttpError("permission_denied", "a query that comes with a link is not run", hint=hint)
        return streamed(call, Reading.of(call, _PATH).graph, call.query.get("query", ""), form)

    example = {} if isinstance(form, QueryResultsFormat) else {"query": "CONSTRUCT WHERE { ?s ?p ?o }"}
    return Form(form.media_type, write, file_type, example=example)


PAGE = ExplorerPage(
    f"{ROOT}/{{namespace}}/{_PATH}",
    "sparql",
    "sparql.html",
    view,
    query=SparqlQuery,
    example={"query": "SELECT * { ?s ?p ?o }"},
    pool="sparql",
    forms={
        "json": _in(QueryResultsFormat.JSON, "srj"),
        "csv": _in(QueryResultsFormat.CSV, "csv"),
        "tsv": _in(QueryResultsFormat.TSV, "tsv"),
        "xml": _in(QueryResultsFormat.XML, "srx"),
        "turtle": _in(RdfFormat.TURTLE, "ttl"),
        "json-ld": _in(RdfFormat.JSON_LD, "jsonld"),
        "rdf-xml": _in(RdfFormat.RDF_XML, "rdf"),
        "n-triples": _in(RdfFormat.N_TRIPLES, "nt"),
        "names": Form("application/vnd.cortex.names+json", _names),
        "check": Form("application/vnd.cortex.check+json", _check),
    },
    label="SPARQL",
    section="See",
    keys="g q",
    place=80,
)
