"""`graph.sparql`: a SPARQL 1.1 query over the graph of a namespace, as a page of rows.

Rules kept here:
- the query reads the namespace and its records, and nothing else: no memories, no other namespace, no other server. A
  graph that it names and may not read is an error, not an empty answer;
- it has a time limit, and ends when its caller leaves; its answer is counted up to `MOST_COUNTED` rows, and the number
  is stated as a lower bound beyond that;
- a page begins where the one before ended: a cursor belongs to its query, and to no other one;
- names that no triple has are pointed out when the answer is empty, with the nearest ones that are used.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval, Len
from pyoxigraph import (
    Literal,
    NamedNode,
    QueryBoolean,
    QueryResultsFormat,
    QuerySolutions,
    RdfFormat,
    parse,
    parse_query_results,
)

from cortex_graph import NamespacedGraph
from cortex_graph.exceptions import GraphBusy, GraphError, InvalidArguments, QueryLimit, QueryTimeout, invalid
from cortex_graph.naming.counted import Count
from cortex_graph.naming.spelling import nearest
from cortex_graph.sparql import query_graphs
from cortex_graph.sparql.query_names import QueryNames, names_in_query
from cortex_graph.store import Pattern
from cortex_skills.features.graph.looking.call_graph import AsOf, Undated, graph_of, labels_in
from cortex_skills.features.graph.looking.other_forms import other_forms
from cortex_skills.features.graph.looking.schema_now import schema_of
from cortex_skills.features.graph.looking.sparql_text import Cell, SparqlAnswer
from cortex_skills.operations.operation import Described, OperationCall, operation
from cortex_skills.safe_io.display import json_text

ROWS = 50  # of a page, by default
MOST_COUNTED = 10_000  # rows
_MOST_BYTES = 16 << 20
_MOST_NOTES = 3
_CURSOR = re.compile(r"([0-9]{1,9})-([0-9a-f]{12})")
_UNDECLARED = re.compile(r"the prefix `([^`]*):` is not declared")
_EXPECTED = re.compile(r"expected (?:one of )?(.+)\Z", re.DOTALL)
_SIGN = re.compile(r'"((?:[^"\\]|\\.)+)"')
_WORD = re.compile(r"\b[A-Z][A-Z]+\b")
_RARE = frozenset({"LATERAL", "SERVICE", "STRLANGDIR", "URI"})
_STARTS = {
    "a variable": {"?", "$"},
    "a name or an IRI": {"<", ":"},
    "a text, a number or a boolean": {'"', '"""', "'", "'''", "true", "false", "+", "-"},
    "a blank node": {"_:", "[", "<<", "<<("},
}
_MOST_EXPECTED = 12
_EXAMPLE = "for instance SELECT ?s ?o WHERE { ?s rdfs:label ?o } LIMIT 10"
_NO_KEYWORD = re.compile(r"`([^`]+)` is no keyword")


@dataclass(frozen=True, slots=True)
class PagedQuery:
    """A query, and a page of its answer."""

    query: Annotated[str, Len(1, 65_536), Described("SPARQL 1.1 SELECT, ASK, CONSTRUCT or DESCRIBE.")]
    limit: Annotated[int, Interval(ge=1, le=1000), Described(f"Rows of a page, {ROWS}.")] | None = None
    cursor: Annotated[str, Len(1, 64), Described("nextCursor of the page before.")] | None = None
    as_of: AsOf | None = None
    undated: Undated | None = None


@operation("graph.sparql", effect="reads", permission="read")
def sparql(call: OperationCall, given: PagedQuery) -> SparqlAnswer:
    """Query the graph with SPARQL 1.1, and return a page of the rows."""
    graph = graph_of(call, given.as_of, given.undated)
    digest = hashlib.sha256(f"{graph.namespace}\0{given.as_of}\0{given.query}".encode(errors="replace")).hexdigest()[
        :12
    ]
    first = _offset(given.cursor, digest)
    most = given.limit or ROWS
    try:
        names = names_in_query([graph], given.query)
        names.check_graphs([graph.names.graph, graph.names.provenance_graph])
        found = query_graphs(
            graph.store,
            [graph],
            given.query,
            results=QueryResultsFormat.TSV,
            graphs_format=RdfFormat.N_TRIPLES,
            timeout_s=call.host.config.cortex.query_timeout_ms / 1000,
            cancel=call.cancel,
        )
    except InvalidArguments as error:
        raise explained(graph, given.query, error) from None
    is_graph = isinstance(found.form, RdfFormat)
    head, lines, count = _page(found.chunks, first, most, has_head=not is_graph)
    columns, rows, boolean = _triples(lines) if is_graph else _solutions(head, lines)
    notes = [f"The result may be wrong: {warning}" for warning in found.warnings]
    if not count and boolean is None:
        notes += notes_on_nothing(graph, names)
    labels = labels_in(call, graph).of(cell for row in rows for cell in row)
    return SparqlAnswer(
        graph,
        columns,
        rows,
        first,
        count,
        digest,
        boolean,
        labels,
        tuple(notes),
        given.limit is not None,
    )


def _offset(cursor: str | None, digest: str) -> int:
    if cursor is None:
        return 0
    found = _CURSOR.fullmatch(cursor)
    if found is None or found[2] != digest:
        raise invalid("cursor", "is not one of this query", hint="give the nextCursor of the page before, or none")
    return int(found[1])


def _page(
    chunks: Generator[bytes, None, None], first: int, most: int, *, has_head: bool
) -> tuple[bytes, list[bytes], Count]:
    """The first line, the lines of a page, and how many lines there are."""
    head, lines, rest = b"", list[bytes](), b""
    count, size = -1 if has_head else 0, 0
    with closing(chunks):
        for chunk in chunks:
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                if count < 0:
                    head = line
                elif first <= count < first + most:
                    lines.append(line)
                count += 1
                size += len(line) if count > first else 0
                if lines and size > _MOST_BYTES:
                    return head, lines, Count(count, is_exact=False)
            if count > first + most and count >= MOST_COUNTED:
                return head, lines, Count(count, is_exact=False)
    if rest:  # the answer of ASK has no end of line
        head, count = (rest, 0) if count < 0 else (head, count + 1)
    return head, lines, Count(max(0, count))


def _solutions(
    head: bytes, lines: Sequence[bytes]
) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...], bool | None]:
    found = parse_query_results(
        b"\n".join([head, *lines, b""]) if lines or b"?" in head else head, QueryResultsFormat.TSV
    )
    if isinstance(found, QueryBoolean):
        return (), (), bool(found)
    assert isinstance(found, QuerySolutions)  # noqa: S101 - the format has no graphs
    names = tuple(variable.value for variable in found.variables)
    return names, tuple(tuple(row[name] for name in names) for row in found), None


def _triples(lines: Iterable[bytes]) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...], None]:
    quads = parse(b"\n".join(lines), RdfFormat.N_TRIPLES, lenient=True)
    rows = tuple((quad.subject, quad.predicate, quad.object) for quad in quads)
    return ("subject", "predicate", "object"), rows, None


def _known(graph: NamespacedGraph) -> dict[str, NamedNode]:
    """The classes and predicates that are used, by their names."""
    terms = graph.prefixes.terms()
    schema = schema_of(graph, 1.0)
    nodes = {use.predicate for each in schema.classes for use in each.predicates}
    nodes |= {each.node for each in schema.classes if each.node is not None}
    return {terms.node(node.value): node for node in sorted(nodes, key=lambda node: node.value)}


def _near(graph: NamespacedGraph, word: str) -> list[str]:
    """The names of classes and predicates whose last part is like a word."""
    names = _known(graph)
    by_part: dict[str, str] = {}
    for name in names:
        by_part.setdefault(_last_part(name), name)
    return [by_part[part] for part in nearest(_last_part(word), by_part, _MOST_NOTES)]


def _last_part(name: str) -> str:
    return re.split(r"[:/#]", name.strip("<>"))[-1]


def notes_on_nothing(graph: NamespacedGraph, names: QueryNames) -> list[str]:
    """Notes about a query without an answer: on unbound variables, texts with a language, and unused names."""
    notes = [f"HAVING does not see {each}: repeat its expression there." for each in names.unseen]
    terms = graph.prefixes.terms(json_text)
    for text in filter(None, names.texts[:_MOST_NOTES]):
        if not graph.store.count(Pattern(graph.names.graph, object_=Literal(text)), 1):
            with suppress(QueryTimeout, QueryLimit, GraphBusy):
                if others := other_forms(graph, None, None, text):
                    notes.append(f"No triple has {json_text(text)}; there is {', '.join(map(terms.written, others))}.")
    for node in names.nodes:
        if len(notes) < _MOST_NOTES and not graph.has_node(node):
            near = _near(graph, node.value)
            meant = f"; near names that are used: {', '.join(near)}" if near else ""
            notes.append(f"No triple has {terms.node(node.value)}{meant}.")
    return notes


def _in_words(listed: str, before: str) -> str:
    """What a parser expects, from its list of characters and words, and what is before the place."""
    signs = [sign.replace('\\"', '"') for sign in _SIGN.findall(listed)]
    words = [word for word, starts in _STARTS.items() if starts & set(signs)]
    known = set().union(*_STARTS.values())
    expected = [*words, *(f"`{sign}`" for sign in signs if sign not in known)]
    expected += [] if words else [f"`{word}`" for word in _WORD.findall(_SIGN.sub("", listed)) if word not in _RARE]
    if (missing := _missing(before)) and not words:
        return missing
    return ", ".join(expected[:_MOST_EXPECTED]) or "something else"


def _missing(before: str) -> str:
    """What the end of a text lacks, which a parser that has seen the next sign does not name; empty for nothing."""
    end = before.rstrip("}) \t\r\n")
    if re.search(r"\b(ORDER|GROUP)\Z", end, re.IGNORECASE):
        return "`BY`"
    if end.endswith((*"=<>!+*/&|,-(",)):
        return "an expression"
    parts = re.split(r"[{};]|\.(?=\s|\Z)", end)[-1].split()
    if not 0 < len(parts) < 3 or not re.match(r"[?$<\"':\w-]", parts[0]) or parts[0].isupper():
        return ""
    return f"{'a predicate and an object' if len(parts) == 1 else 'an object'}: a triple has three parts"


def _before(query: str, error: InvalidArguments) -> str:
    """The text before the place of an error."""
    line, column = error.details.get("line", 0), error.details.get("column", 0)
    lines = query.split("\n")[: max(0, line)]
    return "\n".join([*lines[:-1], lines[-1][: max(0, column - 1)]]) if lines else ""


def explained(graph: NamespacedGraph, query: str, error: InvalidArguments) -> GraphError:
    """An error of a text, with what is expected in words, and the names that may have been meant."""
    if (listed := _EXPECTED.search(error.message)) is not None:
        message = f"{error.message[: listed.start()]}expected {_in_words(listed[1], _before(query, error))}"
        return InvalidArguments(message, hint=error.hint or _EXAMPLE, details=error.details)
    found = _UNDECLARED.search(error.message) or _NO_KEYWORD.search(error.message)
    if found is None:
        return error
    local = re.search(rf"(?<![\w-]){re.escape(found[1])}:([\w.-]+)", query)
    near = _near(graph, local[1] if local else found[1])
    if not near:
        return error
    return InvalidArguments(
        error.message, hint=f"{error.hint}; names that are used: {', '.join(near)}", details=error.details
    )
