"""A new project of a tool in C: compiled as it is, and its tool answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from cortex_sandbox.wasm import WasmSandbox, make_component
from cortex_skills.features.artifacts.package import read_skill_toml
from cortex_skills.features.artifacts.scaffold import wasm_project
from cortex_skills.features.scaffold.writing import write_folder
from tests.sdk.c_examples import SDK


def test_a_new_project_compiles_with_its_command_and_answers(tmp_path: Path) -> None:
    folder = tmp_path / "greeter"
    write_folder(folder, wasm_project("greeter", "example"))
    (folder / "modules").mkdir()
    caches = {name: str(tmp_path) for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")}
    command = [sys.executable, "-m", "ziglang", "cc", "@compile.txt"]
    done = subprocess.run(command, cwd=folder, env=os.environ | caches, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    box = WasmSandbox(make_component((folder / "modules" / "tool.wasm").read_bytes()))
    answer = box.call_tool("example.greeter.greet", '{"name": "Ada"}')
    assert json.loads(answer.text) == {"greeting": "Hello, Ada", "times": 1}


def test_the_manifest_of_a_new_project_has_its_names() -> None:
    made = wasm_project("greeter", "example")
    manifest = read_skill_toml(made["skill.toml"].encode())
    assert (manifest.skill_id, manifest.publisher, manifest.name) == ("example.greeter", "example", "greeter")
    assert [tool.id for tool in manifest.tools] == ["example.greeter.greet"]
    assert manifest.plugin["default_tool_id"] == "example.greeter.greet"
    assert manifest.warnings == {}
    assert not any("acme" in text for text in made.values())
    assert made["tool.c"] == (SDK / "hello" / "tool.c").read_text()
