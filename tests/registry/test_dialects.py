"""Each member of the other systems is mapped, or named as not kept; the answers have what the mappings state."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest

from cortex_skills import Plugin
from cortex_skills.features.registry.dialects import prism
from cortex_skills.features.registry.documents.document import SkillDocument, Step
from cortex_skills.features.registry.records.lifecycle import ORIGINS
from cortex_skills.features.registry.skill_changes import RegisterSkill
from cortex_skills.tools.catalog import own_tools
from tests.configs import config
from tests.server.serving import Running, served

NAME = "fetch-data"
GIVEN = {
    "name": NAME,
    "description": "Fetches data.",
    "triggerPattern": "fetch",
    "content": "Do it.\n",
    "metadata": {"a": "b"},
    "license": "MIT",
    "compatibility": "any",
    "allowedTools": ["skill_assert"],
    "dependsOn": [],
    "conflictsWith": ["other"],
    "steps": [{"action": "Ask", "tool": "skill_graph_query", "description": "first", "step": 1, "params": {"x": 1}}],
}


# The interface `Skill` of CortexPrism at 0c44657 (packages/ai/src/memory/skills.ts), by its declaration.
MEMBERS = frozenset(
    {"id", "name", "description", "trigger_pattern", "steps", "success_rate", "invocation_count", "version"}
    | {"source_session", "origin", "content", "created_at", "metadata", "lifecycle", "parent_skill_id", "trust_tier"}
    | {"utility_score", "freshness", "token_cost", "last_used_at", "last_validated_at", "deprecated_reason"}
    | {"depends_on", "conflicts_with", "embedding", "embedding_model"}
)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    root = tmp_path_factory.mktemp("dialects")
    plugin = Plugin.open(config(cortex={"tokenFile": str(root / "tokens.json")}, proofs={"keys": str(root / "keys")}))
    with served(root, plugin=plugin) as running:
        yield running


def at(answer: Any, path: str) -> Any:
    """The member of an answer at a path of names; of the first element of a list."""
    for name in path.split("."):
        answer = (answer[0] if isinstance(answer, list) else answer)[name]
    return answer


def test_each_member_that_a_skill_is_given_by_is_mapped_once() -> None:
    assert prism.DOCUMENT.keys() | prism.ARGUMENTS.keys() == prism.ProceduralSkill.__annotations__.keys()
    assert not prism.DOCUMENT.keys() & prism.ARGUMENTS.keys()
    assert set(prism.DOCUMENT.values()) <= {each.name for each in fields(SkillDocument)}
    assert prism.STEP.keys() | prism.STEP_NOT_KEPT.keys() == prism.ProcedureStep.__annotations__.keys()
    assert set(prism.STEP.values()) == {each.name for each in fields(Step)}
    known = {each.name for each in fields(RegisterSkill)} | {"skill"}
    assert set(prism.ARGUMENTS.values()) <= known
    assert {origin for origins in prism.ORIGINS.values() for origin in origins} == set(ORIGINS)
    written = own_tools()["skill_write"].input_schema["properties"]
    assert written.keys() >= {*prism.TOOL_ARGUMENTS, *prism.TOOL_ARGUMENTS.values(), *prism.NOT_FOLLOWED, prism.PARENT}


def test_what_is_given_by_the_names_of_the_original_is_the_document(running: Running) -> None:
    client = running.client(running.token("writer", permissions=("read", "write"), holder="person"))
    assert client.post("/api/skills", json=GIVEN).status_code == 200
    document = running.plugin.registry.document(running.plugin.registry.current(key(running)))
    assert document.steps == (Step("Ask", "skill_graph_query", "first", {"x": 1}),)
    for member, attribute in prism.DOCUMENT.items():
        if member != "steps":
            given = GIVEN[member]
            assert getattr(document, attribute) == (tuple(given) if isinstance(given, list) else given), member
    assert prism.document_fields({"description": "d", "name": "n"}) == {"description": "d"}
    assert prism.first_description({"body": "\n# Title\nmore"}, "n") == "Title"


def key(running: Running) -> Any:
    return next(each.key for each in running.plugin.registry.all_records() if each.key.name == NAME)


def test_each_member_of_a_skill_of_the_original_is_in_the_answer_or_not_kept(running: Running) -> None:
    client = running.client(running.token("writer", permissions=("read", "write"), holder="person"))
    assert client.post("/api/skills", json=GIVEN).status_code == 200
    detail = client.get("/api/skills/detail", params={"name": NAME}).json()
    (listed,) = (each for each in client.get("/api/skills").json() if each["name"] == NAME)
    kinds = (prism.SKILL, prism.SKILL_FROM, prism.SKILL_NOT_KEPT)
    assert sorted(member for kind in kinds for member in kind) == sorted(MEMBERS)
    for answer in (detail, listed):
        assert answer.keys() >= MEMBERS
        for member, path in prism.SKILL.items():
            assert answer[member] == at(answer, path), member
        assert [answer[member] for member in prism.SKILL_NOT_KEPT] == [None]
        assert {member: answer[member] for member in MEMBERS} | {"id": "", "created_at": ""} == {
            "id": "",
            "name": NAME,
            "description": "Fetches data.",
            "trigger_pattern": "fetch",
            "steps": json.dumps(
                [{"step": 1, "action": "Ask", "description": "first", "tool": "skill_graph_query", "params": {"x": 1}}]
            ),
            "success_rate": 0,
            "invocation_count": 0,
            "version": 1,
            "source_session": None,
            "origin": "human",
            "content": "Do it.\n",
            "created_at": "",
            "metadata": {"a": "b"},
            "lifecycle": "released",
            "parent_skill_id": None,
            "trust_tier": 3,
            "utility_score": 0,
            "freshness": 1,
            "token_cost": 0,
            "last_used_at": None,
            "last_validated_at": None,
            "deprecated_reason": None,
            "depends_on": None,
            "conflicts_with": '["other"]',
            "embedding": None,
            "embedding_model": None,
        }
