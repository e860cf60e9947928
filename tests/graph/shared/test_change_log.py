"""A store states which subjects were written to: every kind of write, by any process, also after a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import NamespacedGraph, Provenance, open_store
from cortex_graph.store import Following, GraphStore
from cortex_graph.stores import change_log
from cortex_graph.stores.change_log import NAME
from cortex_graph.stores.change_reader import ChangeReader
from cortex_graph.transfer import import_file

GRAPH = NamedNode("urn:cortex:m")


@pytest.fixture(params=["memory", "folder"])
def store(request, tmp_path: Path) -> Iterator[GraphStore]:
    opened = open_store("memory:" if request.param == "memory" else tmp_path / "store")
    yield opened
    opened.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


def written(store: GraphStore, position: str) -> tuple[str, object]:
    """The position, and the local names of the subjects that were written to."""
    assert isinstance(store, Following)
    changes = store.changes_since(position)
    subjects = changes.of(GRAPH)
    return changes.position, None if subjects is None else {subject.rpartition(":")[2] for subject in subjects}


def test_every_kind_of_write_names_its_subjects(store, tmp_path):
    graph = NamespacedGraph(store, "m")
    position, subjects = written(store, "")
    assert subjects is None  # everything may be new
    turtle = tmp_path / "few.ttl"
    turtle.write_text("<urn:cortex:m:f> <urn:cortex:m:p> 1, 'a\\nb' .")
    by = Provenance("shop", "1", "nancy")
    by_id = {}

    def create(subject: str) -> None:
        by_id[subject] = graph.create_triple({"subject": subject, "predicate": "p", "object": 1}, by)["id"]

    for write, expected in (
        (lambda: create("a"), {"a"}),
        (lambda: create("a"), set()),
        (lambda: graph.create_triples([{"subject": s, "predicate": "p", "object": 1} for s in "bc"], by), {"b", "c"}),
        (lambda: graph.withdraw(by_id["a"], by), {"a"}),
        (lambda: create("d"), {"d"}),
        (lambda: graph.delete_triple(by_id["d"]), {"d"}),
        (lambda: graph.update("INSERT DATA { <urn:cortex:m:e> <urn:cortex:m:p> 1 }"), {"e"}),
        (lambda: import_file(graph, turtle), {"f"}),
        (lambda: store.bulk_insert(iter([Quad(GRAPH, GRAPH, Literal(1), GRAPH)])), {"m"}),
    ):
        write()
        position, subjects = written(store, position)
        assert subjects == expected
    assert written(store, position) == (position, set())


def test_of_many_subjects_only_the_graph_is_named(store, monkeypatch):
    monkeypatch.setattr(change_log, "_MOST_SUBJECTS", 3)
    position, _ = written(store, "")
    quads = [Quad(NamedNode(f"urn:s:{number}"), GRAPH, Literal(1), GRAPH) for number in range(4)]
    store.insert([quads])
    position, subjects = written(store, position)
    assert subjects is None
    other = store.changes_since(position)
    assert other.subjects == {}
    store.bulk_insert(quads)
    assert store.changes_since(position).subjects is None


def test_a_position_of_another_store_stands_for_nothing(store, tmp_path):
    other = open_store(tmp_path / "other")
    position = other.changes_since("").position
    other.close()
    for text in (position, "x", ":", "?0", "-1", position + "0"):
        assert written(store, text)[1] is None


WRITER = """
import sys
from cortex_graph import NamespacedGraph, open_store
graph = NamespacedGraph(open_store(sys.argv[1]), "m")
for number in range(10**6):
    graph.create_triple({"subject": f"s{number}", "predicate": "p", "object": number})
    print(number, flush=True)
"""


def test_after_a_kill_every_write_that_was_answered_is_named(folder):
    store = open_store(folder)
    position, _ = written(store, "")
    store.close()
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    for _ in range(50):
        last = int(writer.stdout.readline())
    os.kill(writer.pid, signal.SIGKILL)
    writer.communicate()
    store = open_store(folder)
    after, subjects = written(store, position)
    assert subjects >= {f"s{number}" for number in range(last + 1)}
    NamespacedGraph(store, "m").create_triple({"subject": "later", "predicate": "p", "object": 1})
    named = written(store, after)[1]
    assert "later" in named
    assert len(named) <= 2, "beside it the one whose transaction the kill interrupted, after it was noted"
    store.close()


def test_another_process_reads_what_the_owner_wrote(folder):
    store = open_store(folder)
    reader = ChangeReader(folder)
    position = reader.since("").position
    graph = NamespacedGraph(store, "m")
    for subject in ("a", "b"):
        graph.create_triple({"subject": subject, "predicate": "p", "object": 1})
        changes = reader.since(position)
        assert changes.of(GRAPH) == {f"urn:cortex:m:{subject}"}
        position = changes.position
    store.close()
    store = open_store(folder)
    assert reader.since(position).subjects == {}
    store.close()


@pytest.mark.parametrize("damage", ["removed", "cut", "zeros", "bulk", "other"])
def test_what_is_not_known_may_be_everything(folder, damage):
    store = open_store(folder)
    position, _ = written(store, "")
    for subject in ("a", "b"):
        NamespacedGraph(store, "m").create_triple({"subject": subject, "predicate": "p", "object": 1})
    store.close()
    log = folder / NAME
    data = log.read_bytes()
    match damage:
        case "removed":
            log.unlink()
        case "cut":
            log.write_bytes(data[: data.rfind(b"\n", 0, -1) + 1])
        case "zeros":
            log.write_bytes(data[:-10] + bytes(9) + b"\n")
        case "bulk":  # which was killed
            log.write_bytes(data + b'["bulk"]\n')
        case "other":
            log.write_bytes(b"[]\n")
    store = open_store(folder)
    assert written(store, position)[1] is None
    after = store.changes_since("").position
    NamespacedGraph(store, "m").create_triple({"subject": "c", "predicate": "p", "object": 1})
    assert written(store, after)[1] == {"c"}
    assert written(store, position)[1] is None
    store.close()


def test_a_long_log_keeps_its_last_lines(folder, monkeypatch):
    monkeypatch.setattr(change_log, "_MOST_BYTES", 2_000)
    store = open_store(folder)
    graph = NamespacedGraph(store, "m")
    first, _ = written(store, "")
    for number in range(100):
        if number == 90:
            position, _ = written(store, first)
        graph.create_triple({"subject": f"s{number}", "predicate": "p", "object": 1})
    store.flush()
    assert written(store, first)[1] is None
    assert written(store, position)[1] == {f"s{number}" for number in range(90, 100)}
    assert (folder / NAME).stat().st_size < 6_000
    store.close()


def test_on_a_full_disk_a_write_is_done_and_everything_may_have_changed(folder, monkeypatch):
    store = open_store(folder)
    graph = NamespacedGraph(store, "m")
    position, _ = written(store, "")
    with monkeypatch.context() as full:
        full.setattr(change_log.os, "write", lambda *_: 3)
        graph.create_triple({"subject": "a", "predicate": "p", "object": 1})
        assert written(store, position)[1] is None
    assert written(store, position)[1] is None
    graph.create_triple({"subject": "b", "predicate": "p", "object": 1})
    after, subjects = written(store, position)
    assert subjects is None
    graph.create_triple({"subject": "c", "predicate": "p", "object": 1})
    assert written(store, after)[1] == {"c"}
    store.close()
