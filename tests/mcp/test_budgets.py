"""Budgets and rate limits at /mcp: those of one client, which no other client uses up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from mcp import Client

from tests.mcp import skills
from tests.mcp.conftest import over_http
from tests.mcp.test_clients import ASK, STATUS, run
from tests.server.serving import Running

FEW = {"maxAssertions": 2, "maxGraphQueries": 2, "maxCallsPerMinute": 6, "executionTimeoutMs": 60_000}


@pytest.fixture
def few(serve: Callable[..., Running]) -> Running:
    return serve(skillSandbox=FEW)


async def code(client: Client, tool: str, arguments: dict[str, Any]) -> str | None:
    result = await client.call_tool(tool, arguments)
    return result.structured_content["code"] if result.is_error else None


async def use_up(client: Client, start: int) -> list[str | None]:
    """The codes of three assertions, of three queries, and of a seventh call."""
    asserted = [await code(client, "skill_assert", {**STATUS, "object": start + n}) for n in range(3)]
    return asserted + [await code(client, "skill_graph_query", ASK) for _ in range(4)]


ALL_USED = [None, None, "assertion_limit", None, None, "query_limit", "rate_limited"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])  # without sessions, and with them
def test_a_token_never_uses_up_the_budget_of_another(few: Running, mode: str) -> None:
    async def test() -> None:
        async with (
            over_http(few, few.token("ada"), mode=mode) as ada,
            over_http(few, few.token("eve"), mode=mode) as eve,
        ):
            assert await use_up(eve, 100) == ALL_USED
            assert await use_up(ada, 200) == ALL_USED
        assert few.plugin.status()["skills"][0]["queriesUsed"] == 0  # that is the session of the server's own process

    run(test())


def test_a_session_never_uses_up_the_budget_of_another_of_the_same_token(few: Running) -> None:
    async def test() -> None:
        token = few.token("ada")
        async with over_http(few, token, mode="legacy") as one, over_http(few, token, mode="legacy") as other:
            assert await use_up(one, 100) == ALL_USED
            assert await use_up(other, 200) == ALL_USED

    run(test())


def test_requests_without_a_session_use_the_budget_of_their_token(few: Running) -> None:
    async def test() -> None:
        token = few.token("ada")
        async with over_http(few, token) as first:
            assert await use_up(first, 100) == ALL_USED
        async with over_http(few, token) as second:
            assert await code(second, "skill_graph_query", ASK) == "rate_limited"

    run(test())


def test_budgets_of_clients_survive_a_reload(few: Running) -> None:
    async def test() -> None:
        async with over_http(few, few.token("ada"), mode="legacy") as client:
            assert await use_up(client, 100) == ALL_USED
            folder = few.plugin.skills["status-desk"].folder
            skills.write(folder.parent, code=skills.ADDS.replace("version: 1", "version: 2"))
            assert [item.name for item in few.plugin.reload().reloaded] == ["status-desk"]
            assert await code(client, "skill_graph_query", ASK) == "rate_limited"
            few.plugin._host.limits.of(_key(few)).rate.max_calls = 1000
            assert await code(client, "skill_graph_query", ASK) == "query_limit"

    run(test())


WRITES = """\
export default {{
  name: "{name}",
  async onQuery({{ predicate }}: {{ predicate: string }}) {{
    const object = predicate.split("-").at(-1);
    try {{
      await graphClient.createTriple({{ subject: "s", predicate: "hasStatus", object }});
    }} catch (error) {{ return {{ additionalContext: {{ written: error.code === "write_limit" ? 0 : -1 }} }}; }}
    return {{ additionalContext: {{ written: 1 }} }};
  }},
}};
"""


def test_what_a_skill_writes_in_a_call_is_counted_for_the_session_of_the_call(
    serve: Callable[..., Running], skill: Any
) -> None:
    skills.write(skill.parent, code=WRITES)
    running = serve(skillSandbox={"maxWrites": 1, "executionTimeoutMs": 60_000})

    async def written(client: Client, number: int) -> str:
        found = await client.call_tool("skill_graph_query", {"predicate": f"p-{number}", "scope": "namespace"})
        return str(found.content[0].text.split("\n")[-2])

    async def test() -> None:
        async with (
            over_http(running, running.token("ada"), mode="legacy") as ada,
            over_http(running, running.token("eve"), mode="legacy") as eve,
        ):
            assert await written(eve, 1) == '{"written":1}'
            assert await written(eve, 2) == '{"written":0}'
            assert await written(ada, 3) == '{"written":1}'

    run(test())


def test_the_context_spends_nothing(few: Running) -> None:
    async def test() -> None:
        async with over_http(few, few.token("ada"), mode="legacy") as client:
            for _ in range(9):
                await client.read_resource("cortex://context")
            assert await use_up(client, 100) == ALL_USED

    run(test())


def _key(running: Running) -> str:
    (key,) = running.plugin._host.limits._by_key
    return key
