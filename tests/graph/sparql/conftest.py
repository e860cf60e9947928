"""Namespaces with data, and a listener to which no query may connect."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cortex_graph import GraphStore, NamespacedGraph, Provenance, QueryAnswer, open_store

EX = "https://example.org/"


@pytest.fixture(scope="module", params=["memory", "disk"])
def shop_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    """A store for tests that only read."""
    folder: Path = tmp_path_factory.mktemp("graph") / "store"
    opened = open_store("memory:" if request.param == "memory" else folder)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def shop(shop_store: GraphStore) -> NamespacedGraph:
    """Three things, two of which are parts of another, and their prices; beside a look-alike with a secret."""
    graph = NamespacedGraph(shop_store, "shop", vocabularies={"ex": EX})
    rows: list[tuple[str, str, Any]] = [
        ("nails", "price", 3),
        ("hammer", "price", 12),
        ("box", "price", 20),
        ("nails", "partOf", {"node": "box"}),
        ("box", "partOf", {"node": "crate"}),
        ("nails", "ex:label", "Nägel"),
    ]
    graph.create_triples(
        [{"subject": s, "predicate": p, "object": o} for s, p, o in rows], Provenance(agent="a1", skill="stock")
    )
    other = NamespacedGraph(shop_store, "shop-2")
    other.create_triple({"subject": "secret", "predicate": "price", "object": 99}, Provenance(agent="spy"))
    return graph


@pytest.fixture
def unreached() -> Iterator[str]:
    """The URL of a listener on loopback that must have no connection at the end."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        with pytest.raises(BlockingIOError):
            server.accept()


def content(answer: QueryAnswer) -> bytes:
    return b"".join(answer.chunks)


def rows_of(answer: QueryAnswer) -> list[dict[str, str]]:
    """The rows of an answer in JSON, with the values alone."""
    bindings = json.loads(content(answer))["results"]["bindings"]
    return [{name: term["value"] for name, term in row.items()} for row in bindings]


Ask = Callable[[str], list[dict[str, str]]]
