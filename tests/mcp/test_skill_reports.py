"""Over MCP, a caller has one report about a skill, whatever agents it names and however many sessions it opens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from cortex_skills.features.registry.documents.skill_md import inline_document
from cortex_skills.features.registry.parts import loaded_in
from cortex_skills.features.registry.records.skill_record import SkillKey
from cortex_skills.skill_folder.builtin import NOTEBOOK, builtin_skill
from tests import fork_server
from tests.mcp.conftest import environment_in, over_http
from tests.mcp.test_clients import run
from tests.server.serving import Running

KEY = SkillKey("mayros", "ask-the-graph")
FIELDS = {"name": KEY.name, "description": "Asks.", "body": "Ask.\n"}


async def called(client: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, {"skill": NOTEBOOK, **arguments})
    assert not answer.is_error, answer.content
    return dict(answer.structured_content)


def test_the_sessions_of_a_token_have_one_report_and_the_agents_that_the_host_names_too(
    serve: Callable[..., Running],
) -> None:
    running = serve()
    registry = running.plugin.registry
    registry.register(inline_document(FIELDS, "mayros"), actor="ada", origin="human")
    running.plugin.unload("status-desk")  # it allows no tool of the registry
    running.plugin.load(builtin_skill(NOTEBOOK))
    feedback = {"name": KEY.name, "success": False}

    async def test() -> None:
        for _ in range(3):
            async with over_http(running, running.token("eve"), mode="legacy") as client:
                await called(client, "skill_feedback", **feedback)
        assert registry.record(KEY).quality.reported_failing == {"eve"}
        for query in ("", "?agent=b1", "?agent=b2"):
            async with over_http(running, "of-the-host", query=query) as client:
                for agent in ("a1", "a2", "a3"):
                    await called(client, "skill_feedback", **feedback, agent=agent)
        assert registry.record(KEY).quality.reporting == 2
        async with over_http(running, "of-the-host") as client:
            created = {"operation": "create", "name": "of-an-agent", "description": "d", "body": "b"}
            await called(client, "skill_write", **created, agent="a1")
            answer = await called(client, "skill_feedback", name="of-an-agent", success=True, agent="a2")
        assert (answer["counted"], answer["reports"]) == (False, {"agents": 0, "working": 0})

    run(test())


def test_the_sessions_of_a_token_are_one_user_of_a_skill_and_its_author_is_none(
    serve: Callable[..., Running],
) -> None:
    running = serve()
    registry, host = running.plugin.registry, running.plugin._host
    running.plugin.unload("status-desk")
    running.plugin.load(builtin_skill(NOTEBOOK))

    async def test() -> None:
        created = {"name": "of-an-agent", "description": "d", "body": "1. **Ask** — use skill_graph_query\n"}
        async with over_http(running, "of-the-host") as client:
            await called(client, "skill_write", operation="create", **created, agent="a1")
        for token in ("of-the-host", running.token("eve")):
            for query in ("?agent=b1", "?agent=b2") if token == "of-the-host" else ("", ""):
                async with over_http(running, token, query=query) as client:
                    await called(client, "load_skill", name="of-an-agent")
                    await called(client, "skill_graph_query", predicate="p")
                host.part(loaded_in).end()
        record = registry.record(SkillKey("mayros", "of-an-agent"))
        assert (record.quality.invocations, record.quality.successes) == (4, 4)
        assert record.quality.worked_for == {*record.authors, "eve"}
        assert (record.evidence.worked_for, record.is_shown_to("b1"), record.is_shown_to("eve")) == (
            {"eve"},
            False,
            False,
        )

    run(test())


def test_a_client_over_standard_input_is_one_agent_for_reports(tmp_path: Path) -> None:
    parameters = StdioServerParameters(command=fork_server.command(), args=["mcp"], env=environment_in(tmp_path))

    async def test() -> None:
        async with Client(parameters) as client:
            created = {"operation": "create", "name": "of-an-agent", "description": "d", "body": "b"}
            await called(client, "skill_write", **created, agent="a1")
            answers = [
                await called(client, "skill_feedback", name=name, success=True, agent=agent)
                for name in ("of-an-agent", "plan-complex-tasks")
                for agent in ("a1", "a2", "a3")
            ]
        assert [answer["reports"]["agents"] for answer in answers] == [0, 0, 0, 1, 1, 1]
        assert [answer["counted"] for answer in answers] == [False] * 3 + [True] * 3

    run(test())
