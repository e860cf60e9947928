"""Installed tools over MCP and LangChain, and what another process does to them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap

from click.testing import CliRunner
from mcp import Client

from cortex_skills import Config, Plugin
from cortex_skills.doors.cli.app import program
from cortex_skills.doors.http.worker_pools import WorkerPool
from cortex_skills.doors.mcp.caller import SessionCaller
from cortex_skills.doors.mcp.mcp_server import build
from cortex_skills.doors.mcp.tools import listed
from tests.artifact_tools.conftest import add

HI = {"text": "hi"}


def test_a_tool_is_listed_over_mcp_without_an_argument_for_the_skill(plugin):
    add(plugin)
    (tool,) = [
        each for each in listed({}, SessionCaller(), ["core"], plugin.tool_sources) if each.name == "acme_DOT_echo"
    ]
    assert set(tool.input_schema["properties"]) == {"text", "agent"}
    assert tool.annotations.read_only_hint is True
    names = [each.name for each in listed({}, SessionCaller(may_write=False), ["core"], plugin.tool_sources)]
    assert names == ["acme_DOT_echo"]


def test_an_artifact_that_reaches_out_is_not_offered_to_a_caller_that_may_not_write(plugin):
    add(plugin, more='\n[capabilities]\nhttp_egress_allowlist = ["api.test"]\n')
    assert listed({}, SessionCaller(may_write=False), ["core"], plugin.tool_sources) == []


def test_a_tool_is_called_through_langchain(plugin):
    from cortex_skills.integrations import langchain

    add(plugin)
    (tool,) = [each for each in langchain.tools(plugin) if each.name == "acme_DOT_echo"]
    assert tool.invoke(HI) == 'acme.echo: {"text":"hi"}'


def test_a_tool_is_called_on_the_command_line_without_a_skill(plugin, tmp_path, monkeypatch):
    store = str(tmp_path / "store")
    settings = {"store": store, "artifacts": {"folder": str(tmp_path / "artifacts")}}
    with Plugin.open(Config(**settings)) as own:
        add(own)
        own.trust.set("bounded_auto", actor="owner")
    monkeypatch.setenv("CORTEX_ARTIFACTS__FOLDER", str(tmp_path / "artifacts"))
    for name in ("acme.echo", "acme_DOT_echo"):
        answer = CliRunner().invoke(program, ["call", name, '{"text": "hi"}', "--store", store])
        assert (answer.exit_code, answer.stdout) == (0, 'acme.echo: {"text":"hi"}\n'), answer.output


def test_a_tool_whose_artifact_was_changed_answers_over_mcp_as_everywhere_and_is_recorded(plugin):
    key = add(plugin).key
    (plugin.installed.files.place(key) / "artifact.palyra-skill").write_bytes(b"changed")
    expected = plugin.call("acme.echo", HI)

    async def called():
        built = build(plugin, WorkerPool("echo", 2, 8), lambda _: SessionCaller())
        async with Client(built.server, mode="legacy") as client:
            return await client.call_tool("acme_DOT_echo", HI)

    answer = asyncio.run(called())
    assert (answer.is_error, answer.structured_content) == (True, expected.details)
    assert expected.code == "artifact_invalid"
    assert plugin.recent_calls.page(limit=1).calls[0].record.outcome == "artifact_invalid"


def test_a_version_that_another_process_quarantines_stops_here(open_plugin, tmp_path):
    store = str(tmp_path / "store")
    plugin = open_plugin(store=store)
    key = add(plugin).key
    before = [source.revision() for source in plugin.tool_sources]
    assert not plugin.call("acme.echo", HI).is_error
    program = f"""
        from cortex_skills import Config, Plugin
        settings = {{"folder": {str(tmp_path / "artifacts")!r}}}
        with Plugin.open(Config(store={store!r}, artifacts=settings)) as other:
            other.installed.quarantine({key.skill_id!r}, {key.version!r}, actor="ada", reason="it lies")
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=120)
    assert plugin.call("acme.echo", HI).code == "artifact_quarantined"
    assert [source.revision() for source in plugin.tool_sources] != before
