"""Large packages are imported only where they are needed, so that commands start quickly."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("program", "large"),
    [
        ("import cortex_skills", {"mcp", "mcp_types", "pydantic", "anyio"}),
        ("import cortex_graph", {"mcp", "mcp_types", "pydantic", "anyio"}),
        ("from cortex_skills import Plugin; Plugin.open().close()", {"mcp", "mcp_types", "pydantic", "anyio"}),
        (
            "import cortex_skills.doors.cli.app",
            {"mcp", "pydantic", "anyio", "wasmtime", "pyoxigraph", "cortex_skills.scanner"},
        ),
        (
            "from cortex_skills.doors.server import create_app; from cortex_skills import Config; create_app(Config())",
            {"mcp", "mcp_types"},
        ),
        ("import cortex_skills.doors.mcp.stdio", {"cortex_skills.doors.server.app", "cortex_skills.doors.rest"}),
    ],
)
def test_large_packages_are_imported_when_they_are_needed(program: str, large: set[str]) -> None:
    check = f"{program}\nimport sys\nassert not {large} & set(sys.modules), {large} & set(sys.modules)"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
