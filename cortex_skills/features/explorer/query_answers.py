"""Runs a query of a reader for a page, and stops at what a page can show.

Rules kept here:
- an answer is read a line at a time (TSV, N-Triples), so that the rows that came before a limit are shown, with the
  reason why they are not all;
- a caller runs `AT_ONCE` queries of pages at a time, so that no caller uses the whole pool;
- checking a query parses it and evaluates it on an empty store, in a process that is killed after `CHECK_S`.
"""

from __future__ import annotations

import re
import threading
import weakref
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from pyoxigraph import QueryBoolean, QueryResultsFormat, QuerySolutions, RdfFormat, Triple, parse, parse_query_results

from cortex_graph import NamespacedGraph, QueryAnswer, open_store
from cortex_graph.exceptions import GraphError, InvalidArguments, QueryLimit, QueryTimeout
from cortex_graph.sparql import graphs_beside, query_graphs
from cortex_graph.store import GraphStore
from cortex_skills.doors.explorer.page import PageCall
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.sparql.endpoint import AT_ONCE
from cortex_skills.features.graph.looking.sparql_rows import explained

CHECK_S = 5.0
PAGE_BYTES = 8 << 20
_POSITION = re.compile(r"^the SPARQL text, line \d+, column \d+: ")


@dataclass(frozen=True, slots=True)
class Solutions:
    """The answer of SELECT: its variables, and the terms of each row, None where a variable is unbound."""

    variables: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    has_more: bool
    stopped: GraphError | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Triples:
    """The answer of CONSTRUCT and DESCRIBE."""

    triples: tuple[Triple, ...]
    has_more: bool
    stopped: GraphError | None = None
    warnings: tuple[str, ...] = ()


Answer = Solutions | Triples | bool


@dataclass(frozen=True, slots=True)
class QueryProblem:
    """What is wrong with a text.

    Attributes:
        line, column: where, from 1; 0 if it has no place.
        message: what it is.
        hint: what to do.
    """

    line: int
    column: int
    message: str
    hint: str


def answer_to(call: PageCall, graph: NamespacedGraph, text: str, most: int) -> Answer:
    """Run a query.

    Args:
        call: who asks.
        graph: what it may read.
        text: the query.
        most: the number of rows or triples that are read.

    Raises:
        GraphError: the query has no answer; one that stops after its first row is in `stopped` of the answer.
        HttpError: `graph_busy`: the caller runs queries already.
    """
    with _place_of(call.principal.key):
        found = _run(call, graph, text, QueryResultsFormat.TSV, RdfFormat.N_TRIPLES, None)
        is_graph = isinstance(found.form, RdfFormat)
        answer = _triples(found.chunks, most) if is_graph else _solutions(found.chunks, most)
        return answer if isinstance(answer, bool) else replace(answer, warnings=found.warnings)


def streamed(
    call: PageCall, graph: NamespacedGraph, text: str, form: QueryResultsFormat | RdfFormat
) -> Iterator[bytes]:
    """The whole answer of a query in one format; a failure in the middle cuts it off.

    Raises:
        GraphError: as `answer_to`.
        HttpError: `not_acceptable`: the answer cannot be written in this format; `graph_busy`.
    """
    rows = isinstance(form, QueryResultsFormat)
    with ExitStack() as stack:
        stack.enter_context(_place_of(call.principal.key))
        results = form if isinstance(form, QueryResultsFormat) else QueryResultsFormat.JSON
        graphs = form if isinstance(form, RdfFormat) else RdfFormat.N_TRIPLES
        found = _run(call, graph, text, results, graphs, call.service.plugin.config.cortex.max_answer_bytes)
        if isinstance(found.form, RdfFormat) == rows:
            found.chunks.close()
            hint = "available: json, csv, tsv, xml" if not rows else "available: turtle, json-ld, rdf-xml, n-triples"
            raise HttpError("not_acceptable", "the answer of this query has no such form", hint=hint)
        return _held(found.chunks, stack.pop_all())


