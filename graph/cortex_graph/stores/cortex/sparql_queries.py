"""SPARQL on a Cortex server, at its `/sparql`.

Rules kept here:
- a request names the namespaces and the graphs of its dataset; the server enforces them, as for every client;
- the records of a namespace are read as from any SPARQL server (`stores/remote`);
- an empty dataset is not sent, since the protocol cannot express it. It is evaluated here, over an empty store.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from typing import Any
from urllib.parse import urlencode

from pyoxigraph import (
    NamedNode,
    Quad,
    QueryResultsFormat,
    QuerySolution,
    QuerySolutions,
    RdfFormat,
    parse_query_results,
)

from cortex_graph.cancellation import Cancellation
from cortex_graph.exceptions import GraphUnavailable, InvalidArguments, QueryTimeout
from cortex_graph.store import Dataset, Pattern, QueryAnswer
from cortex_graph.stores.cortex.api import CortexApi, error_of
from cortex_graph.stores.cortex.graphs import GraphKind, GraphLocation, ServerGraphs
from cortex_graph.stores.http.client import Reply, excerpt
from cortex_graph.stores.remote.endpoints import Endpoints
from cortex_graph.stores.remote.engines import OTHER
from cortex_graph.stores.remote.gathering import gathered_rows
from cortex_graph.stores.remote.sparql_store import RemoteStore

_TOGETHER = 50  # namespaces in one request
_GRACE_S = 2.0  # for the server to report its time limit
_PLACE = re.compile(r"the SPARQL text, line \d+, column \d+: ")


class ServerQueries:
    """The queries of a store."""

    def __init__(self, api: CortexApi, graphs: ServerGraphs) -> None:
        self._api = api
        self._graphs = graphs

    def records(self, spot: GraphLocation) -> RemoteStore:
        """Return the provenance of a namespace as a store, for reading."""
        address = self._address([spot.namespace])
        return RemoteStore(Endpoints(address, address), client=self._api.client, engine=OTHER)

    def filled(self, graphs: list[NamedNode]) -> list[NamedNode]:
        """Return the graphs that are not empty."""
        found: list[NamedNode] = []
        for start in range(0, len(graphs), _TOGETHER):
            some = tuple(graphs[start : start + _TOGETHER])
            values = " ".join(map(str, some))
            text = f"SELECT ?g {{ VALUES ?g {{ {values} }} FILTER EXISTS {{ GRAPH ?g {{ ?s ?p ?o }} }} }}"
            answer = self.query(text, Dataset((), some), QueryResultsFormat.JSON, RdfFormat.N_TRIPLES, 30.0)
            with closing(answer.chunks):
                named = _named(b"".join(answer.chunks))
            if named is None:
                raise self._api.strange("returns something else for a query")
            found += [graph for graph in some if graph.value in named]
        return found

    def gathered(self, patterns: Sequence[Pattern]) -> list[list[Quad]]:
        """Return the quads of each of some patterns, of one or several graphs."""
        graphs = tuple({pattern.graph for pattern in patterns})

        def rows(text: str) -> Generator[QuerySolution, None, None]:
            answer = self.query(text, Dataset((), graphs), QueryResultsFormat.JSON, RdfFormat.N_TRIPLES, 30.0)
            with closing(answer.chunks):
                found = parse_query_results(b"".join(answer.chunks), QueryResultsFormat.JSON)
            if not isinstance(found, QuerySolutions):
                raise self._api.strange("returns something else for a query")
            yield from found

        return [quads or [] for quads in gathered_rows(rows, patterns, OTHER)]

    def query(
        self,
        text: str,
        dataset: Dataset,
        results: QueryResultsFormat,
        graphs: RdfFormat,
        timeout_s: float,
        cancel: Cancellation | None = None,
    ) -> QueryAnswer:
        """See `GraphStore.query`."""
        default, named = (self._known(some) for some in (dataset.default, dataset.named))
        if not default and not named:
            return _over_nothing(text, results, graphs, timeout_s)
        namespaces = sorted({spot.namespace for spot in (*default.values(), *named.values())})
        parameters = [("query", text), ("timeout", f"{max(timeout_s, 0.001):.3f}")]
        parameters += [("default-graph-uri", graph.value) for graph in default]
        parameters += [("named-graph-uri", graph.value) for graph in named]
        ends = time.monotonic() + timeout_s
        reply = self._api.client.send(
            "POST",
            self._address(namespaces),
            headers={
                "Content-Type": "application/x-www-form-urlencoded",
                "Accept": f"{results.media_type}, {graphs.media_type}",
            },
            body=urlencode(parameters).encode(),
            timeout_s=timeout_s + _GRACE_S,
            cancel=cancel,
        )
        if reply.status == 400:
            raise self._refusal(reply)
        self._api.check(reply)
        forms = {form.media_type.partition(";")[0]: form for form in (results, graphs)}
        if reply.media_type not in forms:
            kind = excerpt(reply.media_type) or "no type"
            reply.close()
            raise self._api.strange(f"returns {kind} for a query")
        chunks = self._chunks(reply, ends, timeout_s)
        next(chunks)  # so that closing it runs to its end
        warnings = tuple(excerpt(warning) for warning in reply.headers.get_list("cortex-warning"))
        return QueryAnswer(forms[reply.media_type], chunks, warnings)

    def _chunks(self, reply: Reply, ends: float, timeout_s: float) -> Generator[bytes, None, None]:
        body: Iterator[bytes] = reply.chunks()
        try:
            yield b""
            yield from body
        except GraphUnavailable:
            if time.monotonic() < ends - timeout_s / 20:
                raise
            raise QueryTimeout(  # the server ends a response at its time limit
                f"{self._api.url} ended its response at its time limit of {timeout_s:g} s",
                hint="request less",
                details={"endpoint": self._api.url},
            ) from None
        finally:
            reply.close()

    def _refusal(self, reply: Reply) -> Exception:
        """Return the error for a refused text, with its position if the server names it."""
        error, message = error_of(reply)
        details: Any = error.get("details")
        at = ""
        if isinstance(details, dict) and all(type(details.get(key)) is int for key in ("line", "column")):
            at = f"error at {details['line']}:{details['column']}: "
        return InvalidArguments(
            at + (_PLACE.sub("", message) or f"the query is refused by {self._api.url}"),
            hint=excerpt(str(error.get("hint", ""))),
            details={"field": "query"},
        )

    def _known(self, graphs: tuple[NamedNode, ...]) -> dict[NamedNode, GraphLocation]:
        spots = {graph: self._graphs.locate(graph) for graph in graphs}
        return {graph: spot for graph, spot in spots.items() if spot.kind is not GraphKind.INDEX}

    def _address(self, namespaces: list[str]) -> str:
        return f"{self._api.url}/sparql?{urlencode([('namespace', name) for name in namespaces])}"


def _over_nothing(text: str, results: QueryResultsFormat, graphs: RdfFormat, timeout_s: float) -> QueryAnswer:
    from cortex_graph.stores.embedded import OxigraphStore

    return OxigraphStore().query(text, Dataset(()), results=results, graphs=graphs, timeout_s=timeout_s)


def _named(body: bytes) -> set[str] | None:
    """Return the IRIs that the rows of a result bind to `g`."""
    try:
        return {row["g"]["value"] for row in json.loads(body)["results"]["bindings"]}
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
