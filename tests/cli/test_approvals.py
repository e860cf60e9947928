"""Requests for approval on the command line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cortex_skills import Plugin
from tests.actions.conftest import operator
from tests.approvals.approver import opened
from tests.approvals.test_desk import asked
from tests.signals import signals_delivered

__all__ = ["operator"]


@pytest.fixture
def plugin(operator: Path, tmp_path: Path) -> Iterator[Plugin]:
    """A plugin on the store of the commands."""
    with opened(str(tmp_path / "shared"), operator, tmp_path / "lines") as found:
        yield found


@pytest.fixture
def approvals(run, tmp_path: Path):
    def command(*words: str, json: bool = True):
        return run("approvals", *words, "--store", str(tmp_path / "shared"), *(["--json"] if json else []))

    return command


def test_requests_are_listed_shown_and_rejected(plugin: Plugin, approvals) -> None:
    approval_id = asked(plugin, "one\x1b[2J\u202e")
    (listed,) = approvals("list").json["approvals"]
    assert (listed["id"], listed["state"], listed["inputs"]) == (approval_id, "pending", {"text": "one\x1b[2J\u202e"})
    shown = approvals("show", approval_id, json=False)
    assert "\x1b" not in shown.stdout
    assert "\u202e" not in shown.stdout
    assert "it would change:\n  +one" in shown.stdout
    rejected = approvals("reject", approval_id, "--reason", "no", "--by", "ada").json
    assert (rejected["state"], rejected["resolvedBy"], rejected["resolvedReason"]) == ("rejected", "ada", "no")
    assert approvals("list").json["approvals"] == []
    assert approvals("list", json=False).stdout == "no request waits\n"
    assert approvals("list", "--all").json["approvals"] == [rejected]
    again = approvals("reject", approval_id, json=False)
    assert again.exit_code == 1
    assert "was rejected by ada at" in again.stderr


def test_a_request_that_cannot_run_here_still_waits(plugin: Plugin, approvals) -> None:
    approval_id = asked(plugin)
    refused = approvals("approve", approval_id, json=False)
    assert refused.exit_code == 1
    assert "the request cannot run here" in refused.stderr
    assert "--skills FOLDER" in refused.stderr
    assert plugin.approvals.state_of(plugin.approvals.show(approval_id)) == "pending"
    assert approvals("show", "0" * 32, json=False).stderr.startswith("error[approval_not_found]")


def test_watching_prints_each_change(plugin: Plugin, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "cortex_skills",
        "approvals",
        "watch",
        "--json",
        "--store",
        str(tmp_path / "shared"),
    ]
    first = asked(plugin)
    with signals_delivered(signal.SIGINT):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        seen = json.loads(process.stdout.readline())
        assert (seen["id"], seen["state"]) == (first, "pending")
        plugin.approvals.reject(first, by="ada")
        seen = json.loads(process.stdout.readline())
        assert (seen["id"], seen["state"]) == (first, "rejected")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    finally:
        process.kill()
        process.communicate()


def test_an_action_is_asked_for_with_a_journal_that_must_be_kept_and_each_warning_is_given_once(
    run, operator: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "work" / "docs").mkdir(parents=True)
    settings = {
        "actions": {"workspace": str(tmp_path / "work"), "trustLevel": "observe"},
        "audit": {"journal": "on"},
        "proofs": {"keys": str(tmp_path / "keys")},
        "skillSandbox": {"maxWrites": -1},
        "verification": {"requireSignature": False},
    }
    (tmp_path / "cortex.yaml").write_text(json.dumps(settings))
    words = ("--config", tmp_path / "cortex.yaml", "--skills", operator, "--json")
    asked_for = run("call", "fs_read", "--arg", "path=docs/a.md", *words)
    assert asked_for.json["details"]["status"] == "pending_approval"
    assert [each.message.partition(":")[0] for each in caplog.records].count("configuration") == 1
    events = [each["event"] for each in run("audit", "search", *words).json]
    assert sorted(events) == ["approval.requested", "skill_executed"]
    waited = run("approvals", "wait", asked_for.json["details"]["approval"], "--seconds", "0", *words).json
    assert (waited["state"], waited["agent"], waited["askedBy"]) == ("pending", "default", "default")
    run("approvals", "reject", waited["id"], "--by", "ada", *words)
    decided = run("audit", "search", "--event", "approvals.reject", *words).json[0]
    facts = decided["data"]
    assert (facts["object"], facts["kind"], facts["door"]) == (waited["id"], "owner", "command")
    assert (decided["agent"], facts["after"]) == ("ada", "fs_read for default, rejected")
    listed = run("actions", "list", *words).json["actions"]
    assert [each["id"] for each in listed][:3] == ["fs_read", "fs_write", "search_index"]
    assert run("actions", "show", "fs_read", *words).json["risk"] == "low"
    assert run("actions", "show", "fs_raed", *words).exit_code == 1
