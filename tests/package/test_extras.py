"""What works without the extras, and what the error of the rest says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from build_steps.tools import ROOT
from cortex_skills.config.extras import EXTRAS

# A process in which the packages of all extras seem to be missing.
_WITHOUT = "import sys; sys.modules.update(dict.fromkeys({names!r})); from {module} import {function}; {function}()"


def without_extras(*words: str, store: Path) -> tuple[int, dict[str, object]]:
    """The exit code and the answer of a command in such a process."""
    names = sorted({name for each in EXTRAS.values() for name in each})
    code = _WITHOUT.format(names=names, module="cortex_skills.doors.cli", function="main")
    command = [sys.executable, "-c", code, *words, "--store", str(store), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=store.parent)
    text = done.stdout or done.stderr.strip().splitlines()[-1]
    return done.returncode, json.loads(text)


def test_each_extra_is_declared_and_named_in_the_documentation() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    documented = (ROOT / "docs/dependencies.md").read_text(encoding="utf-8")
    for name in EXTRAS:
        assert re.search(rf"^{name} = \[", project, re.MULTILINE), name
        assert f"`{name}`" in documented, name


def test_facts_and_memories_need_no_extra(tmp_path: Path) -> None:
    store = tmp_path / "store"
    fact = '{"subject": "ada", "predicate": "knows", "object": "bob"}'
    notebook = str(ROOT / "cortex_skills/builtin_skills/notebook")
    code, asserted = without_extras("call", "skill_assert", fact, "--skills", notebook, store=store)
    assert code == 0, asserted
    code, found = without_extras("graph", "find", "ada", store=store)
    assert (code, found["hits"][0]["name"]) == (0, "mayros:ada")
    assert without_extras("memory", "remember", "Bob likes tea", store=store)[0] == 0
    code, recalled = without_extras("memory", "recall", "tea", store=store)
    assert (code, [each["text"] for each, _ in recalled["found"]]) == (0, ["Bob likes tea"])


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (
            ("package", "build", "echo", "-o", "echo.palyra-skill", "--publisher", "acme", "--version", "1.0.0"),
            "artifacts",
        ),
        (("secrets", "list"), "keyring"),
    ],
)
def test_what_needs_an_extra_names_it(tmp_path: Path, words: tuple[str, ...], extra: str, monkeypatch) -> None:
    monkeypatch.setenv("CORTEX_SECRETS__STORE", "keyring")
    folder = tmp_path / "echo"
    folder.mkdir()
    (folder / "SKILL.md").write_text("---\nname: echo\ndescription: d\n---\nb\n")
    code, said = without_extras(*words, store=tmp_path / "store")
    assert (code, said["code"]) == (2, "config_invalid"), said
    assert f"cortex-skills[{extra}]" in str(said["hint"])
    assert not (tmp_path / "echo.palyra-skill").exists()
