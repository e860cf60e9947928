"""Several processes change one registry, and some are killed: no change is lost, halved or forked."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cortex_graph import open_store
from cortex_graph.naming.names import Names
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillKey
from cortex_skills.keys import Key
from tests import fork_server

ROOT = Path(__file__).parents[2]
SHARED = SkillKey("mayros", "shared")


def start(folder: Path, writer: str, *more: object, program: str = "writer") -> subprocess.Popen[str]:
    command = [sys.executable, "-m", f"tests.registry.{program}", str(folder), writer, *map(str, more)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def acknowledged(process: subprocess.Popen[str]) -> list[list[str]]:
    """The changes that a process has printed; a last line that was cut off is not one."""
    text = process.communicate(timeout=120)[0]
    return [line.split() for line in text.splitlines(keepends=True) if line.endswith("\n")]


def check(folder: Path, changes: list[list[str]]) -> None:
    store = open_store(str(folder))
    registry = SkillRegistry(store, Names("mayros"), lambda: Key("local", b"\1" * 32))
    assert registry.verify_events() is None
    by_digest = {event.details.get("digest") for event in registry.log.events()}
    assert {change[2] for change in changes if change[0] == "registered"} <= by_digest
    for record in registry.all_records():
        versions = registry.versions(record.key)
        assert [version.number for version in versions] == list(range(1, len(versions) + 1))
        assert record.version_id == versions[-1].id
        registry.document(versions[-1])
    for change in changes:
        if change[0] == "merged":
            record = registry.record(SkillKey("mayros", change[1]))
            assert record.standing.lifecycle == "archived"
            assert record.edges.merged_into == (registry.terms.record(SHARED),)
    store.close()


@pytest.mark.slow
def test_four_processes_register_and_merge_without_a_fork(tmp_path: Path):
    code = "import sys; from tests.registry.writer import main; main(sys.argv[1], sys.argv[2], 2)"
    processes = [
        subprocess.Popen(
            [fork_server.python(), "-c", code, str(tmp_path / "store"), str(number)], stdout=subprocess.PIPE, text=True
        )
        for number in range(4)
    ]
    changes = [change for process in processes for change in acknowledged(process)]
    assert len(changes) == 4 * 6
    check(tmp_path / "store", changes)


@pytest.mark.slow
@pytest.mark.parametrize("kills", [2, pytest.param(5, marks=pytest.mark.extended)])
def test_a_process_that_is_killed_leaves_every_change_whole(tmp_path: Path, kills: int):
    choice = random.Random(7)
    changes: list[list[str]] = []
    for number in range(kills):
        process = start(tmp_path / "store", f"k{number}", 1000)
        assert process.stdout is not None
        first = process.stdout.readline().split()
        time.sleep(choice.uniform(0, 0.3))
        process.kill()
        changes += [first, *acknowledged(process)]
    assert len(changes) >= kills
    check(tmp_path / "store", changes)


@pytest.mark.slow
@pytest.mark.parametrize("kills", [2, pytest.param(4, marks=pytest.mark.extended)])
def test_a_process_that_is_killed_while_it_learns_leaves_whole_skills(tmp_path: Path, kills: int):
    choice = random.Random(7)
    for number in range(kills):
        process = start(tmp_path / "store", f"k{number}", program="learner")
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(choice.uniform(0, 0.3))
        process.kill()
        process.communicate(timeout=120)
    check(tmp_path / "store", [])
    store = open_store(str(tmp_path / "store"))
    registry = SkillRegistry(store, Names("mayros"), lambda: Key("local", b"\1" * 32))
    by_name = {record.key.name: record for record in registry.all_records()}
    assert by_name["refresh-the-report"].standing.lifecycle == "candidate"
    whole = {"candidate": 0, "archived": 1}  # how many skills it was merged into
    for record in by_name.values():
        assert len(record.edges.merged_into) == whole[record.standing.lifecycle]
    store.close()
