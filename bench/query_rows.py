"""Rows of the HTTP API on a million triples: the predicates of a namespace, and 100 rows of SPARQL, also after a write.

Rules kept here:
- the server runs in a process of its own, as `oxigraph serve` does; both answer over HTTP on loopback, and their
  answers are compared before anything is measured;
- the predicates are compared with the query on the raw store, in this process and without HTTP. Each request comes
  right after a write that has a new predicate.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path

import httpx
from pyoxigraph import Store

from bench.measure import Row, in_turn_s, measured_in_turn_s
from bench.remote import serving
from bench.stores import Shape, cache, copy_of
from cortex_skills.tokens import TokenFile, new_token
from tests.server.serving import Process

SHAPE = Shape(1_000_000)
GRAPH = "urn:cortex:mayros"
ROWS = f"SELECT ?s ?name {{ ?s <{GRAPH}:hasName> ?name }} LIMIT 100"
PREDICATES = f"SELECT DISTINCT ?p {{ GRAPH <{GRAPH}> {{ ?s ?p ?o }} }}"
WAIT_S = 100.0


def rows() -> list[Row]:
    """All rows."""
    cache().mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=cache())))
        ours = _served(stack, scratch)
        theirs = stack.enter_context(serving(copy_of(SHAPE, scratch / "other")))
        client = stack.enter_context(closing(httpx.Client(timeout=WAIT_S, trust_env=False)))
        return [_predicates(ours, scratch), _sparql(ours, client, theirs), _after_a_write(ours)]


def _served(stack: ExitStack, scratch: Path) -> httpx.Client:
    copy_of(SHAPE, scratch / "store")
    token, text = new_token("bench", ("mayros",), ("read", "write"), None, datetime.now(UTC))
    TokenFile(scratch / "tokens.json").add(token)
    server = Process(scratch)
    stack.callback(server.end)
    headers = {"Authorization": f"Bearer {text}"}
    client = httpx.Client(base_url=server.url, headers=headers, timeout=WAIT_S, trust_env=False)
    return stack.enter_context(closing(client))


def _predicates(ours: httpx.Client, scratch: Path) -> Row:
    raw = Store(copy_of(SHAPE, scratch / "raw"))
    numbers = count()

    def written() -> None:
        number = next(numbers)
        triple = {"subject": f"new:{number}", "predicate": f"isNew{number}", "object": number}
        ours.post("/api/v1/triples", json=triple).raise_for_status()

    def listed() -> int:
        found = ours.get("/api/v1/query/predicates", params={"limit": 1000}).raise_for_status().json()
        return len(found["predicates"])

    def of_raw() -> int:
        return len(list(raw.query(PREDICATES)))  # type: ignore[arg-type]

    def timed(ask: Callable[[], int], *, write: bool) -> float:
        if write:
            written()
        start = time.perf_counter()
        ask()
        return time.perf_counter() - start

    written()  # from here on the store keeps what changes
    while not ours.get("/api/v1/counts").raise_for_status().json()["current"]:
        time.sleep(0.1)
    mine, its = measured_in_turn_s([partial(timed, listed, write=True), partial(timed, of_raw, write=False)], rounds=9)
    if (found := listed()) != of_raw() + next(numbers):
        raise RuntimeError(f"different predicates: {found}")
    shutil.rmtree(scratch / "raw", ignore_errors=True)
    name = f"`/api/v1/query/predicates` at {SHAPE}, right after a write"
    return Row(name, mine, "`SELECT DISTINCT ?p` on the raw store", its, 0.01)


def _sparql(ours: httpx.Client, client: httpx.Client, theirs: str) -> Row:
    headers = {"Accept": "application/sparql-results+json"}
    asked = [
        partial(ours.get, "/sparql", params={"query": ROWS}, headers=headers),
        partial(client.get, theirs, params={"query": ROWS, "default-graph-uri": GRAPH}, headers=headers),
    ]
    mine, its = (len(ask().raise_for_status().json()["results"]["bindings"]) for ask in asked)
    if (mine, its) != (100, 100):
        raise RuntimeError(f"{mine} and {its} rows")
    mine_s, its_s = in_turn_s(asked, 10)
    return Row(f"`/sparql`, 100 rows of {SHAPE}", mine_s, "`oxigraph serve`, same data", its_s, 1.2)


def _after_a_write(ours: httpx.Client) -> Row:
    number = count()
    headers = {"Accept": "application/sparql-results+json"}

    def asked(*, write: bool) -> float:
        if write:
            triple = {"subject": f"new:{next(number)}", "predicate": "hasNote", "object": "new"}
            ours.post("/api/v1/triples", json=triple).raise_for_status()
        start = time.perf_counter()
        ours.get("/sparql", params={"query": ROWS}, headers=headers).raise_for_status()
        return time.perf_counter() - start

    measures = [partial(asked, write=True), partial(asked, write=False)]
    after_s, alone_s = measured_in_turn_s(measures, rounds=200)
    return Row("`/sparql`, 100 rows, right after a write", after_s, "the same without a write", alone_s, 2)
