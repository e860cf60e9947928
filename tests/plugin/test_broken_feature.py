"""A feature of which a module cannot be imported is a fault of that feature alone."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cortex_skills import Plugin, feature
from cortex_skills.errors import CortexError
from tests.configs import config
from tests.plugin.distribution import install
from tests.plugin.skills import write_skill

FEATURE = """
from cortex_skills.feature import Feature

FEATURE = Feature(
    "broken",
    operations=("acme_broken.parts",),
    tools=("acme_broken.parts",),
    rest=("acme_broken.parts",),
    pages=("acme_broken.parts",),
    commands={"Inspect": {"graph broken": "acme_broken.parts:COMMAND"}},
    settings={"broken": "acme_broken.parts:Settings"},
    attach=("acme_broken.parts:attach",),
    mcp=("acme_broken.parts:mcp",),
    routes=("acme_broken.parts:routes",),
    tasks=("acme_broken.parts:task",),
    members=("acme_broken.parts:Members",),
    follows={"graph.assert": "acme_broken.parts:follow"},
)
"""
PROGRAM = """
import json, logging, sys

sys.path.insert(0, sys.argv[1])

from click.testing import CliRunner
from starlette.testclient import TestClient
from cortex_skills import Config, Plugin
from cortex_skills.doors.cli.app import program
from cortex_skills.doors.server.app import create_app
from cortex_skills.operations.operation import all_operations

logging.basicConfig(level="ERROR", format="%(message)s")
settings = dict(verification={"requireSignature": False}, store=sys.argv[3], broken={"any": "thing"})
acting = {"workspace": sys.argv[2], "trustLevel": "bounded_auto"}
found = {}
with Plugin.open(Config(**settings, cortex={"authToken": "t" * 40}, actions=acting)) as plugin:
    plugin.load(sys.argv[2])
    found["actions"] = [plugin.call("fs_read", {"path": "SKILL.md"}).code, bool(plugin.tools(format="mcp"))]
    found["tool"] = plugin.call("skill_assert", {"subject": "a", "predicate": "p", "object": 1}).code
    found["operations"] = "graph.query" in all_operations()
    with TestClient(create_app(plugin), base_url="http://127.0.0.1", headers={"Authorization": "t" * 40}) as client:
        found["rest"] = client.get("/api/v1/triples").json()["total"]
        found["page"] = client.get("/explore/mayros", headers={"Accept": "text/html"}).status_code
    try:
        plugin.tally
    except AttributeError as error:
        found["member"] = "broken" in str(error)
run = CliRunner().invoke
words = ["--store", sys.argv[3]]
found["count"] = json.loads(run(program, ["graph", "stats", *words, "--json"]).stdout)["triples"]
found["help"] = [line.split() for line in run(program, ["graph", "--help"]).stdout.splitlines() if "broken" in line]
refused = run(program, ["graph", "broken", "--any", "word", *words, "--json"])
found["command"] = [refused.exit_code, json.loads(refused.stderr.splitlines()[-1])]
checks = json.loads(run(program, ["doctor", *words, "--json"]).stdout)["checks"]
found["doctor"] = [check for check in checks if check["subject"] == "features"]
print(json.dumps(found))
"""
FAULT = "the feature broken cannot be used: ModuleNotFoundError: No module named 'not_installed_here'"


def test_the_rest_works_and_the_log_the_command_and_doctor_name_the_feature(tmp_path: Path) -> None:
    texts = {"feature": FEATURE, "parts": "import not_installed_here\n", "__init__": ""}
    point = {"cortex_skills.features": {"broken": "acme_broken.feature:FEATURE"}}
    files = {f"acme_broken/{name}.py": text for name, text in texts.items()}
    install(tmp_path / "site", "acme-broken", point, files)
    skill = write_skill(tmp_path / "notes", assertions=[{"predicate": "p"}])
    words = [sys.executable, "-c", PROGRAM, str(tmp_path / "site"), str(skill), str(tmp_path / "store")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    code, error = found.pop("command")
    assert (code, error["code"], error["message"]) == (2, "internal_error", FAULT)
    fault, usable = found.pop("doctor")
    assert (fault["status"], fault["message"]) == ("fail", FAULT.removeprefix("the feature "))
    assert (usable["status"], "graph" in usable["message"], "broken" in usable["message"]) == ("ok", True, False)
    assert found == {
        "actions": ["tool_not_found", True],
        "tool": None,
        "operations": True,
        "rest": 1,
        "page": 200,
        "member": False,
        "count": 1,
        "help": [["broken", "Cannot", "be", "used:", "see", "`doctor`."]],
    }
    assert done.stderr.splitlines().count(FAULT) == 1


@pytest.fixture
def no_faults() -> Iterator[None]:
    yield
    for name in ("sample",):
        feature._FAULTS.pop(name, None)


@pytest.mark.usefixtures("no_faults")
def test_without_a_feature_that_guards_others_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    found = feature.Feature("sample", attach=("not_installed_here:attach",), guards=True)
    monkeypatch.setattr(feature, "features", lambda: (found,))
    for _ in range(2):
        with pytest.raises(CortexError, match="the feature sample cannot be used: ModuleNotFoundError"):
            Plugin.open(config())


@pytest.mark.usefixtures("no_faults")
def test_the_check_of_a_folder_that_cannot_be_made_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    found = feature.Feature("sample", folder_checks=("not_installed_here:check",))
    monkeypatch.setattr(feature, "features", lambda: (found, feature.Feature("other")))
    with pytest.raises(CortexError, match="the feature sample cannot be used"):
        list(feature.functions("folder_checks"))
    assert list(feature.functions("attach")) == []
