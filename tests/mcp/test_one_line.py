"""The configuration for an agent host in the README: clients start the command from it and use the memory."""

from __future__ import annotations

import gc
import json
import re
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests import fork_server
from tests.mcp.conftest import inspect
from tests.mcp.test_clients import run

README = Path(__file__).parents[2] / "README.md"
FACT = {"subject": "ada", "predicate": "worksWith", "object": {"node": "grace"}}
ASK = {"subject": "ada", "scope": "namespace"}


@pytest.fixture
def configuration(environment: dict[str, str]) -> dict[str, Any]:
    """The first configuration of the README, with the command of this environment and a new store."""
    block = re.search(r"```json\n(.*?)```", README.read_text(), re.DOTALL)
    assert block is not None
    document: dict[str, Any] = json.loads(block[1])
    (server,) = document["mcpServers"].values()
    assert server == {"command": "cortex-skills", "args": ["mcp"]}
    path = fork_server.search_path()
    server["command"] = fork_server.command()  # a client of the SDK looks for it in its own path
    server["env"] = {**environment, "PATH": path, "CORTEX_VERIFICATION__REQUIRE_SIGNATURE": "true"}
    return document


async def use(client: Any) -> None:
    """List, assert, query, retract, query."""
    listed = await client.list_tools()
    names = {tool.name for tool in getattr(listed, "tools", listed)}
    assert {"skill_assert", "skill_graph_query", "skill_retract", "skill_memory_remember"} <= names
    asserted = await client.call_tool("skill_assert", FACT)
    found = await client.call_tool("skill_graph_query", ASK)
    assert found.content[0].text.startswith("1 triple found:\nmayros:ada mayros:worksWith mayros:grace")
    gone = await client.call_tool("skill_retract", {"tripleHash": asserted.structured_content["tripleHash"]})
    assert gone.structured_content["retracted"] is True
    assert (await client.call_tool("skill_graph_query", ASK)).content[0].text.startswith("No matching triples.")


def test_the_client_of_the_sdk_uses_the_memory(configuration: dict[str, Any]) -> None:
    async def test() -> None:
        async with Client(StdioServerParameters(**configuration["mcpServers"]["cortex"])) as client:
            await use(client)

    run(test())


@pytest.mark.filterwarnings("ignore")  # of a third-party package
def test_fastmcp_uses_the_memory(configuration: dict[str, Any]) -> None:
    fastmcp = pytest.importorskip("fastmcp", reason="fastmcp is not here")

    async def test() -> None:
        async with fastmcp.Client(configuration) as client:
            await use(client)

    run(test())
    gc.collect()  # what that package leaves is warned of here, where it is not heard


@pytest.mark.extended
@pytest.mark.timeout(400)  # it starts Node.js twice
def test_the_inspector_uses_the_memory(inspector: list[str], configuration: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps(configuration))
    server = ["--config", str(file), "--server", "cortex"]
    listed = inspect(inspector, *server, "--method", "tools/list", "--strict")
    assert {"skill_assert", "skill_graph_query", "skill_retract"} <= {tool["name"] for tool in listed["tools"]}
    call = ["--method", "tools/call", "--tool-name", "skill_assert", "--tool-args-json", json.dumps(FACT)]
    assert inspect(inspector, *server, *call)["structuredContent"]["created"] is True
