"""Calls that are cancelled, skills that come and go, and processes that end."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.subscriptions import ToolsListChanged
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION

from cortex_skills import Config, Plugin
from cortex_skills.errors import CortexError
from cortex_skills.stopping import Stop
from tests.mcp import skills
from tests.mcp.conftest import COMMAND, SETTINGS, Connect, over_http
from tests.mcp.test_clients import ASK, STATUS, run
from tests.server.serving import Running

FOREVER = {"predicate": "forever", "scope": "namespace"}
WAIT_S = 30


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAIT_S):
        while not is_so():
            await asyncio.sleep(0.01)


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
                began = time.monotonic()
                with pytest.raises(asyncio.CancelledError):
                    await call
                await until(lambda: calls._count == 0)
                assert time.monotonic() - began < 1.5  # the skill itself would take two seconds
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


def test_a_call_that_waits_for_its_turn_is_cancelled_too_and_the_one_under_way_is_not(running: Running) -> None:
    plugin, results = running.plugin, []
    first = threading.Thread(target=lambda: results.append(plugin.call("skill_graph_query", FOREVER)))
    first.start()
    calls = plugin.skills["status-desk"].calls
    while calls._count != 1:
        time.sleep(0.001)
    stop = Stop()
    threading.Timer(0.2, stop.set).start()
    second = plugin.call("skill_graph_query", ASK, stop=stop)
    first.join(WAIT_S)
    assert second.code == "cancelled"
    assert results[0].details["enrichment"]["code"] == "skill_timeout"


def test_a_stopped_call_writes_nothing_and_takes_no_slot(running: Running) -> None:
    stop = Stop()
    stop.set()
    assert running.plugin.call("skill_assert", STATUS, stop=stop).code == "cancelled"
    assert running.plugin.call("skill_graph_query", ASK).details["queriesUsed"] == 1
    assert running.plugin.call("skill_assert", STATUS).details["created"] is True


def test_an_interruption_reaches_no_later_call() -> None:
    stop, pressed = Stop(), []
    with stop.interrupts(lambda: pressed.append("first")):
        stop.set()
        stop.set()
    with pytest.raises(CortexError, match="cancelled"), stop.interrupts(lambda: pressed.append("second")):
        pass
    assert "second" not in pressed


def test_an_asynchronous_host_that_cancels_its_task_stops_the_skill(tmp_path: Path, skill: Path) -> None:
    async def test(plugin: Plugin) -> None:
        calls = plugin.skills["status-desk"].calls
        task = asyncio.create_task(plugin.acall("skill_graph_query", FOREVER))
        await until(lambda: calls._count == 1)
        task.cancel()
        began = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: calls._count == 0)
        assert time.monotonic() - began < 1.5

    with Plugin.open(Config(**SETTINGS)) as plugin:
        plugin.load(skill)
        run(test(plugin))


def test_clients_are_told_when_a_reload_takes_a_tool_away(connect: Connect, skill: Path, request: Any) -> None:
    is_served_here = request.node.callspec.params["connect"] == "http"

    async def test() -> None:
        told: list[str] = []
        heard = asyncio.Event()

        async def hear(message: Any) -> None:
            told.append(getattr(message, "method", type(message).__name__))
            if "notifications/tools/list_changed" in told:
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


def test_since_2026_they_are_told_on_the_stream_that_they_open(running: Running, tmp_path: Path) -> None:
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
            unsaid = await client.call_tool("skill_graph_query", ASK)
            said = await client.call_tool("skill_graph_query", {**ASK, "skill": "other-desk"})
        assert unsaid.structured_content["code"] == "skill_ambiguous"
        assert not said.is_error

    run(test())


def test_the_session_may_say_which_skill_acts_and_a_call_may_say_another(running: Running, tmp_path: Path) -> None:
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
        started = StdioServerParameters(command=COMMAND, args=words, env=parameters.env)
        async with Client(started) as client:
            await client.call_tool("skill_assert", {**STATUS, "subject": "mayros:agent:ada"})
            found = await client.call_tool("skill_graph_query", {"predicate": "hasStatus"})
        assert found.structured_content["total"] == 1

    assert Path(local["command"]).name == Path(COMMAND).name
    assert remote["url"].endswith(":19090/mcp")
    assert remote["headers"] == {"Authorization": "Bearer TOKEN"}
    run(test())


def test_a_session_of_a_skill_that_is_not_loaded_does_not_begin(parameters: StdioServerParameters) -> None:
    words = [COMMAND, *parameters.args, "--skill", "nobody"]
    done = subprocess.run(words, env=parameters.env, stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT_S)
    assert done.returncode == 1
    assert b"error[skill_not_found]" in done.stderr
    assert done.stdout == b""


# --- the process


class Raw:
    """`cortex-skills mcp`, spoken to by hand."""

    def __init__(self, parameters: StdioServerParameters) -> None:
        self.process = subprocess.Popen(
            [COMMAND, *parameters.args],
            env=parameters.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def send(self, *messages: Any) -> None:
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
            self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        return json.loads(self.process.stdout.readline())

    def greet(self) -> dict[str, Any]:
        told = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
        self.send({"id": 1, "method": "initialize", "params": told}, {"method": "notifications/initialized"})
        return self.read()

    def call(self, number: int, tool: str, arguments: Any) -> dict[str, Any]:
        return {"id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


@pytest.fixture
def raw(parameters: StdioServerParameters) -> Iterator[Raw]:
    one = Raw(parameters)
    yield one
    if one.process.poll() is None:
        one.process.kill()
    one.process.communicate(timeout=WAIT_S)


@pytest.mark.parametrize("version", [*HANDSHAKE_PROTOCOL_VERSIONS, "1999-01-01"])
def test_a_client_of_an_earlier_protocol_is_answered_in_it(raw: Raw, version: str) -> None:
    told = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    raw.send({"id": 1, "method": "initialize", "params": told}, {"method": "notifications/initialized"})
    spoken = raw.read()["result"]["protocolVersion"]
    assert spoken == (version if version in HANDSHAKE_PROTOCOL_VERSIONS else LATEST_HANDSHAKE_VERSION)
    raw.send({"id": 2, "method": "tools/list"}, raw.call(3, "skill_assert", STATUS))
    answers = {answer["id"]: answer["result"] for answer in (raw.read(), raw.read())}
    assert {tool["name"] for tool in answers[2]["tools"]} == {"skill_graph_query", "skill_assert"}
    assert answers[3]["content"][0]["text"].startswith("Asserted:")


def test_what_was_asked_before_the_input_ended_is_answered_and_the_process_ends_well(raw: Raw) -> None:
    raw.greet()
    raw.send(raw.call(2, "skill_assert", STATUS), raw.call(3, "skill_graph_query", ASK))
    out, errors = raw.process.communicate(timeout=WAIT_S)
    answers = {answer["id"]: answer for answer in map(json.loads, out.splitlines()) if "id" in answer}
    assert raw.process.returncode == 0, errors
    assert answers[2]["result"]["structuredContent"]["created"] is True
    assert 3 in answers
    assert b"Traceback" not in errors


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_well_even_in_the_middle_of_a_call(raw: Raw, number: int) -> None:
    raw.greet()
    raw.send(raw.call(2, "skill_graph_query", FOREVER), {"id": 3, "method": "ping"})
    while raw.read().get("id") != 3:
        pass
    raw.process.send_signal(number)
    _, errors = raw.process.communicate(timeout=WAIT_S)
    assert raw.process.returncode == 0, errors
    assert b"Traceback" not in errors


HUGE = {
    "id": 9,
    "method": "tools/call",
    "params": {"name": "skill_graph_query", "arguments": {"subject": "a" * 6_000_000}},
}


@pytest.mark.parametrize(
    "nonsense",
    [b"", b"\x00\xff\xfe", b"{", b"[]", b"null", b'{"jsonrpc": "2.0"}', b"[" * 200_000, b'"' + b"a" * (9 << 20)],
    ids=["empty", "binary", "open", "batch", "null", "no-method", "deep", "too-long"],
)
def test_nonsense_does_not_end_it(raw: Raw, nonsense: bytes) -> None:
    raw.greet()
    raw.send(nonsense, {"id": 2, "method": "ping"})
    while (answer := raw.read()).get("id") != 2:
        pass
    assert answer["result"] == {}


def test_a_huge_argument_is_refused_and_nothing_else_suffers(raw: Raw) -> None:
    raw.greet()
    raw.send(HUGE, {"id": 10, "method": "ping"})
    answers = {answer["id"]: answer for answer in (raw.read(), raw.read())}
    assert answers[9]["result"]["structuredContent"]["code"] == "invalid_arguments"
    assert answers[10]["result"] == {}


def test_standard_output_carries_the_protocol_alone(parameters: StdioServerParameters, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(
        "import cortex_skills.plugin as plugin\n"
        "call = plugin.Plugin.call\n"
        "def loud(*a, **k):\n"
        "    import os\n"
        "    print('printed')\n"
        "    os.system('echo from a child')\n"
        "    return call(*a, **k)\n"
        "plugin.Plugin.call = loud\n"
    )
    parameters.env["PYTHONPATH"] = str(tmp_path / "site")
    raw = Raw(parameters)
    raw.greet()
    raw.send(raw.call(2, "skill_graph_query", ASK))
    out, errors = raw.process.communicate(timeout=WAIT_S)
    assert [json.loads(line).get("id") for line in out.splitlines() if b'"id"' in line] == [2]
    assert all(line.startswith(b"{") for line in out.splitlines())
    assert b"printed" in errors
    assert b"from a child" in errors


def test_eight_servers_on_one_folder_lose_nothing(parameters: StdioServerParameters) -> None:
    each, servers = 12, 8

    async def one(number: int) -> list[bool]:
        async with Client(parameters) as client:
            answers = await asyncio.gather(
                *(
                    client.call_tool("skill_assert", {**STATUS, "subject": f"s{number}-{row}", "agent": f"a{number}"})
                    for row in range(each)
                )
            )
        return [answer.structured_content.get("created", answer.content[0].text) for answer in answers]

    async def test() -> None:
        created = await asyncio.gather(*(one(number) for number in range(servers)))
        assert created == [[True] * each] * servers
        async with Client(parameters) as client:
            found = await client.call_tool("skill_graph_query", {**ASK, "limit": 1000})
        subjects = {match["subject"] for match in found.structured_content["matches"]}
        assert subjects == {f"mayros:s{number}-{row}" for number in range(servers) for row in range(each)}

    asyncio.run(asyncio.wait_for(test(), 100))
