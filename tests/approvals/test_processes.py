"""Several processes approve one request, and some are killed at each step: the action runs once or not at all."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cortex_skills import Plugin
from cortex_skills.features.actions.agent_actions import AgentActions
from cortex_skills.features.actions.approvals.record import LEASE
from tests import fork_server
from tests.approvals.test_desk import asked, error_of, status

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


class Approvers:
    """Processes that approve requests of one store."""

    def __init__(self, folder: Path, skill: Path) -> None:
        self.store, self.lines, self._skill = folder / "store", folder / "lines", skill
        self.all: list[subprocess.Popen[str]] = []

    def start(self, approval_id: str, step: str = "") -> subprocess.Popen[str]:
        """Start one."""
        words = [self.store, self._skill, self.lines, approval_id, step]
        code = "import sys; from tests.approvals.approver import main; main(*sys.argv[1:])"
        # One with a step is killed, and is a process of this one.
        command = [sys.executable if step else fork_server.python(), "-c", code, *map(str, words)]
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.all.append(process)
        return process


@pytest.fixture
def approvers(tmp_path: Path, operator: Path) -> Iterator[Approvers]:
    found = Approvers(tmp_path, operator)
    yield found
    for process in found.all:
        process.kill()
        process.communicate()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def approve(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_four_processes_that_approve_at_once_run_the_action_once(
    acting: Callable[..., Plugin], approvers: Approvers
) -> None:
    plugin = acting(str(approvers.store))
    approval_id = asked(plugin)
    processes = [approvers.start(approval_id) for _ in range(4)]
    assert [line(process) for process in processes] == ["ready"] * 4
    for process in processes:
        approve(process)
    assert sorted(line(process) for process in processes) == ["approval_resolved"] * 3 + ["done"]
    assert approvers.lines.read_text() == "one\n"


@pytest.mark.parametrize(
    ("step", "state", "runs"),
    [("resolve", "interrupted", 0), ("start", "interrupted", 0), ("run", "interrupted", 1), ("finish", "done", 1)],
)
def test_a_process_that_is_killed_at_a_step_leaves_the_truth(
    acting: Callable[..., Plugin], approvers: Approvers, step: str, state: str, runs: int
) -> None:
    plugin = acting(str(approvers.store))
    approval_id = asked(plugin)
    process = approvers.start(approval_id, step)
    assert line(process) == "ready"
    approve(process)
    assert line(process) == step
    process.kill()
    process.wait()
    queue = plugin.part(AgentActions).queue
    now = queue.now
    assert status(plugin, approval_id).details["state"] in ("approved", "running", "done")
    queue.now = lambda: now() + LEASE
    found = status(plugin, approval_id)
    assert found.details["state"] == state
    assert ("what it did is not known" in found.text) is (state == "interrupted")
    assert error_of(plugin.approvals.approve, approval_id, by="bob").code == "approval_resolved"
    lines = approvers.lines.read_text() if approvers.lines.exists() else ""
    assert lines == "one\n" * runs
