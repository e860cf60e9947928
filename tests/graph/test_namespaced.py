"""A namespace's triples: written, read, deleted, as mappings off the wire."""

from __future__ import annotations

import hashlib
import json
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_graph import (
    WELL_KNOWN_VOCABULARIES,
    GraphStore,
    InvalidArguments,
    NamespacedGraph,
    namespaces_of,
    open_store,
)
from tests.graph.strategies import BASES, NAMESPACES, names, values

TRIPLE = {"subject": "a", "predicate": "p", "object": 1}
UNKNOWN = "0" * 64


@given(st.sampled_from(NAMESPACES), st.sampled_from(BASES), names, names, values)
def test_what_a_read_returns_is_written_back_as_the_same_triple(
    namespace: str, base: str, subject: str, predicate: str, value: Any
) -> None:
    graph = NamespacedGraph(open_store("memory:"), namespace, base=base)
    try:
        written = graph.create_triple({"subject": subject, "predicate": predicate, "object": value})
    except InvalidArguments:
        assert graph.count() == 0
        return
    (read,) = json.loads(json.dumps(graph.list_triples()["triples"], allow_nan=False))
    assert written == read | {"created": True}
    triple_id = read.pop("id")
    again = graph.create_triple(read)
    assert again == read | {"id": triple_id, "created": False}
    assert graph.pattern_query(read)["matches"] == [read | {"id": triple_id}]
    assert graph.get_triple(triple_id) == read | {"id": triple_id}
    assert graph.delete_triple(triple_id)
    assert graph.count() == 0


def test_a_created_triple_is_returned_with_the_hash_of_its_n_quads_line(graph: NamespacedGraph) -> None:
    line = b"<urn:cortex:mayros:agent:a1> <urn:cortex:mayros:knows> <urn:cortex:mayros:b> <urn:cortex:mayros> .\n"
    assert graph.create_triple({"subject": "agent:a1", "predicate": "knows", "object": {"node": "b"}}) == {
        "id": hashlib.sha256(line).hexdigest(),
        "subject": "mayros:agent:a1",
        "predicate": "mayros:knows",
        "object": {"node": "mayros:b"},
        "created": True,
    }


def test_a_repeated_triple_is_not_created_again(graph: NamespacedGraph) -> None:
    first = graph.create_triple(TRIPLE)
    second = graph.create_triple({"subject": "mayros:a", "predicate": "mayros:p", "object": 1})
    assert (first["created"], second["created"]) == (True, False)
    assert first["id"] == second["id"]
    assert graph.count() == 1


def test_one_as_an_integer_a_number_a_boolean_and_text_are_four_triples(graph: NamespacedGraph) -> None:
    rows = graph.create_triples([TRIPLE | {"object": value} for value in (1, 1.0, True, "1")])
    assert len({row["id"] for row in rows}) == graph.count() == 4
    assert [(type(m["object"]), m["object"]) for m in graph.pattern_query({"object": True})["matches"]] == [
        (bool, True)
    ]


def test_a_batch_is_written_whole_or_not_at_all(graph: NamespacedGraph) -> None:
    with pytest.raises(InvalidArguments, match="`object`"):
        graph.create_triples([TRIPLE, TRIPLE | {"object": "\ud800"}])
    assert graph.count() == 0


def test_a_batch_reports_which_triples_are_new(graph: NamespacedGraph) -> None:
    graph.create_triple(TRIPLE)
    rows = graph.create_triples([TRIPLE, TRIPLE | {"object": 2}, TRIPLE | {"object": 2}])
    assert [row["created"] for row in rows] == [False, True, False]
    assert graph.create_triples([]) == []


def test_a_pattern_with_nothing_bound_lists_everything(graph: NamespacedGraph) -> None:
    graph.create_triples([TRIPLE, TRIPLE | {"object": 2}])
    for pattern in ({}, None, {"subject": None, "predicate": None, "object": None, "cursor": None, "limit": None}):
        assert {triple["object"] for triple in graph.list_triples(pattern)["triples"]} == {1, 2}


def test_an_object_spelt_otherwise_is_found_and_not_written_again(graph: NamespacedGraph) -> None:
    integer = {"value": "01", "datatype": f"{WELL_KNOWN_VOCABULARIES['xsd']}integer"}
    assert graph.create_triple(TRIPLE | {"object": integer})["object"] == 1
    assert graph.create_triple(TRIPLE)["created"] is False
    assert graph.pattern_query({"object": integer})["total"] == 1


def test_a_deleted_triple_is_gone(graph: NamespacedGraph) -> None:
    triple_id = graph.create_triple(TRIPLE)["id"]
    assert graph.delete_triple(triple_id) is True
    assert graph.delete_triple(triple_id) is False
    assert graph.get_triple(triple_id) is None
    assert graph.list_triples()["triples"] == []


