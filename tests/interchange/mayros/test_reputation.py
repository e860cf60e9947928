"""`getConsistency` and `batchVerifyAssertions` of the client of Mayros."""

from __future__ import annotations

import json
from urllib.parse import quote

from cortex_graph import NamespacedGraph, Provenance
from cortex_skills.features.graph.consistency import MAX_ASSERTIONS
from cortex_skills.features.proofs.logic.prover import Prover
from tests.interchange.mayros.conftest import PERMISSIONS, CortexClient
from tests.proofs.logic.conftest import shapes
from tests.server.serving import Running

BELOW_TEN = """
@prefix sh: <http://www.w3.org/ns/shacl#> .
<urn:s> a sh:NodeShape ; sh:targetSubjectsOf <urn:cortex:{name}:rank> ;
  sh:property [ sh:path <urn:cortex:{name}:rank> ; sh:maxExclusive 10 ] .
"""
OF_ALICE = {"subject": "alice", "predicate": "isVerified"}


def test_an_agent_without_assertions_has_no_score(cortex: CortexClient) -> None:
    found = cortex.get_consistency("nobody")
    assert found == {"score": None, "total": 0, "evaluated": 0, "verified": 0, "assertions": [], "complete": True}


def test_assertions_without_proofs_count_neither_for_nor_against(cortex: CortexClient, name: str) -> None:
    for number in range(3):
        cortex.create_triple(f"s{number}", "note", number)
    found = cortex.get_consistency(name)
    assert (found["score"], found["total"], found["evaluated"], found["verified"]) == (None, 3, 0, 0)
    assert {(each["verified"], each["verdict"]) for each in found["assertions"]} == {(None, "not checked")}


def test_verified_assertions_are_the_share_of_those_that_were_evaluated(
    cortex: CortexClient, running: Running, name: str
) -> None:
    graph = NamespacedGraph(running.plugin.graph.store, name)
    prover = Prover(running.plugin.config, graph)
    of_agent = Provenance(agent=name)
    rules = shapes(BELOW_TEN.format(name=name))
    verified = prover.assert_proved({"subject": "a", "predicate": "rank", "object": 3}, of_agent, rules)
    formed = prover.assert_proved({"subject": "b", "predicate": "note", "object": 3}, of_agent, None)
    cortex.create_triple("c", "note", 1)
    found = cortex.get_consistency(name)
    assert (found["score"], found["total"], found["evaluated"], found["verified"]) == (1.0, 3, 1, 1)
    by_id = {each["id"]: (each["verified"], each["verdict"]) for each in found["assertions"]}
    assert by_id[verified.triple["id"]] == (True, "verified")
    assert by_id[formed.triple["id"]] == (None, "well-formed")
    assert cortex.get_consistency(f"{name}:agent:{name}") == found


def test_an_assertion_of_another_agent_is_not_counted(cortex: CortexClient, running: Running, name: str) -> None:
    other = CortexClient(running.url, f"Bearer {running.token(f'{name}-b', (name,), PERMISSIONS)}")
    with other.http:
        other.create_triple("s", "p", 1)
    assert cortex.get_consistency(name)["total"] == 0
    assert cortex.get_consistency(f"{name}-b")["total"] == 1


def test_the_latest_assertions_are_read_and_no_more(cortex: CortexClient, name: str) -> None:
    triples = [{"subject": f"s{number}", "predicate": "p", "object": number} for number in range(MAX_ASSERTIONS + 5)]
    cortex.request("POST", "/api/v1/triples/batch", {"triples": triples})
    found = cortex.get_consistency(name)
    assert (found["total"], found["complete"]) == (MAX_ASSERTIONS, False)


def test_hostile_names_of_agents_are_names(cortex: CortexClient) -> None:
    for agent in ("a b", "../../etc", "> } DELETE", "é\u202e", "%00", "a/b"):
        answer = cortex.http.get(f"/api/v1/agents/{quote(agent, safe='')}/consistency")
        assert answer.status_code in (200, 400, 404), (agent, answer.text)
        assert json.loads(answer.text)


def test_assertions_are_verified_in_a_batch(cortex: CortexClient) -> None:
    cortex.create_triple("alice", "isVerified", True)
    asked = [OF_ALICE, {"subject": "nobody", "predicate": "isVerified"}]
    results = cortex.request("POST", "/api/v1/assertions/verify-batch", {"assertions": asked})["results"]
    assert [(each["subject"], each["verified"], each["found"]) for each in results] == [
        ("alice", False, True),
        ("nobody", False, False),
    ]
