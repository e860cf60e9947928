"""Installed distributions add tools and stores; a broken one is skipped, and none replaces a built-in one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cortex_skills import CortexError, Plugin
from cortex_skills.tools import catalog, own_tools
from tests.configs import config
from tests.plugin.distribution import install

Written = Callable[..., Path]

TOOL = """
from cortex_skills.tools import Outcome, Tool

def _run(call):
    page = call.host.graph.list_triples({"limit": 1000})
    return Outcome(f"{page['total']} triples", {"total": page["total"], "agent": call.agent})

COUNT = Tool(
    name="triple_count",
    description="Count the triples of the namespace.",
    input_schema={"type": "object", "properties": {"unit": {"type": "string"}}, "additionalProperties": False},
    permissions=("graph:read",),
    budget="query",
    run=_run,
)
OTHER_NAME = Tool(name="other", description="x", input_schema={"properties": {}}, permissions=(), budget=None, run=_run)
NO_SCHEMA = Tool(name="no_schema", description="x", input_schema={}, permissions=(), budget=None, run=_run)
_BAD = {"properties": {}, "type": 5}
BAD_SCHEMA = Tool(name="bad_schema", description="x", input_schema=_BAD, permissions=(), budget=None, run=_run)
"""
CORE = [tool.name for tool in own_tools().values() if tool.profile in ("core", "proofs")]  # its skill requests proofs
STORE = """
from cortex_graph import open_store

OPENED = []

def open_url(where):
    if where.endswith("broken"):
        raise ConnectionError("no route")
    OPENED.append(where)
    return open_store("memory:")
