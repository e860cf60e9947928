"""Budgets of the built-in notebook and of other skills: what is limited, and what answers and refusals say of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cortex_skills import Plugin
from cortex_skills.skill_folder.builtin import NOTEBOOK, builtin_skill
from tests.configs import config
from tests.plugin.skills import write_skill

Opened = Callable[..., Plugin]
Written = Callable[..., Path]


def fact(number: int, predicate: str = "note") -> dict[str, Any]:
    return {"subject": f"part-{number}", "predicate": predicate, "object": number}


@pytest.fixture
def notebook(request: pytest.FixtureRequest):
    with Plugin.open(config(**getattr(request, "param", {}))) as plugin:
        plugin.load(builtin_skill(NOTEBOOK))
        yield plugin


def test_a_session_uses_up_no_budget_of_the_notebook(notebook: Plugin) -> None:
    results = [notebook.call("skill_assert", fact(number)) for number in range(70)]
    assert [result.code for result in results] == [None] * 70
    assert all("left in this session" not in result.text for result in results)
    asked = [notebook.call("skill_graph_query", {"scope": "namespace", "limit": 1}).code for _ in range(60)]
    assert asked == [None] * 60
    status = notebook.status()["skills"][0]
    assert (status["assertionsUsed"], status["queriesUsed"]) == (70, 60)


def test_the_notebook_has_a_rate_of_600_calls_a_minute(notebook: Plugin) -> None:
    codes = [notebook.call("skill_retract", {"tripleHash": "0" * 64}).code for _ in range(601)]
    assert codes == ["not_found"] * 600 + ["rate_limited"]


LIMITS = {"skillSandbox": {"maxAssertions": 20, "maxCallsPerMinute": 22}}


@pytest.mark.parametrize("notebook", [LIMITS], indirect=True)
def test_limits_that_the_owner_gave_hold_for_the_notebook_too(notebook: Plugin) -> None:
    codes = [notebook.call("skill_assert", fact(number)).code for number in range(23)]
    assert codes == [None] * 20 + ["assertion_limit"] * 2 + ["rate_limited"]


def test_another_skill_of_that_name_has_the_budgets_of_a_skill(opened: Opened, tmp_path: Path) -> None:
    plugin = opened()
    plugin.load(write_skill(tmp_path / NOTEBOOK))
    codes = [plugin.call("skill_assert", fact(number)).code for number in range(21)]
    assert codes == [None] * 20 + ["assertion_limit"]


def test_an_answer_states_what_is_left_below_a_fifth_of_a_budget(opened: Opened, skill: Written) -> None:
    plugin = opened(sandbox={"maxAssertions": 10, "maxGraphQueries": 5})
    plugin.load(skill("probe"))
    results = [plugin.call("skill_assert", fact(number)) for number in range(10)]
    assert [result.details.get("budget") for result in results[:8]] == [None] * 8
    assert results[8].text.endswith("\n(1 of 10 assertions are left in this session)")
    assert results[9].details["budget"] == {"of": "assertions", "left": 0, "limit": 10}
    queries = [plugin.call("skill_graph_query", {"scope": "namespace"}) for _ in range(5)]
    assert [result.details.get("budget") for result in queries[:4]] == [None] * 4
    assert "(0 of 5 queries are left in this session)" in queries[4].text


def test_an_answer_states_what_is_left_of_the_writes_of_the_code_that_ran(opened: Opened, skill: Written) -> None:
    plugin = opened(sandbox={"maxWrites": 3})
    code = """
    let number = 0;
    export default {
      name: "probe",
      async onQuery({ predicate }: QueryContext) {
        const asked = predicate.split(":").pop();
        if (asked === "graph") await graphClient.createTriple({ subject: "a", predicate: "note", object: number++ });
        if (asked === "memory") await memory.remember(`note ${number++}`);
        return {};
      },
    } satisfies Skill;
    """
    permissions = {"graph": ["read", "write"], "memory": ["remember"], "proofs": ["request", "verify"]}
    plugin.load(skill("probe", code, permissions=permissions))
    asked = ("graph", "memory", "graph", "other")
    results = [plugin.call("skill_graph_query", {"predicate": each, "scope": "namespace"}) for each in asked]
    left = {"of": "writes", "left": 0, "limit": 3}
    assert [result.details.get("budget") for result in results] == [None, None, left, None]
    assert "(0 of 3 writes are left in this session)" in results[2].text


@pytest.mark.parametrize(
    ("limit", "tool", "variable"),
    [
        ("maxAssertions", "skill_assert", "MAX_ASSERTIONS"),
        ("maxGraphQueries", "skill_graph_query", "MAX_GRAPH_QUERIES"),
        ("maxCallsPerMinute", "skill_graph_query", "MAX_CALLS_PER_MINUTE"),
    ],
)
def test_a_refusal_names_the_setting_that_raises_the_limit(
    opened: Opened, skill: Written, limit: str, tool: str, variable: str
) -> None:
    plugin = opened(sandbox={limit: 1})
    plugin.load(skill("probe"))
    results = [plugin.call(tool, fact(number) if tool == "skill_assert" else {}) for number in range(2)]
    assert [result.is_error for result in results] == [False, True]
    named = f"the owner raises the limit: skillSandbox.{limit} in cortex.yaml, or CORTEX_SKILL_SANDBOX__{variable}"
    assert named in results[1].details["hint"]
