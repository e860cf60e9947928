"""The core and the interfaces without any feature: what starts, and what a missing capability answers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.plugin.skills import write_skill

# In a process of its own: modules keep what features add.
PROGRAM = """
from cortex_skills import feature
feature.features = lambda: ()

import asyncio, json, sys
from click.testing import CliRunner
from mcp import Client
from starlette.testclient import TestClient
from cortex_skills import Config, CortexError, Plugin
from cortex_skills.doors.cli.app import program
from cortex_skills.doors.http.worker_pools import WorkerPool
from cortex_skills.doors.mcp.caller import SessionCaller
from cortex_skills.doors.mcp.mcp_server import build
from cortex_skills.doors.server.app import create_app

found = {}
config = Config(store="memory:", cortex={"authToken": "t" * 40}, verification={"requireSignature": False})
with Plugin.open(config) as plugin:
    found["loaded"] = plugin.load(sys.argv[1])
    found["call"] = plugin.call("skill_graph_query", {"predicate": "a"}).code
    found["seen"] = [plugin.tools(), plugin.context(), plugin.check("x").allowed, len(plugin.status()["skills"])]
    try:
        plugin.approvals.list()
    except AttributeError as error:
        found["approvals"] = str(error)
    found["members"] = [name for name in ("registry", "memories", "call") if name in dir(plugin)]

    async def over_mcp():
        built = build(plugin, WorkerPool("test", 1, 1), lambda _: SessionCaller())
        async with Client(built.server, mode="legacy") as client:
            called = await client.call_tool("fs_read", {})
            return [(await client.list_tools()).tools, called.structured_content["code"]]

    found["mcp"] = asyncio.run(over_mcp())
    with TestClient(create_app(plugin), base_url="http://127.0.0.1", headers={"Authorization": "t" * 40}) as client:
        paths = ("/", "/openapi.json", "/explore", "/api/v1/approvals")
        found["serve"] = [client.get(path).status_code for path in paths]
answer = CliRunner().invoke(program, ["--help"])
found["help"] = [answer.exit_code, "serve" in answer.output, "approvals" in answer.output]
print(json.dumps(found))
"""


def test_the_plugin_and_its_interfaces_start_without_a_feature(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "alone", code="export default { name: 'alone', async onQuery() { return {}; } };")
    words = [sys.executable, "-c", PROGRAM, str(skill)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "call": "tool_not_found",
        "loaded": ["alone"],
        "seen": [[], "", False, 1],
        "approvals": "no installed feature adds 'approvals' to a plugin; installed: none",
        "members": ["call"],
        "mcp": [[], "tool_not_found"],
        "serve": [200, 200, 404, 404],
        "help": [0, True, False],
    }
