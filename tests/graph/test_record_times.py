"""The times of records are indexed with every write, and once for a store of an earlier version."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import NamespacedGraph, Provenance, export_rdf, open_store
from cortex_graph.assertion_records.proofs import StoredProof
from cortex_graph.assertions import AssertionFilter, list_assertions, search
from cortex_graph.index import record_times
from cortex_graph.index.index_build import mark
from cortex_graph.index.record_times import RecordTimes, forget_times
from cortex_graph.namespace.proved_write import assert_proved
from cortex_graph.naming.vocabulary import DATE_TIME, GENERATED_AT, VALUE
from cortex_graph.store import GraphStore, Pattern
from cortex_graph.transfer import check
from cortex_graph.transfer.copying import copy_store
from cortex_graph.transfer.importing import import_file

START = datetime(2026, 1, 31, 23, 59, 59, 900_000, tzinfo=UTC)
STEPS = [0, 50, 99, 100, 101, 3_600_000, 40 * 86_400_000]  # milliseconds: the same tenth, the next one, hour and month


@pytest.fixture(params=["memory", "folder"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[GraphStore]:
    opened = open_store("memory:" if request.param == "memory" else str(tmp_path / "store"))
    yield opened
    opened.close()


@pytest.fixture
def graph(store: GraphStore) -> NamespacedGraph:
    return NamespacedGraph(store, "m")


def at(milliseconds: int) -> Provenance:
    return Provenance("shop", "1", "a1", START + timedelta(milliseconds=milliseconds))


def filled(graph: NamespacedGraph) -> NamespacedGraph:
    for place, step in enumerate(STEPS):
        graph.create_triple({"subject": f"s{place}", "predicate": "p", "object": place}, at(step))
    return graph


def indexed(graph: NamespacedGraph) -> list[str]:
    return [time.value for time in RecordTimes(graph.store, graph.names).latest_first()]


def recorded(graph: NamespacedGraph) -> list[str]:
    """The different times of the records, the latest first."""
    found = graph.store.quads(Pattern(graph.names.provenance_graph, None, GENERATED_AT))
    starts = tuple(f"{graph.names.graph.value}/{kind}/" for kind in ("triple", "withdrawn"))
    times = {quad.object.value for quad in found if quad.subject.value.startswith(starts)}  # type: ignore[union-attr]
    return sorted(times, key=datetime.fromisoformat, reverse=True)


def as_before(graph: NamespacedGraph) -> None:
    """Make the namespace one of an earlier version, which had no times."""
    index = graph.names.index_graph
    start = f"{graph.names.graph.value}/time"
    entries = [quad for quad in graph.store.quads(Pattern(index)) if quad.subject.value.startswith(start)]  # type: ignore[union-attr]
    graph.store.apply(remove=[*entries, mark(graph.names, "times")])


def test_each_write_path_indexes_the_times_of_its_records(graph: NamespacedGraph) -> None:
    filled(graph)
    triples = [{"subject": "many", "predicate": "p", "object": number} for number in range(3)]
    graph.create_triples([{"subject": "s0", "predicate": "p", "object": 0}, *triples], at(7))
    graph.update("INSERT DATA { m:u m:p 1 . m:v m:p 2 }", at(8))
    quad = graph.quad_of({"subject": "proved", "predicate": "p", "object": 1})
    assert_proved(graph, quad, at(9), StoredProof("pol", "{}", "2026-01-01T00:00:00Z", (graph.index.identify(quad),)))
    gone = graph.create_triple({"subject": "gone", "predicate": "p", "object": 1}, at(10))["id"]
    graph.withdraw(gone, at(11))
    assert recorded(graph) == indexed(graph)
    assert len(indexed(graph)) == len(STEPS) + 4
    assert RecordTimes(graph.store, graph.names).is_complete()


def test_a_time_is_written_once_and_its_parents_once_for_a_tenth_of_a_second(graph: NamespacedGraph) -> None:
    filled(graph)

    def entries() -> int:
        return graph.store.count(Pattern(graph.names.index_graph, None, VALUE))

    before = entries()
    last = STEPS[-1]
    graph.create_triple({"subject": "a", "predicate": "p", "object": 1}, at(last))
    assert entries() == before
    graph.create_triple({"subject": "a", "predicate": "p", "object": 2}, at(last + 1))
    assert entries() == before + 1
    assert graph.times.quads(Literal("soon", datatype=DATE_TIME)) == []
    again = [{"subject": "a", "predicate": "p", "object": number} for number in (1, 2)]
    assert [row["created"] for row in graph.create_triples(again, at(last + 9))] == [False, False]
    assert entries() == before + 1
    mixed = [{"subject": "a", "predicate": "p", "object": number} for number in (1, 3, 4)]
    assert [row["created"] for row in graph.create_triples(mixed, at(last + 9))] == [False, True, True]
    assert entries() == before + 2
    assert recorded(graph) == indexed(graph)


def test_times_are_listed_from_a_moment_on_backwards(graph: NamespacedGraph) -> None:
    filled(graph)
    times = RecordTimes(graph.store, graph.names)
    for step in STEPS:
        until = START + timedelta(milliseconds=step)
        found = [datetime.fromisoformat(time.value) for time in times.latest_first(until)]
        assert found == [START + timedelta(milliseconds=each) for each in reversed(STEPS) if each <= step]
    assert list(times.latest_first(START - timedelta(seconds=1))) == []


def test_an_import_and_a_copy_index_the_times_of_their_records(
    graph: NamespacedGraph, tmp_path: Path, store: GraphStore
) -> None:
    filled(graph)
    exported = tmp_path / "all.nq"
    export_rdf(graph, exported, with_provenance=True)
    with_zone = exported.read_text().replace("2026-02-01T00:59:59.9Z", "2026-02-01T02:59:59.900+02:00")
    assert with_zone != exported.read_text()
    target = open_store("memory:")
    other = NamespacedGraph(target, "m")
    assert import_file(other, io.BytesIO(with_zone.encode()), "n-quads", with_provenance=True).records == len(STEPS)
    assert recorded(other) == indexed(other)
    assert [each.triple_id for each in list_assertions(other).assertions] == [
        each.triple_id for each in list_assertions(graph).assertions
    ]
    copied = open_store("memory:")
    copy_store(store, copied, ["m"])
    assert indexed(NamespacedGraph(copied, "m")) == indexed(graph)
    assert RecordTimes(copied, graph.names).is_complete()


def test_a_store_of_an_earlier_version_is_indexed_once_in_the_background(
    graph: NamespacedGraph, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", record_times.__name__)
    monkeypatch.setattr(search, "_FEW", 2)
    monkeypatch.setattr(record_times, "_CHUNK", 3)
    filled(graph)
    as_before(graph)
    # Written by this version before the others are indexed: it does not complete the index.
    graph.create_triple({"subject": "new", "predicate": "p", "object": 1}, at(5))
    first = list_assertions(graph)
    assert graph.times.wait(60.0)
    assert recorded(graph) == indexed(graph)
    assert [each.time for each in first.assertions] == [each.time for each in list_assertions(graph).assertions]
    assert len(first.assertions) == len(STEPS) + 1
    list_assertions(graph)
    assert sum("are being indexed" in message for message in caplog.messages) == 1
    assert caplog.messages[-1].startswith("the times of the records of m are indexed: ")


def test_an_interrupted_index_is_not_used_and_is_made_again(
    graph: NamespacedGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_FEW", 2)
    filled(graph)
    as_before(graph)
    time = Literal("2026-01-31T23:59:59.9Z", datatype=DATE_TIME)
    tenth = NamedNode(f"{graph.names.graph.value}/time/2026-01-31T23:59:59.9")
    graph.store.insert([[Quad(tenth, VALUE, time, graph.names.index_graph)]])  # what a killed process has left
    assert len(list_assertions(graph).assertions) == len(STEPS)
    assert graph.times.wait(60.0)
    assert recorded(graph) == indexed(graph)


def test_a_read_only_store_is_listed_without_an_index(graph: NamespacedGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_FEW", 2)
    filled(graph)
    as_before(graph)

    def refuse(*_: object, **__: object) -> None:
        from cortex_graph import GraphUnavailable

        raise GraphUnavailable("read-only", hint="none")

    monkeypatch.setattr(graph.store, "insert", refuse)
    for _ in range(2):
        assert len(list_assertions(graph).assertions) == len(STEPS)
        assert not graph.times.wait(60.0)


def test_times_without_a_record_are_passed_over(graph: NamespacedGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(graph)
    for assertion in list_assertions(graph, limit=4).assertions:
        graph.delete_triple(assertion.triple_id)
    assert [each.time for each in list_assertions(graph, limit=2).assertions] == recorded(graph)[:2]
    monkeypatch.setattr(search, "_SCANNED", 2)
    page = list_assertions(graph)
    assert page.assertions == ()
    found = []
    while page.cursor is not None:
        page = list_assertions(graph, cursor=page.cursor)
        found += page.assertions
    assert [each.time for each in found] == recorded(graph)


def test_a_page_starts_at_its_moment(graph: NamespacedGraph) -> None:
    filled(graph)
    which = AssertionFilter(since=START + timedelta(milliseconds=99), until=START + timedelta(milliseconds=101))
    times = [datetime.fromisoformat(each.time or "") for each in list_assertions(graph, which).assertions]
    assert times == [START + timedelta(milliseconds=each) for each in (101, 100, 99)]


def test_a_mark_is_forgotten_in_its_index_graph_only(graph: NamespacedGraph) -> None:
    filled(graph)
    forget_times(graph.store, graph.names.graph)
    assert RecordTimes(graph.store, graph.names).is_complete()
    forget_times(graph.store, graph.names.index_graph)
    assert not RecordTimes(graph.store, graph.names).is_complete()
    assert len(list_assertions(graph).assertions) == len(STEPS)


def test_a_check_has_missing_times_written_again(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    graph = filled(NamespacedGraph(store, "m"))
    other = filled(NamespacedGraph(store, "other"))
    (lost,) = store.match(
        Pattern(graph.names.index_graph, None, VALUE, Literal(recorded(graph)[4], datatype=DATE_TIME)), 2
    ).quads
    store.apply(remove=[lost])
    assert indexed(graph) != recorded(graph)
    assert check(tmp_path).missing_times == {graph.names.index_graph.value: 1}
    assert check(tmp_path).missing_times == {}  # it is not complete
    times = RecordTimes(store, graph.names)
    times.complete()
    assert times.wait(30)
    assert indexed(graph) == recorded(graph)
    assert indexed(other) == recorded(other)
    assert check(tmp_path).missing_times == {}
    store.close()
