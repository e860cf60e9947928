"""Who asserted a triple, with which skill and when, is recorded with it and goes with it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given

from cortex_graph import GraphStore, InvalidArguments, NamespacedGraph, Pattern, Provenance, open_store
from tests.graph.strategies import unicode_text, values

TRIPLE = {"subject": "a", "predicate": "p", "object": 1}
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
WHOLE = Provenance(skill="verify-kyc", skill_version="1.0.0", agent="a1", time=NOON)


def recorded(store: GraphStore) -> set[str]:
    graph = NamespacedGraph(store, "mayros").names.provenance_graph
    return {str(quad.triple) for quad in store.quads(Pattern(graph))}


def test_a_record_has_the_agent_the_skill_and_the_time(graph: NamespacedGraph) -> None:
    triple_id = graph.create_triple(TRIPLE, WHOLE)["id"]
    assert graph.provenance_of(triple_id) == {
        "agent": "a1",
        "skill": "verify-kyc",
        "skillVersion": "1.0.0",
        "time": "2024-05-01T12:00:00Z",
    }


def test_a_record_is_standard_reification_and_prov(graph: NamespacedGraph) -> None:
    triple_id = graph.create_triple(TRIPLE, WHOLE)["id"]
    record, skill = f"<urn:cortex:mayros/triple/{triple_id}>", "<urn:cortex:mayros:skill:verify-kyc@1.0.0>"
    rdf, prov = "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/ns/prov#"
    assert recorded(graph.store) == {
        f"{record} <{rdf}type> <{rdf}Statement>",
        f"{record} <{rdf}type> <{prov}Entity>",
        f"{record} <{rdf}subject> <urn:cortex:mayros:a>",
        f"{record} <{rdf}predicate> <urn:cortex:mayros:p>",
        f'{record} <{rdf}object> "1"^^<http://www.w3.org/2001/XMLSchema#integer>',
        f'{record} <{prov}generatedAtTime> "2024-05-01T12:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>',
        f"{record} <{prov}wasAttributedTo> <urn:cortex:mayros:agent:a1>",
        f"{record} <{prov}wasAttributedTo> {skill}",
        f"{skill} <{rdf}type> <{prov}SoftwareAgent>",
        f"{skill} <{rdf}type> <{prov}Agent>",
        f'{skill} <http://www.w3.org/2000/01/rdf-schema#label> "verify-kyc"',
        f'{skill} <https://schema.org/softwareVersion> "1.0.0"',
    }


def test_a_skill_is_described_once_and_each_of_its_versions(graph: NamespacedGraph) -> None:
    for number, version in enumerate(["1.0.0", "1.0.0", "2.0.0"]):
        created = graph.create_triple(TRIPLE | {"object": number}, Provenance("s", version))
        assert graph.provenance_of(created["id"])["skillVersion"] == version  # type: ignore[index]
    assert len([text for text in recorded(graph.store) if "SoftwareAgent" in text]) == 2


def test_a_triple_without_provenance_has_no_record(graph: NamespacedGraph) -> None:
    triple_id = graph.create_triple(TRIPLE)["id"]
    assert graph.provenance_of(triple_id) is None
    assert recorded(graph.store) == set()


def test_a_record_is_no_triple_of_the_namespace(graph: NamespacedGraph) -> None:
    graph.create_triple(TRIPLE, WHOLE)
    assert graph.count() == graph.list_triples()["total"] == 1


def test_a_repeated_assertion_leaves_the_record_as_it_is(graph: NamespacedGraph) -> None:
    triple_id = graph.create_triple(TRIPLE, WHOLE)["id"]
    before = recorded(graph.store)
    assert graph.create_triple(TRIPLE, Provenance(agent="a2"))["created"] is False
    assert recorded(graph.store) == before
    assert graph.provenance_of(triple_id)["agent"] == "a1"  # type: ignore[index]


def test_a_record_goes_with_its_triple(graph: NamespacedGraph) -> None:
    triple_id = graph.create_triple(TRIPLE, Provenance(agent="a1"))["id"]
    other = graph.create_triple(TRIPLE | {"object": 2}, Provenance(agent="a1"))["id"]
    assert graph.delete_triple(triple_id)
    assert graph.provenance_of(triple_id) is None
    assert graph.provenance_of(other) is not None
    assert not [text for text in recorded(graph.store) if triple_id in text]


def test_a_batch_records_each_of_its_triples(graph: NamespacedGraph) -> None:
    rows = graph.create_triples([TRIPLE, TRIPLE | {"object": 2}], WHOLE)
    assert [graph.provenance_of(row["id"])["skill"] for row in rows] == ["verify-kyc"] * 2  # type: ignore[index]


def test_a_recorded_triple_is_found_by_its_id_in_a_reopened_store(graph: NamespacedGraph) -> None:
    triple_id = graph.create_triple(TRIPLE, WHOLE)["id"]
    assert NamespacedGraph(graph.store, "mayros").get_triple(triple_id)["object"] == 1  # type: ignore[index]


def test_the_default_time_is_now_in_utc(graph: NamespacedGraph) -> None:
    before = datetime.now(UTC)
    reported = graph.create_triple(TRIPLE, Provenance(time=NOON.astimezone(timezone(timedelta(hours=5)))))["id"]
    now = graph.create_triple(TRIPLE | {"object": 2}, Provenance())["id"]
    assert graph.provenance_of(reported)["time"] == "2024-05-01T12:00:00Z"  # type: ignore[index]
    assert before <= datetime.fromisoformat(graph.provenance_of(now)["time"] or "") <= datetime.now(UTC)  # type: ignore[index]


@given(unicode_text, unicode_text, unicode_text, values)
def test_any_agent_skill_and_version_come_back(agent: str, skill: str, version: str, value: Any) -> None:
    graph = NamespacedGraph(open_store("memory:"), "mayros")
    triple_id = graph.create_triple(TRIPLE | {"object": value}, Provenance(skill, version, agent, NOON))["id"]
    found = graph.provenance_of(triple_id)
    assert found
    assert (found["agent"], found["skill"], found["skillVersion"]) == (agent, skill, version)
    assert NamespacedGraph(graph.store, "mayros").get_triple(triple_id) is not None


@pytest.mark.parametrize(
    "provenance",
    [
        Provenance(agent=""),
        Provenance(agent="\ud800"),
        Provenance(skill=1),  # type: ignore[arg-type]
        Provenance(skill="s", skill_version=""),
        Provenance(time=datetime(2024, 1, 1)),
        Provenance(time="now"),  # type: ignore[arg-type]
    ],
)
def test_malformed_provenance_is_refused_and_nothing_is_written(graph: NamespacedGraph, provenance: Provenance) -> None:
    with pytest.raises(InvalidArguments, match="provenance"):
        graph.create_triple(TRIPLE, provenance)
    assert graph.count() == 0
