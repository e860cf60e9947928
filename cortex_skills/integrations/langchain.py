"""The tools for LangChain, with the extra `langchain`.

    with Plugin.open(Config()) as plugin:
        plugin.load("examples/verify-kyc")
        agent = create_agent(model, tools=langchain.tools(plugin, agent="a1"))

Rules kept here:
- a tool is a call of the plugin: its schema, its text for the model, not longer than models take, its details as the
  artifact;
- a refusal is a message with status `error` that begins with its code; nothing is raised into the host;
- the tools are those that the active skills permit when `tools` is called.
"""

from __future__ import annotations

from typing import Any

from langchain_core.tools import BaseTool, ToolException

from cortex_skills.gate.long_answers import shortened
from cortex_skills.gate.result import Result
from cortex_skills.plugin import Plugin


def tools(plugin: Plugin, *, skill: str | None = None, agent: str | None = None) -> list[BaseTool]:
    """The tools that are offered to a model.

    Args:
        plugin: answers the calls.
        skill: the acting skill; may be omitted when exactly one is active.
        agent: on whose behalf; the plugin's own when omitted.
    """
    return [
        _Tool(
            name=offered["name"],
            description=offered["description"],
            args_schema=offered["inputSchema"],
            response_format="content_and_artifact",
            handle_tool_error=True,
            plugin=plugin,
            skill=skill,
            agent=agent,
        )
        for offered in plugin.tools(format="mcp")
    ]


class _Tool(BaseTool):
    plugin: Plugin
    skill: str | None
    agent: str | None

    # `self` by position alone: a model may call an argument that.
    def _run(self, /, *_: Any, **arguments: Any) -> tuple[str, dict[str, Any]]:
        return _answer(self.plugin.call(self.name, arguments, skill=self.skill, agent=self.agent))

    async def _arun(self, /, *_: Any, **arguments: Any) -> tuple[str, dict[str, Any]]:
        return _answer(await self.plugin.acall(self.name, arguments, skill=self.skill, agent=self.agent))


def _answer(result: Result) -> tuple[str, dict[str, Any]]:
    if result.is_error:
        raise ToolException(f"{result.code}: {result.text}")
    return shortened(Result(result.text)).text, result.details
