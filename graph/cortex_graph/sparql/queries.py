"""SPARQL queries of users over namespaces.

Rules kept here:
- the text is parsed and serialised before any store gets it;
- it sees the graphs of the given namespaces only; its own `FROM` narrows them;
- it ends with its time limit, and its result with `max_bytes`.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace

from pyoxigraph import NamedNode, QueryResultsFormat, RdfFormat

from cortex_graph.cancellation import Cancellation
from cortex_graph.exceptions import InvalidArguments, QueryLimit, invalid
from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES
from cortex_graph.sparql.dataset import NamespaceView, dataset_of
from cortex_graph.sparql.parse import DEFAULT_LIMITS, TIMEOUT_S, QueryLimits, read_query, read_text, without_mark
from cortex_graph.sparql.prologue import Prologue
from cortex_graph.sparql.serialize import SerializedText
from cortex_graph.store import Dataset, GraphStore, QueryAnswer

_PLACE = re.compile(r"error at (\d+):(\d+): ")


def query_graphs(
    store: GraphStore,
    graphs: Sequence[NamespaceView],
    text: str,
    *,
    default_graphs: Sequence[str] | None = None,
    named_graphs: Sequence[str] | None = None,
    beside: Sequence[NamedNode] = (),
    results: QueryResultsFormat = QueryResultsFormat.JSON,
    graphs_format: RdfFormat = RdfFormat.N_TRIPLES,
    timeout_s: float = TIMEOUT_S,
    max_bytes: int | None = None,
    limits: QueryLimits = DEFAULT_LIMITS,
    cancel: Cancellation | None = None,
) -> QueryAnswer:
    """Evaluate a SPARQL 1.1 query over namespaces of one store.

    The default graph is the union of the namespaces' graphs; named graphs are these and their provenance graphs.

    Args:
        store: the store of the namespaces.
        graphs: the namespaces that may be read; at least one.
        text: the query of a user.
        default_graphs: IRIs of the above to which the default graph is narrowed (`default-graph-uri` of the SPARQL 1.1
            Protocol §2.1.4); None for all. With either of the two, the FROM clauses of the text are ignored.
        named_graphs: the same for the named graphs.
        beside: other graphs that may be read, which are named graphs (`graphs_beside`).
        results: the format of the result of SELECT and ASK.
        graphs_format: the format of the result of CONSTRUCT and DESCRIBE.
        timeout_s: the time until the last byte of the result is read, in seconds.
        max_bytes: the maximum size of the result; None for no limit.
        limits: of the text.
        cancel: cancels the call.

    Raises:
        InvalidArguments: the text is not a query (`details`: line, column), or exceeds the limits.
        PermissionDenied: it queries another server.
        NamespaceViolation: a graph of its dataset belongs to none of the namespaces.
        QueryTimeout: it took too long (also raised by the chunks of the result).
        GraphBusy: too many queries are running.
        QueryLimit: the result is too long, or takes too much memory.
    """
    text = without_mark(text)
    tokens = read_text(text, limits.query_bytes, limits.depth)
    query = read_query(text, tokens, Prologue(text, offered_prefixes(graphs)))
    if default_graphs is None and named_graphs is None:
        default_graphs, named_graphs = query.default_graphs, query.named_graphs
    dataset = dataset_of(graphs, default_graphs, named_graphs, beside)
    answer = run_text(store, query.written, dataset, results, graphs_format, timeout_s, cancel)
    return answer if max_bytes is None else replace(answer, chunks=bounded(answer.chunks, max_bytes))


def run_text(
    store: GraphStore,
    written: SerializedText,
    dataset: Dataset,
    results: QueryResultsFormat,
    graphs_format: RdfFormat,
    timeout_s: float,
    cancel: Cancellation | None = None,
) -> QueryAnswer:
    """Send a text to a store, and map the positions in its errors to the original text."""
    try:
        return store.query(
            written.text, dataset, results=results, graphs=graphs_format, timeout_s=timeout_s, cancel=cancel
        )
    except InvalidArguments as error:
        found = _PLACE.search(error.message)
        if not found:
            raise
        line, column = written.position(int(found[1]), int(found[2]))
        raise InvalidArguments(
            f"the SPARQL text, line {line}, column {column}: {error.message[found.end() :]}",
            hint=error.hint,
            details={"field": "query", "line": line, "column": column},
        ) from None


def bounded(chunks: Generator[bytes, None, None], most: int) -> Generator[bytes, None, None]:
    """Yield the chunks of a result, up to a number of bytes.

    Raises:
        QueryLimit: there are more.
    """
    return _primed(_bounded(chunks, most))


def _bounded(chunks: Generator[bytes, None, None], most: int) -> Generator[bytes, None, None]:
    room = most
    try:
        yield b""
        for chunk in chunks:
            room -= len(chunk)
            if room < 0:
                raise QueryLimit(
                    f"the result has more than {most} bytes",
                    hint="request less: bind more of the patterns, or add LIMIT and OFFSET",
                    details={"maxBytes": most},
                )
            yield chunk
    finally:
        chunks.close()


def _primed(chunks: Generator[bytes, None, None]) -> Generator[bytes, None, None]:
    next(chunks)  # so that closing it runs its `finally`
    return chunks


def offered_prefixes(graphs: Sequence[NamespaceView]) -> Mapping[str, str]:
    """Return the prefixes that a text may use without declaring them.

    They are those of the namespaces, of their vocabularies, of `WELL_KNOWN_VOCABULARIES`, and of the files that were
    imported, in this order.
    """
    if not graphs:
        raise invalid("graphs", "is empty", hint="give at least one namespace")
    offered: dict[str, str] = {}
    for graph in graphs:
        offered |= graph.names.own_prefix
    for vocabularies in (*(graph.names.vocabularies for graph in graphs), WELL_KNOWN_VOCABULARIES):
        for prefix, start in vocabularies.items():
            offered.setdefault(prefix, start)
    for graph in graphs:
        for prefix, start in graph.prefixes.kept().items():
            offered.setdefault(prefix, start)
    return offered
