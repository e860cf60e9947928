"""Clients of MCP learn what another process installs and quarantines."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.subscriptions import ToolsListChanged

from cortex_skills.doors.mcp.list_changes import ListChanges
from cortex_skills.errors import CortexError
from tests import fork_server
from tests.installed.conftest import trust
from tests.installed.samples import artifact
from tests.mcp import skills
from tests.mcp.conftest import over_http
from tests.mcp.test_clients import run
from tests.server.serving import WAIT_S, Running
from tests.wasm.modules import ECHO, component

__all__ = ["trust"]

CHANGED = "notifications/tools/list_changed"


async def _command(environment: dict[str, str], *words: str) -> tuple[int | None, bytes]:
    process = await asyncio.create_subprocess_exec(
        fork_server.command(), *words, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    said, _ = await asyncio.wait_for(process.communicate(), WAIT_S)
    return process.returncode, said


class Heard:
    """Counts notifications of changed tools."""

    def __init__(self) -> None:
        self.event = asyncio.Event()

    async def __call__(self, message: Any) -> None:
        if getattr(message, "method", "") == CHANGED:
            self.event.set()

    async def wait(self) -> None:
        """Wait for the next one."""
        await asyncio.wait_for(self.event.wait(), WAIT_S)
        self.event.clear()


async def _names(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


@pytest.mark.extended
def test_a_client_is_notified_when_another_process_installs_and_quarantines(
    tmp_path: Path, trust: object, environment: dict[str, str]
) -> None:
    file = tmp_path / "echo.palyra-skill"
    file.write_bytes(artifact(content={"modules/echo.wasm": component(ECHO)}))
    parameters = StdioServerParameters(command=fork_server.command(), args=["mcp"], env=environment)

    async def test() -> None:
        heard = Heard()
        async with Client(parameters, mode="legacy", message_handler=heard) as client:
            assert "acme_DOT_echo" not in await _names(client)
            status, said = await _command(environment, "install", str(file), "--deny-all")
            assert status == 0, said
            await heard.wait()
            assert "acme_DOT_echo" in await _names(client)
            words = ("quarantine", "acme.echo_http", "--version", "1.2.0", "--reason", "a test")
            status, said = await _command(environment, *words)
            assert status == 0, said
            await heard.wait()
            assert "acme_DOT_echo" not in await _names(client)

    run(test())


@pytest.mark.parametrize("failing", ["_lists", "_revision"])
@pytest.mark.parametrize("error", [CortexError("graph_unavailable", "it does not answer"), RuntimeError("broken")])
def test_clients_are_notified_after_a_time_in_which_the_store_does_not_answer(
    running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str, error: Exception
) -> None:
    failed, read = asyncio.Event(), getattr(ListChanges, failing)

    def fails_once(given: Any) -> Any:
        if not failed.is_set():
            loop.call_soon_threadsafe(failed.set)
            raise error
        return read(given)

    async def test() -> None:
        nonlocal loop
        loop = asyncio.get_running_loop()
        async with over_http(running, "of-the-host") as client, client.listen(tools_list_changed=True) as changes:
            monkeypatch.setattr("cortex_skills.doors.mcp.list_changes._LOOK_S", 0.05)
            monkeypatch.setattr(ListChanges, failing, fails_once)
            if failing != "_lists":
                await asyncio.wait_for(failed.wait(), WAIT_S)
            await asyncio.to_thread(running.plugin.load, skills.write(tmp_path / "more", "other-desk"))
            event = await asyncio.wait_for(anext(aiter(changes)), WAIT_S)
            assert isinstance(event, ToolsListChanged)
            await asyncio.wait_for(failed.wait(), WAIT_S)

    loop: asyncio.AbstractEventLoop
    run(test())
