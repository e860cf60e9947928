"""The rules of CortexPrism for states, health, what is shown, and what a model may word (`memory/skills.ts`)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cortex_skills.errors import CortexError
from cortex_skills.features.registry.documents.skill_md import steps_of
from cortex_skills.features.registry.learning import worded
from cortex_skills.features.registry.records.lifecycle import (
    Lifecycle,
    Origin,
    Quality,
    Standing,
    first_standing,
    health,
    is_reliable,
    maintained,
    promoted,
)
from cortex_skills.features.registry.session_calls import SessionCall, successful_calls

NOW = datetime(2026, 1, 31, tzinfo=UTC)
CALLS = [SessionCall(tool, {}, "ok") for tool in ("glob", "bash", "bash", "bash")]
ANSWER = {
    "name": "type_check_the_sources",
    "description": "Finds the sources and checks each.",
    "triggerPattern": "check types, type errors",
    "prerequisites": ["A checker"],
    "expectedOutcome": "No error is left.",
    "steps": [
        {"step": 1, "action": "Find the sources", "tool": "glob", "params": {"pattern": "*.ts"}},
        {"step": 2, "action": "Check each", "tool": "bash", "params": {"command": "check FILE"}},
    ],
}


def quality(successes: int, failures: int, unused_days: float = 0) -> Quality:
    found = Quality()
    for success in [True] * successes + [False] * failures:
        found = found.after(success=success, now=NOW - timedelta(days=unused_days))
    return found


@pytest.mark.parametrize(
    ("origin", "state", "tier"),
    [("human", "released", 3), ("learned", "candidate", 1), ("builtin", "released", 4)],
)
def test_a_new_skill_has_the_state_and_the_tier_of_its_origin(origin: Origin, state: str, tier: int) -> None:
    assert (first_standing(origin).lifecycle, first_standing(origin).trust_tier) == (state, tier)


@pytest.mark.parametrize(
    ("state", "following"),
    [
        ("candidate", "verified"),
        ("verified", "released"),
        ("degraded", "verified"),
        ("deprecated", "degraded"),
        ("archived", "degraded"),
    ],
)
def test_a_promotion_goes_to_the_state_of_the_original(state: Lifecycle, following: str) -> None:
    assert promoted("x", Standing("human", state, 3)).lifecycle == following


@pytest.mark.parametrize(
    ("standing", "uses", "shown"),
    [
        (Standing("human", "released", 1), quality(0, 3), True),
        (Standing("learned", "verified", 2), quality(1, 1), True),
        (Standing("learned", "released", 1), quality(0, 0), True),
        (Standing("learned", "candidate", 2), quality(1, 2), True),
        (Standing("learned", "candidate", 1), quality(1, 2), False),
        (Standing("learned", "candidate", 1), quality(1, 1), True),
        (Standing("learned", "candidate", 2), quality(0, 3), False),
        (Standing("human", "deprecated", 4), quality(4, 1), False),
        (Standing("human", "archived", 4), quality(4, 1), False),
    ],
)
def test_agents_are_shown_reliable_skills(standing: Standing, uses: Quality, shown: bool) -> None:
    assert is_reliable(standing, uses) is shown


@pytest.mark.parametrize(
    ("uses", "similar", "overall"),
    [(quality(0, 0), 0, 0.59), (quality(10, 0), 0, 1.0), (quality(0, 0), 10, 0.34), (quality(0, 5), 1, 0.375)],
)
def test_health_is_that_of_the_formula(uses: Quality, similar: int, overall: float) -> None:
    assert health(uses, similar, NOW).overall == pytest.approx(overall)


@pytest.mark.parametrize(("days", "fresh"), [(0, 1.0), (15, 0.5), (29, 1 / 30), (90, 0.05)])
def test_freshness_falls_within_thirty_days(days: int, fresh: float) -> None:
    assert quality(1, 0, days).freshness(NOW) == pytest.approx(max(0.05, fresh))


def test_success_and_utility_are_counted() -> None:
    found = quality(3, 1)
    assert (found.success_rate, found.utility) == (0.75, pytest.approx(0.25))


@pytest.mark.parametrize(
    ("standing", "uses", "following"),
    [
        (Standing("learned", "candidate", 1), quality(2, 0, 60), "deprecated"),
        (Standing("learned", "candidate", 1), quality(3, 0, 60), "candidate"),
        (Standing("learned", "released", 2), quality(0, 5), "degraded"),
        (Standing("learned", "released", 2), quality(1, 5), "degraded"),
        (Standing("learned", "verified", 2), quality(6, 20), "degraded"),
        (Standing("learned", "released", 2), quality(4, 1), "released"),
        (Standing("learned", "archived", 1), quality(0, 5, 60), "archived"),
        (Standing("human", "released", 3), quality(0, 5, 60), "released"),
        (Standing("builtin", "released", 4), quality(0, 5, 60), "released"),
    ],
)
def test_maintenance_lowers_learned_skills_only(standing: Standing, uses: Quality, following: str) -> None:
    once = maintained(standing, uses, health(uses, 0, NOW))
    assert once.lifecycle == following
    assert maintained(once, uses, health(uses, 0, NOW)) == once


@pytest.mark.parametrize(
    ("line", "tool"),
    [
        ("1. **Step one** — uses `tool_name`", "tool_name"),
        ("1. **Step one** — use `another_tool`", "another_tool"),
        ("1. **Step one** — use fs_read, then stop", "fs_read"),
        ("1. **Step one** — using bash.", "bash"),
        ("1. **Step one** with `grep`", "grep"),
        ("1. **Step one** - via fs_list", "fs_list"),
        ("1. **Step one**: `glob`", "glob"),
        ("1. **Step one** — run the tests using `bash`", "bash"),
        ("1. **Read it with care**", None),
        ("1. **Step one** — use the log", None),
        ("1. **Step one** — with care.", None),
        ("1. **Step one** — `invalid_arguments` means that a name is wrong", None),
    ],
)
def test_the_tool_of_a_numbered_step_is_read(line: str, tool: str | None) -> None:
    (step,) = steps_of(line)
    assert step.tool == tool


@pytest.mark.parametrize("shape", ["{}", "```json\n{}\n```", "Here it is:\n```\n{}\n```\nDone.", "Sure. {}"])
def test_a_skill_that_a_model_words_is_a_document(shape: str) -> None:
    document = worded(shape.replace("{}", json.dumps(ANSWER)), CALLS, "mayros")
    assert document is not None
    assert (document.name, document.trigger_pattern) == ("type_check_the_sources", "check types, type errors")
    assert [(step.tool, step.params) for step in document.steps] == [
        ("glob", {"pattern": "*.ts"}), ("bash", {"command": "check FILE"})
    ]  # fmt: skip
    assert document.body == "## Prerequisites\n\n- A checker\n\n## Expected outcome\n\nNo error is left.\n"


@pytest.mark.parametrize(
    "answer", ['{"skip": true}', '```json\n{"skip": true}\n```', '{"skip": true, "why": "one-off"}']
)
def test_a_skip_is_no_skill(answer: str) -> None:
    assert worded(answer, CALLS, "mayros") is None


@pytest.mark.parametrize(
    "given",
    [
        {"name": "test_the_sources"},
        {"name": "temp_thing"},
        {"name": "tmp"},
        {"name": "foo"},
        {"name": "untitled_skill"},
        {"name": "new_skill"},
        {"name": "abcd"},
        {"name": ""},
        {"steps": []},
        {"steps": "none"},
    ],
)
def test_a_name_without_a_meaning_and_a_skill_without_steps_are_not_kept(given: dict[str, Any]) -> None:
    with pytest.raises(CortexError):
        worded(json.dumps(ANSWER | given), CALLS, "mayros")


@pytest.mark.parametrize("calls", [CALLS[:1], CALLS[1:], []])
def test_too_few_calls_and_calls_of_one_tool_are_not_learned(calls: list[SessionCall]) -> None:
    with pytest.raises(CortexError):
        successful_calls(calls, 2)


def test_two_calls_of_two_tools_are_enough() -> None:
    assert len(successful_calls(CALLS[:2], 2)) == 2
