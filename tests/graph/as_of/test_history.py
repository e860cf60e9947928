"""The graph as of a moment is what a replayed history has, in every kind of read, in memory and in folders."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cortex_graph import GraphStore, NamespacedGraph, Provenance, open_store
from cortex_graph.as_of import as_of, difference, undated_among
from cortex_graph.assertions import AssertionFilter, list_assertions
from cortex_graph.namespace.neighbourhood import neighbourhood

START = datetime(2026, 1, 1, tzinfo=UTC)
_numbers = itertools.count()

KEYS = [("s", "p", "o"), ("s", "p", "t"), ("s", "q", "o"), ("t", "p", "o")]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["assert", "assert", "withdraw", "import", "delete"]),
        st.integers(0, len(KEYS) - 1),
        st.integers(0, 12),
    ),
    max_size=14,
)


@dataclass
class Episode:
    """A triple from its assertion to its withdrawal, in hours; None for unknown and for not yet."""

    key: int
    begin: int | None
    end: int | None = None

    def holds(self, hour: int, *, undated: bool) -> bool:
        begins = undated if self.begin is None else self.begin <= hour
        return begins and (self.end is None or self.end > hour)


def moment(hour: int) -> datetime:
    return START + timedelta(hours=hour)


def played(graph: NamespacedGraph, steps: list[tuple[str, int, int]]) -> list[Episode]:
    """Do the steps, and return the history that its records keep."""
    past: list[Episode] = []
    now: dict[int, Episode] = {}
    for verb, key, hour in steps:
        subject, predicate, object_ = KEYS[key]
        triple = {"subject": subject, "predicate": predicate, "object": {"node": object_}}
        triple_id = graph.index.identify(graph.quad_of(triple))
        by = Provenance("shop", "1", f"at{hour}", moment(hour))
        if verb in ("assert", "import"):
            graph.create_triple(triple, by if verb == "assert" else None)
            now.setdefault(key, Episode(key, hour if verb == "assert" else None))
        elif verb == "withdraw":
            graph.withdraw(triple_id, by)
            if key in now:
                now[key].end = hour
                past.append(now.pop(key))
        else:
            graph.delete_triple(triple_id)
            now.pop(key, None)
    return past + list(now.values())


def dated_episodes(history: list[Episode], hour: int) -> list[Episode]:
    """The dated episodes of an hour. If one of them was dated back, the present one of its triple counts."""
    there = [each for each in history if each.begin is not None and each.holds(hour, undated=False)]
    present = {each.key for each in there if each.end is None}
    return [each for each in there if each.end is None or each.key not in present]


@pytest.fixture(scope="module", params=["memory", "folder"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    where = "memory:" if request.param == "memory" else str(tmp_path_factory.mktemp("past") / "store")
    store = open_store(where)
    yield store
    store.close()


def listed(graph: NamespacedGraph, pattern: dict[str, object]) -> list[str]:
    found: list[str] = []
    cursor = None
    while True:
        page = graph.list_triples({**pattern, "limit": 2, "cursor": cursor})
        found += [row["id"] for row in page["triples"]]
        cursor = page["nextCursor"]
        if cursor is None:
            return found


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(steps=[("assert", 0, 0), ("withdraw", 0, 5), ("assert", 0, 1)], hours={2, 5}, undated=True)
@given(steps=STEPS, hours=st.sets(st.integers(-1, 13), min_size=2, max_size=3), undated=st.booleans())
def test_each_read_is_that_of_the_replayed_history(
    store: GraphStore, steps: list[tuple[str, int, int]], hours: set[int], undated: bool
) -> None:
    graph = NamespacedGraph(store, f"h{next(_numbers)}")
    history = played(graph, steps)
    ids = [
        graph.index.identify(graph.quad_of({"subject": s, "predicate": p, "object": {"node": o}})) for s, p, o in KEYS
    ]
    for hour in sorted(hours):
        past = as_of(graph, moment(hour), "include" if undated else "exclude")
        there = [each for each in history if each.holds(hour, undated=undated)]
        keys = {each.key for each in there}
        assert sorted(listed(past, {})) == sorted(ids[key] for key in keys)
        assert past.list_triples()["total"] == past.count() == len(keys)
        for part, place in (("subject", 0), ("predicate", 1)):
            expected = {ids[key] for key in keys if KEYS[key][place] == KEYS[0][place]}
            assert set(listed(past, {part: KEYS[0][place]})) == expected
        for key, triple_id in enumerate(ids):
            assert (past.get_triple(triple_id) is not None) == (key in keys)
            dated = {each.begin for each in there if each.key == key and each.begin is not None}
            if dated:
                record = past.provenance_of(triple_id)
                assert record is not None
                assert record["agent"] in {f"at{begin}" for begin in dated}
        found = neighbourhood(past, "o")
        used = sum(KEYS[key][2] == "o" for key in keys)
        assert (found.incoming.count.value, found.outgoing.count.value) == (used, 0)
        known = {each.key for each in there if each.begin is not None}
        assert keys - known <= {each.key for each in there}
        assert undated_among(past, (ids[key] for key in keys)) == len(keys - known)
        listing = list_assertions(past, limit=1000).assertions
        assert sorted((each.triple_id, each.time) for each in listing) == sorted(
            {(ids[each.key], f"{moment(each.begin or 0):%Y-%m-%dT%H:%M:%SZ}") for each in dated_episodes(history, hour)}
        )


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(steps=[("assert", 0, 1), ("withdraw", 0, 5), ("assert", 0, 6)], hours={2, 7})
@example(steps=[("import", 1, 1), ("withdraw", 1, 5)], hours={2, 7})
@example(steps=[("assert", 0, 2), ("withdraw", 0, 0), ("assert", 0, 1)], hours={0, 2})
@given(steps=STEPS, hours=st.sets(st.integers(-1, 13), min_size=2, max_size=2))
def test_the_difference_of_two_moments_is_that_of_the_replayed_history(
    store: GraphStore, steps: list[tuple[str, int, int]], hours: set[int]
) -> None:
    graph = NamespacedGraph(store, f"h{next(_numbers)}")
    history = played(graph, steps)
    since, until = sorted(hours)
    then, later = ({each.key for each in history if each.holds(hour, undated=True)} for hour in (since, until))
    found = difference(graph, moment(since), moment(until))
    nodes = [(graph.names.node(s), graph.names.node(p), graph.names.node(o)) for s, p, o in KEYS]
    assert sorted(nodes.index(each.triple) for each in found.added) == sorted(later - then)
    assert sorted(nodes.index(each.triple) for each in found.withdrawn) == sorted(then - later)
    assert found.is_complete
    begins = {each.key: f"at{each.begin}" for each in history if each.holds(until, undated=True)}
    ends = {each.key: f"at{each.end}" for each in history if each.end is not None and since < each.end <= until}
    for each in found.added:
        assert each.agent == begins[nodes.index(each.triple)]
    for each in found.withdrawn:
        assert (each.withdrawn or {}).get("agent") == ends[nodes.index(each.triple)]
    of_subject = difference(graph, moment(since), moment(until), AssertionFilter(subject="s", predicate="q"))
    assert {nodes.index(each.triple) for each in of_subject.added} == (later - then) & {2}
    assert {nodes.index(each.triple) for each in of_subject.withdrawn} == (then - later) & {2}


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(steps=[("assert", 0, 0), ("withdraw", 0, 5), ("assert", 0, 1)], hour=2, undated=True)
@given(steps=STEPS, hour=st.integers(0, 12), undated=st.booleans())
def test_a_query_is_of_the_replayed_history(
    store: GraphStore, steps: list[tuple[str, int, int]], hour: int, undated: bool
) -> None:
    graph = NamespacedGraph(store, f"h{next(_numbers)}")
    history = played(graph, steps)
    there = [each for each in history if each.holds(hour, undated=undated)]
    past = as_of(graph, moment(hour), "include" if undated else "exclude")
    answer = past.query("SELECT ?s ?p ?o { ?s ?p ?o }")
    rows = json.loads(b"".join(answer.chunks))["results"]["bindings"]
    assert len(rows) == len({each.key for each in there})
    recorded = past.query("SELECT DISTINCT ?t { GRAPH ?g { ?r <http://www.w3.org/ns/prov#generatedAtTime> ?t } }")
    times = [row["t"]["value"] for row in json.loads(b"".join(recorded.chunks))["results"]["bindings"]]
    assert all(datetime.fromisoformat(time) <= moment(hour) for time in times)
    assert {each.begin for each in dated_episodes(history, hour)} <= {
        (datetime.fromisoformat(time) - START) // timedelta(hours=1) for time in times
    }


def test_a_copy_of_a_folder_is_removed_with_the_answer(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "store"))
    graph = NamespacedGraph(store, "m")
    graph.create_triple({"subject": "a", "predicate": "p", "object": 1}, Provenance(agent="a", time=moment(2)))
    answer = as_of(graph, moment(1)).query("ASK { ?s ?p ?o }")
    assert json.loads(b"".join(answer.chunks))["boolean"] is False
    abandoned = as_of(graph, moment(3)).query("SELECT * { ?s ?p ?o }")
    abandoned.chunks.close()
    assert not list(tmp_path.rglob("cortex-transfer-*"))
    store.close()
