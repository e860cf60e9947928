"""The programs of docs/how-to/agent-frameworks.md, as they stand there, with the real frameworks.

A framework that cannot be installed skips its test; with `FRAMEWORK_TESTS=required` it fails.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from cortex_skills import Config, Plugin
from tests import fork_server
from tests.frameworks.model_stub import model_stub

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/how-to/agent-frameworks.md").read_text(encoding="utf-8")
PINNED = tomllib.loads(Path(__file__).with_name("pinned.toml").read_text(encoding="utf-8"))
SECTIONS = {
    "openai-agents": "OpenAI Agents SDK",
    "pydantic-ai": "Pydantic AI",
    "langgraph": "LangGraph",
    "llamaindex": "LlamaIndex",
    "crewai": "CrewAI",
}
FOLDER = Path(os.environ.get("CORTEX_TESTS_FRAMEWORKS", ROOT / "build/frameworks"))
QUIET = {  # what these packages would send to their makers
    "ANONYMIZED_TELEMETRY": "false",
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "LANGSMITH_TRACING": "false",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "OTEL_SDK_DISABLED": "true",
}


def block(framework: str, language: str) -> str:
    """The only block of a language in the section of a framework."""
    (section,) = (part for part in PAGE.split("\n## ") if part.startswith(f"{SECTIONS[framework]}\n"))
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    return str(found)


def python_of(framework: str) -> Path:
    """The interpreter of an environment with the pinned packages, which is made where it is missing or not current."""
    place = FOLDER / framework
    python, stamp = place / "bin" / "python", place / "pinned"
    wanted = "\n".join(PINNED[framework])
    if not stamp.is_file() or stamp.read_text() != wanted:
        uv = [sys.executable, "-m", "uv", "--quiet"]
        install = [*uv, "pip", "install", "--python", str(python), *PINNED[framework]]
        for command in ([*uv, "venv", "--clear", "--python", sys.executable, str(place)], install):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                (pytest.fail if os.environ.get("FRAMEWORK_TESTS") == "required" else pytest.skip)(
                    f"{framework} cannot be installed: {done.stderr}"
                )
        stamp.write_text(wanted)
    return python


def test_the_page_installs_what_is_pinned() -> None:
    assert set(PINNED) == set(SECTIONS)
    for framework, pinned in PINNED.items():
        installed = block(framework, "sh").replace("'", "").split()[2:]
        assert installed == [each.partition("==")[0] for each in pinned]
        compile(block(framework, "python"), framework, "exec")


@pytest.mark.extended
@pytest.mark.timeout(600)
@pytest.mark.parametrize("framework", SECTIONS)
def test_an_agent_asserts_and_queries_by_the_program_of_the_page(framework: str, tmp_path: Path) -> None:
    if framework == "crewai" and "CORTEX_TESTS_CREWAI" not in os.environ:
        pytest.skip("it installs a gigabyte: set CORTEX_TESTS_CREWAI")
    python = python_of(framework)
    (tmp_path / "program.py").write_text(block(framework, "python"), encoding="utf-8")
    with model_stub() as model:
        environment = {
            "HOME": str(tmp_path / "home"),
            "LANG": "C.UTF-8",
            "PATH": fork_server.search_path(),
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": model.url,
            "OPENAI_API_BASE": model.url,  # what LlamaIndex reads
            **QUIET,
        }
        command = [str(python), "program.py"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        offered = model.offered()
    assert "The graph answers: " in done.stdout
    assert "mayros:grace" in done.stdout
    for tool in ("skill_assert", "skill_graph_query", "skill_memory_remember", "graph_sparql"):
        assert [name for name in offered if name.endswith(tool)] == [name for name in offered if tool in name] != []
    with Plugin.open(Config(store=str(tmp_path / "shelf")), agent="eve") as plugin:
        (triple,) = plugin.graph.list_triples()["triples"]
        assert (triple["subject"], triple["predicate"]) == ("mayros:ada", "mayros:worksWith")
        assert (plugin.graph.provenance_of(triple["id"]) or {})["agent"] == "ada"
