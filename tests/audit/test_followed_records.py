"""What a record is about can be followed: from a request to its run, and the bytes of an artifact, in every reading."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from cortex_skills import Plugin
from cortex_skills.audit.journal_files import day_files
from cortex_skills.doors.cli.app import program
from cortex_skills.features.artifacts import artifact_operations
from cortex_skills.signatures import Publisher
from cortex_skills.signatures.trust_file import trust_of
from tests.artifact_tools.conftest import add
from tests.artifacts.samples import KEY
from tests.configs import config
from tests.explorer.http.browsing import signed_in
from tests.server.serving import Running, served

SECRET = "corn" + "flower-9"
REASON = f"the password={SECRET} of it leaked"


@dataclass
class Followed:
    """A server with a journal, after a request, its approval and its run, a quarantine and an override."""

    running: Running
    folder: Path
    approval: str
    digest: str
    payload: str

    def lines(self) -> list[dict[str, Any]]:
        """The records of the journal."""
        return [json.loads(line) for path in day_files(self.folder) for line in path.read_bytes().splitlines()]

    def about(self, wanted: str) -> list[tuple[str, str]]:
        """The events and actions whose data names an id, oldest first."""
        return [
            (line["event"], line["details"]["action"])
            for line in self.lines()
            if wanted in json.dumps(line["details"].get("data"))
        ]


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Followed]:
    folder = tmp_path_factory.mktemp("followed")
    plugin = Plugin.open(
        config(
            actions={"trustLevel": "suggest"},
            artifacts={"folder": str(folder / "artifacts")},
            audit={"folder": str(folder / "journal")},
            verification={"trustStore": str(folder / "trust.json")},
            cortex={"tokenFile": str(folder / "tokens.json")},
        )
    )
    listed = Publisher("acme", KEY.did, "listed", "2026-01-01T00:00:00Z")
    trust_of(plugin.config).change(lambda known: known.with_publisher(listed))
    key = add(plugin).key
    with served(folder, plugin=plugin) as running:
        approver = running.client(running.token("ada", permissions=("read", "approve")))
        waiting = plugin.call("acme.echo", {"text": "ok"}, agent="a1")
        approval = waiting.details["approval"]
        digest = approver.get(f"/api/v1/approvals/{approval}").json()["digest"]
        approver.post(f"/api/v1/approvals/{approval}/approve", json={"reason": REASON})
        rejected = plugin.call("acme.echo", {"text": "no"}, agent="a1").details["approval"]
        approver.post(f"/api/v1/approvals/{rejected}/reject", json={"reason": "no"})
        place = f"/api/v1/artifacts/{key.skill_id}"
        of_version = {"version": key.version}
        approver.post(f"{place}/quarantine", json={**of_version, "reason": REASON}).raise_for_status()
        enabler = running.client(running.token("eve", permissions=("read", "approve"), holder="person"))
        enabler.post(f"{place}/enable", json={**of_version, "override": True, "reason": "checked"}).raise_for_status()
        (plugin.installed.files.place(key) / "artifact.palyra-skill").write_bytes(b"changed")
        plugin.operate(artifact_operations.audit, by="serve", id=key.skill_id, version=key.version)
        yield Followed(running, folder / "journal", approval, digest, key.payload_sha256)


def test_a_request_is_followed_to_its_run_by_its_id_and_by_its_digest(followed: Followed) -> None:
    expected = [
        ("approval.requested", "approval.requested"),
        ("skill_executed", "acme.echo"),
        ("action.started", "acme.echo"),
        ("skill_executed", "acme.echo"),
        ("approvals.approve", "approvals.approve"),
    ]
    assert followed.about(followed.approval) == expected
    assert followed.about(followed.digest) == expected
    run = followed.lines()[[line["event"] for line in followed.lines()].index("action.started")]
    assert run["details"]["data"] == {
        "approval": followed.approval,
        "digest": followed.digest,
        "version": "1.2.0",
        "payloadSha256": followed.payload,
    }
    assert (run["details"]["approvedBy"], run["details"]["approvalRequired"]) == ("ada", True)


def test_the_bytes_that_were_installed_quarantined_and_enabled_are_named(followed: Followed) -> None:
    events = [event for event, _ in followed.about(followed.payload) if event.startswith("artifacts.")]
    assert events == ["artifacts.install", "artifacts.quarantine", "artifacts.enable", "artifacts.audit"]
    installed, quarantined, enabled, audited = [
        line["details"]["data"] for line in followed.lines() if line["event"].startswith("artifacts.")
    ]
    active, stopped = "1.2.0 active (current)", "1.2.0 quarantined (current)"
    assert (installed["before"], installed["after"], installed["trust"]) == (None, active, "allowlisted")
    assert (quarantined["before"], quarantined["after"], quarantined["door"]) == (active, stopped, "rest")
    assert (enabled["after"], enabled["override"], enabled["reason"]) == (active, True, "checked")
    assert (audited["payloadSha256"], audited["after"]) == (followed.payload, stopped)
    assert audited["findings"] == list(followed.running.plugin.installed.find("acme.echo_http").findings)


def test_what_people_wrote_is_redacted_beside_what_the_program_states(followed: Followed) -> None:
    written = json.dumps(followed.lines())
    assert SECRET not in written
    reasons = [
        line["details"]["data"]["reason"] for line in followed.lines() if line["event"] == "artifacts.quarantine"
    ]
    assert reasons[0] == "the password=[redacted] of it leaked"


def test_each_reading_finds_the_records_about_an_id(followed: Followed) -> None:
    expected = [event for event, _ in followed.about(followed.approval)]
    arguments = ["audit", "search", "--folder", str(followed.folder), "--about", followed.approval, "--json"]
    shown = json.loads(CliRunner().invoke(program, arguments).stdout)
    assert [each["event"] for each in shown] == expected[::-1]
    exported = CliRunner().invoke(program, ["audit", "export", "--folder", str(followed.folder)]).stdout
    assert exported.count(followed.digest) == len(expected)
    auditor = followed.running.client(followed.running.token("iva", permissions=("audit",)))
    listed = auditor.get("/api/v1/audit", params={"about": followed.payload}).json()
    assert {"artifacts.install", "artifacts.quarantine", "artifacts.enable", "action.started"} <= {
        each["event"] for each in listed
    }
    assert all(followed.payload in json.dumps(each["data"]) for each in listed)
    browser: httpx.Client = signed_in(followed.running, followed.running.token("ole", permissions=("read", "audit")))
    page = browser.get("/explore/audit", params={"about": followed.approval, "format": "jsonl"})
    assert [json.loads(line)["event"] for line in page.text.splitlines()] == expected[::-1]
    opened = browser.get("/explore/audit", params={"id": json.loads(page.text.splitlines()[0])["id"]}).text
    assert followed.approval in opened
    assert followed.digest in opened


def test_facts_are_cut_and_are_in_no_record_without_a_journal(tmp_path: Path) -> None:
    with Plugin.open(config()) as plugin:
        assert plugin.audit.event("x.y", facts={"id": "a" * 32}, data={"reason": "b"}).record.data is None
    with Plugin.open(config(audit={"folder": str(tmp_path / "journal")})) as plugin:
        facts = {"id": "0123456789abcdef" * 4, "token": "a1b2" * 8, "names": ["x"] * 300, "n": 1, "none": None}
        data = plugin.audit.event("x.y", facts=facts, data={"id": "of another", "token": SECRET}).record.data
        assert (data["id"], data["token"], data["n"], data["none"]) == (facts["id"], facts["token"], 1, None)
        assert len(data["names"]) < 110