def _held(chunks: Generator[bytes, None, None], stack: ExitStack) -> Iterator[bytes]:
    with stack, closing(chunks):
        yield from chunks


def problem_of(graph: NamespacedGraph, text: str) -> QueryProblem | None:
    """What is wrong with a query; None if it can be run."""
    try:
        query_graphs(_empty_store(), [graph], text, timeout_s=CHECK_S).chunks.close()
    except InvalidArguments as error:
        return problem(explained(graph, text, error))
    except QueryTimeout:
        return None
    except GraphError as error:
        return QueryProblem(0, 0, error.message, error.hint)
    return None


def problem(error: GraphError) -> QueryProblem:
    """An error of a text, with its place."""
    line, column = error.details.get("line", 0), error.details.get("column", 0)
    return QueryProblem(line, column, _POSITION.sub("", error.message), error.hint)


@cache
def _empty_store() -> GraphStore:
    return open_store("memory:")


def _run(
    call: PageCall,
    graph: NamespacedGraph,
    text: str,
    results: QueryResultsFormat,
    graphs: RdfFormat,
    max_bytes: int | None,
) -> QueryAnswer:
    return query_graphs(
        graph.store,
        [graph],
        text,
        beside=graphs_beside(graph.store, [graph], memories="memories" in call.principal.permissions),
        results=results,
        graphs_format=graphs,
        timeout_s=call.service.plugin.config.cortex.query_timeout_ms / 1000,
        max_bytes=max_bytes,
        cancel=call.cancel,
    )


def _solutions(chunks: Generator[bytes, None, None], most: int) -> Solutions | bool:
    lines, has_more, stopped = _first_lines(chunks, most + 1)
    found = parse_query_results(b"".join(lines), QueryResultsFormat.TSV)
    if isinstance(found, QueryBoolean):
        return bool(found)
    assert isinstance(found, QuerySolutions)  # noqa: S101 - the format has no graphs
    names = tuple(variable.value for variable in found.variables)
    return Solutions(names, tuple(tuple(row[name] for name in names) for row in found), has_more, stopped)


def _triples(chunks: Generator[bytes, None, None], most: int) -> Triples:
    lines, has_more, stopped = _first_lines(chunks, most)
    found = parse(b"".join(lines), RdfFormat.N_TRIPLES, lenient=True)
    return Triples(tuple(quad.triple for quad in found), has_more, stopped)


def _first_lines(chunks: Generator[bytes, None, None], most: int) -> tuple[list[bytes], bool, GraphError | None]:
    """The first whole lines, whether more follow, and what stopped them before the end."""
    lines: list[bytes] = []
    rest = b""
    size = 0
    with closing(chunks):
        try:
            for chunk in chunks:
                *whole, rest = (rest + chunk).split(b"\n")
                lines += [line + b"\n" for line in whole]
                if len(lines) > most:
                    return lines[:most], True, None
                size += len(chunk)
                if size > PAGE_BYTES:
                    hint = "ask for less, or take the whole answer away in one of its formats"
                    raise QueryLimit(f"a page shows {PAGE_BYTES >> 20} MiB of an answer", hint=hint)
        except GraphError as error:
            if not lines:
                raise
            return lines, True, error.with_traceback(None)  # its frames hold what must end in this thread
    return ([*lines, rest] if rest else lines), False, None


_places: weakref.WeakValueDictionary[str, threading.BoundedSemaphore] = weakref.WeakValueDictionary()
_lock = threading.Lock()


@contextmanager
def _place_of(caller: str) -> Iterator[None]:
    with _lock:
        places = _places.setdefault(caller, threading.BoundedSemaphore(AT_ONCE))
    if not places.acquire(blocking=False):
        message = f"{AT_ONCE} queries of yours are running already"
        raise HttpError("graph_busy", message, hint="wait for their answers")
    try:
        yield
    finally:
        places.release()
