"""`run_agent`: real programs, one instance of each, ended whole."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from platformdirs import user_data_path

from cortex_skills import CortexError, Plugin
from tests.actions.asking import approved, kept_request
from tests.configs import config

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="process groups are of POSIX")

SHOWS = "import os, sys; print(sorted(os.environ), os.getcwd()); print(repr(sys.stdin.read())); sys.exit(3)"
LEAVES = "import os, time\nif not os.fork():\n  open('child', 'w').write(str(os.getpid()))\ntime.sleep(60)"
AGENTS = {
    "shows": {"command": [sys.executable, "-I", "-c", SHOWS], "folder": "docs", "environment": ["CORTEX_SHOWN"]},
    "leaves": {"command": [sys.executable, "-I", "-c", LEAVES], "folder": "docs", "timeoutMs": 60_000},
    "late": {"command": ["sleep", "60"], "timeoutMs": 300},
    "loud": {"command": ["yes"]},
    "none": {"command": ["/nonexistent/program"]},
    "outside": {"command": ["true"], "folder": "../outside"},
    "linked": {"command": ["true"], "folder": "link"},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "docs")
    return tmp_path


@pytest.fixture
def plugin(acting: Callable[..., Plugin], folder: Path) -> Plugin:
    return acting(trustLevel="supervised_auto", workspace=str(folder), agents=AGENTS)


def run(plugin: Plugin, name: str, *, wait: bool = True) -> Any:
    return approved(plugin, "run_agent", {"agentName": name, "wait": wait})


def log_of(name: str) -> Path:
    return user_data_path("cortex-skills", appauthor=False) / "agents" / f"{name}.log"


def ended(pid: int) -> bool:
    """Whether a process ends, within five seconds; a dead child that its parent has not read counts."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_a_program_gets_its_folder_its_environment_and_no_input(
    plugin: Plugin, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CORTEX_SHOWN", "1")
    monkeypatch.setenv("SECRET_OF_THE_HOST", "1")
    assert run(plugin, "shows").details["outputs"]["exitCode"] == 3
    first, second = log_of("shows").read_text().splitlines()
    assert second == "''"
    assert first.endswith(f" {folder / 'docs'}")
    assert "'CORTEX_SHOWN'" in first
    assert "SECRET" not in first
    assert log_of("shows").stat().st_mode & 0o777 == 0o600


def test_one_instance_runs_at_a_time_and_ends_with_the_plugin_and_its_children(plugin: Plugin, folder: Path) -> None:
    started = run(plugin, "leaves", wait=False).details["outputs"]
    assert set(started) == {"pid"}
    assert "runs already" in run(plugin, "leaves").text
    for _ in range(200):
        if (folder / "docs" / "child").exists() and (folder / "docs" / "child").read_text():
            break
        time.sleep(0.05)
    child = int((folder / "docs" / "child").read_text())
    plugin.close()
    assert ended(started["pid"])
    assert ended(child)


def test_a_program_that_is_late_or_loud_is_ended(plugin: Plugin) -> None:
    assert run(plugin, "late").code == "action_timeout"
    assert run(plugin, "loud").details["outputs"]["exitCode"] == -9
    assert log_of("loud").stat().st_size == 1 << 20


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("none", "action_failed"),
        ("outside", "path_refused"),
        ("linked", "path_refused"),
        ("sh", "invalid_arguments"),
        ("", "invalid_arguments"),
        (None, "invalid_arguments"),
        (["shows"], "invalid_arguments"),
    ],
)
def test_a_program_that_is_not_started(plugin: Plugin, name: Any, code: str) -> None:
    assert run(plugin, name).code == code


def test_a_wrong_entry_is_an_error_of_the_configuration() -> None:
    for entry in ({}, {"command": []}, {"command": "ls"}, {"command": ["ls"], "shell": True}):
        with pytest.raises(CortexError, match=r"actions\.agents"):
            config(actions={"agents": {"a": entry}})


def test_a_person_is_shown_the_command(plugin: Plugin) -> None:
    asked = plugin.call("run_agent", {"agentName": "shows", "wait": True})
    command = shlex.join([sys.executable, "-I", "-c", SHOWS])
    assert kept_request(plugin, asked).preview == f"what this program changes; it runs, in docs:\n{command}"


def test_an_agent_does_not_write_the_script_of_a_program(acting: Callable[..., Plugin], folder: Path) -> None:
    (folder / "out").mkdir()
    for name in ("tidy.py", "other.py"):
        (folder / "out" / name).write_text("")
    agents = {"tidy": {"command": [sys.executable, "tidy.py", "a\0b", "x" * 4096], "folder": "out"}}
    plugin = acting(trustLevel="supervised_auto", workspace=str(folder), agents=agents)
    write = {"content": "import os", "overwrite": True}
    assert plugin.call("fs_write", {"path": "out/tidy.py", **write}).code == "path_refused"
    assert plugin.call("fs_read", {"path": "out/tidy.py"}).code is None
    assert plugin.call("fs_write", {"path": "out/other.py", **write}).code is None
