"""Every list of registered skills leaves out what is deprecated or archived, unless it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from cortex_skills import Plugin
from cortex_skills.features.registry import skill_changes as changes
from cortex_skills.features.registry.documents.skill_md import inline_document
from cortex_skills.skill_folder.builtin import NOTEBOOK, builtin_skill
from tests.configs import config
from tests.server.serving import Running, served

pytestmark = pytest.mark.usefixtures("no_package_skills")

IN_USE, OUT = ["degraded-one", "released-one"], {"deprecated": "deprecated-one", "archived": "archived-one"}


def fill(plugin: Plugin) -> None:
    for state in ("released", "degraded", *OUT):
        given = {"name": f"{state}-one", "description": "Fetches a table.", "body": "b"}
        key = plugin.operate(changes.register, document=inline_document(given, "mayros")).version.key
        if state == "degraded":
            plugin.registry.degrade(key, "r", actor="ada")
    plugin.operate(changes.deprecate, skill="deprecated-one", reason="r")
    plugin.operate(changes.retire, skill="archived-one")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("lists")
    cortex = {"tokenFile": str(folder / "tokens.json")}
    plugin = Plugin.open(config(cortex=cortex, proofs={"keys": str(folder / "keys")}), registers=False)
    plugin.load(builtin_skill(NOTEBOOK))
    fill(plugin)
    with served(folder, plugin=plugin) as running:
        yield running


@pytest.fixture(scope="module")
def reader(running: Running) -> httpx.Client:
    return running.client(running.token("reader", permissions=("read",)))


def names(skills: list[Any]) -> list[str]:
    return sorted(each["name"] for each in skills)


@pytest.mark.parametrize("tool", ["skill_read", "memory_skill_list"])
def test_a_tool_lists_what_is_in_use(running: Running, tool: str) -> None:
    assert names(running.plugin.call(tool, {}).details["skills"]) == IN_USE
    for state, name in OUT.items():
        assert names(running.plugin.call(tool, {"lifecycle": state}).details["skills"]) == [name]
    assert names(running.plugin.call("skill_read", {"name": "archived-one"}).details["skills"]) == ["archived-one"]


def test_the_rest_api_lists_what_is_in_use(reader: httpx.Client) -> None:
    assert names(reader.get("/api/skills").json()) == IN_USE
    assert names(reader.get("/api/v1/skill/list").json()["skills"]) == IN_USE
    for state, name in OUT.items():
        assert names(reader.get("/api/skills", params={"lifecycle": state}).json()) == [name]
        assert names(reader.get("/api/v1/skill/list", params={"lifecycle": state}).json()["skills"]) == [name]


@pytest.mark.parametrize("query", ["", "&q=table"])
def test_the_page_lists_what_is_in_use(reader: httpx.Client, query: str) -> None:
    def listed(more: str = "") -> list[str]:
        return names(reader.get(f"/explore/registry?format=json{query}{more}").json()["skills"])

    assert listed() == IN_USE
    assert listed("&group=people") == IN_USE
    assert listed("&group=deprecated") == sorted(OUT.values())
    for state, name in OUT.items():
        assert listed(f"&state={state}") == [name]


def test_the_command_lists_what_is_in_use(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from cortex_skills.doors.cli.app import program

    store = str(tmp_path / "store")
    with Plugin.open(config(store=store, proofs={"keys": str(tmp_path / "keys")}), registers=False) as plugin:
        fill(plugin)

    def listed(*words: str) -> str:
        return CliRunner().invoke(program, ["registry", "list", *words, "--store", store]).stdout

    assert [name for name in (*IN_USE, *OUT.values()) if name in listed()] == IN_USE
    assert "deprecated-one" in listed("--state", "deprecated")
