"""A copy holds what the source held at one moment, goes on when it is run again, and is verified."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, parse

from cortex_graph import GraphStore, GraphUnavailable, NamespacedGraph, open_store
from cortex_graph.store import Pattern
from cortex_graph.stores.embedded import OxigraphStore
from cortex_graph.transfer import copy_store, digest_of
from cortex_graph.transfer.loading import load
from cortex_graph.transfer.progress import silent
from tests.graph.transfer.support import (
    GRAPH,
    Dying,
    Sliced,
    assert_some,
    kill_when,
    left_in,
    lines,
    python,
    write_triples,
)


@pytest.fixture(autouse=True)
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cortex_graph.transfer.loading.SLICE_BYTES", 2_000)


@pytest.fixture
def target() -> Sliced:
    return Sliced()


def test_all_namespaces_go_over_with_their_records_and_no_other_graph(store: GraphStore, target: Sliced) -> None:
    graph = NamespacedGraph(store, "mayros")
    ids = assert_some(graph, 100)
    NamespacedGraph(store, "shop").create_triple({"subject": "a", "predicate": "p", "object": 1})
    store.apply([Quad(GRAPH, GRAPH, GRAPH, NamedNode("urn:somebody:else"))])
    done = copy_store(store, target)
    assert {copied.graph for copied in done} == {f"urn:cortex:{n}" for n in ("mayros", "mayros/provenance", "shop")}
    assert all(copied.extra == 0 for copied in done)
    assert all(digest_of(target, NamedNode(copied.graph)).sha256 == copied.sha256 for copied in done)
    with_times = {copied.graph for copied in done} | {"urn:cortex:mayros/index"}
    assert {name.value for name in target.graph_names()} == with_times
    copy = NamespacedGraph(target, "mayros")
    assert lines(copy) == lines(graph)
    assert copy.provenance_of(ids[0]) == graph.provenance_of(ids[0])


def test_one_namespace_of_several(store: GraphStore, target: Sliced) -> None:
    for namespace in ("mayros", "shop"):
        NamespacedGraph(store, namespace).create_triple({"subject": "a", "predicate": "p", "object": 1})
    assert [copied.graph for copied in copy_store(store, target, ["shop"])] == ["urn:cortex:shop"]
    assert [name.value for name in target.graph_names()] == ["urn:cortex:shop"]


def test_existing_triples_of_the_target_stay_and_are_counted(store: GraphStore, target: Sliced) -> None:
    assert_some(NamespacedGraph(store, "mayros"), 3)
    mine = NamespacedGraph(target, "mayros")
    mine.create_triple({"subject": "mine", "predicate": "p", "object": 1})
    (data,) = [copied for copied in copy_store(store, target) if copied.graph == GRAPH.value]
    assert (data.triples, data.extra, mine.count()) == (3, 1, 4)


def test_a_source_that_goes_away_in_the_middle_leaves_the_target_as_it_was(target: Sliced) -> None:
    source = Dying()
    source.bulk_insert(Quad(GRAPH, GRAPH, Literal(number), GRAPH) for number in range(100))
    with pytest.raises(GraphUnavailable, match="went away"):
        copy_store(source, target)
    assert target.graph_names() == []


def test_a_target_that_goes_away_is_gone_on_with(store: GraphStore, target: Sliced) -> None:
    NamespacedGraph(store, "mayros").create_triples(
        [{"subject": f"s{number}", "predicate": "p", "object": number} for number in range(200)]
    )
    target.fails_at = 4
    with pytest.raises(GraphUnavailable, match="went away"):
        copy_store(store, target)
    half = NamespacedGraph(target, "mayros").count()
    assert 0 < half < 200
    target.loads = 0
    target.fails_at = 0
    copy_store(store, target)
    again = target.loads
    assert digest_of(target, GRAPH) == digest_of(store, GRAPH)
    assert [name.value for name in target.graph_names()] == [GRAPH.value]
    other = Sliced()
    copy_store(store, other)
    assert again == other.loads - 3


def test_what_was_deleted_since_is_loaded_again(store: GraphStore, target: Sliced) -> None:
    NamespacedGraph(store, "mayros").create_triples(
        [{"subject": f"s{number}", "predicate": "p", "object": number} for number in range(200)]
    )
    target.fails_at = 4
    with pytest.raises(GraphUnavailable):
        copy_store(store, target)
    target.apply(remove=_all(target))
    target.fails_at = 0
    copy_store(store, target)
    assert digest_of(target, GRAPH) == digest_of(store, GRAPH)


def _all(store: OxigraphStore) -> list[Quad]:
    return list(store.quads(Pattern(GRAPH)))


def test_a_store_that_loses_what_it_is_given_is_found_out(store: GraphStore) -> None:
    class Losing(OxigraphStore):
        def bulk_load(self, path: Path, graph: NamedNode) -> None:
            super().bulk_load(path, graph)
            self.remove(_all(self)[0])

    store.apply(Quad(GRAPH, GRAPH, Literal(number), GRAPH) for number in range(5))
    with pytest.raises(GraphUnavailable, match="lacks 1 of"):
        copy_store(store, Losing())


def test_a_store_that_spells_numbers_in_its_own_way_holds_the_same(store: GraphStore) -> None:
    class Spelling(OxigraphStore):
        """Keeps the value of a number, not its zeros."""

        def as_stored(self, literal: Literal) -> Literal:
            kept = literal.value.lstrip("0") or "0"
            return Literal(kept, datatype=literal.datatype) if literal.datatype.value.endswith(":number") else literal

        def bulk_load(self, path: Path, graph: NamedNode) -> None:
            self.bulk_insert(
                Quad(
                    quad.subject,
                    quad.predicate,
                    self.as_stored(quad.object) if isinstance(quad.object, Literal) else quad.object,
                    graph,
                )
                for quad in parse(path=path, format=RdfFormat.N_TRIPLES)
            )

    number = NamedNode("urn:x:number")
    store.apply([Quad(GRAPH, GRAPH, Literal(text, datatype=number), GRAPH) for text in ("007", "7", "012")])
    target = Spelling()
    (done,) = copy_store(store, target)
    assert (done.triples, done.extra) == (3, 0)
    assert {quad.object.value for quad in _all(target)} == {"7", "12"}


def test_a_checkpoint_is_gone_once_a_file_is_in(tmp_path: Path, target: Sliced) -> None:
    file = write_triples(tmp_path / "some.nt", 500)
    load(target, file, GRAPH, NamedNode("urn:cortex:mayros/index"), tmp_path, silent)
    assert target.loads > 5
    assert [name.value for name in target.graph_names()] == [GRAPH.value]
    assert len(_all(target)) == 500


COPY = """
import sys
from cortex_graph import open_store
from cortex_graph.transfer import copy_store
copy_store(open_store(sys.argv[1]), open_store(sys.argv[2]))
"""


@pytest.mark.extended
@pytest.mark.slow
def test_a_copy_that_is_killed_is_run_again(tmp_path: Path) -> None:
    source = open_store(tmp_path / "source")
    source.bulk_load(write_triples(tmp_path / "large.nt", 60_000), GRAPH)
    source.flush()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = python(COPY, tmp_path / "source", tmp_path / "target", env={"TMPDIR": str(scratch)})
    kill_when(process, lambda: list((tmp_path / "target").glob("bulk-*.sst")))
    target = open_store(tmp_path / "target")
    assert NamespacedGraph(target, "mayros").count() in (0, 60_000)
    copy_store(source, target)
    assert digest_of(source, GRAPH) == digest_of(target, GRAPH)
    assert left_in(tmp_path / "target", ("bulk-",)) == []
    source.close()
    target.close()