"""
ALLOWED = {"allowedTools": ["triple_count", "skill_graph_query"]}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on `sys.path` to install distributions into."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    catalog.added_tools.cache_clear()
    catalog.load_added.cache_clear()
    yield folder
    catalog.added_tools.cache_clear()
    catalog.load_added.cache_clear()
    for name in [name for name in sys.modules if name.startswith("acme_")]:
        del sys.modules[name]


def with_tools(site: Path, **values: str) -> None:
    install(site, "acme-tools", {"cortex_skills.tools": values}, {"acme_tools.py": TOOL, "acme_broken.py": "1 / 0\n"})


def test_a_tool_of_a_distribution_is_listed_and_called_through_the_gate(
    site: Path, plugin: Plugin, skill: Written
) -> None:
    with_tools(site, triple_count="acme_tools:COUNT")
    plugin.load(skill("probe", **ALLOWED))
    assert [tool["name"] for tool in plugin.tools()] == [*CORE, "triple_count"]
    assert "triple_count" in [tool["name"] for tool in plugin.tools(format="mcp")]
    plugin.graph.create_triple({"subject": "s", "predicate": "p", "object": 1})
    result = plugin.call("triple_count", {})
    assert (result.text, result.details) == ("1 triples", {"total": 1, "agent": "a1", "queriesUsed": 1})
    assert plugin.call("triple_count", {"unti": "x"}).code == "invalid_arguments"
    assert plugin.check("triple_count").allowed


def test_a_skill_must_allow_it_and_have_its_permissions(site: Path, plugin: Plugin, skill: Written) -> None:
    with_tools(site, triple_count="acme_tools:COUNT")
    plugin.load(skill("probe"))
    assert plugin.call("triple_count", {}).code == "tool_not_allowed"
    plugin.unload("probe")
    plugin.load(skill("probe", permissions={"graph": ["write"]}, assertions=[], **ALLOWED))
    assert plugin.call("triple_count", {}).code == "permission_denied"
    assert plugin.check("triple_count").code == "permission_denied"
    assert "triple_count" not in [tool["name"] for tool in plugin.tools(format="mcp")]


def test_its_calls_use_the_budget(site: Path, opened: Callable[..., Plugin], skill: Written) -> None:
    with_tools(site, triple_count="acme_tools:COUNT")
    plugin = opened(sandbox={"maxGraphQueries": 1})
    plugin.load(skill("probe", **ALLOWED))
    assert plugin.call("triple_count", {}).code is None
    assert plugin.call("triple_count", {}).code == "query_limit"
    assert plugin.call("skill_graph_query", {}).code == "query_limit"


def test_it_is_imported_at_its_first_use(site: Path, plugin: Plugin, skill: Written) -> None:
    with_tools(site, triple_count="acme_tools:COUNT")
    plugin.load(skill("probe", **ALLOWED))
    plugin.call("skill_graph_query", {})
    assert "acme_tools" not in sys.modules
    plugin.call("triple_count", {})
    assert "acme_tools" in sys.modules


def test_a_broken_one_is_skipped_with_a_warning(
    site: Path, plugin: Plugin, skill: Written, caplog: pytest.LogCaptureFixture
) -> None:
    broken = {
        "raises": "acme_broken:TOOL",
        "missing": "acme_nowhere:TOOL",
        "no_attribute": "acme_tools:NOTHING",
        "not_a_tool": "acme_tools:_run",
        "misnamed": "acme_tools:OTHER_NAME",
        "no_schema": "acme_tools:NO_SCHEMA",
        "bad_schema": "acme_tools:BAD_SCHEMA",
    }
    with_tools(site, triple_count="acme_tools:COUNT", **broken)
    plugin.load(skill("probe", allowedTools=["*"]))
    assert [tool["name"] for tool in plugin.tools()] == [*CORE, "triple_count"]
    for name, value in broken.items():
        assert f"the tool {name} of {value} is skipped: " in caplog.text
        assert plugin.call(name, {}).code == "tool_not_found"
    assert plugin.call("triple_count", {}).code is None


def test_unreadable_metadata_of_a_distribution_leaves_the_built_in_tools(
    site: Path, plugin: Plugin, skill: Written, caplog: pytest.LogCaptureFixture
) -> None:
    with_tools(site, triple_count="acme_tools:COUNT")
    (site / "acme_tools-1.0.dist-info/entry_points.txt").write_bytes(b"[cortex_skills.tools]\n\xff = x:y\n")
    plugin.load(skill("probe", allowedTools=["*"]))
    assert [tool["name"] for tool in plugin.tools()] == CORE
    assert plugin.call("triple_count", {}).code == "tool_not_found"
    assert "their metadata cannot be read" in caplog.text


def test_none_replaces_a_built_in_tool_or_another(
    site: Path, plugin: Plugin, skill: Written, caplog: pytest.LogCaptureFixture
) -> None:
    with_tools(site, skill_graph_query="acme_tools:COUNT", triple_count="acme_tools:COUNT")
    install(site, "other-tools", {"cortex_skills.tools": {"triple_count": "other_tools:COUNT"}}, {})
    plugin.load(skill("probe", allowedTools=["*"]))
    assert plugin.call("skill_graph_query", {}).text.startswith("No matching triples.")
    plugin.tools()
    assert "the tool skill_graph_query of acme_tools:COUNT is skipped: a built-in tool has that name" in caplog.text
    assert plugin.call("triple_count", {}).code is None
    assert "the tool triple_count of other_tools:COUNT is skipped: acme_tools:COUNT has that name" in caplog.text


def test_a_store_of_a_distribution_is_opened_by_its_scheme(site: Path) -> None:
    schemes = {"acme": "acme_store:open_url", "memory": "acme_store:open_url", "gone": "acme_nowhere:open_url"}
    install(site, "acme-store", {"cortex_graph.stores": schemes}, {"acme_store.py": STORE})
    with Plugin.open(config(store="memory:")):
        assert "acme_store" not in sys.modules
    with Plugin.open(config(store="acme://host/x")) as plugin:
        assert plugin.graph.create_triple({"subject": "s", "predicate": "p", "object": 1})["created"]
    assert sys.modules["acme_store"].OPENED == ["acme://host/x"]
    for where, reason in (
        ("acme:broken", "no route"),
        ("gone:x", "ModuleNotFoundError"),
        ("unknown:x", "unknown kind"),
    ):
        with pytest.raises(CortexError, match=reason) as failure:
            Plugin.open(config(store=where))
        assert failure.value.code == "graph_unavailable"
