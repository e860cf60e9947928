"""Every store is read as of a moment: patterns, records, lists of assertions and queries."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from cortex_graph import NamespacedGraph, Provenance
from cortex_graph.as_of import as_of
from cortex_graph.assertions import list_assertions

pytestmark = pytest.mark.timeout(400)  # some of these servers take long for much on a busy machine

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(hour: int) -> Provenance:
    return Provenance("shop", "1", "a1", START + timedelta(hours=hour))


def test_a_moment_has_what_was_asserted_by_then_and_not_withdrawn(graph: NamespacedGraph) -> None:
    ids = {}
    for hour, subject in enumerate(("kept", "gone", "later")):
        triple = {"subject": subject, "predicate": "p", "object": hour}
        ids[subject] = graph.create_triple(triple, at(2 * hour))["id"]
    graph.withdraw(ids["gone"], at(6))
    graph.create_triple({"subject": "imported", "predicate": "p", "object": 3})
    moments: list[tuple[int, str, set[str]]] = [
        (3, "include", {"kept", "gone", "imported"}),
        (3, "exclude", {"kept", "gone"}),
        (7, "exclude", {"kept", "later"}),
        (-1, "exclude", set()),
    ]
    for hour, undated, expected in moments:
        past = as_of(graph, START + timedelta(hours=hour), undated)
        found = past.list_triples()
        assert {row["subject"].partition(":")[2] for row in found["triples"]} == expected
        answer = past.query("SELECT ?s { ?s ?p ?o }")
        rows = json.loads(b"".join(answer.chunks))["results"]["bindings"]
        assert {past.names.name(row["s"]["value"]).partition(":")[2] for row in rows} == expected
        listed = list_assertions(past).assertions
        order = [name for name in ("later", "gone", "kept") if name in expected]
        assert [each.triple_id for each in listed] == [ids[name] for name in order]
        for name, triple_id in ids.items():
            assert (past.get_triple(triple_id) is not None) == (name in expected)
            record = past.provenance_of(triple_id)
            assert (record is not None and record["agent"] == "a1") == (name in expected)
