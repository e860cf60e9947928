"""Skills that are made of reflections and composed with them: the cases of ai-memory's tests, through the gate."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cortex_graph import NamespacedGraph
from cortex_skills import Plugin, Result
from cortex_skills.features.memory.memories import Memories
from cortex_skills.features.memory.requests import new_memory
from tests.interchange.ai_memory import original
from tests.interchange.ai_memory.tool_calls import OTHER, call, done, register
from tests.registry.records import own_records

WINNING = " ".join(["Winning content."] * 20)


def observe(plugin: Plugin, said: str) -> str:
    result = plugin.call("skill_memory_remember", {"text": said})
    return str(done(result)["id"])


def reflect(plugin: Plugin, said: str, *sources: str) -> str:
    return str(done(plugin.call("skill_memory_reflect", {"text": said, "reflects_on": list(sources)}))["id"])


def promote(plugin: Plugin, reflection: str, **more: Any) -> Result:
    given = {"reflection_id": reflection, "skill_name": "pattern-x", "skill_description": "A pattern.", **more}
    return call(plugin, "promote_from_reflection", **given)


def test_a_reflection_on_three_memories_becomes_a_skill_with_three_files(
    plugin: Plugin, folders: tuple[Path, Path, str]
) -> None:
    sources = [observe(plugin, f"body {number}") for number in range(3)]
    reflection = reflect(plugin, "Pattern X.", *sources)
    made = done(promote(plugin, reflection))
    assert (made["promoted"], made["sources_attached"], made["original_reflection_depth"]) == (True, 3, 1)
    assert (made["derived_from_reflection_id"], made["name"]) == (reflection, "pattern-x")
    shown = done(call(plugin, "get", skill_id=made["skill_id"]))
    assert [each["path"] for each in shown["resources"]] == [f"references/source_{place}.md" for place in range(3)]
    assert shown["metadata"]["derived_from_reflection_id"] == reflection
    out = done(call(plugin, "export", skill_id=made["skill_id"], target_folder=folders[2], form="ai-memory"))
    found = original.read_folder(folders[1] / out["folder"])
    assert sorted(found.resources) == [f"references/source_{place}.md" for place in range(3)]
    assert found.metadata["derived_from_reflection_id"] == reflection
    assert found.digest == plugin.registry.version(made["skill_id"]).compat_digest


def test_the_parameters_of_a_skill_are_in_its_body(plugin: Plugin) -> None:
    schema = {"type": "object", "properties": {"input_x": {"type": "string", "description": "```\n# x"}}}
    made = done(promote(plugin, reflect(plugin, "Pattern.", observe(plugin, "a")), parameters_schema=schema))
    body = done(call(plugin, "get", skill_id=made["skill_id"]))["body"]
    _, _, parameters = body.partition("\n## Parameters\n\n```json\n")
    assert json.loads(parameters.removesuffix("\n```\n")) == schema


@pytest.mark.parametrize(
    "schema",
    [
        *({"type": "objekt"}, {"properties": []}, {"$ref": 5}, {"required": "a"}, {"minimum": "1"}),
        *("object", ["object"], 5),
    ],
)
def test_parameters_that_are_no_schema_are_refused(plugin: Plugin, schema: Any) -> None:
    reflection = reflect(plugin, "Pattern.", observe(plugin, "a"))
    assert promote(plugin, reflection, parameters_schema=schema).code == "invalid_arguments"
    assert own_records(plugin.registry) == []


def test_parameters_of_another_dialect_are_not_looked_up(plugin: Plugin) -> None:
    schema = {"$schema": "http://127.0.0.1:9/schema", "$ref": "http://127.0.0.1:9/other", "type": "object"}
    assert not promote(plugin, reflect(plugin, "P.", observe(plugin, "a")), parameters_schema=schema).is_error


def test_an_observation_is_not_promoted(plugin: Plugin) -> None:
    assert promote(plugin, observe(plugin, "raw content")).code == "state_conflict"


@pytest.mark.parametrize("left_out", ["reflection_id", "skill_name", "skill_description"])
def test_the_parameters_of_a_promotion_are_needed(plugin: Plugin, left_out: str) -> None:
    given = {"reflection_id": "0" * 32, "skill_name": "x", "skill_description": "d"}
    del given[left_out]
    assert call(plugin, "promote_from_reflection", **given).code == "invalid_arguments"


def test_a_bad_name_and_an_unknown_reflection_are_refused(plugin: Plugin) -> None:
    reflection = reflect(plugin, "Pattern.", observe(plugin, "a"))
    assert promote(plugin, reflection, skill_name="BadName").code == "manifest_invalid"
    assert promote(plugin, "0" * 32).code == "skill_not_found"


def test_refused_a_promotion_to_a_name_that_is_taken(plugin: Plugin) -> None:
    reflection = reflect(plugin, "Pattern.", observe(plugin, "a"))
    done(promote(plugin, reflection))
    assert promote(plugin, reflection).code == "skill_exists"


# --- composition


def others(plugin: Plugin, namespace: str = OTHER, clock: datetime | None = None) -> Memories:
    graph = NamespacedGraph(plugin.graph.store, namespace, base=plugin.graph.names.base)
    return Memories(graph) if clock is None else Memories(graph, lambda: clock)


def seeded(plugin: Plugin, said: str, depth: int = 1, namespace: str = OTHER, days: float = 0, uses: int = 0) -> str:
    """A reflection of a depth in a namespace, of an age, that was recalled so often."""
    memories = others(plugin, namespace, datetime.now(UTC) - timedelta(days=days))
    identifier, _ = memories.remember(new_memory(f"Seen: {said}"), agent="a1")
    for level in range(1, depth + 1):
        new = new_memory(said if level == depth else f"{said} {level}")
        reflection, _ = memories.reflect(new, [identifier], agent="a1")
        identifier = reflection.id
    for _ in range(uses):
        found = [each for each in memories.reflections("a1", namespace) if each.id == identifier]
        memories.used(found, agent="a1")
    return identifier


def compose(plugin: Plugin, declared: str, **more: Any) -> dict[str, Any]:
    made = register(plugin, name="composer", more=f"composes_with_reflections: {declared}\n")
    return done(call(plugin, "compositional_context", skill_id=made["id"], **more))


def said(found: dict[str, Any]) -> list[str]:
    return [each["content"] for each in found["reflections"]]


def test_a_skill_without_a_declaration_is_its_body(plugin: Plugin) -> None:
    made = register(plugin, body="# Legacy\n")
    found = done(call(plugin, "compositional_context", skill_id=made["id"]))
    assert (found["skill_id"], found["body"].strip(), found["reflections"], found["compositional_namespaces"]) == (
        *(made["id"], "# Legacy", [], []),
    )


def test_reflections_are_ranked_by_recency_and_recalls(plugin: Plugin) -> None:
    layout = [("recent-hot", 0, 50), ("recent-cold", 0, 0), ("old-hot", 30, 50), ("medium", 7, 10), ("ancient", 300, 0)]
    for name, days, uses in layout:
        seeded(plugin, name, days=days, uses=uses)
    found = compose(plugin, f"[{{namespace: {OTHER}, min_depth: 1}}]", budget_tokens=32_000)
    assert said(found) == ["recent-hot", "old-hot", "medium", "recent-cold", "ancient"]
    scores = [each["score"] for each in found["reflections"]]
    assert scores == sorted(scores, reverse=True)
    assert found["compositional_namespaces"] == [
        {"namespace": OTHER, "min_depth": 1, "max_reflection_depth": 3, "problem": None}
    ]


def test_what_is_shallower_than_the_least_depth_is_left_out(plugin: Plugin) -> None:
    seeded(plugin, "shallow", 1)
    seeded(plugin, "deep", 2)
    assert said(compose(plugin, f"[{{namespace: {OTHER}, min_depth: 2}}]")) == ["deep"]


def test_the_least_depth_is_0_and_takes_observations(plugin: Plugin) -> None:
    seeded(plugin, "deep", 3)
    found = compose(plugin, f"[{{namespace: {OTHER}}}]")
    assert set(said(found)) == {"Seen: deep", "deep 1", "deep 2", "deep"}
    assert sorted((each["reflection_depth"], each["memory_kind"]) for each in found["reflections"]) == [
        *((0, "observation"), (1, "reflection"), (2, "reflection"), (3, "reflection")),
    ]
    assert found["compositional_namespaces"][0]["min_depth"] == 0
    both = compose(plugin, f"[{{namespace: {OTHER}, min_depth: 1}}, {{namespace: {OTHER}}}]")
    assert sorted(said(both)) == sorted(said(found))


def test_nothing_is_deeper_than_three(plugin: Plugin) -> None:
    deepest = seeded(plugin, "at the ceiling", 3)
    reflected = plugin.call("skill_memory_reflect", {"text": "above", "reflects_on": [deepest]})
    assert reflected.is_error
    assert "at the ceiling" in said(compose(plugin, f"[{{namespace: {OTHER}, min_depth: 3}}]"))


def test_a_budget_keeps_the_best_and_counts_the_others(plugin: Plugin) -> None:
    seeded(plugin, WINNING, namespace="budget.v2", uses=50)
    seeded(plugin, "Losing content. " * 20, namespace="budget.v2")
    found = compose(plugin, "[{namespace: budget.v2, min_depth: 1}]", budget_tokens=110)
    assert (said(found), found["memories_dropped"]) == ([WINNING], 1)
    assert found["tokens_used"] <= 110


@pytest.mark.parametrize(
    ("given", "budget"), [({}, 4_000), ({"budget_tokens": 10}, 10), ({"budget_tokens": 99_999}, 32_000)]
)
def test_a_budget_has_a_default_and_a_limit(plugin: Plugin, given: dict[str, int], budget: int) -> None:
    assert compose(plugin, f"[{{namespace: {OTHER}}}]", **given)["budget_tokens"] == budget


def test_a_namespace_that_the_host_does_not_allow_is_not_read(plugin: Plugin) -> None:
    seeded(plugin, "secret", namespace="foo/decisions")
    found = compose(plugin, "[{namespace: foo/decisions}]")
    assert (found["reflections"], found["compositional_namespaces"][0]["namespace"]) == ([], "foo/decisions")
    assert "does not allow" in found["compositional_namespaces"][0]["problem"]
