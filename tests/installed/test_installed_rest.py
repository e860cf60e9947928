"""`/api/v1/artifacts`, and the audit that a server repeats."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from cortex_graph import open_store
from cortex_skills import Plugin
from cortex_skills.doors.http.auth import AccessControl
from cortex_skills.doors.http.bodies import Bodies
from cortex_skills.doors.http.service import Service
from cortex_skills.features.artifacts import periodic_audit
from cortex_skills.features.artifacts.installed.installed_audit import audit_if_due
from cortex_skills.features.artifacts.installed.installed_index import LEASE
from tests.configs import config
from tests.installed.samples import artifact, install, judge, place
from tests.server.serving import served

ID = "acme.echo_http"


@pytest.fixture(scope="module")
def serving(tmp_path_factory):
    """A server on a store where artifacts are installed."""
    folder = tmp_path_factory.mktemp("artifacts")
    plugin = Plugin.open(
        config(cortex={"tokenFile": str(folder / "tokens.json")}, artifacts={"folder": str(folder / "artifacts")})
    )
    with served(folder, plugin=plugin) as running:
        yield running


@pytest.fixture(scope="module")
def person(serving):
    return serving.client(serving.token("ada", permissions=("approve",), holder="person"))


@pytest.fixture(autouse=True)
def two_versions(serving):
    """Two versions of an artifact are installed."""
    installed = serving.plugin.installed
    install(installed, artifact(), allow_downgrade=True)  # the server has seen 1.3.0 in the test before
    install(installed, artifact("1.3.0"))
    yield
    for each in installed.list():
        installed.enable(ID, each.key.version, actor="test", override=True, reason="the end of the test")
    installed.remove(ID, actor="test")


def test_only_a_token_that_may_approve_sees_and_changes(serving) -> None:
    client = serving.client(serving.token("agent", permissions=("read", "write", "registry", "audit")))
    for method, path in (("GET", ""), ("GET", f"/{ID}"), ("POST", f"/{ID}/quarantine"), ("POST", f"/{ID}/enable")):
        answer = client.request(method, f"/api/v1/artifacts{path}")
        assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")


def test_what_is_installed_is_listed_with_its_status(serving, person) -> None:
    answer = person.get("/api/v1/artifacts").json()
    assert [(each["version"], each["status"], each["current"]) for each in answer["artifacts"]] == [
        ("1.2.0", "active", False),
        ("1.3.0", "active", True),
    ]
    assert (answer["count"], answer["damaged"]) == (2, [])
    assert person.get("/api/v1/artifacts", params={"currentOnly": "true"}).json()["count"] == 1
    assert person.get("/api/v1/artifacts", params={"publisher": "other"}).json()["count"] == 0
    assert person.get("/api/v1/artifacts", params={"status": "running"}).status_code == 400
    one = person.get(f"/api/v1/artifacts/{ID}").json()
    assert [each["version"] for each in one["versions"]] == ["1.2.0", "1.3.0"]
    other = serving.client(serving.token("bob", permissions=("approve",), namespaces=("other",)))
    elsewhere = other.get("/api/v1/artifacts", params={"namespace": "other"})
    assert elsewhere.json() == {"artifacts": [], "damaged": [], "count": 0, "quarantined": 0}
    assert other.get(f"/api/v1/artifacts/{ID}", params={"namespace": "other"}).status_code == 404


def test_a_version_is_quarantined_and_enabled_with_an_override(serving, person) -> None:
    address = f"/api/v1/artifacts/{ID}"
    assert person.post(f"{address}/quarantine", json={"version": "1.2.0"}).status_code == 400
    stopped = person.post(f"{address}/quarantine", json={"version": "1.2.0", "reason": "odd"}).json()
    assert (stopped["version"], stopped["status"], stopped["reason"]) == ("1.2.0", "quarantined", "odd")
    assert serving.plugin.installed.find(ID).status == "active"
    for body in ({}, {"override": True}, {"override": True, "reason": " "}, {"override": False, "reason": "x"}):
        answer = person.post(f"{address}/enable", json={"version": "1.2.0", **body})
        assert (answer.status_code, answer.json()["code"]) == (409, "state_conflict")
    answer = person.post(f"{address}/enable", json={"version": "1.2.0", "override": "true", "reason": "x"})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_arguments")
    answer = person.post(f"{address}/enable", json={"version": "1.2.0", "override": True, "reason": "looked at it"})
    assert (answer.status_code, answer.json()["status"]) == (200, "active")


@pytest.mark.parametrize("skill_id", ["acme.missing", "..", "%2e%2e", "A" * 300, "acme%2fx"])
def test_an_id_that_is_not_installed_is_not_found(person, skill_id: str) -> None:
    assert person.get(f"/api/v1/artifacts/{skill_id}").status_code in (400, 404)
    body = {"version": "1.2.0", "reason": "odd"}
    assert person.post(f"/api/v1/artifacts/{skill_id}/quarantine", json=body).status_code in (400, 404, 405)


def test_one_of_several_processes_audits_when_it_is_due(tmp_path: Path) -> None:
    store, hours = open_store("memory:"), timedelta(hours=6)
    here, there = (place(tmp_path / "artifacts", store) for _ in range(2))
    install(here, artifact(name="other"))
    now = here.index.now()

    def at(moment: timedelta) -> None:
        here.index.now = there.index.now = lambda: now + moment

    at(timedelta())
    assert len(audit_if_due(here, hours, judge(here)) or ()) == 1
    assert audit_if_due(there, hours, judge(there)) is None
    at(hours - timedelta(seconds=1))
    assert audit_if_due(there, hours, judge(there)) is None
    at(hours)
    assert audit_if_due(there, hours, judge(there), is_stopped=lambda: True) == []
    assert audit_if_due(here, hours, judge(here)) is None
    at(hours + LEASE)
    assert len(audit_if_due(here, hours, judge(here)) or ()) == 1
    assert audit_if_due(there, hours, judge(there)) is None


def test_a_server_audits_soon_after_its_start_and_quarantines_what_fails(
    serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = serving.plugin.installed
    (installed.files.place(installed.find(ID, "1.2.0").key) / "artifact.palyra-skill").write_bytes(b"changed")
    monkeypatch.setattr(periodic_audit, "FIRST_S", 0.0)
    monkeypatch.setattr(periodic_audit, "POLL_S", 0.01)

    async def run() -> None:
        service = Service(serving.plugin, AccessControl(serving.plugin.config), Bodies(1.0))
        task = asyncio.create_task(periodic_audit.audit_artifacts(service, threading.Event()))
        async with asyncio.timeout(60):
            while installed.find(ID, "1.2.0").status != "quarantined":
                await asyncio.sleep(0.02)
        task.cancel()
        service.close()

    asyncio.run(run())
    assert installed.find(ID, "1.2.0").findings == ("filesystem_safety",)
    assert installed.find(ID, "1.3.0").status == "active"