def test_a_standard_predicate_is_written_where_its_vocabulary_is_allowed(store: GraphStore) -> None:
    open_graph = NamespacedGraph(store, "mayros", vocabularies={"rdf": WELL_KNOWN_VOCABULARIES["rdf"]})
    closed = NamespacedGraph(store, "mayros")
    triple_id = open_graph.create_triple(TRIPLE | {"predicate": "rdf:type"})["id"]
    assert open_graph.get_triple(triple_id)["predicate"] == "rdf:type"  # type: ignore[index]
    assert closed.get_triple(triple_id)["predicate"] == f"{WELL_KNOWN_VOCABULARIES['rdf']}type"  # type: ignore[index]
    assert closed.create_triple(TRIPLE | {"predicate": "rdf:type"})["predicate"] == "mayros:rdf:type"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "subject"),
        ({"subject": "a", "predicate": "p"}, "object"),
        ({"subject": "a", "predicate": "p", "object": None}, "object"),
        (TRIPLE | {"subject": ""}, "subject"),
        (TRIPLE | {"subject": 1}, "subject"),
        (TRIPLE | {"predicate": ["p"]}, "predicate"),
        (TRIPLE | {"object": []}, "object"),
        (TRIPLE | {"graph": "other"}, "graph"),
        (TRIPLE | {1: 2}, "1"),
        ("a p 1", "triple"),
        (None, "triple"),
    ],
)
def test_a_malformed_triple_is_refused_with_its_field(graph: NamespacedGraph, given: Any, field: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        graph.create_triple(given)
    assert caught.value.details["field"] == field
    assert graph.count() == 0


@pytest.mark.parametrize(
    ("given", "field"),
    [({"limit": limit}, "limit") for limit in (0, -1, 1001, 10**30, "5", 1.0, True, float("nan"))]
    + [
        ({"cursor": 1}, "cursor"),
        ({"subjekt": "a"}, "subjekt"),
        ({"subject": {}}, "subject"),
        ([], "pattern"),
        ("x" * 1000, "pattern"),
    ],
)
def test_a_malformed_pattern_is_refused_with_its_field(graph: NamespacedGraph, given: Any, field: str) -> None:
    for operation in (graph.list_triples, graph.pattern_query):
        with pytest.raises(InvalidArguments) as caught:
            operation(given)
        assert caught.value.details["field"] == field


def test_the_error_of_an_unknown_key_suggests_the_right_one(graph: NamespacedGraph) -> None:
    with pytest.raises(InvalidArguments) as caught:
        graph.list_triples({"predikate": "p"})
    assert caught.value.hint == "predicate?"


@pytest.mark.parametrize("triple_id", ["", "x", UNKNOWN + "0", UNKNOWN.upper()[:-1] + "G", UNKNOWN + "\n", None, 1])
def test_what_is_no_id_is_refused(graph: NamespacedGraph, triple_id: Any) -> None:
    for operation in (graph.get_triple, graph.delete_triple, graph.provenance_of):
        with pytest.raises(InvalidArguments, match="`id`"):
            operation(triple_id)


def test_what_is_nested_beyond_reason_is_refused_in_words(graph: NamespacedGraph) -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for refused in (
        lambda: graph.list_triples({"limit": deep}),
        lambda: graph.list_triples({"subject": deep}),
        lambda: graph.create_triple(TRIPLE | {"object": deep}),
        lambda: graph.create_triple(TRIPLE | {"object": {"value": deep, "datatype": "p"}}),
        lambda: graph.delete_triple(deep),
    ):
        with pytest.raises(InvalidArguments) as caught:
            refused()
        assert len(caught.value.message) < 200


@pytest.mark.parametrize("given", [None, "abc", 1, TRIPLE, [1]])
def test_a_batch_that_is_no_list_of_triples_is_refused(graph: NamespacedGraph, given: Any) -> None:
    with pytest.raises(InvalidArguments):
        graph.create_triples(given)


def test_of_many_threads_that_write_the_same_triples_each_is_created_once(graph: NamespacedGraph) -> None:
    created: list[bool] = []

    def write() -> None:
        created.extend(graph.create_triple(TRIPLE | {"object": number})["created"] for number in range(50))

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(created), sum(created), graph.count()) == (400, 50, 50)


def test_of_many_threads_that_delete_the_same_triple_one_has_deleted_it(graph: NamespacedGraph) -> None:
    triple_id = graph.create_triple(TRIPLE)["id"]
    deleted: list[bool] = []
    threads = [threading.Thread(target=lambda: deleted.append(graph.delete_triple(triple_id))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(deleted) == [False] * 7 + [True]


def test_the_namespaces_that_hold_triples_are_listed(store: GraphStore) -> None:
    for namespace in ("b", "a"):
        NamespacedGraph(store, namespace).create_triple(TRIPLE)
    emptied = NamespacedGraph(store, "c")
    emptied.delete_triple(emptied.create_triple(TRIPLE)["id"])
    NamespacedGraph(store, "far", base="https://example.org/").create_triple(TRIPLE)
    assert namespaces_of(store) == ["a", "b"]
    assert namespaces_of(store, "https://example.org/") == ["far"]


def test_count_counts_what_a_pattern_binds():
    graph = NamespacedGraph(open_store("memory:"), "mayros")
    graph.create_triples([{"subject": f"s{n}", "predicate": "p", "object": n % 2} for n in range(150)])
    assert graph.count() == 150
    assert graph.count({"object": 1}) == 75
    assert graph.count({"subject": "s1", "predicate": "p"}) == 1
    assert graph.count({"subject": "elsewhere"}) == 0
