"""Remembering and recalling on a real store."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import GraphError, NamespacedGraph
from cortex_graph.naming import vocabulary
from cortex_graph.store import Pattern
from cortex_skills.errors import CortexError
from cortex_skills.features.finder import index_follower
from cortex_skills.features.memory import agent_memories
from cortex_skills.features.memory.memories import Memories
from cortex_skills.features.memory.memory_triples import MemoryReader, memory_node
from cortex_skills.features.memory.requests import memory_query, new_memory


def remember(memories: Memories, text: str, agent: str = "a1", **options) -> str:
    return memories.remember(new_memory(text, options), agent=agent, skill="probe")[0]


def texts(memories: Memories, query: str, agent: str = "a1", **options) -> list[str]:
    return [memory.text for memory, _ in memories.recall(memory_query(query, options), agent=agent).found]


def test_a_memory_is_recalled_with_all_its_fields(memories, clock) -> None:
    identifier = remember(memories, "Ana prefers tea", importance=0.8, tags=["drinks", "ana"])

    ((memory, scored),) = memories.recall(memory_query("tea"), agent="a1").found
    assert memory.to_json() == {
        "id": identifier,
        "text": "Ana prefers tea",
        "importance": 0.8,
        "tags": ["ana", "drinks"],
        "time": "2026-06-01T12:00:30Z",
        "skill": "probe",
        "writtenBy": [],
        "kind": "observation",
        "depth": 0,
        "reflectsOn": [],
    }
    assert (scored.relevance, scored.importance, scored.recency) == (1.0, 0.9, 1.0)


def test_memories_are_found_by_stems_and_tags_in_any_script(memories) -> None:
    remember(memories, "She verified the shipments")
    remember(memories, "東京タワーは赤い", tags=["landmark"])
    remember(memories, "Die Straße ist gesperrt")

    assert texts(memories, "verifying a shipment") == ["She verified the shipments"]
    assert texts(memories, "東京") == ["東京タワーは赤い"]
    assert texts(memories, "landmarks") == ["東京タワーは赤い"]
    assert texts(memories, "STRASSE") == ["Die Straße ist gesperrt"]


@pytest.mark.parametrize("query", ["?!", "the of and", "zebra", "\u200b x", '"', "AND OR NOT (", "words:a*^2"])
def test_a_query_without_a_known_word_finds_nothing(memories, query: str) -> None:
    remember(memories, "Ana prefers tea")
    assert texts(memories, query) == []


def test_an_agent_recalls_only_its_memories(memories) -> None:
    remember(memories, "the code of the safe is 1234", agent="a1")
    remember(memories, "the code of the door is 9", agent="a2")

    assert texts(memories, "code", agent="a2") == ["the code of the door is 9"]
    assert texts(memories, "safe", agent="a") == []


def test_namespaces_of_one_store_share_no_memories(graph, memories, clock) -> None:
    remember(memories, "the secret of mayros")
    other = Memories(NamespacedGraph(graph.store, "may"), clock)

    assert texts(other, "secret") == []
    remember(other, "the secret of may")
    assert texts(memories, "secret") == ["the secret of mayros"]


def test_remembering_a_text_again_changes_nothing(own, memories, clock) -> None:
    first = memories.remember(new_memory("Ana prefers tea", {"importance": 0.9}), agent="a1")
    before = own.count()
    clock.go(days=1)
    second = memories.remember(new_memory("  Ana prefers tea ", {"importance": 0.1}), agent="a1")

    assert (first[1], second) == (True, (first[0], False))
    assert own.count() == before


def test_memories_below_the_minimum_importance_are_left_out(memories) -> None:
    remember(memories, "tea is green", importance=0.1)
    remember(memories, "tea is hot", importance=0.3)

    assert texts(memories, "tea") == ["tea is hot"]
    assert set(texts(memories, "tea", minImportance=0)) == {"tea is hot", "tea is green"}
    assert texts(memories, "tea", minImportance=0.31) == []


def test_a_memory_is_recalled_at_once_and_the_best_come_first(memories, clock) -> None:
    remember(memories, "tea one", importance=0.4)
    assert texts(memories, "tea") == ["tea one"]
    clock.go(days=90)
    remember(memories, "tea two", importance=0.4)
    remember(memories, "tea three", importance=1.0)

    assert texts(memories, "tea") == ["tea three", "tea two", "tea one"]
    assert texts(memories, "tea", limit=1) == ["tea three"]


def test_the_memories_before_and_after_decide_among_equal_ones(memories, clock) -> None:
    for name, answer in (("Oslo", "It was cold."), ("Rome", "It was warm.")):
        clock.go(days=1)
        remember(memories, f"Ana: how was the trip to {name}?")
        remember(memories, f"Ben: the trip was short. {answer}")
        remember(memories, f"Ben: the hotel in the old town was {'good' if name == 'Oslo' else 'bad'}.")

    assert texts(memories, "what was the hotel in Oslo like?") == [
        "Ana: how was the trip to Oslo?",
        "Ben: the hotel in the old town was good.",
        "Ben: the hotel in the old town was bad.",
    ]


def test_a_memory_without_a_word_of_the_query_is_not_recalled_for_its_neighbours(memories) -> None:
    remember(memories, "Ana prefers tea")
    remember(memories, "the cat is grey")
    assert texts(memories, "tea") == ["Ana prefers tea"]


def test_memories_keep_their_order_while_the_clock_does_not_advance(memories, own, clock) -> None:
    for number in range(20):
        remember(memories, f"turn {number}")
    found = memories.recall(memory_query("turn", {"limit": 50}), agent="a1").found
    assert [memory.text for memory, _ in sorted(found, key=lambda pair: pair[0].time)] == [
        f"turn {n}" for n in range(20)
    ]
    assert found[0][0].time - clock.now < timedelta(seconds=1)
    clock.go(days=-2)
    remember(memories, "turn of a clock that was set")
    assert min(memory.time for memory, _ in memories.recall(memory_query("turn", {"limit": 50}), agent="a1").found) == (
        clock.now
    )


def test_a_memory_near_the_best_ones_is_recalled_however_many_match_better(memories, clock, monkeypatch) -> None:
    monkeypatch.setattr(agent_memories, "POOL", 3)
    remember(memories, "the code of the door is 4411")
    remember(memories, "and of the small gate behind the house, where the bicycles are kept, it is that code too")
    for number in range(9):
        clock.go(days=1)
        remember(memories, f"code {number}")
    found = texts(memories, "code of the door", limit=2)
    assert found == [
        "the code of the door is 4411",
        "and of the small gate behind the house, where the bicycles are kept, it is that code too",
    ]


def test_question_words_are_not_searched(memories) -> None:
    remember(memories, "Ana asked what to do when the boiler fails")
    remember(memories, "Ben moved to Oslo in June")

    assert texts(memories, "When did Ben do what he said?") == ["Ben moved to Oslo in June"]
    assert texts(memories, "what?") == ["Ana asked what to do when the boiler fails"]


def test_a_memory_that_is_deleted_in_the_graph_is_never_recalled(own, memories) -> None:
    remember(memories, "tea is hot")
    remember(memories, "tea is green")
    assert len(texts(memories, "tea")) == 2
    (triple,) = [
        each
        for each in own.list_triples({"predicate": f"<{vocabulary.MEMORY_TEXT.value}>"})["triples"]
        if each["object"] == "tea is hot"
    ]

    assert own.delete_triple(triple["id"])
    assert texts(memories, "tea") == ["tea is green"]
    remember(memories, "tea is hot")
    assert set(texts(memories, "tea")) == {"tea is green", "tea is hot"}


def test_a_memory_that_is_deleted_by_sparql_is_never_recalled(own, memories) -> None:
    remember(memories, "tea is hot")
    assert texts(memories, "tea") == ["tea is hot"]
    own.update(f"DELETE WHERE {{ ?m <{vocabulary.MEMORY_OWNER.value}> ?o }}")
    assert texts(memories, "tea") == []


def test_many_deleted_memories_do_not_hide_a_remaining_one(own, memories) -> None:
    for number in range(2 * agent_memories.POOL):
        remember(memories, f"tea {number}", importance=1.0)
    remember(memories, "there is tea somewhere in this rather long text about other things", importance=0.3)
    assert len(texts(memories, "tea")) == 5
    text = f"<{vocabulary.MEMORY_IMPORTANCE.value}>"
    own.update(f"DELETE {{ ?m {text} ?i }} WHERE {{ ?m {text} ?i FILTER(?i = 1.0) }}")

    assert texts(memories, "tea") == ["there is tea somewhere in this rather long text about other things"]


def test_forgetting_leaves_no_triple_of_the_memory(own, memories) -> None:
    identifier = remember(memories, "Ana prefers tea", tags=["ana"])

    assert not memories.forget(identifier, agent="a2")
    assert memories.forget(identifier, agent="a1")
    assert not memories.forget(identifier, agent="a1")
    assert [triple["predicate"] for triple in own.list_triples()["triples"]] == [vocabulary.MEMORY_KEY.value]
    assert texts(memories, "tea") == []


def test_memories_survive_the_process_that_created_them(graph, memories, clock) -> None:
    remember(memories, "Ana prefers tea")
    assert texts(Memories(graph, clock), "tea") == ["Ana prefers tea"]


def test_a_memory_of_another_process_is_found_by_its_minute(graph, memories, clock) -> None:
    remember(memories, "tea one")
    assert texts(memories, "tea") == ["tea one"]
    other = Memories(graph, clock)
    for minutes in (1, 5, 300, 600):
        clock.go(minutes=minutes)
        remember(other, f"coffee {minutes}")
        assert texts(memories, str(minutes)) == [f"coffee {minutes}"]


def test_an_import_of_old_memories_is_found_within_the_hour(graph, memories, clock) -> None:
    remember(memories, "tea one")
    assert texts(memories, "tea") == ["tea one"]
    now = clock.now
    clock.go(days=-400)
    remember(Memories(graph, clock), "tea of old")
    clock.now = now
    clock.go(minutes=61)

    assert texts(memories, "tea") == ["tea one", "tea of old"]


def test_many_memories_are_read_in_streams(memories, graph, clock) -> None:
    for number in range(1100):
        remember(memories, f"note {number}", tags=[f"tag{number}"])
    remember(memories, "note 5 of another", agent="a2")

    fresh = Memories(graph, clock)
    assert texts(fresh, "tag777") == ["note 777"]
    assert fresh.recall(memory_query("note", {"limit": 50}), agent="a1").considered == agent_memories.POOL
    assert texts(fresh, "another", agent="a1") == []


def test_the_indexes_of_a_few_agents_are_kept_and_all_agents_recall(memories) -> None:
    for number in range(7):
        remember(memories, f"tea {number}", agent=f"a{number}")
    for _ in range(2):
        for number in range(7):
            assert texts(memories, "tea", agent=f"a{number}") == [f"tea {number}"]


ODD = [
    (vocabulary.MEMORY_TEXT, Literal("you must obey")),
    (vocabulary.MEMORY_TEXT, NamedNode("urn:x")),
    (vocabulary.MEMORY_TEXT, Literal("Ana prefers tea", language="en")),
    (vocabulary.MEMORY_OWNER, NamedNode("urn:cortex:mayros:agent:a2")),
    (vocabulary.MEMORY_OWNER, Literal("a1")),
    (vocabulary.MEMORY_IMPORTANCE, Literal("7", datatype=NamedNode(f"{vocabulary.XSD}double"))),
    (vocabulary.MEMORY_IMPORTANCE, Literal("NaN", datatype=NamedNode(f"{vocabulary.XSD}double"))),
    (vocabulary.MEMORY_IMPORTANCE, Literal("much")),
    (vocabulary.MEMORY_IMPORTANCE, Literal("1" * 5000)),
    (vocabulary.MEMORY_TIME, Literal("yesterday")),
    (vocabulary.MEMORY_TIME, Literal("2026-06-01T12:00:00")),
    (vocabulary.MEMORY_TIME, Literal("0001-01-01T00:00:00+14:00")),
    (vocabulary.MEMORY_TAG, Literal("x" * 10_000)),
    (vocabulary.MEMORY_TAG, NamedNode("urn:x")),
    (vocabulary.MEMORY_SKILL, Literal("s" * 10_000)),
    (vocabulary.MEMORY_MINUTE, Literal("now")),
    (NamedNode("urn:other"), Literal("x")),
]


@pytest.mark.parametrize(("predicate", "value"), ODD, ids=[f"{n}-{p.value[-10:]}" for n, (p, _) in enumerate(ODD)])
def test_an_invalid_triple_does_not_change_a_memory(graph, own, memories, clock, predicate, value) -> None:
    identifier = remember(memories, "Ana prefers tea", importance=0.8, tags=["ana"])
    (before,) = memories.recall(memory_query("tea"), agent="a1").found
    graph.store.insert([[Quad(memory_node(graph.names, identifier), predicate, value, own.names.graph)]])

    for again in (memories, Memories(graph, clock)):
        assert again.recall(memory_query("tea"), agent="a1").found == (before,)
        assert texts(again, "obey") == []
        assert texts(again, "tea", agent="a2") == []


def test_triples_under_another_name_are_not_a_memory(own, memories) -> None:
    remember(memories, "Ana prefers tea")
    good = list(own.store.quads(Pattern(own.names.graph)))
    for local in (
        "memory:x",
        "memory:",
        "memory:../a",
        "other",
        "memory:" + "é" * 50,
    ):
        node = NamedNode(f"urn:cortex:mayros:{local}".replace("é", "%C3%A9"))
        own.store.insert([[Quad(node, quad.predicate, quad.object, own.names.graph)] for quad in good])

    assert texts(memories, "tea") == ["Ana prefers tea"]


BAD = [
    ((1,), "text"),
    (("",), "text"),
    (("  ",), "text"),
    (("x" * 513,), "text"),
    ((" " * 5_000_000,), "text"),
    (("\ud800",), "text"),
    (("a", []), "options"),
    (("a", {"importence": 1}), "importence"),
    (("a", {"importance": "1"}), "importance"),
    (("a", {"importance": True}), "importance"),
    (("a", {"importance": 1.01}), "importance"),
    (("a", {"importance": float("nan")}), "importance"),
    (("a", {"tags": "tag"}), "tags"),
    (("a", {"tags": ["t"] * 9}), "tags"),
    (("a", {"tags": ["t" * 41]}), "tags"),
    (("a", {"tags": [1]}), "tags"),
]


@pytest.mark.parametrize(("given", "field"), BAD)
def test_an_invalid_argument_is_rejected_with_its_field(given, field) -> None:
    with pytest.raises(CortexError) as caught:
        new_memory(*given)
    assert (caught.value.code, caught.value.details["field"]) == ("invalid_arguments", field)


@pytest.mark.parametrize("limit", [0, 51, 1.5, "5", True, float("inf"), float("nan"), -1])
def test_an_invalid_limit_is_rejected(limit) -> None:
    with pytest.raises(CortexError, match="limit must be a whole number from 1 to 50"):
        memory_query("a", {"limit": limit})


def test_a_read_that_breaks_off_leaves_no_memory_out_later(memories, graph, clock, monkeypatch) -> None:
    for number in range(6):
        remember(memories, f"tea {number}")
        clock.go(days=1)
    whole = MemoryReader.many

    def broken(reader: MemoryReader, identifiers: set[str]):
        for number, memory in enumerate(whole(reader, identifiers)):
            if number == 3:
                raise GraphError("the store is gone")
            yield memory

    fresh = Memories(graph, clock)
    with monkeypatch.context() as patch:
        patch.setattr(MemoryReader, "many", broken)
        with pytest.raises(CortexError, match="the memories could not be indexed: the store is gone"):
            fresh.recall(memory_query("tea"), agent="a1")
    monkeypatch.setattr(index_follower, "_AGAIN_S", 0.0)
    assert sorted(texts(fresh, "tea", limit=9)) == [f"tea {number}" for number in range(6)]
    assert sorted(texts(fresh, "0 5", limit=9)) == ["tea 0", "tea 5"]


def test_a_slow_first_index_is_reported_and_finished_in_the_background(memories, graph, clock) -> None:
    for number in range(1500):
        remember(memories, f"tea {number}")
    reported = threading.Event()

    def after_it_is_told() -> datetime:
        assert reported.wait(60)
        return clock()

    fresh = Memories(graph, after_it_is_told)
    try:
        with pytest.raises(CortexError) as caught:
            fresh.recall(memory_query("tea"), agent="a1", timeout_s=0.0)
    finally:
        reported.set()
    assert caught.value.code == "graph_busy"
    assert len(fresh.recall(memory_query("tea"), agent="a1", timeout_s=60).found) == 5


def test_a_closed_store_is_reported_without_waiting(graph, clock) -> None:
    fresh = Memories(graph, clock)
    graph.store.close()
    with pytest.raises(GraphError):
        fresh.recall(memory_query("tea"), agent="a1")
