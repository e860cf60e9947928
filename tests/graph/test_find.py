"""What a text may mean in a namespace is found, with where, and nothing of another namespace."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cortex_graph import InvalidArguments, NamespacedGraph, Provenance, open_store
from cortex_graph.as_of import as_of
from cortex_graph.find import find


@pytest.fixture(scope="module")
def graph() -> NamespacedGraph:
    store = open_store("memory:")
    graph = NamespacedGraph(store, "m")
    by = Provenance("shop", "1.0.0", "nancy", datetime(2026, 1, 1, tzinfo=UTC))
    graph.create_triple({"subject": "nails", "predicate": "nature", "object": "Running LOW"}, by)
    graph.create_triple({"subject": "nailbrush", "predicate": "near", "object": {"node": "nails"}}, by)
    other = NamespacedGraph(store, "mm")
    other.create_triple({"subject": "nails", "predicate": "p", "object": "running low elsewhere"}, by)
    graph.counts.latest(60.0)
    return graph


def found(graph: NamespacedGraph, text: str) -> list[tuple[str, str]]:
    result = find(graph, text)
    assert result.is_complete
    return [(hit.where, graph.names.name(hit.node.value)) for hit in result.hits]


def test_names_predicates_and_asserters_are_found(graph: NamespacedGraph) -> None:
    assert found(graph, "nails") == [("name", "m:nails")]
    assert found(graph, "natur") == [("predicate", "m:nature")]
    assert found(graph, "nan") == [("asserter", "m:agent:nancy")]
    assert found(graph, "sho") == [("asserter", "m:skill:shop@1.0.0")]


def test_ids_are_found_whole_and_by_their_beginning(graph: NamespacedGraph) -> None:
    (row,) = graph.list_triples({"predicate": "near"})["triples"]
    for text in (row["id"], row["id"][:6], row["id"][:20]):
        (hit,) = find(graph, text).hits
        assert (hit.where, hit.triple_id) == ("id", row["id"])
    assert find(graph, "0" * 64).hits == find(graph, "abc").hits == ()


def test_nothing_is_found_as_of_before(graph: NamespacedGraph) -> None:
    assert find(as_of(graph, "2025-01-01"), "nails").hits == ()
    (hit,) = find(as_of(graph, "2026-02-01"), "nails").hits
    assert hit.where == "name"


@pytest.mark.parametrize("text", ['"', "\\", "a> } {", '") || true #', "%", "\u202e", "<urn:x>", "<a b>", "\x00", "🦉"])
def test_hostile_texts_find_nothing(graph: NamespacedGraph, text: str) -> None:
    assert find(graph, text).hits == ()


@pytest.mark.parametrize("text", ["", "  ", "x" * 201, 5])
def test_no_text_or_a_long_one_is_refused(graph: NamespacedGraph, text: object) -> None:
    with pytest.raises(InvalidArguments):
        find(graph, text)  # type: ignore[arg-type]
