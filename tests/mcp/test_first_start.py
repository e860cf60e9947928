"""The first start on a machine: a client is served before anything is compiled."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import StdioServerParameters

from tests.mcp import skills
from tests.mcp.test_clients import ASK
from tests.mcp.test_process import Raw
from tests.server.serving import WAIT_S

# `cortex-skills` with a compiler that fails after a file appears: a real one takes a minute on a slow machine.
PROGRAM = """\
import sys
from pathlib import Path
from cortex_sandbox.engine import native_code
wait = (
    "import sys, time; from pathlib import Path; sys.stdin.buffer.read()\\n"
    "while not Path({go!r}).exists(): time.sleep(0.01)\\n"
    "sys.exit('no')"
)
native_code.command = lambda *_: [sys.executable, "-c", wait]
from cortex_skills.doors.cli.app import main
main()
"""
NOTE = b"compiling esbuild for this machine: this happens once, and takes up to a minute\n"


@pytest.fixture
def go(tmp_path: Path) -> Iterator[Path]:
    """The file that the compiler waits for."""
    path = tmp_path / "go"
    yield path
    path.touch()


@pytest.fixture
def cold(parameters: StdioServerParameters, tmp_path: Path, go: Path) -> StdioServerParameters:
    """`cortex-skills mcp` with an empty cache."""
    script = tmp_path / "program.py"
    script.write_text(PROGRAM.format(go=str(go)))
    parameters.command, parameters.args = sys.executable, [str(script), *parameters.args]
    parameters.env = {**(parameters.env or {}), "CORTEX_STORE": "memory:", "CORTEX_HOT_RELOAD": "false"}
    parameters.env["CORTEX_SANDBOX_CACHE"] = str(tmp_path / "cache")
    return parameters


@pytest.fixture
def raw(cold: StdioServerParameters) -> Iterator[Raw]:
    one = Raw(cold)
    yield one
    if one.process.poll() is None:
        one.process.kill()
    one.process.communicate(timeout=WAIT_S)


@pytest.mark.extended
def test_the_lists_are_answered_while_the_sandbox_is_compiled_and_a_call_reports_that_it_waits(
    raw: Raw, go: Path
) -> None:
    assert raw.greet()["result"]["serverInfo"]["name"] == "cortex-skills"
    raw.send({"id": 2, "method": "tools/list"}, {"id": 3, "method": "prompts/list"})
    listed = {answer["id"]: answer["result"] for answer in (raw.read(), raw.read())}
    assert [tool["name"] for tool in listed[2]["tools"]] == ["skill_graph_query", "skill_assert"]
    assert [prompt["name"] for prompt in listed[3]["prompts"]] == ["status-desk", "cortex_context"]
    call = raw.call(4, "skill_graph_query", ASK)
    call["params"]["_meta"] = {"progressToken": "p"}
    raw.send(call)
    messages = [raw.read()["params"]["message"] for _ in range(2)]
    assert messages == [
        "skill_graph_query: started",
        "skill_graph_query: waiting, esbuild is compiled for this machine (once)",
    ]
    assert raw.process.stderr is not None
    assert raw.process.stderr.readline() == NOTE  # in a pipe too
    go.touch()  # nothing can be loaded now: the process ends as it did before it served any client
    assert raw.process.wait(WAIT_S) == 1
    errors = raw.process.stderr.read()
    assert b"the sandbox was not compiled for this machine: no" in errors


def test_a_client_that_leaves_does_not_wait_for_the_compiler(raw: Raw) -> None:
    raw.greet()
    raw.send({"id": 2, "method": "tools/list"})
    assert raw.read()["id"] == 2
    _, errors = raw.process.communicate(timeout=WAIT_S)  # it closes the input
    assert (raw.process.returncode, errors) == (0, NOTE)


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals")
def test_a_signal_ends_a_first_start(raw: Raw) -> None:
    raw.greet()
    raw.send(raw.call(2, "skill_graph_query", ASK))
    began = time.monotonic()
    raw.process.terminate()
    raw.process.communicate(timeout=WAIT_S)
    assert (raw.process.returncode, time.monotonic() - began < WAIT_S) == (0, True)


@pytest.mark.extended
def test_a_skill_without_code_needs_no_compiler(cold: StdioServerParameters, skill: Path) -> None:
    (skill / "skill.ts").unlink()
    raw = Raw(cold)
    raw.greet()
    raw.send(raw.call(2, "skill_graph_query", ASK))
    assert raw.read()["result"]["content"][0]["text"].startswith("No matching triples.")
    assert raw.process.communicate(timeout=WAIT_S)[1] == b""


def test_a_skill_that_is_expected_and_refused_is_taken_off_the_list(
    parameters: StdioServerParameters, skill: Path
) -> None:
    skills.write(skill.parent, "broken", code="export default {{ name: ")
    raw = Raw(parameters)
    raw.greet()
    raw.send({"id": 2, "method": "tools/list"})
    while (answer := raw.read()).get("id") != 2:
        pass
    (tool, _) = answer["result"]["tools"]
    assert "skill" not in tool["inputSchema"]["properties"]  # warm: it waited for the load, and one skill is active
    raw.process.communicate(timeout=WAIT_S)
