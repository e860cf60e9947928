"""The examples in JavaScript and Python: built with foreign tools as their pages state, installed, and called."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cortex_sandbox.wasm import PluginHost, ToolAnswer, WasmSandbox
from cortex_skills import Plugin
from cortex_skills.features.artifacts.artifact_operations import describe
from cortex_skills.features.artifacts.package.build import build_artifact
from cortex_skills.features.artifacts.package.project import read_project
from tests.artifact_tools.conftest import open_plugin
from tests.artifacts.samples import KEY
from tests.installed.conftest import trust
from tests.installed.samples import install_with

__all__ = ["open_plugin", "trust"]

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.extended, pytest.mark.timeout(1200)]
javascript = pytest.mark.skipif(
    not (ROOT / "sdk" / "javascript" / "node_modules").is_dir(),
    reason="componentize-js is not installed: npm ci --prefix sdk/javascript",
)


def built(tmp_path: Path, language: str, block: int = 0) -> Path:
    """The folder of an example, after the commands of a block of its page but those that install."""
    text = (ROOT / "sdk" / language / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)[block].splitlines()
    commands = [line for line in lines if not line.startswith(("npm ci", "python -m pip", "cortex-skills"))]
    assert any("componentize" in command for command in commands)
    folder = tmp_path / "sdk" / language
    shutil.copytree(ROOT / "sdk" / language, folder, ignore=shutil.ignore_patterns("node_modules", "modules"))
    if language == "javascript":
        (folder / "node_modules").symlink_to(ROOT / "sdk" / language / "node_modules")
    shutil.copytree(ROOT / "sandbox" / "wit", tmp_path / "sandbox" / "wit")
    (example,) = (path.parent for path in folder.glob("*/skill.toml"))
    (example / "modules").mkdir()
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(
        ["bash", "-ec", "\n".join(commands)],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return example


def installed(plugin: Plugin, folder: Path) -> str:
    """The id of an example, which is installed as active, with a warning about its size."""
    data = build_artifact(read_project(folder), KEY, 1).data
    found = install_with(plugin, data)
    assert (found.status, found.findings) == ("active", ())
    return found.key.skill_id


def outputs(plugin: Plugin, name: str, **given: Any) -> Any:
    result = plugin.call(name, given)
    assert not result.is_error, result.text
    return result.details["outputs"]


@javascript
def test_a_component_of_componentize_js_is_active_and_answers(
    tmp_path: Path, open_plugin: Callable[..., Plugin]
) -> None:
    folder = built(tmp_path, "javascript")
    assert (folder / "modules" / "tool.wasm").stat().st_size > 8 << 20
    plugin = open_plugin(artifacts={"config": {"acme.word_count": {"left_out": ["the", "fox"]}}})
    name = installed(plugin, folder)
    assert outputs(plugin, name, text="The quick, brown fox") == {"words": 2, "total": 2}
    assert outputs(plugin, f"{name}.count", text="a b") == {"words": 2, "total": 4}
    failed = plugin.call(name, {"text": "the fox"})
    assert (failed.code, "the text has no words" in failed.text) == ("action_failed", True)
    (declared,) = plugin.operate(describe, id=name).document()["config"]
    assert declared["value"] == ["the", "fox"]


@javascript
def test_a_component_of_componentize_qjs_has_several_memories_and_answers_with_the_default_limits(
    tmp_path: Path,
) -> None:
    module = (built(tmp_path, "javascript", 1) / "modules" / "tool.wasm").read_bytes()
    assert len(module) < 2 << 20
    stored: dict[str, bytes] = {}
    host = PluginHost(config_read=lambda name: "[]", storage_read=lambda *key: stored["/".join(key)])
    answer = WasmSandbox(module, host=host).call_tool("acme.word_count.count", '{"text": ""}')
    assert answer == ToolAnswer("the text has no words", failed=True)


def test_a_component_of_componentize_py_is_active_and_answers(
    tmp_path: Path, open_plugin: Callable[..., Plugin]
) -> None:
    folder = built(tmp_path, "python")
    assert (folder / "modules" / "tool.wasm").stat().st_size > 16 << 20
    plugin = open_plugin()
    name = installed(plugin, folder)
    table = "item,price\nnails,2.5\nscrews,4\n"
    assert outputs(plugin, name, table=table, column="price") == {"rows": 2, "sum": 6.5}
    for column, says in (("cost", "there is no column cost"), ("item", "item has a value that is no number")):
        failed = plugin.call(name, {"table": table, "column": column})
        assert (failed.code, says in failed.text) == ("action_failed", True)
