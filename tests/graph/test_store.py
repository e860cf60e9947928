"""Stores: opened, locked, closed, killed; and the operations that the client of a namespace does not need itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import GraphStore, GraphUnavailable, NamespacedGraph, Pattern, open_store
from cortex_graph.store import Identifying
from cortex_graph.stores.embedded import OxigraphStore

TRIPLE = {"subject": "a", "predicate": "p", "object": 1}
GRAPH, OTHER, NODE = NamedNode("urn:g"), NamedNode("urn:h"), NamedNode("urn:s")

WRITER = """
import sys
from pathlib import Path
from cortex_graph import NamespacedGraph, open_store
graph = NamespacedGraph(open_store(Path(sys.argv[1])), "mayros")
print("open", flush=True)
for number in range(int(sys.argv[2])):
    print(graph.create_triple({"subject": "s", "predicate": "p", "object": number})["id"], flush=True)
sys.stdin.read()
"""


def quad(number: int, graph: NamedNode = GRAPH) -> Quad:
    return Quad(NODE, NODE, Literal(number), graph)


def writer(folder: Path, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_a_folder_that_another_process_has_open_is_shared_with_it(tmp_path: Path) -> None:
    with writer(tmp_path / "store", 3) as owner:
        assert owner.stdout
        assert owner.stdout.readline() == "open\n"
        ids = [owner.stdout.readline().strip() for _ in range(3)]
        graph = NamespacedGraph(open_store(tmp_path / "store"), "mayros")
        assert [graph.get_triple(triple_id)["object"] for triple_id in ids] == [0, 1, 2]  # type: ignore[index]
        owner.communicate("")
    assert graph.count() == 3


def test_a_folder_that_this_process_has_open_is_open_until_the_last_is_closed(tmp_path: Path) -> None:
    first, second = open_store(tmp_path), open_store(tmp_path)
    first.insert([[quad(1)]])
    first.close()
    assert second.contains(quad(1))
    with pytest.raises(GraphUnavailable, match="closed"):
        first.contains(quad(1))
    second.close()
    OxigraphStore(tmp_path).close()


def test_what_was_acknowledged_is_there_after_kill_9(tmp_path: Path) -> None:
    with writer(tmp_path / "store", 100_000) as victim:
        assert victim.stdout
        assert victim.stdout.readline() == "open\n"
        acknowledged = [victim.stdout.readline().strip() for _ in range(500)]
        victim.send_signal(signal.SIGKILL)
        acknowledged += [line.strip() for line in victim.stdout if len(line) == 65]
    graph = NamespacedGraph(open_store(tmp_path / "store"), "mayros")
    assert all(graph.get_triple(triple_id) for triple_id in acknowledged)
    assert graph.count() >= len(acknowledged) >= 500


@pytest.mark.parametrize("form", ["path", "text", "url"])
def test_a_folder_keeps_what_was_written(tmp_path: Path, form: str) -> None:
    folder = tmp_path / "a b" / "störe"
    where = {"path": folder, "text": str(folder), "url": folder.as_uri()}[form]
    store = open_store(where)
    triple_id = NamespacedGraph(store, "mayros").create_triple(TRIPLE)["id"]
    store.flush()
    store.close()
    graph = NamespacedGraph(open_store(folder), "mayros")
    assert graph.get_triple(triple_id) == {"id": triple_id, "subject": "mayros:a", "predicate": "mayros:p", "object": 1}
    assert graph.delete_triple(triple_id)
    graph.store.close()
    assert NamespacedGraph(open_store(folder), "mayros").count() == 0


class Flushed:
    """A store that counts its flushes."""

    def __init__(self, store: Any, told: list[bool]) -> None:
        self._store, self._told = store, told

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def __contains__(self, found: Quad) -> bool:
        return found in self._store

    def flush(self) -> None:
        self._store.flush()
        self._told.append(True)


def test_the_log_that_is_read_after_a_kill_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cortex_graph.stores.embedded._SETTLED_AFTER", 100)
    store = OxigraphStore(tmp_path / "store")
    flushed = []
    monkeypatch.setattr(store._changes, "flush", lambda: flushed.append(True))
    for number in range(33):
        store.insert([[quad(number), quad(number, OTHER), quad(-number - 1)]])
    assert flushed == []
    store.apply([quad(100)], [quad(0)])
    assert flushed == [True]
    store.insert([[quad(number)] for number in range(200, 300)])
    assert flushed == [True, True]
    store.remove(quad(200))
    assert store.count(Pattern(GRAPH)) == 165
    store.close()


def test_a_folder_that_is_opened_again_and_again_does_not_fill_with_logs(tmp_path: Path) -> None:
    for number in range(8):
        store = OxigraphStore(tmp_path / "store")
        store.insert([[quad(number)]])
        store.close()
    assert len(list((tmp_path / "store").glob("LOG.old.*"))) <= 3
    assert OxigraphStore.read_only(tmp_path / "store").count(Pattern(GRAPH)) == 8


def test_a_new_folder_is_the_users_own(tmp_path: Path) -> None:
    open_store(tmp_path / "store").close()
    assert (tmp_path / "store").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("where", ["s3://b", "file://host/x", "file:"])
def test_an_unknown_kind_of_store_is_an_error(where: str) -> None:
    with pytest.raises(GraphUnavailable) as caught:
        open_store(where)
    assert caught.value.code == "graph_unavailable"
    assert where in str(caught.value)
    assert caught.value.hint


def test_a_folder_that_cannot_be_a_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "CURRENT").write_text("garbage\n")
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "letter.txt").write_text("x")
    for folder in ("file", "file/below", "broken", "documents", "nul\0byte"):
        with pytest.raises(GraphUnavailable) as caught:
            open_store(tmp_path / folder)
        assert caught.value.details["folder"] == str(tmp_path / folder)
    assert [entry.name for entry in (tmp_path / "documents").iterdir()] == ["letter.txt"]


def test_a_folder_where_nothing_can_be_written_is_refused() -> None:
    with pytest.raises(GraphUnavailable, match="cannot be used"):
        open_store("/proc/cortex")


def test_a_closed_store_answers_nothing(store: GraphStore) -> None:
    graph = NamespacedGraph(store, "mayros")
    store.close()
    store.close()
    for operation in (
        graph.count,
        graph.list_triples,
        store.graph_names,
        store.flush,
        lambda: graph.create_triple(TRIPLE),
    ):
        with pytest.raises(GraphUnavailable, match="closed"):
            operation()


def test_a_change_removes_and_inserts_at_once(store: GraphStore) -> None:
    store.insert([[quad(1)], [quad(2)]])
    store.apply(insert=[quad(3)], remove=[quad(1), quad(9)])
    store.apply()
    assert sorted(int(found.object.value) for found in store.quads(Pattern(GRAPH))) == [2, 3]  # type: ignore[union-attr]


def test_a_group_is_written_when_its_first_quad_is_new(store: GraphStore) -> None:
    assert store.insert([[quad(1), quad(10)], [quad(2), quad(20)], [quad(1), quad(11)]]) == [True, True, False]
    assert store.insert([[quad(1), quad(12)]]) == [False]
    assert store.insert([[quad(1)], [quad(3)]]) == [False, True]
    assert sorted(int(found.object.value) for found in store.quads(Pattern(GRAPH))) == [1, 2, 3, 10, 20]  # type: ignore[union-attr]


def test_a_quad_goes_with_what_hangs_on_it(store: GraphStore) -> None:
    store.insert([[quad(1), quad(1, OTHER), quad(2, OTHER)]])
    assert store.remove(quad(5), [(OTHER, NODE)]) is False
    assert store.count(Pattern(OTHER)) == 2
    assert store.remove(quad(1), [(OTHER, NODE)]) is True
    assert store.count(Pattern(OTHER)) == 0
    assert store.graph_names() == []


@pytest.mark.parametrize(("ceiling", "count"), [(None, 5), (3, 3), (5, 5), (9, 5), (0, 0)])
def test_a_count_stops_at_its_ceiling(store: GraphStore, ceiling: int | None, count: int) -> None:
    store.insert([[quad(number)] for number in range(5)])
    store.insert([[quad(7, OTHER)]])
    assert store.count(Pattern(GRAPH), ceiling) == count
    assert store.count(Pattern(GRAPH, NODE, NODE, Literal(1))) == 1
    assert store.graph_names() in ([GRAPH, OTHER], [OTHER, GRAPH])


def test_a_cached_count_is_current_after_every_kind_of_write(tmp_path: Path) -> None:
    store, pattern = OxigraphStore(), Pattern(GRAPH)
    file = tmp_path / "more.nt"
    file.write_text(f"{quad(6).triple} .\n")
    counts = []

    def told() -> None:
        counts.append((store.count(pattern), store.count(pattern), store.count(pattern, 2)))

    for write in (
        lambda: None,
        lambda: store.insert([[quad(1)]]),
        lambda: store.insert([[quad(2)], [quad(3, OTHER), quad(3)]]),
        lambda: store.apply([quad(4)], [quad(1)]),
        lambda: store.apply_at(store.revision([GRAPH]), [GRAPH], [quad(1)], []),
        lambda: store.bulk_insert([quad(5)]),
        lambda: store.bulk_load(file, GRAPH),
        lambda: store.remove(quad(6)),
        lambda: store.remove(quad(1), [(GRAPH, NODE)]),
    ):
        write()
        told()
    assert counts == [(n, n, min(n, 2)) for n in (0, 1, 3, 3, 4, 5, 6, 5, 0)]


def test_a_cached_count_is_not_returned_by_a_closed_store() -> None:
    store = OxigraphStore()
    assert store.count(Pattern(GRAPH)) == 0
    store.close()
    with pytest.raises(GraphUnavailable, match="closed"):
        store.count(Pattern(GRAPH))


@pytest.mark.parametrize("limit", [1, 14, 15, 16, 40])
def test_a_page_is_the_same_whether_it_is_read_by_a_query_or_quad_by_quad(tmp_path: Path, limit: int) -> None:
    graph, other, about = (NamedNode(f"urn:{name}") for name in ("g", "h", "about"))
    objects = [Literal(n) for n in range(20)] + [Literal('a\n"\\\0é', language="en"), Literal(0.5), NamedNode("urn:o")]
    quads = [Quad(NamedNode(f"urn:s{n}"), about, object_, graph) for n, object_ in enumerate(objects)]
    beside = [Quad(NamedNode(f"urn:s{n}"), about, Literal("not here"), other) for n in range(20)]
    store = OxigraphStore(tmp_path / "store")
    store.bulk_insert([*quads, *beside, Quad(about, NamedNode("urn:p"), about, graph)])
    parts = [(None, about, None), (None, None, None), (quads[3].subject, None, None), (None, about, quads[3].object)]
    for pattern in (Pattern(graph, *part) for part in parts):
        found: list[Quad] = []
        cursor = None
        while True:
            page = store.match(pattern, limit, cursor)
            assert page.lines == [str(quad).encode() for quad in page.quads]
            found, cursor = found + page.quads, page.cursor
            if cursor is None:
                break
        assert found == list(store.quads(pattern))
    store.close()


@pytest.mark.skipif(sys.platform != "linux", reason="no limit of the address space")
def test_a_store_is_not_opened_with_so_little_address_space_that_the_engine_aborts(tmp_path: Path) -> None:
    code = (
        "import resource, sys; from cortex_graph import GraphUnavailable, open_store\n"
        "resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))\n"
        "try: open_store(sys.argv[1]).graph_names()\n"
        "except GraphUnavailable as error: print(error.message, error.hint)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "s")], capture_output=True, text=True, check=True)
    assert "the process may use 600 MiB of address space" in done.stdout
    assert "ulimit -v" in done.stdout


_ABANDONED = """
import gc, threading
from cortex_graph import NamespacedGraph, open_store
from cortex_graph.store import Pattern

graph = NamespacedGraph(open_store("memory:"), "mayros")
graph.create_triples([{"subject": f"s{n}", "predicate": "p", "object": n} for n in range(5)])

def abandon():
    quads = graph.store.quads(Pattern(graph.names.graph))
    next(quads)
    cycle = [quads]
    cycle.append(cycle)

gc.disable()
thread = threading.Thread(target=abandon)
thread.start()
thread.join()
gc.collect()
print(graph.count())
"""


def test_a_read_that_was_abandoned_in_a_thread_is_collected_in_another() -> None:
    done = subprocess.run([sys.executable, "-c", _ABANDONED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "5\n"), done.stderr


def test_what_a_store_can_do_is_asked_once_of_its_class() -> None:
    class Finder:
        def find(self) -> None: ...

    assert isinstance(Finder(), Identifying)
    del Finder.find
    assert isinstance(Finder(), Identifying)
    assert not isinstance(object(), Identifying)
