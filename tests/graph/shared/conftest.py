"""A client of a folder that another process owns, with a separate graph for each test."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from pyoxigraph import NamedNode

from cortex_graph import GraphStore, open_store
from tests.graph.shared.processes import end, owner_of, started

_numbers = count()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    folder = tmp_path_factory.mktemp("owned") / "store"
    with owner_of(folder):
        store = open_store(folder)
        yield store
        store.close()


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    """A test that fails half-way ends the processes that it would have waited for."""
    before = len(started)
    yield
    for process in started[before:]:
        end(process)
    del started[before:]


@pytest.fixture
def name() -> NamedNode:
    """A graph that no other test has used."""
    return NamedNode(f"urn:test:{next(_numbers)}")
