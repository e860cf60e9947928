"""Indexing a large graph blocks no caller, resumes after an interruption, and is complete."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyoxigraph import Quad

from cortex_graph import GraphBusy, GraphUnavailable, NamespacedGraph, Pattern, import_rdf, open_store
from cortex_graph.index import index_build as indexing
from cortex_graph.index import triple_index
from cortex_graph.index.index_build import reached_marks
from cortex_graph.stores.embedded import OxigraphStore

UNKNOWN = "0" * 64
TRIPLES = 47
WAIT_S = 100  # generous: only so that a test ends


class Slow(OxigraphStore):
    """A store that writes as many chunks of an index as `allowed`, then waits, or fails when `fails` is set."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.allowed = threading.Semaphore(0)
        self.written = threading.Semaphore(0)
        self.fails = False
        self.chunks: list[int] = []

    def apply(self, insert: Iterable[Quad] = (), remove: Iterable[Quad] = ()) -> None:
        insert = list(insert)
        if any(quad.subject != quad.graph_name for quad in insert):  # entries, and no marks
            assert self.allowed.acquire(timeout=WAIT_S)
            if self.fails:
                raise GraphUnavailable("the disk is full")
            self.chunks.append(len(insert))
        super().apply(insert, remove)
        if any(str(quad.object).startswith('"after ') for quad in insert):
            self.written.release()

    def go_on(self, *, then_fail: bool = False, chunks: int = 1000) -> None:
        self.fails = then_fail
        self.allowed.release(chunks)


class Paged(Slow):
    """The same, with streams without a stable order."""

    keeps_order = False


@pytest.fixture(autouse=True)
def _chunks_of_ten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triple_index, "SMALL", 0)
    monkeypatch.setattr(indexing, "CHUNK", 10)
    monkeypatch.setattr(indexing, "MAX_WAIT_S", 0.01)


@pytest.fixture(params=[Slow, Paged])
def slow(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Slow]:
    store: Slow = request.param(tmp_path / "store")
    yield store
    store.go_on()
    with store.maintenance:
        store.close()


def filled(store: Slow) -> list[str]:
    rows = [{"subject": f"s{n}", "predicate": "p", "object": n} for n in range(TRIPLES)]
    return [row["id"] for row in NamespacedGraph(store, "mayros").create_triples(rows)]


def cut_short(store: Slow) -> None:
    """Index the first twenty triples."""
    graph = NamespacedGraph(store, "mayros")
    store.go_on(chunks=2)
    with pytest.raises(GraphBusy):
        graph.get_triple(UNKNOWN)
    assert store.written.acquire(timeout=WAIT_S)
    assert store.written.acquire(timeout=WAIT_S)
    store.go_on(then_fail=True)
    with pytest.raises(GraphUnavailable):
        graph.index.complete()
    store.chunks.clear()
    store.fails = False


def entries(store: Slow) -> int:
    names = NamespacedGraph(store, "mayros").names
    return store.count(Pattern(names.index_graph)) - store.count(Pattern(names.index_graph, names.index_graph))


def test_a_caller_gets_busy_while_the_index_is_made(slow: Slow) -> None:
    ids = filled(slow)
    graph = NamespacedGraph(slow, "mayros")
    slow.go_on(chunks=1)
    for _ in range(2):
        with pytest.raises(GraphBusy) as caught:
            graph.get_triple(UNKNOWN)
    assert caught.value.details["indexed"] in (0, 10)
    assert graph.create_triple({"subject": "late", "predicate": "p", "object": "x"})["created"]
    assert graph.list_triples({"subject": "s7"})["total"] == 1
    slow.go_on()
    graph.index.complete()
    assert graph.get_triple(UNKNOWN) is None
    assert all(NamespacedGraph(slow, "mayros").get_triple(triple_id) for triple_id in ids)
    assert entries(slow) == TRIPLES + 1


def test_another_graph_object_of_the_namespace_does_not_index_it_as_well(slow: Slow) -> None:
    filled(slow)
    with pytest.raises(GraphBusy, match="for the first time"):
        NamespacedGraph(slow, "mayros").get_triple(UNKNOWN)
    with pytest.raises(GraphBusy, match="imported or indexed"):
        NamespacedGraph(slow, "mayros").get_triple(UNKNOWN)


def test_what_was_cut_short_goes_on_from_there(slow: Slow) -> None:
    ids = filled(slow)
    cut_short(slow)
    assert entries(slow) == 20
    slow.go_on()
    again = NamespacedGraph(slow, "mayros")
    again.index.complete()
    assert sum(slow.chunks) == TRIPLES - 20
    assert entries(slow) == TRIPLES
    assert reached_marks(slow, again.names) == []
    assert all(again.get_triple(triple_id) for triple_id in ids)


