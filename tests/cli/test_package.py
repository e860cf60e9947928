"""`package`: from a new project to a verified artifact, and files that are none."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cortex_skills.doors.cli.app import program
from cortex_skills.keys import Key, KeyFolder, default_folder


def run(*words: object) -> tuple[int, Any, str]:
    result = CliRunner().invoke(program, [*map(str, words), "--json"])
    return result.exit_code, json.loads(result.stdout) if result.stdout else None, result.stderr


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home/data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home/config"))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1760000000")
    return tmp_path / "home"


@pytest.fixture
def key() -> Key:
    return KeyFolder(default_folder()).create("publishing")


@pytest.fixture
def artifact(tmp_path: Path, key: Key) -> Path:
    """A built artifact of a new project."""
    assert run("package", "init", tmp_path / "echo", "--publisher", "acme")[0] == 0
    assert run("package", "build", tmp_path / "echo", "-o", tmp_path / "a.palyra-skill", "--key", "publishing")[0] == 0
    return tmp_path / "a.palyra-skill"


def test_a_new_project_is_built_inspected_and_verified_elsewhere(
    artifact: Path, key: Key, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, document, _ = run("package", "inspect", artifact)
    assert (code, document["valid"], document["skillId"], document["version"]) == (0, True, "acme.echo", "0.1.0")
    assert (document["kind"], document["signedAtUnixMs"]) == ("semantic", 1_760_000_000_000)
    assert document["capabilities"]["graph_read"] is True
    assert {"assets/skill/SKILL.md", "assets/skill/skill.ts", "skill.toml"} <= set(document["entries"])
    assert not any("/." in path for path in document["entries"])
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "other/data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "other/config"))
    code, document, error = run("package", "verify", artifact)
    assert (code, document["valid"], document["trust"]) == (1, False, None)
    assert "whom you do not trust" in error
    named = ("--trusted-publisher", f"acme={key.public.hex()}")
    for option, decision in (
        (named, "allowlisted"),
        (("--allow-tofu",), "tofu_newly_pinned"),
        (("--allow-untrusted",), "untrusted"),
    ):
        code, document, _ = run("package", "verify", artifact, *option)
        assert (code, document["trust"]) == (0, decision)
    assert run("trust", "list")[1]["publishers"] == []
    assert run("trust", "add", "acme", key.did)[0] == 0
    assert run("package", "verify", artifact)[1]["trust"] == "allowlisted"
    assert run("trust", "revoke", document["keyId"])[0] == 0
    assert "was revoked" in run("package", "verify", artifact)[2]


def test_the_same_project_is_built_to_the_same_bytes(artifact: Path, tmp_path: Path) -> None:
    again = tmp_path / "b"
    assert run("package", "build", tmp_path / "echo", "-o", again, "--key", "publishing")[0] == 0
    assert again.read_bytes() == artifact.read_bytes()


def test_a_skill_with_another_version_than_its_manifest_is_not_built(artifact: Path, tmp_path: Path) -> None:
    file = tmp_path / "echo" / "skill.toml"
    file.write_text(file.read_text().replace('version = "0.1.0"', 'version = "0.2.0"'))
    before = artifact.read_bytes()
    code, _, error = run("package", "build", tmp_path / "echo", "-o", artifact)
    assert code == 1
    assert "is '0.2.0' in skill.toml, and '0.1.0' in SKILL.md" in error
    assert artifact.read_bytes() == before


def test_a_tampered_artifact_is_shown_and_refused(artifact: Path) -> None:
    data = bytearray(artifact.read_bytes())
    data[data.index(b"PK\1\2") - 20] ^= 1
    artifact.write_bytes(data)
    for command in ("inspect", "verify"):
        code, document, error = run("package", command, artifact)
        assert (code, document["valid"]) == (1, False)
        assert error


@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "large", "missing", "device", "empty"])
def test_a_file_that_is_none_is_refused_without_waiting(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "given"
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "link":
        file.symlink_to("/dev/zero")
    elif kind == "folder":
        file.mkdir()
    elif kind == "large":
        with file.open("wb") as large:
            large.truncate(10 << 30)
    elif kind == "device":
        file = Path("/dev/zero")
    elif kind == "empty":
        file.touch()
    for command in ("inspect", "verify", "build"):
        code, _, error = run("package", command, file)
        assert code == 1
        assert "artifact_invalid" in error or "invalid_arguments" in error


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("init", "Echo Echo"), "Echo Echo"),
        (("init", "echo", "--publisher", "Acme"), "publisher"),
        (("build", "."), "neither skill.toml nor SKILL.md"),
        (("verify", "x", "--trusted-publisher", "acme"), "is not a publisher and its key"),
    ],
)
def test_a_wrong_argument_is_explained(
    words: tuple[str, ...], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, error = run("package", *words)
    assert code == 1
    assert says in error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "options", "skill_id"),
    [
        ("echo", (), "example.echo"),
        ("acme.echo", (), "acme.echo"),
        ("acme.echo", ("--publisher", "acme"), "acme.echo"),
        ("echo", ("--publisher", "acme"), "acme.echo"),
    ],
)
def test_the_publisher_of_a_project_is_named_by_its_folder_or_an_option(
    name: str, options: tuple[str, ...], skill_id: str, tmp_path: Path
) -> None:
    assert run("package", "init", tmp_path / name, *options)[0] == 0
    assert f'skill_id = "{skill_id}"' in (tmp_path / name / "skill.toml").read_text()


@pytest.mark.parametrize(
    ("name", "problem", "hint"),
    [
        ("Acme.echo", "'Acme.echo' cannot be the id of an artifact", "a publisher and a name of a-z"),
        ("acme..echo", "'acme..echo' cannot be the id of an artifact", "a publisher and a name of a-z"),
        ("acme.\u00e9cho", "'acme.\u00e9cho' cannot be the id of an artifact", "a publisher and a name of a-z"),
        ("acme.Echo", "'Echo' cannot be the name of a skill", "did you mean echo?"),
        ("my echo", "'my echo' cannot be the name of a skill", "did you mean my-echo?"),
        ("acme.", "'acme.' cannot be the id of an artifact", "a publisher and a name of a-z"),
    ],
)
@pytest.mark.parametrize("kind", [[], ["--wasm"]], ids=["skill", "wasm"])
def test_a_name_that_a_project_cannot_have_is_refused_as_a_name(
    tmp_path: Path, kind: list[str], name: str, problem: str, hint: str
) -> None:
    code, _, error = run("package", "init", tmp_path / name, *kind)
    assert code == 1
    refused = json.loads(error)
    assert (refused["code"], refused["message"]) == ("invalid_arguments", problem)
    assert refused["hint"].startswith(hint)
    assert not (tmp_path / name).exists()


def test_a_project_in_c_is_created(tmp_path: Path) -> None:
    code, document, _ = run("package", "init", tmp_path / "hello", "--wasm", "--publisher", "acme")
    assert code == 0
    assert {"skill.toml", "tool.c", "palyra.h", "README.md"} <= set(document["files"])


def test_the_skill_of_an_installed_artifact_answers_calls(artifact: Path, tmp_path: Path) -> None:
    place = ("--store", tmp_path / "store")
    assert run("install", artifact, "--allow-tofu", "--grant-all", *place)[0] == 0
    code, document, _ = run("status", "--installed", "acme.echo", *place)
    assert (code, [each["name"] for each in document["skills"]]) == (0, ["echo"])
    code, document, _ = run("list", "--installed", "acme.echo", *place)
    assert (code, [each["name"] for each in document]) == (0, ["echo"])
    code, document, _ = run("call", "skill_graph_query", '{"scope": "namespace"}', "--installed", "acme.echo", *place)
    assert (code, document["details"]["matches"]) == (0, [])
    code, _, error = run("status", "--installed", "acme.other", *place)
    assert (code, "artifact_not_found" in error) == (1, True)
    assert run("quarantine", "acme.echo", "--version", "0.1.0", "--reason", "a test", *place)[0] == 0
    code, _, error = run("call", "skill_graph_query", '{"scope": "namespace"}', "--installed", "acme.echo", *place)
    assert (code, "artifact_quarantined" in error) == (1, True)
