"""What registries, agent hosts and the forge read, checked with their published schemas and validators.

`schemas/server.schema.json` is that of the MCP registry; those of the forge come with `check-jsonschema`; the validator
of bundles is the npm package `@anthropic-ai/mcpb`.
"""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from check_jsonschema.builtin_schemas import get_builtin_schema
from ruamel.yaml import YAML

from build_steps.release_files import bundle_manifest, plugin_folder, project, server_json, write_all
from build_steps.tools import ROOT

HERE = Path(__file__).parent
MCPB = HERE / "node_modules/.bin/mcpb"


def errors(schema: dict[str, Any], value: Any) -> list[str]:
    return [str(each) for each in jsonschema_rs.validator_for(schema).iter_errors(value)]


def test_the_description_for_the_mcp_registry_is_valid_and_names_this_version() -> None:
    made = server_json(project(), "acme/cortex")
    schema = json.loads((HERE / "schemas/server.schema.json").read_text())
    assert errors(schema, made) == []
    assert errors(schema, made | {"description": "x" * 101}) != []
    assert made["name"] == "io.github.acme/cortex-skills"
    assert made["version"] == made["packages"][0]["version"] == project()["version"]


def test_nothing_names_a_repository_unless_one_is_given(tmp_path: Path) -> None:
    written = write_all(tmp_path, None)
    assert sorted(path.name for path in written) == ["claude-plugin", "cortex-skills.mcpb"]
    assert "github" not in json.dumps([bundle_manifest(project(), None), plugin_folder(project(), None)])


@pytest.mark.parametrize("name", ["acme", "acme/", "a/b/c", "../x", "-a/b", "acme/x y", "acme/x\n", "acme/ü"])
def test_what_is_no_repository_is_refused_before_anything_is_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="OWNER/NAME"):
        write_all(tmp_path / "dist", name)
    assert not (tmp_path / "dist").exists()


def test_the_same_inputs_give_the_same_bytes(tmp_path: Path) -> None:
    for name in "ab":
        write_all(tmp_path / name, "acme/cortex")
    files = [sorted(path for path in (tmp_path / name).rglob("*") if path.is_file()) for name in "ab"]
    assert len(files[0]) == 5
    assert [path.read_bytes() for path in files[0]] == [path.read_bytes() for path in files[1]]


@pytest.mark.parametrize(
    ("schema", "pattern"),
    [
        ("vendor.github-workflows", ".github/workflows/*.yml"),
        ("vendor.github-issue-forms", ".github/ISSUE_TEMPLATE/[fw]*.yml"),
        ("vendor.github-issue-config", ".github/ISSUE_TEMPLATE/config.yml"),
        ("vendor.dependabot", ".github/dependabot.yml"),
    ],
)
def test_the_files_of_the_forge_follow_their_schemas(schema: str, pattern: str) -> None:
    paths = sorted(ROOT.glob(pattern))
    assert paths
    for path in paths:
        value = YAML(typ="safe").load(path)  # YAML 1.2: `on` is a text
        assert errors(get_builtin_schema(schema), value) == [], path.name


def test_each_action_of_a_workflow_is_pinned_to_a_commit() -> None:
    for path in ROOT.glob(".github/workflows/*.yml"):
        jobs = YAML(typ="safe").load(path)["jobs"]
        used = [step["uses"] for job in jobs.values() for step in job["steps"] if "uses" in step]
        assert used
        assert [each for each in used if len(each.partition("@")[2]) != 40] == [], path.name


@pytest.mark.extended
def test_the_validator_of_bundles_accepts_the_bundle(tmp_path: Path) -> None:
    (bundle, *_) = write_all(tmp_path, "acme/cortex")
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(tmp_path / "unpacked")
    done = subprocess.run([MCPB, "validate", tmp_path / "unpacked/manifest.json"], capture_output=True, text=True)
    assert (done.returncode, "validation passes" in done.stdout) == (0, True), done.stdout + done.stderr
