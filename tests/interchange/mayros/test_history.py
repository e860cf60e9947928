"""`/dag` and `/auth` of the server of Mayros: the records of assertions as actions, and what is not offered."""

from __future__ import annotations

import pytest

from cortex_graph import NamespacedGraph, Provenance
from tests.interchange.mayros.conftest import CortexClient, CortexError
from tests.server.serving import Running


def test_there_are_no_tips_and_the_reason_is_given(cortex: CortexClient) -> None:
    answer = cortex.request("GET", "/api/v1/dag/tips")
    assert (answer["tips"], answer["count"]) == ([], 0)
    assert "GET /api/v1/assertions" in answer["reason"]


def test_the_history_of_a_subject_is_who_asserted_it(cortex: CortexClient, name: str) -> None:
    made = cortex.create_triple("alice", "age", 41)
    cortex.create_triple("bob", "age", 41)
    (action,) = cortex.request("GET", "/api/v1/dag/history", subject="alice", limit=10)
    assert (action["hash"], action["author"], action["payload_type"]) == (made["id"], name, "TripleInsert")
    assert action["payload_summary"] == f"{name}:alice {name}:age"
    assert (action["signed"], action["signature_status"], action["parents"]) == (False, "unsigned", [])
    assert action["timestamp"] == made.get("created_at", action["timestamp"])


def test_a_withdrawal_is_an_action_too(cortex: CortexClient, running: Running, name: str) -> None:
    made = cortex.create_triple("alice", "age", 41)
    graph = NamespacedGraph(running.plugin.graph.store, name)
    assert graph.withdraw(made["id"], Provenance(agent="auditor"))
    actions = cortex.request("GET", "/api/v1/dag/history", subject="alice")
    assert [(each["payload_type"], each["author"]) for each in actions] == [
        ("TripleDelete", "auditor"),
        ("TripleInsert", name),
    ]


def test_the_chain_of_an_author_is_what_it_asserted(cortex: CortexClient, name: str) -> None:
    for number in range(3):
        cortex.create_triple(f"s{number}", "p", number)
    assert len(cortex.request("GET", "/api/v1/dag/chain", author=name)) == 3
    assert cortex.request("GET", "/api/v1/dag/chain", author="nobody") == []


def test_refused_a_history_of_nothing(cortex: CortexClient) -> None:
    with pytest.raises(CortexError) as refused:
        cortex.request("GET", "/api/v1/dag/history")
    assert (refused.value.status, refused.value.code) == (400, "invalid_arguments")


@pytest.mark.parametrize("what", ["token", "refresh", "verify", "register"])
def test_refused_a_token_over_http(cortex: CortexClient, what: str) -> None:
    given = {"username": "admin", "password": "admin", "token": "x", "refresh_token": "x"}
    answer = cortex.http.post(f"/api/v1/auth/{what}", json=given, headers={"authorization": ""})
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
    assert "cortex-skills token create" in answer.json()["hint"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "action/00"),
        ("GET", "stats"),
        ("POST", "prune"),
        ("GET", "at/00"),
        ("GET", "diff"),
        ("GET", "export"),
        ("POST", "sync"),
        ("POST", "sync/pull"),
        ("POST", "actions"),
    ],
)
def test_refused_what_needs_a_chain_of_actions(cortex: CortexClient, method: str, path: str) -> None:
    with pytest.raises(CortexError) as refused:
        cortex.request(method, f"/api/v1/dag/{path}")
    assert (refused.value.status, refused.value.code) == (403, "permission_denied")
