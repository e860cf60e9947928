"""The stores under test. Each is opened when a test of a worker first needs it, and lives until its end."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from pyoxigraph import NamedNode, Quad

from cortex_graph import GraphStore, NamespacedGraph, open_store
from cortex_graph.stores.remote.engines import OTHER
from cortex_graph.stores.remote.sparql_store import RemoteStore
from tests.graph.conformance.kinds import KINDS, Kind, Subject
from tests.graph.cortex.support import cortex_at
from tests.graph.shared.processes import owner_of
from tests.server.serving import served
from tests.services.oxigraph import Oxigraph, oxigraph
from tests.services.virtuoso import Unavailable, Virtuoso, virtuoso

_numbers = count()
PATIENT_S = 100.0  # for one request, since the machine may be busy


_PARAMS = [
    pytest.param(kind, id=kind.name.removesuffix("_store"), marks=[pytest.mark.extended] if kind.extended else [])
    for kind in KINDS
]


@pytest.fixture(params=_PARAMS)
def subject(request: pytest.FixtureRequest) -> Subject:
    kind: Kind = request.param
    return Subject(kind, request.getfixturevalue(kind.name))


@pytest.fixture
def store(subject: Subject) -> GraphStore:
    return subject.store


@pytest.fixture
def kind(subject: Subject) -> Kind:
    return subject.kind


@pytest.fixture
def name() -> NamedNode:
    """A graph that no other test has used."""
    return NamedNode(f"urn:cortex:t{next(_numbers)}")


@pytest.fixture
def graph(store: GraphStore) -> NamespacedGraph:
    """A namespace that no other test has used."""
    return NamespacedGraph(store, f"n{next(_numbers)}")


@pytest.fixture(scope="session")
def memory_store() -> Iterator[GraphStore]:
    yield from _opened("memory:")


@pytest.fixture(scope="session")
def disk_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    yield from _opened(str(tmp_path_factory.mktemp("disk") / "store"))


@pytest.fixture(scope="session")
def owned_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    folder = tmp_path_factory.mktemp("owned") / "store"
    with owner_of(folder):
        yield from _opened(str(folder))


@pytest.fixture(scope="session")
def oxigraph_server() -> Iterator[Oxigraph]:
    with oxigraph() as server:
        yield server


@pytest.fixture(scope="session")
def oxigraph_store(oxigraph_server: Oxigraph) -> Iterator[GraphStore]:
    yield from _opened(oxigraph_server.url)


@pytest.fixture(scope="session")
def unknown_server_store(oxigraph_server: Oxigraph) -> Iterator[GraphStore]:
    """A server without a known `Server` header: neither lexical forms nor an order are assumed."""
    for store in _opened(oxigraph_server.url):
        store._known = OTHER  # type: ignore[attr-defined]
        yield store


@pytest.fixture(scope="session")
def virtuoso_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Virtuoso]:
    try:
        with virtuoso(tmp_path_factory.mktemp("virtuoso")) as server:
            yield server
    except Unavailable as error:
        pytest.skip(f"no Virtuoso: {error}")


@pytest.fixture(scope="session")
def virtuoso_store(virtuoso_server: Virtuoso) -> Iterator[GraphStore]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEST_VIRTUOSO_PASSWORD", "dba")
        store = open_store(
            {
                "query": f"{virtuoso_server.url}/sparql-auth",
                "auth": {"type": "digest", "user": "dba", "password": "${TEST_VIRTUOSO_PASSWORD}"},
            }
        )
    assert isinstance(store, RemoteStore)
    store._client.timeout_s = PATIENT_S
    # With a few thousand quads it chooses other plans, which return other terms for equal values.
    others = [
        Quad(
            NamedNode(f"urn:s{i % 997}"),
            NamedNode(f"urn:p{i % 20}"),
            NamedNode(f"urn:o{i % 991}"),
            NamedNode(f"urn:g{i // 500}"),
        )
        for i in range(3_000)
    ]
    store.bulk_insert(others)
    yield store
    store.close()


@pytest.fixture(scope="session")
def cortex_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    with served(tmp_path_factory.mktemp("cortex")) as server, cortex_at(server) as store:
        store._api.client.timeout_s = PATIENT_S
        yield store


def _opened(where: str) -> Iterator[GraphStore]:
    store = open_store(where)
    if isinstance(store, RemoteStore):
        store._client.timeout_s = PATIENT_S
    yield store
    store.close()
