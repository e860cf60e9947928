"""Clients of other makers: fastmcp's, and the MCP Inspector on its command line."""

from __future__ import annotations

import gc
import json

import pytest
from mcp import StdioServerParameters

from tests.docs.conformance_page import cases_in, counts_of
from tests.mcp.conftest import inspect
from tests.mcp.test_clients import ASK, STATUS, run
from tests.server.serving import Running


@pytest.mark.filterwarnings("ignore")  # of a third-party package
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_fastmcp_uses_the_tools(transport: str, request: pytest.FixtureRequest) -> None:
    fastmcp = pytest.importorskip("fastmcp", reason="fastmcp is not here")
    from fastmcp.client.transports import ClientTransport, StdioTransport, StreamableHttpTransport

    def connection() -> ClientTransport:
        if transport == "stdio":
            parameters: StdioServerParameters = request.getfixturevalue("parameters")
            return StdioTransport(parameters.command, parameters.args, env=parameters.env, keep_alive=False)
        running: Running = request.getfixturevalue("running")
        return StreamableHttpTransport(f"{running.url}/mcp", headers={"Authorization": "Bearer of-the-host"})

    async def test() -> None:
        async with fastmcp.Client(connection()) as client:
            assert {tool.name for tool in await client.list_tools()} == {"skill_graph_query", "skill_assert"}
            created = await client.call_tool("skill_assert", STATUS)
            found = await client.call_tool("skill_graph_query", ASK)
            refused = await client.call_tool("skill_graph_query", {"limit": 0}, raise_on_error=False)
            (manifest,) = await client.read_resource("skill://status-desk")
            prompt = await client.get_prompt("status-desk")
        assert created.structured_content["created"] is True
        assert found.structured_content["total"] == 1
        assert refused.is_error
        assert "# How to use" in manifest.text
        assert "# How to use" in prompt.messages[0].content.text

    run(test())
    gc.collect()  # what that package leaves is warned of here, where it is not heard


@pytest.mark.extended
@pytest.mark.slow
@pytest.mark.timeout(400)  # it starts Node.js four times
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_uses_the_tools_over_http(inspector: list[str], running: Running, era: str) -> None:
    server = [f"{running.url}/mcp", "--header", "Authorization: Bearer of-the-host", "--protocol-era", era]
    listed = inspect(inspector, *server, "--method", "tools/list", "--strict")
    assert [tool["name"] for tool in listed["tools"]] == ["skill_graph_query", "skill_assert"]
    call = ["--method", "tools/call", "--tool-name"]
    created = inspect(inspector, *server, *call, "skill_assert", "--tool-args-json", json.dumps(STATUS))
    assert created["structuredContent"]["created"] is True
    found = inspect(inspector, *server, *call, "skill_graph_query", "--tool-args-json", json.dumps(ASK))
    assert found["content"][0]["text"].startswith("1 triple found:")
    read = inspect(inspector, *server, "--method", "resources/read", "--uri", "skill://status-desk/skill.ts")
    assert "onQuery" in read["contents"][0]["text"]


@pytest.mark.extended
@pytest.mark.slow
@pytest.mark.timeout(400)
def test_the_inspector_uses_the_tools_over_stdio(inspector: list[str], parameters: StdioServerParameters) -> None:
    settings = [
        word for key, value in parameters.env.items() if key.startswith("CORTEX_") for word in ("-e", f"{key}={value}")
    ]
    server = [parameters.command, *parameters.args, *settings]
    listed = inspect(inspector, *server, "--method", "tools/list", "--strict")
    assert [tool["name"] for tool in listed["tools"]] == ["skill_graph_query", "skill_assert"]
    call = ["--method", "tools/call", "--tool-name", "skill_graph_query", "--tool-args-json", json.dumps(ASK)]
    assert inspect(inspector, *server, *call)["content"][0]["text"].startswith("No matching triples.")
    prompts = inspect(inspector, *server, "--method", "prompts/list")["prompts"]
    assert [prompt["name"] for prompt in prompts] == ["status-desk", "cortex_context"]


@pytest.mark.parametrize(("suite", "tests"), [("fastmcp", "test_fastmcp_"), ("MCP Inspector", "test_the_inspector_")])
def test_the_page_of_conformance_counts_the_clients(suite: str, tests: str) -> None:
    assert counts_of(suite) == (cases_in(globals(), tests), 0)
