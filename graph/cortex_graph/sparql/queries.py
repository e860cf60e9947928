"""A user's SPARQL query over namespaces.

Rules kept here:
- the text is read and written anew before any store sees it;
- it sees the graphs of the namespaces that are given and nothing else; its own `FROM` narrows them;
- it ends with its time, and its answer with `max_bytes`.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING

from pyoxigraph import QueryResultsFormat, RdfFormat

from cortex_graph.errors import InvalidArguments, QueryLimit, invalid
from cortex_graph.sparql.limits import DEFAULT_LIMITS, TIMEOUT_S, Limits
from cortex_graph.sparql.prologue import Prologue
from cortex_graph.sparql.reading import read_query, read_text
from cortex_graph.sparql.scope import dataset_of
from cortex_graph.sparql.writing import Written
from cortex_graph.stopping import Stop
from cortex_graph.store import Answer, Dataset, GraphStore

if TYPE_CHECKING:
    from cortex_graph.namespaced import NamespacedGraph

_PLACE = re.compile(r"error at (\d+):(\d+): ")


def query_graphs(
    store: GraphStore,
    graphs: Sequence[NamespacedGraph],
    text: str,
    *,
    default_graphs: Sequence[str] | None = None,
    named_graphs: Sequence[str] | None = None,
    results: QueryResultsFormat = QueryResultsFormat.JSON,
    graphs_format: RdfFormat = RdfFormat.N_TRIPLES,
    timeout_s: float = TIMEOUT_S,
    max_bytes: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
    stop: Stop | None = None,
) -> Answer:
    """Evaluate a SPARQL 1.1 query over some namespaces of one store.

    The default graph is the union of the namespaces' graphs; named graphs are these and their provenance graphs.

    Args:
        store: where the namespaces are.
        graphs: the namespaces that may be read; at least one.
        text: the query, a user's.
        default_graphs: IRIs out of the above to narrow the default graph to (`default-graph-uri` of the SPARQL 1.1
            Protocol §2.1.4); None for no narrowing. With either of the two, the text's own FROM means nothing.
        named_graphs: the same for the named graphs.
        results: how to write the answer of SELECT and ASK.
        graphs_format: how to write the answer of CONSTRUCT and DESCRIBE.
        timeout_s: how long it may take until its last byte was read, in seconds.
        max_bytes: how long the answer may be; None for no bound.
        limits: what the text may be.
        stop: ends it, see `GraphStore.query`.

    Raises:
        InvalidArguments: the text is no query (`details`: line, column), or goes beyond the limits.
        PermissionDenied: it asks another server.
        NamespaceViolation: it names a graph of its dataset that is none of these.
        QueryTimeout: it took too long (from the answer's chunks as well).
        GraphBusy: too many queries are running.
        QueryLimit: the answer is too long, or takes too much memory.

    """
    tokens = read_text(text, limits.query_bytes, limits.depth)
    query = read_query(text, tokens, Prologue(text, offered_prefixes(graphs)))
    if default_graphs is None and named_graphs is None:
        default_graphs, named_graphs = query.default_graphs, query.named_graphs
    dataset = dataset_of(graphs, default_graphs, named_graphs)
    answer = ask(store, query.written, dataset, results, graphs_format, timeout_s, stop)
    return answer if max_bytes is None else Answer(answer.form, bounded(answer.chunks, max_bytes))


def ask(
    store: GraphStore,
    written: Written,
    dataset: Dataset,
    results: QueryResultsFormat,
    graphs_format: RdfFormat,
    timeout_s: float,
    stop: Stop | None = None,
) -> Answer:
    """Ask a store, and tell what is wrong with the text at its place in the user's."""
    try:
        return store.query(written.text, dataset, results=results, graphs=graphs_format, timeout_s=timeout_s, stop=stop)
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
    """The chunks of an answer, up to a number of bytes.

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
                    f"the answer has more than {most} bytes",
                    hint="ask for less: bind more of the patterns, or add LIMIT and OFFSET",
                    details={"maxBytes": most},
                )
            yield chunk
    finally:
        chunks.close()


def _primed(chunks: Generator[bytes, None, None]) -> Generator[bytes, None, None]:
    next(chunks)  # so that closing it runs to its end
    return chunks


def offered_prefixes(graphs: Sequence[NamespacedGraph]) -> Mapping[str, str]:
    """The prefixes that a text may use without declaring them: the namespaces, and their vocabularies."""
    if not graphs:
        raise invalid("graphs", "is empty", hint="give at least one namespace")
    offered: dict[str, str] = {}
    for graph in graphs:
        offered[graph.namespace] = f"{graph.names.graph.value}:"
    for graph in graphs:
        for prefix, start in graph.names.vocabularies.items():
            offered.setdefault(prefix, start)
    return offered
