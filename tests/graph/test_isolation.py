"""No operation on a namespace reads, counts, changes or deletes another one."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_graph import (
    GraphStore,
    InvalidArguments,
    NamespacedGraph,
    Provenance,
    export_rdf,
    import_rdf,
    open_store,
)
from tests.graph.strategies import BASES, names, values

LOOK_ALIKES = ["may", "mayros", "Mayros", "mayros-2", "mayros_2", "m", "mayros/m", "mayros/memories/m", "mayros.m"]
TRIPLE = {"subject": "a", "predicate": "p", "object": 1}


@pytest.fixture
def others(store: GraphStore) -> list[NamespacedGraph]:
    """Namespaces that look like `mayros`, each with one triple that it alone has and one that all have."""
    graphs = [NamespacedGraph(store, namespace) for namespace in LOOK_ALIKES if namespace != "mayros"]
    for graph in graphs:
        graph.create_triple(TRIPLE, Provenance(agent="a1"))
        graph.create_triple(TRIPLE | {"object": graph.namespace})
    return graphs


def content(graph: NamespacedGraph) -> bytes:
    written = io.BytesIO()
    export_rdf(graph, written, "n-quads")
    return b"".join(sorted(written.getvalue().splitlines(keepends=True)))


def test_an_empty_namespace_among_full_ones_is_empty(graph: NamespacedGraph, others: list[NamespacedGraph]) -> None:
    assert graph.list_triples() == {"triples": [], "total": 0, "totalIsExact": True, "nextCursor": None}
    assert graph.pattern_query({"predicate": "p"})["matches"] == []
    assert graph.pattern_query({"object": 1})["matches"] == []
    assert graph.count() == 0
    assert content(graph) == b""


def test_the_same_triple_is_another_one_in_each_namespace(
    graph: NamespacedGraph, others: list[NamespacedGraph]
) -> None:
    assert graph.create_triple(TRIPLE)["created"]
    ids = {each.pattern_query({"object": 1})["matches"][0]["id"] for each in [graph, *others]}
    assert len(ids) == len(LOOK_ALIKES)


def test_a_triple_of_another_namespace_is_not_got_deleted_or_explained_by_its_id(
    graph: NamespacedGraph, others: list[NamespacedGraph]
) -> None:
    for other in others:
        for triple in other.list_triples()["triples"]:
            assert graph.get_triple(triple["id"]) is None
            assert graph.delete_triple(triple["id"]) is False
            assert graph.provenance_of(triple["id"]) is None
        assert other.count() == 2


def test_deleting_in_one_namespace_leaves_its_look_alikes_alone(
    graph: NamespacedGraph, others: list[NamespacedGraph]
) -> None:
    before = [content(other) for other in others]
    triple_id = graph.create_triple(TRIPLE, Provenance(agent="a1"))["id"]
    assert graph.delete_triple(triple_id)
    assert [content(other) for other in others] == before
    assert others[0].provenance_of(others[0].pattern_query({"object": 1})["matches"][0]["id"])


def test_names_and_iris_of_another_namespace_lead_nowhere(
    graph: NamespacedGraph, others: list[NamespacedGraph]
) -> None:
    for name in ("may:a", "urn:cortex:may:a", "<urn:cortex:may:a>", "../may:a", "Mayros:a", "urn:cortex:may"):
        assert graph.list_triples({"subject": name})["triples"] == []
        assert graph.list_triples({"object": {"node": name}})["triples"] == []


def test_a_statement_about_another_namespace_stays_in_the_graph_of_who_made_it(
    graph: NamespacedGraph, others: list[NamespacedGraph]
) -> None:
    before = [content(other) for other in others]
    graph.create_triple({"subject": "urn:cortex:may:a", "predicate": "urn:cortex:may:p", "object": 2})
    assert [content(other) for other in others] == before
    assert graph.count() == 1


def test_a_cursor_of_another_namespace_is_refused(store: GraphStore, graph: NamespacedGraph) -> None:
    other = NamespacedGraph(store, "may")
    other.create_triples([TRIPLE | {"object": number} for number in range(5)])
    graph.create_triples([TRIPLE | {"object": number} for number in range(5)])
    cursor = other.list_triples({"limit": 2})["nextCursor"]
    with pytest.raises(InvalidArguments, match="another query"):
        graph.list_triples({"limit": 2, "cursor": cursor})


def test_a_file_of_another_namespace_is_imported_into_this_graph_only(
    graph: NamespacedGraph, others: list[NamespacedGraph]
) -> None:
    before = [content(other) for other in others]
    import_rdf(graph, io.BytesIO(content(others[0])), "n-quads")
    assert graph.count() == 2
    assert [content(other) for other in others] == before


operations = st.lists(
    st.one_of(
        st.tuples(st.just("create"), st.builds(lambda *spo: dict(zip(TRIPLE, spo, strict=True)), names, names, values)),
        st.tuples(st.just("delete"), st.integers(0, 5)),
        st.tuples(st.just("read"), st.builds(lambda name: {"subject": name}, names)),
        st.tuples(
            st.just("import"), st.sampled_from([b"<urn:cortex:may:a> <urn:p> _:b <urn:cortex:may> .", b"broken"])
        ),
    ),
    max_size=6,
)


@settings(max_examples=40)
@given(st.sampled_from(BASES), st.permutations(LOOK_ALIKES), operations)
def test_nothing_that_is_done_in_one_namespace_shows_in_another(
    base: str, namespaces: list[str], done: list[tuple[str, Any]]
) -> None:
    store = open_store("memory:")
    actor, *others = (NamespacedGraph(store, namespace, base=base) for namespace in namespaces)
    for other in others:
        other.create_triple(TRIPLE, Provenance(skill="s", agent="a1"))
    foreign = [triple["id"] for other in others for triple in other.list_triples()["triples"]]
    before = [content(other) for other in others]
    for operation, argument in done:
        try:
            if operation == "create":
                actor.create_triple(argument, Provenance(skill="s"))
            elif operation == "delete":
                assert actor.delete_triple(foreign[argument % len(foreign)]) is False
            elif operation == "import":
                import_rdf(actor, io.BytesIO(argument), "n-quads")
            else:
                assert not {triple["id"] for triple in actor.list_triples(argument)["triples"]} & set(foreign)
        except InvalidArguments:
            pass
    assert [content(other) for other in others] == before
    assert all(other.provenance_of(triple_id) for other, triple_id in zip(others, foreign, strict=True))
