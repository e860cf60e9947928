"""The schema that the index of a graph counts is what a reader of all triples counts, after any changes."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cortex_graph import WELL_KNOWN_VOCABULARIES, NamespacedGraph, open_store
from cortex_graph.index.schema_in_use import SchemaInUse
from cortex_graph.store import GraphStore, Pattern
from cortex_skills.features.finder import entity_follower, index_follower
from cortex_skills.features.finder.entity_follower import EntityFollower
from cortex_skills.features.finder.index_follower import follower_of
from tests.graph.schema_counts import check_counts
from tests.graph.shared.processes import line_of, python
from tests.property_examples import examples

RDF, XSD = (WELL_KNOWN_VOCABULARIES[prefix] for prefix in ("rdf", "xsd"))
_NUMBERS = itertools.count()


@pytest.fixture(scope="module", params=["memory", "folder"])
def store(request, tmp_path_factory) -> Iterator[GraphStore]:
    opened = open_store("memory:" if request.param == "memory" else str(tmp_path_factory.mktemp("counted") / "store"))
    yield opened
    opened.close()


def schema_of(graph: NamespacedGraph) -> SchemaInUse:
    found = follower_of(EntityFollower, graph).schema(graph, 60.0)
    assert found is not None
    return found


def another_process(graph: NamespacedGraph) -> None:
    """Forget what this process keeps of the index."""
    wait(graph)
    index_follower._followers.pop(graph.store, None)


def wait(graph: NamespacedGraph) -> None:
    thread = follower_of(EntityFollower, graph)._thread
    if thread is not None:
        thread.join()


def verify(graph: NamespacedGraph) -> None:
    """Compare the schema with all triples."""
    schema = schema_of(graph)
    assert (schema.is_exact, schema.is_current) == (True, True)
    check_counts(schema, graph)


names = st.sampled_from("abcdeAB")
values = st.one_of(
    st.integers(0, 3),
    st.sampled_from(["x", "y", "z" * 200]),
    st.sampled_from([{"value": "x", "language": "sv"}, {"value": "2026-12-01", "datatype": f"{XSD}date"}]),
    names.map(lambda name: {"node": name}),
)
statements = st.one_of(
    st.tuples(names, st.just("rdf:type"), st.sampled_from("AB").map(lambda kind: {"node": kind})),
    st.tuples(names, st.sampled_from("pq"), values),
)
steps = st.one_of(
    st.tuples(st.just("write"), st.lists(statements, min_size=1, max_size=4)),
    st.tuples(st.just("delete"), st.integers(0, 50)),
    st.tuples(st.just("forget"), names),
    st.tuples(st.just("look"), st.none()),
    st.tuples(st.just("another"), st.none()),
)


@given(st.lists(steps, max_size=14), st.integers(0, 3))
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_schema_is_that_of_all_triples_after_any_changes(store: GraphStore, given_steps: Any, few: int) -> None:
    graph = NamespacedGraph(store, f"n{next(_NUMBERS)}", vocabularies={"rdf": RDF})
    keys = ("subject", "predicate", "object")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_follower, "MOVED_AT", few)  # so that some are in the files, and some are not
        for step, given_value in given_steps:
            if step == "write":
                graph.create_triples([dict(zip(keys, each, strict=True)) for each in given_value])
            elif step == "delete":
                there = list(store.quads(Pattern(graph.names.graph)))
                if there:
                    graph.delete_triple(graph.as_json(there[given_value % len(there)])["id"])
            elif step == "forget":
                graph.update(f"DELETE WHERE {{ <{graph.names.node(given_value).value}> ?p ?o }}")
            elif step == "another":
                another_process(graph)
            else:
                verify(graph)
        verify(graph)
        wait(graph)


KILLED = """
import sys, time
from cortex_skills.features.finder import kept_documents
from tests.finder.test_schema_counters import *

commit = kept_documents.DocumentsWriter.commit
index_follower.MOVED_AT = 2
made = []

def stopped(self, state):
    made.append(state)
    if len(made) == int(sys.argv[2]):
        print("waiting", flush=True)
        time.sleep(60)  # killed here
    commit(self, state)

kept_documents.DocumentsWriter.commit = stopped
graph = NamespacedGraph(open_store(sys.argv[1]), "m", vocabularies={"rdf": RDF})
for number in range(30):
    graph.create_triple({"subject": f"s{number}", "predicate": "p", "object": {"node": f"s{number - 1}"}})
    graph.create_triple({"subject": f"s{number // 2}", "predicate": "rdf:type", "object": {"node": f"C{number % 3}"}})
    schema_of(graph)
    wait(graph)
time.sleep(60)
"""


@pytest.mark.parametrize("commit", [2, 4])
def test_a_kill_while_the_counters_are_written_costs_none(tmp_path: Path, commit: int) -> None:
    other = python(KILLED, tmp_path / "store", commit)
    assert line_of(other) == "waiting"
    os.kill(other.pid, signal.SIGKILL)
    other.wait(30)
    store = open_store(str(tmp_path / "store"))
    verify(NamespacedGraph(store, "m", vocabularies={"rdf": RDF}))
    store.close()


def test_what_is_written_while_everything_is_read_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(str(tmp_path / "store"))
    graph = NamespacedGraph(store, "m", vocabularies={"rdf": RDF})
    typed = {"predicate": "rdf:type", "object": {"node": "A"}}
    for name in "abc":
        graph.create_triple({"subject": name, "predicate": "p", "object": {"node": "a"}})
        graph.create_triple({"subject": name, **typed})
    read = entity_follower.every_entity

    def written_meanwhile(*given: Any) -> Iterator[Any]:
        quad = graph.quad_of({"subject": "a", **typed})
        graph.delete_triple(graph.as_json(quad)["id"])
        graph.create_triple({"subject": "a", "predicate": "rdf:type", "object": {"node": "B"}})
        yield from read(*given)

    monkeypatch.setattr(entity_follower, "every_entity", written_meanwhile)
    verify(graph)
    monkeypatch.setattr(entity_follower, "every_entity", read)
    another_process(graph)
    verify(graph)
    store.close()


def test_a_node_to_which_many_point_is_read_with_everything(store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entity_follower, "_MOST_POINTING", 3)
    graph = NamespacedGraph(store, f"n{next(_NUMBERS)}", vocabularies={"rdf": RDF})
    graph.create_triples([{"subject": f"s{n}", "predicate": "p", "object": {"node": "hub"}} for n in range(9)])
    verify(graph)
    graph.create_triple({"subject": "hub", "predicate": "rdf:type", "object": {"node": "A"}})
    verify(graph)


def test_a_subject_with_very_many_statements_makes_the_numbers_lower_bounds(
    store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("entity_follower", "subject_shapes"):
        monkeypatch.setattr(f"cortex_skills.features.finder.{module}.MAX_COUNTED", 4)
    graph = NamespacedGraph(store, f"n{next(_NUMBERS)}")
    graph.create_triples([{"subject": "s", "predicate": "p", "object": number} for number in range(9)])
    schema = schema_of(graph)
    assert (schema.triples, schema.is_exact) == (4, False)


def test_a_graph_with_too_many_classes_has_no_counters(store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cortex_skills.features.finder.schema_counters.MAX_USES", 4)
    graph = NamespacedGraph(store, f"n{next(_NUMBERS)}", vocabularies={"rdf": RDF})
    types = [{"subject": f"s{n}", "predicate": "rdf:type", "object": {"node": f"C{n}"}} for n in range(9)]
    graph.create_triples(types)
    assert follower_of(EntityFollower, graph).schema(graph, 60.0) is None
