"""Two hosts with a home each, on one server: an action runs once, where it was asked for, with its records."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cortex_skills import Plugin
from cortex_skills.doors.cli.app import program
from cortex_skills.features.actions.agent_actions import AgentActions
from cortex_skills.features.actions.approvals.record import LEASE, ApprovalRecord
from tests.approvals.approver import opened
from tests.approvals.test_desk import asked
from tests.services.oxigraph import oxigraph
from tests.services.virtuoso import Unavailable, virtuoso

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
WAIT_S = 120


@dataclass
class Fleet:
    """Two hosts, `desk` and `attic`, with processes."""

    store: Any
    skill: Path
    folder: Path
    monkeypatch: pytest.MonkeyPatch
    stack: ExitStack
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def home(self, host: str) -> Path:
        """The data folder of a host."""
        return self.folder / f"home-{host}"

    def lines(self, host: str) -> list[str]:
        """What the action wrote on a host."""
        path = self.folder / f"lines-{host}"
        return path.read_text().split() if path.exists() else []

    def plugin(self, host: str) -> Plugin:
        """A plugin of a host in this process."""
        self.monkeypatch.setenv("XDG_DATA_HOME", str(self.home(host)))
        settings = {"actions": {"workspace": str(self._workspace(host))}, "host": {"name": host}}
        plugin = self.stack.enter_context(
            opened(self.store, self.skill, self.folder / f"lines-{host}", serves=False, **settings)
        )
        assert plugin.part(lambda host: host).identity.name == host
        return plugin

    def start(self, role: str, host: str, step: str = "") -> subprocess.Popen[str]:
        """A process of a host; `ready` reads its first line."""
        words = [role, json.dumps(self.store), self.skill, self._workspace(host), self.folder / f"lines-{host}", step]
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.approvals.host_process", *map(str, words)],
            cwd=ROOT,
            env=os.environ
            | {"XDG_DATA_HOME": str(self.home(host)), "XDG_CONFIG_HOME": str(self.home(host) / "config")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.processes.append(process)
        return process

    def _workspace(self, host: str) -> Path:
        path = self.folder / host
        path.mkdir(exist_ok=True)
        return path


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def approve(process: subprocess.Popen[str], *approval_ids: str) -> None:
    assert process.stdin is not None
    process.stdin.write("".join(f"{approval_id}\n" for approval_id in approval_ids))
    process.stdin.flush()


def ended(process: subprocess.Popen[str]) -> int:
    process.communicate(timeout=WAIT_S)
    return process.returncode


def state(plugin: Plugin, approval_id: str) -> str:
    return plugin.approvals.state_of(plugin.approvals.show(approval_id))


def wait_for(plugin: Plugin, approval_id: str, wanted: str) -> ApprovalRecord:
    until = time.monotonic() + WAIT_S
    while state(plugin, approval_id) != wanted and time.monotonic() < until:
        time.sleep(0.05)
    assert state(plugin, approval_id) == wanted
    return plugin.approvals.show(approval_id)


@pytest.fixture(params=["oxigraph", pytest.param("virtuoso", marks=pytest.mark.extended)])
def fleet(
    request: pytest.FixtureRequest, operator: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Fleet]:
    with ExitStack() as stack:
        if request.param == "oxigraph":
            store: Any = stack.enter_context(oxigraph()).url
        else:
            try:
                server = stack.enter_context(virtuoso(request.getfixturevalue("tmp_path_factory").mktemp("virtuoso")))
            except Unavailable as reason:
                pytest.skip(str(reason))
            monkeypatch.setenv("TEST_VIRTUOSO_PASSWORD", "dba")
            auth = {"type": "digest", "user": "dba", "password": "${TEST_VIRTUOSO_PASSWORD}"}
            store = {"query": f"{server.url}/sparql-auth", "auth": auth}
        found = Fleet(store, operator, tmp_path, monkeypatch, stack)
        yield found
        for process in found.processes:
            process.kill()
            process.communicate()


@pytest.mark.extended
def test_four_processes_on_two_hosts_run_each_action_once_where_it_was_asked_for(fleet: Fleet) -> None:
    desk = fleet.plugin("desk")
    ids = [asked(desk, f"line{number}") for number in range(6)]
    serving = [fleet.start("serve", "desk") for _ in range(2)]
    approving = [fleet.start("approve", "attic") for _ in range(2)]
    assert [line(process) for process in serving + approving] == ["ready"] * 4
    for process in approving:
        approve(process, *ids)
    answers = [[line(process) for _ in ids] for process in approving]
    for pair in zip(*answers, strict=True):  # the serving processes may be quick
        assert "approval_resolved" in pair
        assert {"approved", "running", "done"} & set(pair)
    for approval_id in ids:
        wait_for(desk, approval_id, "done")
    assert sorted(fleet.lines("desk")) == [f"line{number}" for number in range(len(ids))]
    assert fleet.lines("attic") == []
    assert [ended(process) for process in serving + approving] == [0] * 4
    desk.close()
    check_records(fleet, ids)


def check_records(fleet: Fleet, ids: list[str]) -> None:
    """Each host has one chain, signed with its own key; merged they have what happened to each request."""
    folders = {host: next((fleet.home(host) / "cortex-skills" / "audit").iterdir()) for host in ("desk", "attic")}
    keys = []
    for host, folder in folders.items():
        fleet.monkeypatch.setenv("XDG_DATA_HOME", str(fleet.home(host)))
        result = CliRunner().invoke(program, ["audit", "verify", "--folder", str(folder), "--json"])
        report = json.loads(result.stdout)
        assert (result.exit_code, report["whole"], report["host"]["name"]) == (0, True, host), report
        keys += ["--key", *report["keys"]]
    merged = CliRunner().invoke(program, ["audit", "merge", *map(str, folders.values()), *keys])
    assert merged.exit_code == 0, merged.output
    records = [
        json.loads(text)["details"] | {"event": json.loads(text)["event"]} for text in merged.stdout.splitlines()
    ]
    for approval_id in ids:
        about = [
            (each["event"], each["host"]["name"], each.get("code"))
            for each in records
            if approval_id in json.dumps(each.get("data"))
        ]
        assert about.count(("action.started", "desk", None)) == 1
        assert about.count(("approvals.approve", "attic", None)) == 1
        assert about.count(("approvals.approve", "attic", "approval_resolved")) == 1
        assert {host for event, host, _ in about if event == "skill_executed"} == {"desk"}


@pytest.mark.extended
@pytest.mark.parametrize(
    ("step", "then", "runs"),
    [("start", "interrupted", 0), ("run", "interrupted", 1), ("finish", "done", 1)],
)
def test_a_host_that_is_killed_at_a_step_leaves_the_truth(fleet: Fleet, step: str, then: str, runs: int) -> None:
    desk = fleet.plugin("desk")
    approval_id = asked(desk)
    killed, approving = fleet.start("serve", "desk", step), fleet.start("approve", "attic")
    assert [line(killed), line(approving)] == ["ready"] * 2
    approve(approving, approval_id)
    assert line(approving) in ("approved", "running", "done")
    assert line(killed) == step
    killed.kill()
    queue = desk.part(AgentActions).queue
    now = queue.now()
    queue.now = lambda: now + LEASE + LEASE
    assert state(desk, approval_id) == then
    other = fleet.start("serve", "desk")
    assert line(other) == "ready"
    second = asked(desk, "two")
    approve(approving, second)
    assert line(approving) in ("approved", "running", "done")
    wait_for(desk, second, "done")
    assert state(desk, approval_id) == then
    assert fleet.lines("desk") == ["one"] * runs + ["two"]


@pytest.mark.extended
def test_what_a_killed_approver_has_approved_runs_on_its_host(fleet: Fleet) -> None:
    desk = fleet.plugin("desk")
    approval_id = asked(desk)
    approving = fleet.start("approve", "attic", "resolve")
    assert line(approving) == "ready"
    approve(approving, approval_id)
    assert line(approving) == "resolve"
    approving.kill()
    queue = desk.part(AgentActions).queue
    now = queue.now()
    queue.now = lambda: now + LEASE + LEASE
    assert state(desk, approval_id) == "approved"
    assert line(fleet.start("serve", "desk")) == "ready"
    wait_for(desk, approval_id, "done")
    assert (fleet.lines("desk"), fleet.lines("attic")) == (["one"], [])
