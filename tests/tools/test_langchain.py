"""The tools in LangChain."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from cortex_skills import Plugin, Result
from tests.configs import config
from tests.mcp import skills

STATEMENT = {"subject": "a", "predicate": "hasStatus", "object": "approved"}


@pytest.fixture(scope="module")
def langchain() -> ModuleType:
    """The integration; imported here, since collecting the tests would import LangChain in each worker."""
    from cortex_skills.integrations import langchain

    return langchain


@pytest.fixture
def plugin(tmp_path: Path) -> Iterator[Plugin]:
    with Plugin.open(config(), agent="a1") as plugin:
        plugin.load(skills.write(tmp_path))
        yield plugin


def message(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A call as a model makes it."""
    return {"type": "tool_call", "id": "1", "name": name, "args": arguments}


def test_the_tools_have_the_names_and_schemas_of_the_plugin(langchain: ModuleType, plugin: Plugin) -> None:
    from langchain_core.utils.function_calling import convert_to_openai_tool

    received = [convert_to_openai_tool(tool) for tool in langchain.tools(plugin)]
    given = plugin.tools(format="openai")
    assert [tool["function"]["name"] for tool in received] == [tool["function"]["name"] for tool in given]
    for one, other in zip(received, given, strict=True):
        assert one["function"]["description"] == other["function"]["description"]
        assert one["function"]["parameters"]["properties"] == other["function"]["parameters"]["properties"]


def test_a_call_returns_the_text_and_the_details_of_the_plugin(langchain: ModuleType, plugin: Plugin) -> None:
    tools = {tool.name: tool for tool in langchain.tools(plugin, agent="a2")}
    asserted = tools["skill_assert"].invoke(message("skill_assert", STATEMENT))
    assert (asserted.status, asserted.artifact["created"]) == ("success", True)
    asked = tools["skill_graph_query"].invoke(message("skill_graph_query", {"scope": "namespace"}))
    direct = plugin.call("skill_graph_query", {"scope": "namespace"})
    assert asked.content == direct.text
    assert asked.artifact["matches"] == direct.details["matches"]


def test_several_statements_are_asserted_in_one_call(langchain: ModuleType, plugin: Plugin) -> None:
    tools = {tool.name: tool for tool in langchain.tools(plugin)}
    statements = [STATEMENT, {**STATEMENT, "subject": "b", "requireProof": None}]
    answer = tools["skill_assert"].invoke(message("skill_assert", {"statements": statements, "proofType": None}))
    assert (answer.status, answer.artifact["createdCount"]) == ("success", 2)


def test_a_call_may_be_awaited(langchain: ModuleType, plugin: Plugin) -> None:
    tools = {tool.name: tool for tool in langchain.tools(plugin)}
    answer = asyncio.run(tools["skill_assert"].ainvoke(message("skill_assert", STATEMENT)))
    assert (answer.status, answer.artifact["created"]) == ("success", True)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"subject": 1}, "invalid_arguments"),
        ({}, "invalid_arguments"),
        ({**STATEMENT, "self": 1}, "invalid_arguments"),
        ({**STATEMENT, "config": 1}, "invalid_arguments"),
        ({**STATEMENT, "run_manager": 1, "_": 2, "arguments": {}}, "invalid_arguments"),
        ({**STATEMENT, "predicate": "other"}, "undeclared_predicate"),
    ],
)
def test_a_refusal_is_a_message_with_its_code(
    langchain: ModuleType, plugin: Plugin, arguments: dict[str, Any], code: str
) -> None:
    (tool,) = (tool for tool in langchain.tools(plugin) if tool.name == "skill_assert")
    refused = tool.invoke(message("skill_assert", arguments))
    awaited = asyncio.run(tool.ainvoke(message("skill_assert", arguments)))
    assert (refused.status, awaited.status) == ("error", "error")
    assert refused.content == awaited.content
    assert refused.content.startswith(f"{code}: ")
    assert plugin.graph.list_triples({})["total"] == 0


def test_the_host_chooses_the_agent_and_the_skill(langchain: ModuleType, plugin: Plugin) -> None:
    received: list[Any] = []
    plugin.on("before_tool_call", received.append)
    (tool,) = (tool for tool in langchain.tools(plugin, agent="a2") if tool.name == "skill_assert")
    tool.invoke(message("skill_assert", STATEMENT))
    assert [(call.agent, call.arguments) for call in received] == [("a2", STATEMENT)]
    (tool,) = (tool for tool in langchain.tools(plugin, skill="other") if tool.name == "skill_assert")
    assert tool.invoke(message("skill_assert", STATEMENT)).content.startswith("skill_not_found: ")


def test_the_plugin_does_not_import_langchain() -> None:
    program = "import sys, cortex_skills.plugin, cortex_skills.doors.cli; sys.exit('langchain_core' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=100)


def test_a_long_answer_is_short_for_the_model_and_whole_for_the_program(langchain: ModuleType) -> None:
    content, artifact = langchain._answer(Result("x" * 300_000, {"outputs": {"content": "x" * 300_000}}))
    assert len(content) <= 100_000
    assert "characters are not shown" in content
    assert artifact == {"outputs": {"content": "x" * 300_000}}
