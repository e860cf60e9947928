"""Rows of a graph on `oxigraph serve`, compared with one raw request of the same bytes.

A triple with its record is compared with the one update that writes it, a page of 20 with its total with the one query
that returns its rows. The second request of a write asks whether the triple is there.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path

import httpx

from bench.measure import Row, in_turn_s
from bench.remote import serving
from cortex_graph import NamespacedGraph, Provenance, open_store
from cortex_graph.stores.http.client import HttpClient

_WRITES = {"content-type": "application/sparql-update"}
_READS = {"content-type": "application/x-www-form-urlencoded", "accept": "application/sparql-results+json"}


def rows() -> list[Row]:
    """A create and a query."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as url, httpx.Client(trust_env=False) as raw:
        store = open_store(url)
        graph, numbers = NamespacedGraph(store, "mayros"), count(1_000_000)

        def create(number: int) -> None:
            triple = {"subject": "nails", "predicate": "inStock", "object": f"value {number}"}
            graph.create_triple(triple, Provenance(agent="a1"))

        def page() -> None:
            assert graph.list_triples({"subject": "nails", "limit": 20})["total"] == 100

        for _ in range(200):
            create(next(numbers))
        update = _sent(lambda: create(999_999))[-1].decode()
        query = _sent(page)[-1]

        def post(path: str, body: str | bytes, headers: dict[str, str]) -> None:
            raw.post(url.removesuffix("/query") + path, content=body, headers=headers).raise_for_status()

        def write() -> None:
            post("/update", update.replace("value 999999", f"value {next(numbers)}"), _WRITES)

        written, writes = in_turn_s([lambda: create(next(numbers)), write], 1, rounds=200, of=min)
        read, reads = in_turn_s([page, lambda: post("/query", query, _READS)], 1, rounds=200, of=min)
        store.close()
    return [
        Row("a triple with its record, on a server", written, "one raw update", writes, 3),
        Row("a page of 20 with its total, on a server", read, "one raw query", reads, 2),
    ]


def _sent(work: Callable[[], object]) -> list[bytes]:
    """The bodies of the requests that something sends."""
    found: list[bytes] = []
    send = HttpClient.send

    def noting(client: HttpClient, method: str, url: str, **given: object) -> object:
        found.append(given.get("body", b""))  # type: ignore[arg-type]
        return send(client, method, url, **given)  # type: ignore[arg-type]

    HttpClient.send = noting  # type: ignore[method-assign, assignment]
    try:
        work()
    finally:
        HttpClient.send = send  # type: ignore[method-assign]
    return found
