"""SPARQL on a Cortex server, at its `/sparql`.

Rules kept here:
- a request names the namespaces of its dataset, and its graphs; the server sees to the rest, as it does for everybody;
- the records of a namespace are read as from any SPARQL server (`stores/remote`);
- a dataset without graphs is not asked for: nothing says "none" there. It is evaluated here, over nothing.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any
from urllib.parse import urlencode

from pyoxigraph import NamedNode, QueryResultsFormat, RdfFormat

from cortex_graph.errors import GraphUnavailable, InvalidArguments, QueryTimeout
from cortex_graph.stopping import Stop
from cortex_graph.store import Answer, Dataset
from cortex_graph.stores.cortex.api import Api, said_of
from cortex_graph.stores.cortex.graphs import Graphs, Kind, Spot
from cortex_graph.stores.http.client import Reply, excerpt
from cortex_graph.stores.remote.endpoints import Endpoints
from cortex_graph.stores.remote.engines import OTHER
from cortex_graph.stores.remote.store import RemoteStore

_TOGETHER = 50  # namespaces in one request
_GRACE_S = 2.0  # that the server is left to say itself that a time is over
_PLACE = re.compile(r"the SPARQL text, line \d+, column \d+: ")


class Queries:
    """The queries of a store.

    Args:
        api: the server.
        graphs: those that it has.

    """

    def __init__(self, api: Api, graphs: Graphs) -> None:
        self._api = api
        self._graphs = graphs

    def records(self, spot: Spot) -> RemoteStore:
        """The provenance of a namespace, to read from."""
        address = self._address([spot.namespace])
        return RemoteStore(Endpoints(address, address), client=self._api.client, engine=OTHER)

    def filled(self, graphs: list[NamedNode]) -> list[NamedNode]:
        """Those of some graphs that hold something."""
        found: list[NamedNode] = []
        for start in range(0, len(graphs), _TOGETHER):
            some = tuple(graphs[start : start + _TOGETHER])
            values = " ".join(map(str, some))
            text = f"SELECT ?g {{ VALUES ?g {{ {values} }} FILTER EXISTS {{ GRAPH ?g {{ ?s ?p ?o }} }} }}"
            answer = self.query(text, Dataset((), some), QueryResultsFormat.JSON, RdfFormat.N_TRIPLES, 30.0)
            with closing(answer.chunks):
                named = _named(b"".join(answer.chunks))
            if named is None:
                raise self._api.strange("answers a query with something else")
            found += [graph for graph in some if graph.value in named]
        return found

    def query(
        self,
        text: str,
        dataset: Dataset,
        results: QueryResultsFormat,
        graphs: RdfFormat,
        timeout_s: float,
        stop: Stop | None = None,
    ) -> Answer:
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
            stop=stop,
        )
        if reply.status == 400:
            raise self._refusal(reply)
        self._api.check(reply)
        forms = {form.media_type.partition(";")[0]: form for form in (results, graphs)}
        if reply.media_type not in forms:
            kind = excerpt(reply.media_type) or "no type"
            reply.close()
            raise self._api.strange(f"answers a query with {kind}")
        chunks = self._chunks(reply, ends, timeout_s)
        next(chunks)  # so that closing it runs to its end
        return Answer(forms[reply.media_type], chunks)

    def _chunks(self, reply: Reply, ends: float, timeout_s: float) -> Generator[bytes, None, None]:
        body: Iterator[bytes] = reply.chunks()
        try:
            yield b""
            yield from body
        except GraphUnavailable:
            if time.monotonic() < ends - timeout_s / 20:
                raise
            raise QueryTimeout(  # the server breaks an answer off when its time is over
                f"{self._api.url} broke off its answer when its time, {timeout_s:g} s, was over",
                hint="ask for less",
                details={"endpoint": self._api.url},
            ) from None
        finally:
            reply.close()

    def _refusal(self, reply: Reply) -> Exception:
        """The error for a text that the server does not take, with its place where the server names it."""
        told, said = said_of(reply)
        details: Any = told.get("details")
        at = ""
        if isinstance(details, dict) and all(type(details.get(key)) is int for key in ("line", "column")):
            at = f"error at {details['line']}:{details['column']}: "
        return InvalidArguments(
            at + (_PLACE.sub("", said) or f"the query is not taken by {self._api.url}"),
            hint=excerpt(str(told.get("hint", ""))),
            details={"field": "query"},
        )

    def _known(self, graphs: tuple[NamedNode, ...]) -> dict[NamedNode, Spot]:
        spots = {graph: self._graphs.locate(graph) for graph in graphs}
        return {graph: spot for graph, spot in spots.items() if spot.kind is not Kind.INDEX}

    def _address(self, namespaces: list[str]) -> str:
        return f"{self._api.url}/sparql?{urlencode([('namespace', name) for name in namespaces])}"


def _over_nothing(text: str, results: QueryResultsFormat, graphs: RdfFormat, timeout_s: float) -> Answer:
    from cortex_graph.stores.embedded import OxigraphStore

    return OxigraphStore().query(text, Dataset(()), results=results, graphs=graphs, timeout_s=timeout_s)


def _named(body: bytes) -> set[str] | None:
    """The IRIs that the rows of an answer bind to `g`."""
    try:
        return {row["g"]["value"] for row in json.loads(body)["results"]["bindings"]}
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
