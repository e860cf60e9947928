"""A skill, and foreign clients that reach it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from cortex_skills import Config, Plugin
from cortex_skills.doors.server.protocol import ConnectionLimits
from tests import fork_server
from tests.mcp import skills
from tests.server.serving import FAST, WAIT_S, Running, served
from tests.time_limits import LONG_MS, long_limits

__all__ = ["long_limits"]

SETTINGS: dict[str, Any] = {
    "verification": {"requireSignature": False},
    "skillSandbox": {
        "executionTimeoutMs": LONG_MS,
        "maxCallsPerMinute": 1000,
        "maxGraphQueries": 1000,
        "maxAssertions": 500,
    },
}
SOON_S = LONG_MS / 1000 - 15  # before a skill would run out of its time
_INSPECTOR = Path(__file__).parent / "inspector"
_PROGRAM = _INSPECTOR / "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
Connect = Callable[..., AbstractAsyncContextManager[Client]]
InSession = Callable[[Callable[[Client], Awaitable[None]]], None]


async def until(is_so: Callable[[], bool]) -> None:
    """Wait for an event that needs no timeout of a skill."""
    async with asyncio.timeout(SOON_S):
        while not is_so():
            await asyncio.sleep(0.01)


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    return skills.write(tmp_path / "skills")


def environment_in(folder: Path) -> dict[str, str]:
    """What `cortex-skills mcp` is started with: a store in the folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CORTEX_")}
    return kept | {
        "CORTEX_STORE": str(folder / "store"),
        "CORTEX_VERIFICATION__REQUIRE_SIGNATURE": "false",
        "CORTEX_HOT_RELOAD": "true",
        "CORTEX_SKILL_SANDBOX__EXECUTION_TIMEOUT_MS": str(LONG_MS),
        "CORTEX_SKILL_SANDBOX__MAX_CALLS_PER_MINUTE": "1000",
        "CORTEX_SKILL_SANDBOX__MAX_ASSERTIONS": "500",
    }


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What `cortex-skills mcp` is started with: a store of the test's own."""
    return environment_in(tmp_path)


@pytest.fixture
def parameters(skill: Path, environment: dict[str, str]) -> StdioServerParameters:
    return StdioServerParameters(
        command=fork_server.command(), args=["mcp", "--skills", str(skill.parent)], env=environment
    )


@contextmanager
def serving(folder: Path, skill: Path, limits: ConnectionLimits | None = None, **settings: Any) -> Iterator[Running]:
    """A server with the skill."""
    cortex = {"tokenFile": str(folder / "tokens.json"), "authToken": "of-the-host"}
    plugin = Plugin.open(Config(cortex=cortex, **{**SETTINGS, **settings}))
    with served(folder, plugin=plugin, limits=limits) as running:
        plugin.load(skill.parent)
        yield running


@pytest.fixture
def serve(tmp_path: Path, skill: Path) -> Iterator[Callable[..., Running]]:
    """Starts servers with the skill."""
    with ExitStack() as stack:
        yield lambda limits=None, **settings: stack.enter_context(serving(tmp_path, skill, limits, **settings))


@pytest.fixture
def running(serve: Callable[..., Running]) -> Running:
    return serve()


@asynccontextmanager
async def over_http(running: Running, token: str, *, query: str = "", **options: Any) -> Any:
    """The SDK's client at /mcp."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=WAIT_S, trust_env=False, **FAST) as http,
        Client(streamable_http_client(f"{running.url}/mcp{query}", http_client=http), **options) as client,
    ):
        yield client


@pytest.fixture(params=["stdio", "http"])
def connect(request: pytest.FixtureRequest) -> Connect:
    """The SDK's client over either transport, called once a test: by default with the newest protocol over stdio, and
    with the handshake over HTTP."""
    if request.param == "stdio":
        parameters = request.getfixturevalue("parameters")
        return lambda **options: Client(parameters, **options)
    running = request.getfixturevalue("running")
    return lambda **options: over_http(running, "of-the-host", **{"mode": "legacy", **options})


@pytest.fixture(scope="module", params=["stdio", "http"])
def in_session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[InSession]:
    """Runs a test with a client whose session the tests of a module share; it is opened as `connect` opens one."""
    folder = tmp_path_factory.mktemp("session")
    skill = skills.write(folder / "skills")
    with ExitStack() as stack:
        if request.param == "stdio":
            words = ["mcp", "--skills", str(skill.parent)]
            opened = Client(
                StdioServerParameters(command=fork_server.command(), args=words, env=environment_in(folder))
            )
        else:
            opened = over_http(stack.enter_context(serving(folder, skill)), "of-the-host", mode="legacy")
        portal = stack.enter_context(start_blocking_portal())
        client = stack.enter_context(portal.wrap_async_context_manager(opened))

        async def run(test: Callable[[Client], Awaitable[None]]) -> None:
            await asyncio.wait_for(test(client), WAIT_S)

        yield lambda test: portal.call(run, test)


@pytest.fixture(scope="session")
def inspector() -> list[str]:
    """The MCP Inspector on its command line, installed if it is not there."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("Node.js is not here")
    if not _PROGRAM.is_file():
        done = subprocess.run(["npm", "ci", "--silent"], cwd=_INSPECTOR, capture_output=True, text=True, timeout=110)
        if done.returncode:
            pytest.skip(f"the Inspector could not be installed: {done.stderr[:200]}")
    return ["node", str(_PROGRAM), "--cli", "--quiet", "--connect-timeout", "90000"]


def inspect(inspector: list[str], *words: str) -> dict[str, Any]:
    """What it prints."""
    done = subprocess.run([*inspector, *words], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document
