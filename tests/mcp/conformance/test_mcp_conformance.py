"""The conformance suite of the Model Context Protocol, `@modelcontextprotocol/conformance`, against the server."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cortex_skills import Config, Plugin
from cortex_skills.doors.mcp import mcp_server as server
from tests.docs.conformance_page import PAGE, counts_of
from tests.mcp import skills
from tests.mcp.conformance import fixtures, suite
from tests.server.serving import Running, served

EXTENSIONS = "MCP extensions"
RUNS = {
    "MCP 2025-06-18": ["--suite", "all", "--spec-version", "2025-06-18"],
    "MCP 2025-11-25": ["--requirements", "2025-11-25"],
    "MCP 2026-07-28": ["--suite", "all", "--spec-version", "2026-07-28"],
    EXTENSIONS: ["--suite", "pending"],
}
CURRENT = "MCP 2025-11-25"  # which most clients speak; `make test-all` runs the others
REFUSED = {"MCP 2025-11-25": ("server-sse-polling",), EXTENSIONS: ("tasks-", "sep-2640-")}  # beginnings of their names


@pytest.fixture(scope="module")
def conformance() -> None:
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("Node.js is not here")
    if not suite.PROGRAM.is_file():
        done = subprocess.run(["npm", "ci", "--silent"], cwd=suite.HERE, capture_output=True, text=True, timeout=110)
        if done.returncode:
            pytest.skip(f"the suite could not be installed: {done.stderr[:200]}")


@pytest.fixture
def tested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    """The product's server with the fixtures; the suite shows no token, and so reads as anonymous."""
    cortex = {"tokenFile": str(tmp_path / "tokens.json"), "allowAnonymousReads": True}
    plugin = Plugin.open(Config(cortex=cortex, verification={"requireSignature": False}))
    changing = skills.write(tmp_path / "more", "comes-and-goes")

    def change_lists() -> None:
        if changing.name in plugin.skills:
            plugin.unload(changing.name)
        else:
            plugin.load(changing)

    build = server.build
    monkeypatch.setattr(server, "build", lambda *words: fixtures.install(build(*words), change_lists))
    with served(tmp_path, plugin=plugin) as running:
        plugin.load(skills.write(tmp_path / "skills"))
        plugin.load(changing)
        yield running


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "run", [CURRENT, *(pytest.param(run, marks=pytest.mark.extended) for run in RUNS if run != CURRENT)]
)
def test_what_the_suite_finds_is_what_the_page_says(
    run: str, conformance: None, tested: Running, tmp_path: Path
) -> None:
    beginnings = REFUSED.get(run, ())
    others = run == EXTENSIONS  # with those of extensions, the suite runs some that the other runs have
    found = suite.run(tested.url, tmp_path / "results", RUNS[run], lambda name: others or name.startswith(beginnings))
    if others:
        found = {name: bad for name, bad in found.items() if name.startswith(beginnings)}
    unmet = {name: bad for name, bad in found.items() if bad}
    assert {name: bad for name, bad in unmet.items() if not name.startswith(beginnings)} == {}
    assert (len(found) - len(unmet), len(unmet)) == counts_of(run)
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in unmet if f"`{name}`" not in page] == []
