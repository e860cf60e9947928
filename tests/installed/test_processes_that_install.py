"""Several processes install at once, and some are killed at each step: what is installed is whole, once, and kept."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cortex_graph import open_store
from cortex_skills.features.artifacts.installed import InstalledArtifacts
from cortex_skills.features.artifacts.installed.installed_audit import check_files
from tests.installed.samples import artifact, install, place

ROOT = Path(__file__).parents[2]
ID = "acme.echo_http"


class Installers:
    """Processes that install into one store."""

    def __init__(self, folder: Path) -> None:
        self.store, self.folder = folder / "store", folder / "artifacts"
        self.all: list[subprocess.Popen[str]] = []

    def start(self, step: str, *files: Path) -> subprocess.Popen[str]:
        """Start one."""
        words = [self.store, self.folder, step, *files]
        command = [sys.executable, "-m", "tests.installed.installer", *map(str, words)]
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.all.append(process)
        return process

    def place(self) -> InstalledArtifacts:
        """What is installed, in this process."""
        return place(self.folder, open_store(str(self.store)))


@pytest.fixture
def installers(tmp_path: Path) -> Iterator[Installers]:
    found = Installers(tmp_path)
    yield found
    for process in found.all:
        process.kill()
        process.communicate()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def written(folder: Path, version: str = "1.2.0", name: str = "echo_http") -> Path:
    path = folder / f"{name}-{version}.palyra-skill"
    path.write_bytes(artifact(version, name=name))
    return path


@pytest.mark.extended
@pytest.mark.slow
def test_eight_processes_install_everything_once_and_lose_nothing(installers: Installers, tmp_path: Path) -> None:
    same = written(tmp_path, "2.0.0")
    own = [written(tmp_path, f"1.{number}.0") for number in range(8)]
    others = [written(tmp_path, name=f"skill{number}") for number in range(8)]
    processes = [installers.start("", same, own[number], others[number]) for number in range(8)]
    assert [line(process) for process in processes] == ["ready"] * 8
    for process in processes:
        go(process)
    assert [[line(process) for _ in range(3)] for process in processes] == [["active"] * 3] * 8
    for process in processes:
        process.wait()
    installed = installers.place()
    found = sorted((each.key.skill_id, each.key.version) for each in installed.list())
    assert found == sorted(
        [(ID, "2.0.0"), *((ID, f"1.{number}.0") for number in range(8))]
        + [(f"acme.skill{number}", "1.2.0") for number in range(8)]
    )
    assert sum(each.current for each in installed.list() if each.key.skill_id == ID) == 1
    assert check_files(installed) == []
    assert [installed.open(f"acme.skill{number}").installed.status for number in range(8)] == ["active"] * 8


@pytest.mark.parametrize(
    ("step", "current"), [("stage", "1.2.0"), ("rename", "1.2.0"), ("index", "1.3.0"), ("trust", "1.3.0")]
)
def test_a_process_that_is_killed_at_a_step_leaves_what_was_installed(
    installers: Installers, tmp_path: Path, step: str, current: str
) -> None:
    newer = written(tmp_path, "1.3.0")
    process = installers.start("", written(tmp_path))
    go(process)
    assert [line(process), line(process), process.wait()] == ["ready", "active", 0]
    process = installers.start(step, newer)
    go(process)
    assert [line(process), line(process)] == ["ready", step]
    process.kill()
    process.wait()
    installed = installers.place()
    assert installed.open(ID).installed.key.version == current
    assert installed.open(ID, "1.2.0").installed.status == "active"
    assert install(installed, newer.read_bytes()).current
    assert [each.key.version for each in installed.list()] == ["1.2.0", "1.3.0"]
    assert check_files(installed) == []
    assert [path.name for path in installed.files.folder.glob(".staging-*")] == []


def test_a_full_disk_leaves_what_was_installed(installers: Installers, tmp_path: Path) -> None:
    process = installers.start("disk", written(tmp_path))
    go(process)
    assert [line(process), line(process), process.wait()] == ["ready", "artifact_unavailable", 0]
    installed = installers.place()
    assert installed.list() == ()
    assert [path for path in installed.files.folder.rglob("*") if path.is_file() and path.suffix != ".lock"] == []
    assert install(installed, artifact()).status == "active"


def test_a_folder_that_others_can_open_is_refused(installers: Installers) -> None:
    installers.folder.mkdir(mode=0o755)
    installed = installers.place()
    with pytest.raises(Exception, match="can be opened by others") as caught:
        install(installed, artifact())
    assert getattr(caught.value, "code", "") == "artifact_unavailable"
    installers.folder.chmod(0o700)
    assert install(installed, artifact()).status == "active"
