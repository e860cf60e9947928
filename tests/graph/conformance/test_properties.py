"""The result of a read can be written back, for every value, on every kind of store."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cortex_graph import InvalidArguments, NamespacedGraph
from tests.graph.conformance.kinds import Subject
from tests.graph.strategies import names, values

pytestmark = pytest.mark.timeout(400)  # some of these servers take long for much on a busy machine

_numbers = count()


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(subject_name=names, predicate=names, some=st.lists(values, min_size=1, max_size=4))
def test_what_a_read_returns_can_be_written_back(
    subject: Subject, subject_name: str, predicate: str, some: list[Any]
) -> None:
    graph = NamespacedGraph(subject.store, f"w{next(_numbers)}")
    made = {}
    for value in some:
        try:
            row = graph.create_triple({"subject": subject_name, "predicate": predicate, "object": value})
        except InvalidArguments:
            continue
        made[row["id"]] = row
    listed = graph.list_triples({"limit": 10})["triples"]
    assert {row["id"] for row in listed} == set(made)
    for row in listed:
        back = {key: row[key] for key in ("subject", "predicate", "object")}
        assert graph.create_triple(back) == {**row, "created": False}
        assert graph.pattern_query({"object": row["object"]})["matches"]
        assert graph.get_triple(row["id"]) == row
        assert graph.delete_triple(row["id"])
    assert graph.count() == 0
