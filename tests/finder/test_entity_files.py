"""The index of entities on the disk: shared by processes, made again when it is damaged, never silently incomplete."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import NamespacedGraph, Provenance, open_store
from cortex_graph.as_of import as_of
from cortex_graph.namespace.agent_graph import AgentGraph
from cortex_skills.features.finder import entity_follower, entity_texts, index_follower
from cortex_skills.features.finder.entities import EntityIndex, Found
from cortex_skills.features.finder.kept_documents import DocumentsWriter
from cortex_skills.features.memory.memory_triples import triples_of
from cortex_skills.features.memory.model import NewMemory


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "store"


@pytest.fixture
def graph(folder: Path) -> Iterator[NamespacedGraph]:
    store = open_store(folder)
    yield NamespacedGraph(store, "m")
    store.close()


def note(graph: NamespacedGraph, subject: str, text: str) -> str:
    return graph.create_triple({"subject": subject, "predicate": "note", "object": text})["id"]


def subjects(found: Found) -> list[str]:
    assert found.complete, found.reason
    return sorted(hit.subject.value.rpartition(":")[2] for hit in found.hits)


def files(folder: Path) -> Path:
    (place,) = (folder / ".find").glob("*/v*")
    return place


def started(code: str, folder: Path) -> subprocess.Popen[str]:
    start = f"""
import sys
from cortex_graph import NamespacedGraph, open_store
from cortex_skills.features.finder.entities import EntityIndex
graph = NamespacedGraph(open_store({str(folder)!r}), "m")
index = EntityIndex(graph)
{code}
"""
    return subprocess.Popen([sys.executable, "-c", start], stdout=subprocess.PIPE, text=True)


def in_process(code: str, folder: Path) -> str:
    process = started(code, folder)
    output, _ = process.communicate()
    assert process.returncode == 0
    return output.strip()


def test_what_another_process_writes_is_found_and_it_finds_what_is_written_here(graph, folder):
    index = EntityIndex(graph)
    assert subjects(index.find("hello")) == []
    note(graph, "a", "hello from here")
    code = """
print(index.find("hello").hits[0].subject.value)
graph.create_triple({"subject": "b", "predicate": "note", "object": "hello from there"})
print(index.find("there").hits[0].subject.value)
"""
    assert in_process(code, folder) == "urn:cortex:m:a\nurn:cortex:m:b"
    assert subjects(index.find("hello")) == ["a", "b"]


def test_what_was_moved_to_the_files_is_found_by_the_next_process_without_indexing_again(graph, folder, monkeypatch):
    monkeypatch.setattr(index_follower, "MOVED_AT", 5)
    index = EntityIndex(graph)
    for number in range(20):
        note(graph, f"s{number}", f"common word{number}")
        assert len(subjects(index.find("common", limit=100))) == number + 1
    code = """
from cortex_skills.features.finder import entity_follower
entity_follower.every_entity = None
print(index.find("common", limit=5).total, index.find("word7").hits[0].subject.value)
"""
    assert in_process(code, folder) == "20 urn:cortex:m:s7"


KILLED = """
import time
from cortex_skills.features.finder import index_follower, kept_documents

commit = kept_documents.DocumentsWriter.commit
moments = []

def wait(moment):
    moments.append(moment)
    if moments.count(moment) == {commits} and moment == {moment!r}:
        print("waiting", flush=True)
        time.sleep(60)

def watched(self, state):
    wait("before")
    commit(self, state)
    wait("after")

index_follower.MOVED_AT = 5
kept_documents.DocumentsWriter.commit = watched
index.find("common")
for number in range(10):
    graph.create_triple({{"subject": f"t{{number}}", "predicate": "note", "object": "common"}})
