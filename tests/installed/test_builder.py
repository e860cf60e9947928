"""`package scaffold`: a project that a builder made is experimental, and is quarantined when it is installed."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cortex_skills.doors.cli.app import program
from cortex_skills.keys import KeyFolder, default_folder
from tests.installed.test_installed_commands import run

SKILL = """---
name: "restock-report"
description: "Reports what has to be ordered again. Use it on Mondays."
---
Ask for `hasStock`, then list what is below ten.

1. **Find the stock** — use skill_graph_query
2. **Report it**
"""


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORTEX_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("CORTEX_ARTIFACTS__BUILDER", "true")
    monkeypatch.chdir(tmp_path)


def error(*words: str) -> Any:
    result = CliRunner().invoke(program, [*words, "--json"])
    assert result.exit_code != 0
    return json.loads(result.stderr.strip().split("\n")[-1])


def test_a_scaffold_is_built_and_installed_quarantined_until_a_person_has_looked() -> None:
    prompt = "Counts open orders.\nUse it when asked for them. Title: \"x\" 'y'"
    assert run("package", "scaffold", "open-orders", "--prompt", prompt, "--publisher", "maker")[0] == 0
    document = tomllib.loads(Path("open-orders/skill.toml").read_text())
    assert (document["builder"]["experimental"], document["builder"]["source_kind"]) == (True, "prompt")
    assert json.loads(Path("open-orders/capabilities.json").read_text())["requires_review"] is True
    assert prompt in Path("open-orders/SKILL.md").read_text()
    assert run("test", "open-orders")[0] == 0
    key = KeyFolder(default_folder()).open_or_create("maker")
    assert run("trust", "add", "maker", key.did)[0] == 0
    assert run("package", "build", "open-orders", "--key", "maker", "-o", "a.palyra-skill")[0] == 0
    status, found, _ = run("install", "a.palyra-skill", "--grant-all")
    assert (status, found["status"], found["findings"], found["experimental"]) == (
        1,
        "quarantined",
        ["experimental"],
        True,
    )
    words = ("enable", "maker.open-orders", "--version", found["version"])
    assert error(*words)["code"] == "state_conflict"
    assert run(*words, "--override", "--reason", "read it")[1]["status"] == "active"
    assert run("audit-artifact", "maker.open-orders")[1]["status"] == "active"


def test_a_scaffold_starts_from_a_registered_skill(tmp_path: Path) -> None:
    folder = tmp_path / "skills/restock-report"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    assert run("registry", "add", folder)[0] == 0
    status, document, _ = run("package", "scaffold", "restock", "--from-skill", "restock-report")
    assert (status, document["source"]["kind"]) == (0, "learned_skill")
    text = Path("restock/SKILL.md").read_text()
    assert "Ask for `hasStock`, then list what is below ten." in text
    assert "Reports what has to be ordered again." in text
    assert "1. Find the stock (`skill_graph_query`)\n2. Report it" in text


def test_the_builder_is_behind_its_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CORTEX_ARTIFACTS__BUILDER")
    assert error("package", "scaffold", "open-orders", "--prompt", "x")["code"] == "permission_denied"
    assert not Path("open-orders").exists()


def test_a_scaffold_needs_one_source_and_a_name() -> None:
    for words in ((), ("--prompt", "a", "--from-skill", "b"), ("--prompt", " ")):
        assert error("package", "scaffold", "open-orders", *words)["code"] == "invalid_arguments"
    assert error("package", "scaffold", "Bad Name", "--prompt", "x")["code"] == "invalid_arguments"
