"""A query sees every write before it, and few of them copy the store."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import NamespacedGraph
from cortex_graph.sparql import recent_changes
from cortex_graph.sparql.query_run import query_pool
from cortex_graph.sparql.recent_changes import RecentChanges
from cortex_graph.store import Dataset, Pattern
from cortex_graph.stores.embedded import OxigraphStore
from tests.graph.sparql.conftest import rows_of
from tests.property_examples import examples

GRAPHS = [NamedNode("urn:cortex:one"), NamedNode("urn:cortex:two")]
EVERYTHING = "SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } }"


@pytest.fixture(params=["memory", "disk"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OxigraphStore]:
    pool = query_pool(size=1)
    opened = OxigraphStore(None if request.param == "memory" else tmp_path / "store", pool)
    yield opened
    opened.close()
    pool.close()


def quad(number: int, text: str = "o") -> Quad:
    return Quad(NamedNode(f"urn:s{number % 3}"), NamedNode(f"urn:p{number}"), Literal(text), GRAPHS[number % 2])


def as_asked(store: OxigraphStore, named: tuple[NamedNode, ...] = tuple(GRAPHS)) -> set[tuple[str, ...]]:
    found = rows_of(store.query(EVERYTHING, Dataset((), named)))
    return {(row["g"], row["s"], row["p"], row["o"]) for row in found}


def as_stored(store: OxigraphStore, named: tuple[NamedNode, ...] = tuple(GRAPHS)) -> set[tuple[str, ...]]:
    quads = [quad for graph in named for quad in store.quads(Pattern(graph))]
    return {(q.graph_name.value, q.subject.value, q.predicate.value, q.object.value) for q in quads}  # type: ignore[union-attr]


NUMBERS = st.integers(0, 8)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
STEPS = st.one_of(
    st.tuples(st.just("insert"), NUMBERS, TEXTS),
    st.tuples(st.just("remove"), NUMBERS, TEXTS),
    st.tuples(st.just("replace"), NUMBERS, TEXTS),
    st.tuples(st.just("load"), NUMBERS, TEXTS),
    st.tuples(st.sampled_from(["query", "query one"]), st.just(0), st.just("")),
)


def do(store: OxigraphStore, step: str, number: int, text: str) -> None:
    wanted = quad(number, text)
    if step == "insert":
        store.insert([[wanted, quad(number + 1)]])
    elif step == "remove":
        store.insert([[wanted]])
        store.remove(wanted, [(GRAPHS[0], NamedNode("urn:s1"))])
    elif step == "replace":
        store.apply(insert=[wanted], remove=list(store.quads(Pattern(GRAPHS[number % 2], wanted.subject)))[:2])  # type: ignore[arg-type]
    elif step == "load":
        store.bulk_insert([wanted])
    else:
        named = tuple(GRAPHS[: 1 if step == "query one" else 2])
        assert as_asked(store, named) == as_stored(store, named)


@pytest.mark.parametrize("most", [12, 5_000])
def test_a_query_sees_every_write_before_it(store: OxigraphStore, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(recent_changes, "MOST_QUADS", most)

    @settings(max_examples=examples(30), deadline=None, database=None)
    @given(st.lists(STEPS, max_size=25))
    def check(steps: list[tuple[str, int, str]]) -> None:
        for step in steps:
            do(store, *step)
        assert as_asked(store) == as_stored(store)

    check()


def copies(store: OxigraphStore) -> set[Path]:
    return {copy.snapshot.path for copy in [store._evaluation._snapshots.lease(frozenset(GRAPHS))]}


def test_writes_between_queries_copy_the_store_once(store: OxigraphStore) -> None:
    as_asked(store)
    first = copies(store)
    for number in range(40):
        store.insert([[quad(number, "new")]])
        assert as_asked(store) == as_stored(store)
    assert copies(store) == first


def test_a_store_is_copied_again_after_many_changes_and_after_a_bulk_load(
    store: OxigraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recent_changes, "MOST_QUADS", 5)
    as_asked(store)
    first = copies(store)
    for number in range(6):
        store.insert([[quad(number)]])
    second = copies(store)
    store.bulk_insert([quad(7)])
    assert len(first | second | copies(store)) == 3


def test_the_files_of_a_store_do_not_grow_in_number_with_its_queries(tmp_path: Path) -> None:
    with_queries = OxigraphStore(tmp_path / "store")
    as_asked(with_queries)
    before = len(list((tmp_path / "store").glob("*.sst")))
    for number in range(30):
        with_queries.insert([[quad(number)]])
        as_asked(with_queries)
    assert len(list((tmp_path / "store").glob("*.sst"))) == before
    with_queries.close()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="a process is ended otherwise there")
def test_what_an_ended_process_made_of_a_copy_is_removed_by_the_next_one(tmp_path: Path) -> None:
    pool = query_pool(size=1)
    store = OxigraphStore(tmp_path / "store", pool)
    for _ in range(3):
        as_asked(store)
        store.insert([[quad(1)], [quad(2)]])
        assert as_asked(store) == as_stored(store)
        (pid,) = pool.pids()
        os.kill(pid, signal.SIGKILL)
        while pool._state.idle[0][0].is_alive:
            pass
        store.insert([[quad(3)]])
    as_asked(store)
    (pid,) = pool.pids()
    assert [copy.name.rpartition("-")[2] for copy in tmp_path.glob("store/.queries/*.of-*")] == [str(pid)]
    pool.close()
    store.close()
    assert not list((tmp_path / "store").rglob("*.of-*"))


def test_changes_that_are_not_known_end_what_was_known() -> None:
    changes = RecentChanges()
    changes.add(1, [quad(1)])
    assert changes.after(0) is None  # nothing is kept yet
    changes.begin(1)
    changes.add(2, [quad(2)])
    changes.add(3, "DELETE DATA {}")
    assert changes.after(1) == [[quad(2)], "DELETE DATA {}"]
    assert changes.after(2) == ["DELETE DATA {}"]
    assert changes.after(3) == []
    changes.add(4, None)
    assert changes.after(3) is None
    assert changes.after(4) == []


def test_changes_are_bounded_by_their_length() -> None:
    changes = RecentChanges()
    changes.begin(0)
    for number in range(1, 10):
        changes.add(number, [quad(number, "x" * (1 << 20))])
    assert changes.after(0) is None
    assert changes.after(9) == []
    kept = changes.after(8)
    assert kept is not None
    assert len(kept) == 1


def test_a_query_that_fails_leaves_the_next_one_every_change(store: OxigraphStore) -> None:
    graph = NamespacedGraph(store, "one")
    as_asked(store)
    for number in range(5):
        store.insert([[quad(2 * number)]])
        with pytest.raises(Exception, match="SPARQL"):
            graph.query("SELECT * { ?s ?p }")
        assert as_asked(store) == as_stored(store)