index.find("common")
"""


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("commits", [1, 2], ids=["made", "moved"])
def test_a_kill_while_indexing_loses_nothing_and_repeats_nothing(graph, folder, moment, commits):
    for number in range(10):
        note(graph, f"s{number}", "common")
    process = started(KILLED.format(moment=moment, commits=commits), folder)
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    found = EntityIndex(graph).find("common", limit=100)
    assert len(subjects(found)) == found.total == 10 * commits


def test_where_the_folder_cannot_be_written_the_index_is_in_the_cache_and_else_in_memory(folder, tmp_path):
    store = open_store(folder)
    graph = NamespacedGraph(store, "m")
    note(graph, "a", "hello")
    (folder / ".find").write_text("no folder")
    assert subjects(EntityIndex(graph).find("hello")) == ["a"]
    assert len(list((tmp_path / "cache").rglob("meta.json"))) == 1
    assert not any(path.stat().st_mode & 0o077 for path in (tmp_path / "cache").rglob("*") if path.is_dir())
    store.close()
    (tmp_path / "cache").rename(tmp_path / "old")
    (tmp_path / "cache").write_text("no folder")
    store = open_store(folder)
    graph = NamespacedGraph(store, "m")
    note(graph, "b", "hello")
    assert subjects(EntityIndex(graph).find("hello")) == ["a", "b"]
    store.close()


def test_an_index_that_is_being_made_is_stated_and_finds_all_when_it_is_there(graph, folder, monkeypatch):
    note(graph, "a", "hello")
    goes_on = threading.Event()
    every = entity_follower.every_entity

    def slow(*given):
        goes_on.wait(60)
        yield from every(*given)

    monkeypatch.setattr(entity_follower, "every_entity", slow)
    found = EntityIndex(graph, timeout_s=0.05).find("hello")
    assert (found.hits, found.complete) == ((), False)
    assert "being indexed" in found.reason
    assert EntityIndex(graph, timeout_s=0.05).find("m:a").hits[0].score == 1.0  # the name is read from the graph
    goes_on.set()
    assert subjects(EntityIndex(graph).find("hello")) == ["a"]


def test_a_write_between_reading_and_the_end_of_indexing_is_found(graph, monkeypatch):
    every = entity_follower.every_entity

    def written_meanwhile(*given):
        yield from every(*given)
        note(graph, "b", "hello")

    note(graph, "a", "hello")
    monkeypatch.setattr(entity_follower, "every_entity", written_meanwhile)
    assert subjects(EntityIndex(graph).find("hello")) == ["a", "b"]


def test_what_is_deleted_withdrawn_or_changed_is_not_found(graph):
    by = Provenance(agent="nancy")
    first, second = note(graph, "a", "hello"), note(graph, "b", "hello")
    index = EntityIndex(graph)
    assert subjects(index.find("hello")) == ["a", "b"]
    graph.delete_triple(first)
    assert subjects(index.find("hello")) == ["b"]
    graph.withdraw(second, by)
    assert subjects(index.find("hello")) == []
    graph.update("INSERT DATA { <urn:cortex:m:c> <urn:cortex:m:note> 'hello' }")
    assert subjects(index.find("hello")) == ["c"]


def test_nothing_of_another_namespace_and_no_memory_is_found(graph):
    other = NamespacedGraph(graph.store, "mm")
    note(other, "a", "hello elsewhere")
    own = AgentGraph(graph, "a1")
    own.create_triples(triples_of(own, "0" * 32, NewMemory("hello memory", 0.5, ()), None, datetime.now(UTC)))
    index = EntityIndex(graph)
    for text in ("hello", "elsewhere", "memory", "a1", "urn:cortex:mm:a", "0" * 32):
        assert index.find(text) == Found((), 0)
    assert subjects(EntityIndex(other).find("hello")) == ["a"]


def test_an_earlier_moment_has_what_was_there_then_and_states_its_limit(graph):
    day = [Provenance(agent="nancy", time=datetime(2026, 1, number, tzinfo=UTC)) for number in (1, 3)]
    for subject, by in zip("ab", day, strict=True):
        graph.create_triple({"subject": subject, "predicate": "note", "object": "hello"}, by)
    found = EntityIndex(as_of(graph, "2026-01-02")).find("hello")
    assert [hit.subject.value for hit in found.hits] == ["urn:cortex:m:a"]
    assert (found.total, found.complete) == (1, False)
    assert "at that moment" in found.reason


def test_of_long_texts_and_large_resources_the_rest_is_not_searched_and_that_is_stated(graph, monkeypatch):
    monkeypatch.setattr(entity_texts, "MAX_STATEMENTS", 20)
    note(graph, "long", "beginning " + "x" * 1_000_000 + " ending")
    graph.create_triples({"subject": "hub", "predicate": "note", "object": f"n{number}"} for number in range(30))
    index = EntityIndex(graph)
    assert [hit.subject.value for hit in index.find("beginning").hits] == ["urn:cortex:m:long"]
    found = index.find("ending")
    assert (found.hits, found.complete) == ((), False)
    assert found.reason.startswith("2 resources have texts")


def test_labels_that_differ_in_one_letter_are_all_found(graph):
    node, label = NamedNode("urn:cortex:m:label"), "abcdefgh"
    quads = [
        Quad(NamedNode(f"urn:cortex:m:s{place}{letter}"), node, Literal(text), graph.names.graph)
        for place in range(8)
        for letter in "ijklmnopqrstuvwxyz0123456789"
        for text in [label[:place] + letter + label[place + 1 :]]
    ]
    graph.store.bulk_insert(quads)
    found = EntityIndex(graph).find(label, limit=1000)
    assert (len(subjects(found)), found.total) == (len(quads), len(quads))
    assert len(EntityIndex(graph).find(label).hits) == 10


@pytest.mark.extended
def test_a_hundred_thousand_labels_that_differ_in_one_letter_are_told_apart(graph):
    node, letters = NamedNode("urn:cortex:m:label"), "abcdefghijklmnopqr"
    labels = [f"bridge{''.join(each)}" for each in itertools.islice(itertools.product(letters, repeat=4), 100_000)]
    quads = [
        Quad(NamedNode(f"urn:cortex:m:x/{n}"), node, Literal(text), graph.names.graph) for n, text in enumerate(labels)
    ]
    graph.store.bulk_insert(quads)
    index = EntityIndex(graph, timeout_s=300)
    for text in (labels[0], labels[50_000], labels[-1]):
        exact = index.find(text)
        assert (exact.hits[0].text, exact.total, exact.typos) == (text, 1, False)
    beginning = index.find("bridgea")
    assert (beginning.total, beginning.complete) == (len(letters) ** 3, True)
    near = index.find("bridgezaaa")  # one letter away from all that end so
    assert (near.total, near.typos) == (len(letters), True)


def test_no_thread_stays_and_a_closed_store_is_not_kept(folder):
    before = threading.active_count()
    store = open_store(folder)
    graph = NamespacedGraph(store, "m")
    note(graph, "a", "hello")
    assert subjects(EntityIndex(graph).find("hello")) == ["a"]
    threads = [thread.name for thread in threading.enumerate() if thread.name.startswith("cortex-find")]
    assert threads == []
    store.close()
    assert threading.active_count() <= before + 1


class Server:
    """A store that does not state what was written to it, as those on servers."""

    keeps_order = False

    def __init__(self) -> None:
        self._store = open_store("memory:")

    def __getattr__(self, name: str) -> object:
        if name in ("changes_since", "folder"):
            raise AttributeError(name)
        return getattr(self._store, name)

    def __repr__(self) -> str:
        return "Server('http://127.0.0.1/')"


def test_a_server_is_read_again_after_a_while_and_the_age_of_the_index_is_stated(folder, tmp_path, monkeypatch):
    graph = NamespacedGraph(Server(), "m")  # type: ignore[arg-type]
    note(graph, "a", "hello")
    found = EntityIndex(graph).find("hello")
    assert [hit.text for hit in found.hits] == ["hello"]
    assert (found.complete, found.reason[:15]) == (False, "the server was ")
    assert len(list((tmp_path / "cache").rglob("meta.json"))) == 1
    note(graph, "b", "hello again")
    assert EntityIndex(graph).find("hello").total == 1
    assert EntityIndex(graph).find("m:b").hits[0].score == 1.0  # a name is read from the server
    monkeypatch.setattr(index_follower, "AGED_S", 0.0)
    monkeypatch.setattr(index_follower, "_SHARE", 0)
    assert EntityIndex(graph, timeout_s=2).find("hello").total == 2


def test_of_a_large_graph_on_a_server_no_index_is_made_and_that_is_stated(folder, monkeypatch):
    monkeypatch.setattr(entity_follower, "_MOST_ON_SERVER", 5)
    graph = NamespacedGraph(Server(), "m")  # type: ignore[arg-type]
    for number in range(6):
        note(graph, f"s{number}", "hello")
    found = EntityIndex(graph).find("hello")
    assert (found.hits, found.complete) == ((), False)
    assert "more than 5 triples" in found.reason


def test_a_store_that_is_closed_while_it_is_indexed_can_be_opened_again_at_once(folder, monkeypatch):
    put = DocumentsWriter.put

    def slow(self, entity, **how):
        time.sleep(0.002)
        put(self, entity, **how)

    store = open_store(folder)
    graph = NamespacedGraph(store, "m")
    graph.create_triples({"subject": f"s{number}", "predicate": "note", "object": "hello"} for number in range(1000))
    with monkeypatch.context() as patch:
        patch.setattr(DocumentsWriter, "put", slow)
        assert not EntityIndex(graph, timeout_s=0.05).find("hello").complete
        store.close()
        store = open_store(folder)
    assert EntityIndex(NamespacedGraph(store, "m")).find("hello").total == 1000
    store.close()


@pytest.mark.parametrize("levels", [0, 1, 2], ids=["the place", "the namespace", "the version"])
def test_a_link_in_a_store_of_others_removes_no_file_elsewhere(folder, tmp_path, caplog, levels):
    """The files of a damaged index are removed."""
    with closing(open_store(folder)) as store:
        graph = NamespacedGraph(store, "m")
        note(graph, "a", "one word")
        assert subjects(EntityIndex(graph).find("word")) == ["a"]
    place = [folder / ".find", files(folder).parent, files(folder)][levels]
    below = files(folder).relative_to(place)
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / below).mkdir(mode=0o700, parents=True)
    (elsewhere / below / "meta.json").write_text("{")  # a damaged index
    (elsewhere / below / "thesis.txt").write_text("years of work")
    shutil.rmtree(place)
    place.symlink_to(elsewhere)
    with closing(open_store(folder)) as store:
        assert subjects(EntityIndex(NamespacedGraph(store, "m")).find("word")) == ["a"]
    assert sorted(path.name for path in elsewhere.rglob("*") if path.is_file()) == ["meta.json", "thesis.txt"]
    assert f"the index is not kept in {place}, which is a symbolic link" in caplog.text
