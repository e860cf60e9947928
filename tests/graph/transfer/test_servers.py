"""The same with real SPARQL servers: `oxigraph serve`, and Virtuoso where it can be had."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from cortex_graph import GraphStore, GraphUnavailable, NamespacedGraph, open_store
from cortex_graph.transfer import back_up, copy_store, import_file, restore
from tests.graph.transfer.support import assert_some, exported, lines
from tests.services.oxigraph import oxigraph
from tests.services.virtuoso import Unavailable, virtuoso


@pytest.fixture(scope="module", params=["oxigraph", pytest.param("virtuoso", marks=pytest.mark.extended)])
def address(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    if request.param == "oxigraph":
        with oxigraph() as server:
            yield server.url
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEST_VIRTUOSO_PASSWORD", "dba")
        auth = {"type": "digest", "user": "dba", "password": "${TEST_VIRTUOSO_PASSWORD}"}
        try:
            with virtuoso(tmp_path_factory.mktemp("virtuoso")) as started:
                yield {"query": f"{started.url}/sparql-auth", "auth": auth}
        except Unavailable as error:
            pytest.skip(f"no Virtuoso: {error}")


@pytest.fixture
def server(address: object) -> Iterator[GraphStore]:
    store = open_store(address)
    yield store
    for graph in store.graph_names():
        if graph.value.startswith("urn:cortex:"):
            from cortex_graph.store import Pattern

            store.apply(remove=list(store.quads(Pattern(graph))))
    store.close()


@pytest.fixture
def filled() -> NamespacedGraph:
    graph = NamespacedGraph(open_store("memory:"), "mayros")
    assert_some(graph, 40)
    for value in ("é\n\"'", 1.5, True, {"node": "b c"}, {"value": "2026-01-01", "datatype": DATE}):
        graph.create_triple({"subject": "a", "predicate": "p", "object": value})
    return graph


DATE = "http://www.w3.org/2001/XMLSchema#date"


def test_a_copy_to_a_server_and_back_is_the_same(server: GraphStore, filled: NamespacedGraph) -> None:
    there = copy_store(filled.store, server)
    assert [copied.extra for copied in there] == [0, 0]
    copy = open_store("memory:")
    back = copy_store(server, copy)
    assert [copied.triples for copied in back] == [copied.triples for copied in there]
    ids = [row["id"] for row in filled.list_triples({"predicate": "p", "limit": 1000})["triples"]]
    again = NamespacedGraph(copy, "mayros")
    assert {again.get_triple(triple_id)["subject"] for triple_id in ids[:5]}
    assert copy_store(filled.store, server)[0].extra == 0


def test_provenance_is_imported_into_a_server(server: GraphStore, filled: NamespacedGraph) -> None:
    file = exported(filled, with_provenance=True)
    graph = NamespacedGraph(server, "mayros")
    done = import_file(graph, io.BytesIO(file), "n-quads", with_provenance=True)
    assert (done.statements, done.records, done.left_out) == (45, 40, 0)
    again = import_file(graph, io.BytesIO(file), "n-quads", with_provenance=True)
    assert again == done
    assert graph.count() == 45


def test_a_server_is_backed_up_and_restored(
    server: GraphStore, address: object, filled: NamespacedGraph, tmp_path: Path
) -> None:
    copy_store(filled.store, server)
    made = back_up(server, tmp_path / "backup")
    assert made.kind == "triples"
    before = lines(NamespacedGraph(server, "mayros"))
    NamespacedGraph(server, "mayros").create_triple({"subject": "later", "predicate": "p", "object": "x"})
    restore(tmp_path / "backup", address, replace=True)  # type: ignore[arg-type]
    assert lines(NamespacedGraph(server, "mayros")) == before
    restore(tmp_path / "backup", tmp_path / "folder")
    local = open_store(tmp_path / "folder")
    assert NamespacedGraph(local, "mayros").count() == 45
    local.close()


def test_a_server_that_is_not_there_is_named_and_nothing_is_made(tmp_path: Path, filled: NamespacedGraph) -> None:
    nowhere = open_store("http://127.0.0.1:9/query")
    with pytest.raises(GraphUnavailable, match=r"127\.0\.0\.1"):
        copy_store(nowhere, filled.store)
    with pytest.raises(GraphUnavailable, match=r"127\.0\.0\.1"):
        back_up(nowhere, tmp_path / "backup")
    assert list(tmp_path.iterdir()) == []
    nowhere.close()
