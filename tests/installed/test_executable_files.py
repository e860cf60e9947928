"""The scripts of a packed skill start where it is installed; nothing else of the mode of a file goes with it."""

from __future__ import annotations

import stat
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest

from cortex_skills.features.artifacts.installed import InstalledArtifacts
from cortex_skills.features.artifacts.package import build_artifact, read_project
from cortex_skills.features.artifacts.package.artifact_error import ArtifactError
from cortex_skills.features.artifacts.package.build import ArtifactProject
from tests.artifacts.samples import KEY, MANIFEST
from tests.installed.samples import install

SIGNED_AT = 1_760_000_000_000
SCRIPT = "assets/skill/scripts/report.sh"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A skill with a script that can be started, and files that cannot."""
    place = tmp_path / "runner"
    (place / "scripts").mkdir(parents=True)
    (place / "SKILL.md").write_text("---\nname: runner\ndescription: Runs a report.\n---\nRun `scripts/report.sh`.\n")
    (place / "scripts/report.sh").write_text("#!/bin/sh\necho done\n")
    (place / "scripts/report.sh").chmod(0o6775)
    (place / "scripts/data.txt").write_text("data")
    return place


def built(folder: Path) -> bytes:
    return build_artifact(read_project(folder, "acme", "1.0.0"), KEY, SIGNED_AT).data


def skill_of(installed: InstalledArtifacts, data: bytes) -> Path:
    return installed.files.place(install(installed, data).key) / "skill/runner"


def test_a_script_starts_where_the_skill_is_installed(folder: Path, installed: InstalledArtifacts) -> None:
    skill = skill_of(installed, built(folder))
    assert subprocess.run([skill / "scripts/report.sh"], capture_output=True, check=True).stdout == b"done\n"
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in skill.rglob("*") if path.is_file()}
    assert modes == {"SKILL.md": 0o600, "data.txt": 0o600, "report.sh": 0o700}


def test_the_executable_files_are_signed_and_the_modes_of_the_entries_are_all_the_same(
    folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "runner.palyra-skill"
    file.write_bytes(built(folder))
    with zipfile.ZipFile(file) as archive:
        assert {each.external_attr >> 16 for each in archive.infolist()} == {stat.S_IFREG | 0o644}
        stated = tomllib.loads(archive.read("skill.toml").decode())["operator"]["plugin"]
    assert stated == {"kind": "semantic", "executable": [SCRIPT]}
    (folder / "scripts/report.sh").chmod(0o644)
    assert "executable" not in read_project(folder, "acme", "1.0.0").manifest["operator"]["plugin"]


def test_a_manifest_that_is_there_names_further_files(folder: Path) -> None:
    document = dict(read_project(folder, "acme", "1.0.0").manifest)
    import tomli_w

    (folder / "skill.toml").write_text(tomli_w.dumps(document))
    (folder / "scripts/report.sh").chmod(0o600)  # as a file system without modes leaves it
    (folder / "scripts/data.txt").chmod(0o700)
    plugin = read_project(folder, "acme").manifest["operator"]["plugin"]
    assert plugin["executable"] == ["assets/skill/scripts/data.txt", SCRIPT]


@pytest.mark.parametrize(
    ("executable", "code"),
    [
        (["assets/skill/scripts/none.sh"], "artifact_invalid"),
        (["assets/skill/../../x"], "manifest_invalid"),
        (["modules/a.wasm"], "manifest_invalid"),
        (SCRIPT, "manifest_invalid"),
        ([7], "manifest_invalid"),
    ],
)
def test_an_executable_file_is_one_of_the_skill(folder: Path, executable: object, code: str) -> None:
    project = read_project(folder, "acme", "1.0.0")
    operator = {**project.manifest["operator"], "plugin": {"kind": "semantic", "executable": executable}}
    with pytest.raises(ArtifactError) as caught:
        build_artifact(ArtifactProject({**project.manifest, "operator": operator}, project.content), KEY, SIGNED_AT)
    assert caught.value.code == code


def test_a_tool_in_webassembly_has_no_executable_file() -> None:
    document = tomllib.loads(MANIFEST)
    document["operator"] = {"display_name": "x", "plugin": {"executable": ["assets/skill/x"]}}
    with pytest.raises(ArtifactError, match="needs the kind semantic"):
        build_artifact(ArtifactProject(document, {"assets/skill/x": b"", "modules/a.wasm": b"\0asm"}), KEY, SIGNED_AT)


def test_a_changed_mode_of_an_installed_file_is_found(folder: Path, installed: InstalledArtifacts) -> None:
    data = built(folder)
    skill = skill_of(installed, data)
    (key,) = [each.key for each in installed.list()]
    assert installed.files.problem(key, data) is None
    for name, mode, problem in (("scripts/data.txt", 0o700, "can be"), ("scripts/report.sh", 0o600, "cannot be")):
        before = stat.S_IMODE((skill / name).stat().st_mode)
        (skill / name).chmod(mode)
        assert f"which {problem} started" in str(installed.files.problem(key, data))
        (skill / name).chmod(before)
    assert installed.files.problem(key, data) is None


def test_an_exported_skill_that_is_packed_and_installed_starts_its_script(
    folder: Path, tmp_path: Path, installed: InstalledArtifacts
) -> None:
    from cortex_graph import open_store
    from cortex_graph.naming.names import Names
    from cortex_skills.features.registry.folders import write_skill_folder
    from cortex_skills.features.registry.records.registry import SkillRegistry
    from cortex_skills.features.registry.sources import synchronise

    registry = SkillRegistry(open_store("memory:"), Names("mayros"), lambda: None)
    (done,) = synchronise(registry, [folder], actor="ada").found.values()
    exported = write_skill_folder(registry.document(done.version), done.version, tmp_path / "out")
    skill = skill_of(installed, built(exported))
    assert subprocess.run([skill / "scripts/report.sh"], capture_output=True, check=True).stdout == b"done\n"
