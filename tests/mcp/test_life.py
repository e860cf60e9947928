"""Calls that are cancelled, and skills that come and go."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.subscriptions import ToolsListChanged

from cortex_skills import Config, Plugin
from cortex_skills.cancellation import CancelToken
from cortex_skills.errors import CortexError
from tests.mcp import skills
from tests.mcp.conftest import SETTINGS, Connect, over_http, until
from tests.mcp.test_clients import ASK, STATUS, run
from tests.server.serving import WAIT_S, Running

FOREVER = {"predicate": "forever", "scope": "namespace"}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_cancelled_call_stops_its_skill_at_once(running: Running, mode: str) -> None:
    async def test() -> None:
        plugin = running.plugin
        calls = plugin.skills["status-desk"].calls
        async with over_http(running, "of-the-host", mode=mode) as client:
            for _ in range(4):  # more often than a skill may be stopped before it is left alone
                call = asyncio.create_task(client.call_tool("skill_graph_query", FOREVER))
                await until(lambda: calls._count == 1)
                await asyncio.sleep(0.1)
                call.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await call
                await until(lambda: calls._count == 0)
            after = await client.call_tool("skill_graph_query", ASK)
        assert after.structured_content["enrichment"]["status"] == "ok"
        assert plugin.status()["skills"][0].get("fault") is None

    run(test())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_cancelled_call_stops_its_skill_in_a_process_of_its_own_too(
    parameters: StdioServerParameters, mode: str
) -> None:
    async def test() -> None:
        async with Client(parameters, mode=mode) as client:
            for _ in range(4):  # three that run out of their time in a row, and the skill would be left alone
                begun = asyncio.Event()

                async def hear(*_: Any, begun: asyncio.Event = begun) -> None:
                    begun.set()

                call = asyncio.create_task(client.call_tool("skill_graph_query", FOREVER, progress_callback=hear))
                await asyncio.wait_for(begun.wait(), WAIT_S)
                call.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await call
            after = await client.call_tool("skill_graph_query", ASK)
        assert after.structured_content["enrichment"]["status"] == "ok"

    run(test())


def test_a_waiting_call_can_be_cancelled_while_another_runs(running: Running) -> None:
    plugin, results = running.plugin, []
    enough, cancel = CancelToken(), CancelToken()
    first = threading.Thread(target=lambda: results.append(plugin.call("skill_graph_query", FOREVER, cancel=enough)))
    first.start()
    try:
        calls = plugin.skills["status-desk"].calls
        while calls._count != 1:
            time.sleep(0.001)
        threading.Timer(0.2, cancel.cancel).start()
        assert plugin.call("skill_graph_query", ASK, cancel=cancel).code == "cancelled"
        assert (calls._count, results) == (1, [])
    finally:
        enough.cancel()
        first.join(WAIT_S)
    assert [result.code for result in results] == ["cancelled"]


def test_a_stopped_call_writes_nothing_and_takes_no_slot(running: Running) -> None:
    cancel = CancelToken()
    cancel.cancel()
    assert running.plugin.call("skill_assert", STATUS, cancel=cancel).code == "cancelled"
    assert running.plugin.call("skill_graph_query", ASK).details["queriesUsed"] == 1
    assert running.plugin.call("skill_assert", STATUS).details["created"] is True


def test_an_interruption_reaches_no_later_call() -> None:
    cancel, pressed = CancelToken(), []
    with cancel.interrupts(lambda: pressed.append("first")):
        cancel.cancel()
        cancel.cancel()
    with pytest.raises(CortexError, match="cancelled"), cancel.interrupts(lambda: pressed.append("second")):
        pass
    assert "second" not in pressed


def test_an_asynchronous_host_that_cancels_its_task_stops_the_skill(tmp_path: Path, skill: Path) -> None:
    async def test(plugin: Plugin) -> None:
        calls = plugin.skills["status-desk"].calls
        task = asyncio.create_task(plugin.acall("skill_graph_query", FOREVER))
        await until(lambda: calls._count == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: calls._count == 0)

    with Plugin.open(Config(**SETTINGS)) as plugin:
        plugin.load(skill)
        run(test(plugin))


def test_clients_are_notified_when_a_reload_removes_a_tool(connect: Connect, skill: Path, request: Any) -> None:
    is_served_here = request.node.callspec.params["connect"] == "http"

    async def test() -> None:
        reported: list[str] = []
        heard = asyncio.Event()

        async def hear(message: Any) -> None:
            reported.append(getattr(message, "method", type(message).__name__))
            if "notifications/tools/list_changed" in reported:
                heard.set()

        async with connect(mode="legacy", message_handler=hear) as client:
            assert len((await client.list_tools()).tools) == 2
            manifest = (skill / "SKILL.md").read_text()
            manifest = manifest.replace("  assertions: [{predicate: hasStatus}]\n", "").replace(
                "[read, write]", "[read]"
            )
            (skill / "SKILL.md").write_text(manifest)
            if is_served_here:  # the other one watches its folders
                await asyncio.to_thread(request.getfixturevalue("running").plugin.reload)
            await asyncio.wait_for(heard.wait(), WAIT_S)
            (tool,) = (await client.list_tools()).tools
        assert tool.name == "skill_graph_query"

    run(test())


def test_since_2026_clients_are_notified_on_the_stream_that_they_open(running: Running, tmp_path: Path) -> None:
    async def test() -> None:
        async with over_http(running, "of-the-host") as client, client.listen(tools_list_changed=True) as changes:
            other = skills.write(tmp_path / "more", "other-desk")
            await asyncio.to_thread(running.plugin.load, other)
            event = await asyncio.wait_for(anext(aiter(changes)), WAIT_S)
            assert isinstance(event, ToolsListChanged)
            tools = (await client.list_tools()).tools
            assert all(
                tool.input_schema["properties"]["skill"]["enum"] == ["other-desk", "status-desk"] for tool in tools
            )
            assert all("skill" in tool.input_schema["required"] for tool in tools)
            unnamed = await client.call_tool("skill_graph_query", ASK)
            named = await client.call_tool("skill_graph_query", {**ASK, "skill": "other-desk"})
        assert unnamed.structured_content["code"] == "skill_ambiguous"
        assert not named.is_error

    run(test())


def test_a_session_may_name_the_skill_and_a_call_another(running: Running, tmp_path: Path) -> None:
    async def test() -> None:
        async with over_http(running, "of-the-host", query="?skill=other-desk&agent=ada") as client:
            tools = (await client.list_tools()).tools
            assert all(tool.input_schema["properties"]["skill"]["default"] == "other-desk" for tool in tools)
            assert not any("skill" in tool.input_schema.get("required", ()) for tool in tools)
            for skill, version in ((None, 2), ("status-desk", 1)):
                arguments = ASK | ({"skill": skill} if skill else {})
                answer = await client.call_tool("skill_graph_query", arguments)
                assert f'"version":{version}' in answer.content[0].text

    running.plugin.load(
        skills.write(tmp_path / "more", "other-desk", code=skills.ADDS.replace("version: 1", "version: 2"))
    )
    run(test())


def test_the_settings_that_the_page_shows_for_a_host_work(
    parameters: StdioServerParameters, running: Running, skill: Path, tmp_path: Path
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "agents.md").read_text()
    local, remote = (
        json.loads(block)["mcpServers"]["cortex"] for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    )
    places = {"/path/to/skills": str(skill.parent), "/path/to/shelf": str(tmp_path / "shelf")}
    words = [places.get(word, word) for word in local["args"]]

    async def test() -> None:
        started = StdioServerParameters(command=parameters.command, args=words, env=parameters.env)
        async with Client(started) as client:
            await client.call_tool("skill_assert", {**STATUS, "subject": "mayros:agent:ada"})
            found = await client.call_tool("skill_graph_query", {"predicate": "hasStatus"})
        assert found.structured_content["total"] == 1

    assert Path(local["command"]).name == Path(parameters.command).name
    assert remote["url"].endswith(":19090/mcp")
    assert remote["headers"] == {"Authorization": "Bearer TOKEN"}
    run(test())


def test_a_session_of_a_skill_that_is_not_loaded_does_not_begin(parameters: StdioServerParameters) -> None:
    words = [parameters.command, *parameters.args, "--skill", "nobody"]
    done = subprocess.run(words, env=parameters.env, stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT_S)
    assert done.returncode == 1
    assert b"error[skill_not_found]" in done.stderr
    assert done.stdout == b""
