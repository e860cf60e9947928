"""Rows of MCP: `skill_graph_query` over stdio and HTTP, compared with a constant answer from the same SDK.

Rules kept here:
- both tools have the same output schema, by which the client validates each answer: that is no time of a server.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from bench.measure import Row
from bench.skill import MANIFEST, SOURCE

RUNS, BATCH = 15, 20
GOAL = 1.3
TOKEN = "the-token-of-the-bench"
COMMAND = str(Path(sys.executable).with_name("cortex-skills"))
ASK = {"predicate": "hasStatus", "scope": "namespace"}
# The smallest server of the SDK with one tool, which returns what is in a file: an answer of the server under test.
CONSTANT = """
import asyncio, functools, json, pathlib, sys
import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server

async def list_tools(ctx, params):
    schema = answer()["schema"]
    return types.ListToolsResult(
        tools=[types.Tool(name="constant", input_schema={"type": "object"}, output_schema=schema)]
    )

@functools.cache
def answer():
    return json.loads(pathlib.Path(sys.argv[1]).read_text())

async def call_tool(ctx, params):
    content = [types.TextContent(text=answer()["text"])]
    return types.CallToolResult(content=content, structured_content=answer()["details"])

server = Server("constant", on_list_tools=list_tools, on_call_tool=call_tool)

async def main():
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())

if len(sys.argv) == 2:
    asyncio.run(main())
else:
    import uvicorn
    uvicorn.run(server.streamable_http_app(), port=int(sys.argv[2]), http="h11", log_level="error")
"""


def rows() -> list[Row]:
    """All rows."""
    with tempfile.TemporaryDirectory() as scratch:
        return [asyncio.run(_compared(name, Path(scratch, name))) for name in ("stdio", "HTTP")]


async def _compared(transport: str, scratch: Path) -> Row:
    """Compare both servers, alternating."""
    scratch.mkdir()
    connect = _over_stdio if transport == "stdio" else _over_http
    async with connect(scratch) as (ours, theirs):
        answer = await ours.call_tool("skill_graph_query", ASK)
        if answer.is_error or answer.structured_content["enrichment"]["status"] != "ok":
            raise RuntimeError(f"the query failed: {answer.content[0].text}")
        (tool,) = [each for each in (await ours.list_tools()).tools if each.name == "skill_graph_query"]
        document = {"text": answer.content[0].text, "details": answer.structured_content, "schema": tool.output_schema}
        _answer_file(scratch).write_text(json.dumps(document))
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(RUNS):
            for client, tool, arguments, kept in (
                (ours, "skill_graph_query", ASK, times[0]),
                (theirs, "constant", {}, times[1]),
            ):
                start = time.perf_counter()
                for _ in range(BATCH):
                    await client.call_tool(tool, arguments)
                kept.append((time.perf_counter() - start) / BATCH)
    mine, other = map(statistics.median, times)
    return Row(f"`skill_graph_query` by MCP over {transport}", mine, "the SDK, returning the same bytes", other, GOAL)


@asynccontextmanager
async def _over_stdio(scratch: Path) -> AsyncIterator[Any]:
    from mcp import Client, StdioServerParameters

    words = ["mcp", "--skills", str(new_skill(scratch))]
    ours = StdioServerParameters(command=COMMAND, args=words, env=environment(scratch))
    constant = [str(constant_server(scratch)), str(_answer_file(scratch))]
    theirs = StdioServerParameters(command=sys.executable, args=constant, env=dict(os.environ))
    async with Client(ours) as one, Client(theirs) as other:
        for number in range(10):
            await one.call_tool("skill_assert", {"subject": f"s{number}", "predicate": "hasStatus", "object": "open"})
        yield one, other


@asynccontextmanager
async def _over_http(scratch: Path) -> AsyncIterator[Any]:
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    mine, other = free_port(), free_port()
    serve = [COMMAND, "serve", "--port", str(mine), "--skills", str(new_skill(scratch))]
    with (
        running(serve, environment(scratch), mine),
        running(
            [sys.executable, str(constant_server(scratch)), str(_answer_file(scratch)), str(other)],
            dict(os.environ),
            other,
        ),
    ):
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            httpx2.AsyncClient(headers=headers, trust_env=False, timeout=30) as http,
            Client(streamable_http_client(f"http://127.0.0.1:{mine}/mcp", http_client=http)) as one,
            Client(streamable_http_client(f"http://127.0.0.1:{other}/mcp", http_client=http)) as two,
        ):
            for number in range(10):
                await one.call_tool(
                    "skill_assert", {"subject": f"s{number}", "predicate": "hasStatus", "object": "open"}
                )
            yield one, two


@contextmanager
def running(words: list[str], variables: dict[str, str], port: int) -> Iterator[None]:
    """Run a server until the block ends; the block starts when the server accepts connections."""
    process = subprocess.Popen(words, env=variables, stdout=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{words[0]} does not answer")
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(30)


def environment(scratch: Path) -> dict[str, str]:
    """The environment of a server: a store in memory with a journal, one token, high limits."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CORTEX_")}
    return kept | {
        "CORTEX_STORE": "memory:",
        "CORTEX_AUDIT__FOLDER": str(scratch / "audit"),
        "CORTEX_VERIFICATION__REQUIRE_SIGNATURE": "false",
        "CORTEX_CORTEX__AUTH_TOKEN": TOKEN,
        "CORTEX_CORTEX__TOKEN_FILE": str(scratch / "tokens.json"),
        "CORTEX_SKILL_SANDBOX__MAX_CALLS_PER_MINUTE": "1000",
        "CORTEX_SKILL_SANDBOX__MAX_GRAPH_QUERIES": "100000",
        "CORTEX_SKILL_SANDBOX__MAX_ASSERTIONS": "100000",
    }


def new_skill(scratch: Path) -> Path:
    """A skill with code, in a new folder."""
    folder = scratch / "bench"
    folder.mkdir()
    (folder / "SKILL.md").write_text(MANIFEST)
    (folder / "skill.js").write_text(SOURCE)
    return folder


def constant_server(scratch: Path) -> Path:
    """The program of the reference."""
    program = scratch / "constant.py"
    program.write_text(CONSTANT)
    return program


def _answer_file(scratch: Path) -> Path:
    return scratch / "answer.json"


def free_port() -> int:
    """A port of this machine that is free now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
