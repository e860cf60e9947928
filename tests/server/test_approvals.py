"""`/api/v1/approvals`: who may decide, and what is answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.actions.conftest import operator
from tests.approvals.approver import opened
from tests.approvals.test_desk import asked
from tests.server.serving import served

__all__ = ["operator"]


@pytest.fixture(scope="module")
def serving(tmp_path_factory, operator: Path):
    """A server whose agents ask for `append_line`."""
    folder = tmp_path_factory.mktemp("approvals")
    plugin = opened("memory:", operator, folder / "lines", cortex={"tokenFile": str(folder / "tokens.json")})
    with served(folder, plugin=plugin) as running:
        yield running


@pytest.fixture(scope="module")
def person(serving):
    return serving.client(serving.token("ada", permissions=("approve",)))


@pytest.mark.parametrize("permissions", [("read",), ("read", "write", "provenance", "memories", "audit", "registry")])
def test_only_a_token_that_may_approve_sees_and_decides(serving, permissions) -> None:
    approval_id = asked(serving.plugin, "for nobody")
    client = serving.client(serving.token(f"agent-{len(permissions)}", permissions=permissions))
    for method, path in (("GET", ""), ("GET", f"/{approval_id}"), ("POST", f"/{approval_id}/approve")):
        answer = client.request(method, f"/api/v1/approvals{path}")
        assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
    assert serving.plugin.approvals.state_of(serving.plugin.approvals.show(approval_id)) == "pending"


def test_a_person_lists_approves_and_reads_the_result(serving, person) -> None:
    approval_id = asked(serving.plugin, "two", agent="a7")
    (found,) = person.get("/api/v1/approvals", params={"state": "pending", "agent": "a7"}).json()["approvals"]
    assert (found["id"], found["preview"], found["result"]) == (approval_id, "+two", None)
    done = person.post(f"/api/v1/approvals/{approval_id}/approve", json={"reason": "fine"}).json()
    assert (done["state"], done["resolvedBy"], done["resolvedReason"]) == ("done", "ada", "fine")
    assert done["result"]["details"]["outputs"] == {"size": 4}
    assert person.get(f"/api/v1/approvals/{approval_id}").json() == done
    again = person.post(f"/api/v1/approvals/{approval_id}/reject")
    assert (again.status_code, again.json()["code"]) == (409, "approval_resolved")
    assert f"was approved by ada at {done['resolvedAt']}; its state is `done`" in again.json()["error"]


def test_a_token_does_not_approve_what_an_agent_of_its_name_asked_for(serving, person) -> None:
    approval_id = asked(serving.plugin, "own", agent="ada")
    answer = person.post(f"/api/v1/approvals/{approval_id}/approve")
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
    assert serving.plugin.approvals.state_of(serving.plugin.approvals.show(approval_id)) == "pending"
    assert person.post(f"/api/v1/approvals/{approval_id}/reject").json()["state"] == "rejected"


def test_a_rejected_request_has_its_reason(serving, person) -> None:
    approval_id = asked(serving.plugin, "three")
    rejected = person.post(f"/api/v1/approvals/{approval_id}/reject", json={"reason": "no"}).json()
    assert (rejected["state"], rejected["resolvedReason"], rejected["result"]) == ("rejected", "no", None)


@pytest.mark.parametrize("approval_id", ["0" * 32, "x", "..", "%2e%2e", "A" * 32, "a" * 4000])
def test_an_unknown_id_is_not_found(person, approval_id: str) -> None:
    assert person.get(f"/api/v1/approvals/{approval_id}").status_code in (404, 414)
    assert person.post(f"/api/v1/approvals/{approval_id}/approve").status_code in (404, 414)


@pytest.mark.parametrize("body", [{"reason": "x" * 501}, {"reason": 1}, {"by": "bob"}, []])
def test_a_wrong_body_decides_nothing(serving, person, body) -> None:
    approval_id = asked(serving.plugin, "four")
    answer = person.post(f"/api/v1/approvals/{approval_id}/approve", json=body)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_arguments")
    assert serving.plugin.approvals.state_of(serving.plugin.approvals.show(approval_id)) == "pending"


def test_another_namespace_has_none(serving) -> None:
    approval_id = asked(serving.plugin, "five")
    client = serving.client(serving.token("eve", namespaces=("other",), permissions=("approve",)))
    assert client.get("/api/v1/approvals").json() == {"approvals": [], "changed": [], "count": 0}
    assert client.get(f"/api/v1/approvals/{approval_id}").json()["code"] == "approval_not_found"
    assert client.post(f"/api/v1/approvals/{approval_id}/approve").json()["code"] == "approval_not_found"
    refused = client.get("/api/v1/approvals", params={"namespace": "mayros"})
    assert refused.status_code == 403