def test_it_makes_way_for_who_waits_to_import_and_misses_nothing_of_that(slow: Slow) -> None:
    filled(slow)
    graph = NamespacedGraph(slow, "mayros")
    with pytest.raises(GraphBusy):
        graph.get_triple(UNKNOWN)
    importer = threading.Thread(target=lambda: slow.maintenance.acquire(timeout=WAIT_S))
    importer.start()
    while importer.is_alive():
        slow.go_on(chunks=1)
        importer.join(5)
    with pytest.raises(GraphBusy, match="by another"):
        graph.index.complete()
    assert 0 < sum(slow.chunks) < TRIPLES
    graph.index.forget_completeness()
    slow.maintenance.release()
    slow.go_on()
    graph.index.complete()
    assert entries(slow) == TRIPLES


def test_it_ends_after_an_import_between_two_chunks(slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = filled(slow)
    graph = NamespacedGraph(slow, "mayros")
    slept = []

    def sleep(_: float) -> None:
        if not slept:
            slept.append(graph.index.forget_completeness())

    monkeypatch.setattr(indexing, "time", SimpleNamespace(sleep=sleep))  # not the module: other threads sleep, too
    slow.go_on()
    with pytest.raises(GraphBusy, match="by another"):
        graph.index.complete()
    graph.index.complete()
    assert sum(slow.chunks) == 10 + TRIPLES
    assert all(NamespacedGraph(slow, "mayros").get_triple(triple_id) for triple_id in ids)


def test_it_starts_over_when_the_triple_that_it_got_to_has_gone(slow: Slow) -> None:
    ids = filled(slow)
    cut_short(slow)
    graph = NamespacedGraph(slow, "mayros")
    twentieth = list(slow.quads(Pattern(graph.names.graph)))[19]
    assert slow.remove(twentieth)
    slow.go_on()
    graph.index.complete()
    assert sum(slow.chunks) == TRIPLES - 1
    found = [triple_id for triple_id in ids if NamespacedGraph(slow, "mayros").get_triple(triple_id)]
    assert found == [triple_id for triple_id in ids if triple_id != graph.index.hash_of(twentieth)]


def test_it_starts_over_when_something_was_imported_meanwhile(slow: Slow) -> None:
    filled(slow)
    cut_short(slow)
    graph = NamespacedGraph(slow, "mayros")
    lines = b"".join(b'<urn:s%d> <urn:p> "imported" .\n' % n for n in range(30))
    import_rdf(graph, io.BytesIO(lines), "n-triples")
    slow.go_on()
    graph.index.complete()
    assert entries(slow) == TRIPLES + 30
    rows = graph.list_triples({"object": "imported"})["triples"]
    assert len(rows) == 30
    assert all(NamespacedGraph(slow, "mayros").get_triple(row["id"]) for row in rows)


def test_a_store_that_is_closed_ends_it_and_can_be_opened_again(tmp_path: Path) -> None:
    store = Slow(tmp_path / "store")
    filled(store)
    graph = NamespacedGraph(store, "mayros")
    with pytest.raises(GraphBusy):
        graph.get_triple(UNKNOWN)
    store.close()
    store.go_on()
    with store.maintenance:
        pass
    again = open_store(tmp_path / "store")
    NamespacedGraph(again, "mayros").index.complete()
    assert NamespacedGraph(again, "mayros").get_triple(UNKNOWN) is None
    again.close()


def test_a_shared_folder_is_released_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "CHUNK", 1)
    store = open_store(tmp_path / "store")
    rows = [{"subject": f"s{n}", "predicate": "p", "object": n} for n in range(5_000)]
    NamespacedGraph(store, "mayros").create_triples(rows)
    index = NamespacedGraph(store, "mayros").index
    with pytest.raises(GraphBusy):
        index.complete(0.0)
    store.close()
    with pytest.raises(GraphUnavailable, match="is closed"):
        index.complete()
    again = open_store(tmp_path / "store")
    assert again.maintenance.acquire(timeout=WAIT_S)
    again.maintenance.release()
    again.close()


def test_a_process_that_ends_does_not_wait_for_it(tmp_path: Path) -> None:
    program = """
import sys
from cortex_graph import GraphBusy, NamespacedGraph, open_store
from cortex_graph.index import triple_index
from cortex_graph.index import index_build as indexing
triple_index.SMALL, indexing.CHUNK, indexing.MAX_WAIT_S = 0, 1, 0.0
graph = NamespacedGraph(open_store(sys.argv[1]), "mayros")
graph.create_triples({"subject": f"s{n}", "predicate": "p", "object": n} for n in range(20_000))
graph = NamespacedGraph(graph.store, "mayros")
try:
    graph.get_triple("0" * 64)
except GraphBusy:
    print("busy")
"""
    folder = tmp_path / "store"
    done = subprocess.run([sys.executable, "-c", program, folder], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "busy\n", "")
    store = open_store(folder)
    graph = NamespacedGraph(store, "mayros")
    assert store.count(Pattern(graph.names.index_graph)) < 20_000
    store.close()
