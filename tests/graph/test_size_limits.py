"""What is written can be read back in every format, or is refused; however long it is."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import (
    GraphUnavailable,
    InvalidArguments,
    NamespacedGraph,
    Pattern,
    Provenance,
    export_rdf,
    import_rdf,
    open_store,
)
from cortex_graph.checks.size_limits import MOST_BYTES, long_line
from cortex_graph.namespace.replication import QuadSet, change
from cortex_graph.transfer import FORMATS, copy_store

AROUND = len('<urn:cortex:mayros:a> <urn:cortex:mayros:p> "" <urn:cortex:mayros>')
LONGEST = MOST_BYTES - AROUND
NOTHING = QuadSet((), ())


@pytest.fixture
def graph() -> NamespacedGraph:
    """A namespace in memory: what is too long is found out before a store is asked."""
    return NamespacedGraph(open_store("memory:"), "mayros")


def triple(text: str) -> dict[str, str]:
    return {"subject": "a", "predicate": "p", "object": text}


@pytest.mark.parametrize("form", FORMATS)
def test_the_longest_triple_comes_back_in_every_format(graph: NamespacedGraph, form: str) -> None:
    graph.create_triple(triple("x" * LONGEST))
    written = io.BytesIO()
    export_rdf(graph, written, form)
    other = NamespacedGraph(open_store("memory:"), "mayros")
    written.seek(0)
    assert import_rdf(other, written, form) == 1
    assert other.list_triples()["triples"] == graph.list_triples()["triples"]


@pytest.mark.parametrize("text", ["x" * (LONGEST + 1), "é" * (LONGEST // 2 + 1), "\x01" * (LONGEST // 6 + 1)])
def test_a_longer_one_is_refused_and_nothing_is_written(graph: NamespacedGraph, text: str) -> None:
    with pytest.raises(InvalidArguments, match="more than 7 MiB"):
        graph.create_triples([triple("short"), triple(text)])
    with pytest.raises(InvalidArguments, match="more than 7 MiB"):
        change(graph, QuadSet([triple("short"), triple(text)]), NOTHING)
    with pytest.raises(InvalidArguments, match="more than 7 MiB"):
        change(graph, QuadSet([triple("short")], [triple(text)]), NOTHING)
    assert graph.count() == 0


def test_an_update_writes_no_longer_one(graph: NamespacedGraph) -> None:
    graph.create_triple(triple("x" * (3 << 20)))
    for times in (3, 6):  # what the parser of the answer takes, and what it does not take
        parts = ", ".join(["?o"] * times)
        with pytest.raises(InvalidArguments, match="more than 7 MiB"):
            graph.update(f"INSERT {{ mayros:b mayros:p ?all }} WHERE {{ ?s ?p ?o BIND(CONCAT({parts}) AS ?all) }}")
    assert graph.count() == 1


@pytest.mark.parametrize("length", [LONGEST + AROUND, 20 << 20])
@pytest.mark.parametrize("form", ["n-triples", "turtle"])
def test_a_file_with_a_longer_one_is_refused(graph: NamespacedGraph, form: str, length: int) -> None:
    with pytest.raises(InvalidArguments, match="more than 7 MiB"):
        import_rdf(graph, io.BytesIO(b'<urn:a> <urn:p> "short" .\n<urn:a> <urn:p> "' + b"x" * length + b'" .\n'), form)
    assert graph.count() == 0


def test_a_longer_one_that_is_there_already_is_read_and_deleted(graph: NamespacedGraph) -> None:
    graph.store.insert([[Quad(NamedNode("urn:a"), NamedNode("urn:p"), Literal("x" * (17 << 20)), graph.names.graph)]])
    (there,) = graph.list_triples()["triples"]
    assert len(there["object"]) == 17 << 20
    assert graph.delete_triple(there["id"])
    assert graph.count() == 0


def test_a_longer_existing_triple_is_not_copied_and_that_is_reported(graph: NamespacedGraph) -> None:
    graph.store.insert([[Quad(NamedNode("urn:a"), NamedNode("urn:p"), Literal("x" * (17 << 20)), graph.names.graph)]])
    target = open_store("memory:")
    with pytest.raises(GraphUnavailable) as caught:
        copy_store(graph.store, target)
    assert "7 MiB" in caught.value.hint
    assert target.count(Pattern(graph.names.graph)) == 0


def test_a_name_of_who_asserted_has_an_end(graph: NamespacedGraph) -> None:
    with pytest.raises(InvalidArguments, match="65,536"):
        graph.create_triple(triple("short"), Provenance(agent="é" * 65_537))
    assert graph.create_triple(triple("short"), Provenance(agent="é" * 65_536))["created"]


@given(st.lists(st.integers(0, 12), max_size=8), st.booleans())
def test_a_long_line_is_found_wherever_it_is(lengths: list[int], ends: bool) -> None:
    content = b"\n".join(b"x" * length for length in lengths) + b"\n" * ends
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cortex_graph.checks.size_limits.MOST_BYTES", 5)
        found = long_line(content)
    assert (found is None) == all(length <= 5 for length in lengths)
    if found is not None:
        assert content[:found].count(b"\n") == next(at for at, length in enumerate(lengths) if length > 5)
