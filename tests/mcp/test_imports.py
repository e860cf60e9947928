"""The SDK is large, so nothing but MCP imports it."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "program",
    [
        "import cortex_skills",
        "import cortex_graph",
        "from cortex_skills import Plugin; Plugin.open().close()",
        "from cortex_skills.server import create_app; from cortex_skills import Config; create_app(Config())",
        "import cortex_skills.cli.app",
    ],
)
def test_it_is_imported_when_an_agent_comes(program: str) -> None:
    large = (
        "{'mcp', 'mcp_types', 'pydantic', 'anyio'}" if "server" not in program else "{'mcp', 'mcp_types', 'pydantic'}"
    )
    check = f"{program}\nimport sys\nassert not {large} & set(sys.modules), {large} & set(sys.modules)"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
