"""Memories of earlier versions are moved; exports, copies and backups keep the memories of all agents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import (
    GraphStore,
    GraphUnavailable,
    NamespacedGraph,
    PermissionDenied,
    Provenance,
    export_rdf,
    import_rdf,
    open_store,
)
from cortex_graph.assertion_records.provenance import record_of
from cortex_graph.index.index_build import index_entry
from cortex_graph.index.triple_index import hash_line
from cortex_graph.memory_graphs import memory_graphs, move_memories
from cortex_graph.naming.vocabulary import (
    DATE_TIME,
    MEMORY_IMPORTANCE,
    MEMORY_KEY,
    MEMORY_MINUTE,
    MEMORY_OWNER,
    MEMORY_TAG,
    MEMORY_TEXT,
    MEMORY_TIME,
    VALUE,
)
from cortex_graph.store import Pattern
from cortex_graph.stores.embedded import OxigraphStore
from cortex_graph.stores.shared.format_version import NAME
from cortex_graph.transfer import copy_store
from cortex_graph.transfer.backup import back_up
from cortex_graph.transfer.restoring import restore
from cortex_skills.features.memory.memories import Memories
from cortex_skills.features.memory.requests import memory_query, new_memory

GRAPH = NamedNode("urn:cortex:mayros")
TIME = "2026-06-01T12:00:30Z"


def old_id(agent: str, text: str) -> str:
    """The ID of a memory as earlier versions made it."""
    return hashlib.sha256(json.dumps([agent, text]).encode()).hexdigest()[:32]


def old_memory(graph: NamespacedGraph, agent: str, text: str) -> list[Quad]:
    """A memory as earlier versions wrote it: in the graph of the namespace."""
    node = NamedNode(f"urn:cortex:mayros:memory:{old_id(agent, text)}")
    parts = [
        (MEMORY_OWNER, graph.names.agent(agent)),
        (MEMORY_TEXT, Literal(text)),
        (MEMORY_IMPORTANCE, Literal(0.5)),
        (MEMORY_TIME, Literal(TIME, datatype=DATE_TIME)),
        (MEMORY_MINUTE, Literal("2026-06-01T12:00")),
        (MEMORY_TAG, Literal("old")),
    ]
    return [Quad(node, predicate, value, GRAPH) for predicate, value in parts]


def with_record_and_entry(graph: NamespacedGraph, quad: Quad) -> list[Quad]:
    triple_id = hash_line(str(quad))
    record = record_of(quad, graph.names.record(triple_id), Provenance(agent="a1"), graph.names)
    return [quad, *record, index_entry(graph.names, triple_id, quad)]


def recalled(store: GraphStore, agent: str, query: str = "old") -> list[str]:
    found = Memories(NamespacedGraph(store, "mayros")).recall(memory_query(query, {"limit": 50}), agent=agent).found
    return sorted(memory.text for memory, _ in found)


def contents(store: GraphStore, graphs: Iterable[NamedNode]) -> dict[str, int]:
    return {graph.value: store.count(Pattern(graph)) for graph in graphs}


def test_opening_a_folder_of_the_first_format_moves_its_memories(tmp_path: Path) -> None:
    old = OxigraphStore(tmp_path / "store")
    graph = NamespacedGraph(old, "mayros")
    quads = [quad for agent in ("a1", "a b/ü") for quad in old_memory(graph, agent, f"old text of {agent}")]
    old.apply([each for quad in quads for each in with_record_and_entry(graph, quad)])
    graph.create_triple({"subject": "a", "predicate": "note", "object": 1}, Provenance(agent="a1"))
    rest = contents(old, [graph.names.provenance_graph])
    old.close()
    (tmp_path / "store" / NAME).write_text('{"format": 1}')

    for _ in range(2):  # the second time there is nothing to move
        store = open_store(tmp_path / "store")
        graph = NamespacedGraph(store, "mayros")
        assert [triple["object"] for triple in graph.list_triples()["triples"]] == [1]
        index = graph.names.index_graph  # has the time of the record, and no entry of a memory
        assert store.count(Pattern(index)) == store.count(Pattern(index, predicate=VALUE))
        assert store.count(Pattern(graph.names.provenance_graph)) == rest["urn:cortex:mayros/provenance"] - 12 * 7
        assert {agent: recalled(store, agent) for agent in ("a1", "a b/ü", "a2")} == {
            "a1": ["old text of a1"],
            "a b/ü": ["old text of a b/ü"],
            "a2": [],
        }
        ((memory, _),) = Memories(graph).recall(memory_query("old"), agent="a1").found
        assert memory.id != old_id("a1", memory.text)
        assert (memory.importance, memory.tags) == (0.5, ("old",))
        assert memory.time == datetime(2026, 6, 1, 12, 0, 30, tzinfo=UTC)
        assert Memories(graph).remember(new_memory(memory.text), agent="a1") == (memory.id, False)
        assert (tmp_path / "store" / NAME).read_text() == '{"format":2}'
        store.close()


def test_a_store_on_a_server_is_moved_when_its_memories_are_first_used() -> None:
    store = open_store("memory:")
    graph = NamespacedGraph(store, "mayros")
    store.apply(old_memory(graph, "a1", "old text"))
    assert recalled(store, "a1") == ["old text"]
    assert graph.count() == 0


def test_an_interrupted_move_continues(monkeypatch: pytest.MonkeyPatch) -> None:
    store = OxigraphStore()
    graph = NamespacedGraph(store, "mayros")
    for number in range(9):
        store.apply(old_memory(graph, "a1", f"old {number}"))
    monkeypatch.setattr("cortex_graph.memory_graphs._AT_ONCE", 12)
    done, apply = [], store.apply

    def failing(insert: Iterable[Quad] = (), remove: Iterable[Quad] = ()) -> None:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(apply(insert, remove))

    monkeypatch.setattr(store, "apply", failing)
    with pytest.raises(KeyboardInterrupt):
        move_memories(store, GRAPH)
    assert 0 < graph.count() < 9 * 6
    monkeypatch.setattr(store, "apply", apply)
    move_memories(store, GRAPH)
    assert (graph.count(), recalled(store, "a1")) == (0, [f"old {number}" for number in range(9)])


def test_what_was_no_memory_of_an_agent_becomes_none_and_is_hidden_too() -> None:
    store = open_store("memory:")
    graph = NamespacedGraph(store, "mayros")
    whole = old_memory(graph, "a1", "old text")
    owner, text, *others = whole
    forged = [Quad(owner.subject, MEMORY_TEXT, Literal("old obey"), GRAPH)]
    forged.append(Quad(owner.subject, MEMORY_OWNER, graph.names.agent("a2"), GRAPH))
    unowned = [Quad(NamedNode("urn:cortex:mayros:memory:f00"), quad.predicate, quad.object, GRAPH) for quad in others]
    foreign = Quad(NamedNode("urn:cortex:other:memory:1"), text.predicate, text.object, GRAPH)
    store.apply([*whole, *forged, *unowned, foreign])

    move_memories(store, GRAPH)
    assert (recalled(store, "a1"), recalled(store, "a2")) == (["old text"], [])
    assert list(store.quads(Pattern(GRAPH))) == [foreign]  # data about another namespace
    assert store.count(Pattern(NamedNode("urn:cortex:mayros/memories/%20"))) == len(unowned)


@pytest.mark.parametrize("name", ["ttl", "nt", "nq", "trig", "jsonld"])
def test_an_export_has_the_memories_of_all_agents_and_an_import_restores_them(tmp_path: Path, name: str) -> None:
    stores = [open_store("memory:") for _ in range(2)]
    first, second = (NamespacedGraph(store, "mayros") for store in stores)
    first.create_triple({"subject": "a", "predicate": "note", "object": 1})
    for agent in ("a1", "a b/ü"):
        Memories(first).remember(new_memory(f"old text of {agent}", {"tags": ["x"]}), agent=agent, skill="s")
    file = tmp_path / f"all.{name}"
    assert export_rdf(first, file) == 1 + 2 * 7
    assert MEMORY_KEY.value not in file.read_text()
    for _ in range(2):
        assert import_rdf(second, file) == 1 + 2 * 7
        assert [triple["object"] for triple in second.list_triples()["triples"]] == [1]
        assert {agent: recalled(stores[1], agent) for agent in ("a1", "a b/ü")} == {
            agent: [f"old text of {agent}"] for agent in ("a1", "a b/ü")
        }
        assert contents(stores[1], memory_graphs(stores[1], second.names)) == {
            "urn:cortex:mayros/memories/a%20b%2Fü": 8,
            "urn:cortex:mayros/memories/a1": 8,
        }
    again = tmp_path / f"again.{name}"
    assert export_rdf(second, again) == 1 + 2 * 7


def test_copies_and_backups_have_the_memories(tmp_path: Path) -> None:
    store = open_store("memory:")
    identifier, _ = Memories(NamespacedGraph(store, "mayros")).remember(new_memory("old text"), agent="a1")
    with_memories = {"urn:cortex:mayros/memories/a1": 6}  # five parts and the key
    target = open_store("memory:")
    assert {copied.graph: copied.triples for copied in copy_store(store, target)} == with_memories
    back_up(store, tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "restored")
    restored = open_store(tmp_path / "restored")
    for other in (target, restored):
        memories = Memories(NamespacedGraph(other, "mayros"))
        assert recalled(other, "a1") == ["old text"]
        assert memories.remember(new_memory("old text"), agent="a1") == (identifier, False)
    restored.close()


@pytest.mark.parametrize(
    "write",
    [
        lambda graph: graph.create_triple({"subject": "memory:1", "predicate": MEMORY_TEXT.value, "object": "x"}),
        lambda graph: graph.update(f'INSERT DATA {{ mayros:m <{MEMORY_TEXT.value}> "x" }}'),
        lambda graph: graph.update(f"INSERT {{ ?s <{MEMORY_OWNER.value}> ?o }} WHERE {{ ?s ?p ?o }}"),
    ],
)
def test_terms_of_memories_are_not_written_to_the_graph_of_a_namespace(
    graph: NamespacedGraph, write: Callable[[NamespacedGraph], object]
) -> None:
    graph.create_triple({"subject": "a", "predicate": "note", "object": 1})
    with pytest.raises(PermissionDenied, match="is a term of memories: nothing was written"):
        write(graph)
    assert graph.count() == 1


def test_an_id_depends_on_the_store() -> None:
    graphs = [NamespacedGraph(open_store("memory:"), "mayros") for _ in range(2)]
    ids = {Memories(graph).remember(new_memory("x"), agent="a")[0] for graph in graphs}
    assert len(ids | {old_id("a", "x")}) == 3


@settings(max_examples=40, deadline=None)
@given(agent=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12))
def test_the_graph_of_an_agent_has_its_name_and_no_other(agent: str) -> None:
    names = NamespacedGraph(open_store("memory:"), "mayros").names
    graph = names.of_memories(agent).graph
    assert names.remembering(graph) == agent
    assert names.agent_of(names.agent(agent).value) == agent
    assert names.remembering(NamedNode(f"{graph.value}/index")) is None


@pytest.mark.parametrize("remembers", [True, False])
def test_a_folder_that_cannot_be_written_is_used_only_if_it_has_no_old_memories(
    tmp_path: Path, remembers: bool
) -> None:
    store = OxigraphStore(tmp_path)
    NamespacedGraph(store, "mayros").create_triple({"subject": "a", "predicate": "note", "object": 1})
    store.apply(old_memory(NamespacedGraph(store, "mayros"), "a1", "old text") if remembers else ())
    store.close()
    reading = OxigraphStore.read_only(tmp_path)
    graph = NamespacedGraph(reading, "mayros")
    with pytest.raises(GraphUnavailable) if remembers else nullcontext():
        graph.settle()
    reading.close()
