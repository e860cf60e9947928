"""The tools in the formats of model providers."""

from __future__ import annotations

import json
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from cortex_skills import CortexError, Plugin
from cortex_skills.tools import own_tools
from tests.configs import config
from tests.mcp import skills

ROOT = Path(__file__).parents[2]
QUERY = own_tools()["skill_graph_query"]


@pytest.fixture
def reader(tmp_path: Path) -> Plugin:
    """A plugin with a skill that may only read."""
    folder = skills.write(tmp_path, graph="read", tools="skill_graph_query, skill_assert")
    manifest = (folder / "SKILL.md").read_text().replace("  assertions: [{predicate: hasStatus}]\n", "")
    (folder / "SKILL.md").write_text(manifest)
    with Plugin.open(config()) as plugin:
        plugin.load(folder)
        yield plugin


def test_tools_that_the_active_skills_permit_are_offered_in_each_format(reader: Plugin) -> None:
    about = {"name": QUERY.name, "description": QUERY.description}
    assert reader.tools(format="openai") == [
        {"type": "function", "function": {**about, "parameters": QUERY.input_schema}}
    ]
    assert reader.tools(format="anthropic") == [{**about, "input_schema": QUERY.input_schema}]
    (tool,) = reader.tools(format="mcp")
    assert {**about, "inputSchema": QUERY.input_schema, "outputSchema": QUERY.output_schema}.items() <= tool.items()
    assert tool["annotations"]["readOnlyHint"] is True


def test_the_mcp_sdk_accepts_the_format(reader: Plugin) -> None:
    from mcp_types import Tool

    (given,) = reader.tools(format="mcp")
    assert Tool.model_validate(given).model_dump(by_alias=True, exclude_unset=True) == given


def test_all_formats_are_json(reader: Plugin) -> None:
    for form in ("mcp", "openai", "anthropic"):
        assert json.loads(json.dumps(reader.tools(format=form))) == reader.tools(format=form)


def test_without_a_skill_nothing_is_offered() -> None:
    with Plugin.open(config()) as plugin:
        assert plugin.tools(format="mcp") == []
        assert [tool["name"] for tool in plugin.tools()] == [
            t.name for t in own_tools().values() if t.profile == "core"
        ]


def test_an_unknown_format_is_refused_with_the_nearest(reader: Plugin) -> None:
    with pytest.raises(CortexError) as refused:
        reader.tools(format="opnai")  # type: ignore[arg-type]
    assert refused.value.code == "invalid_arguments"
    assert "openai" in refused.value.hint


def test_a_host_finds_the_plugin_by_its_entry_point() -> None:
    found = entry_points(group="cortex_skills.plugins")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {entry.name: entry.value for entry in found} == project["entry-points"]["cortex_skills.plugins"]
    assert found["semantic-skills"].load() is Plugin
    assert found["semantic-skills"].dist.name == "cortex-skills"


def test_every_schema_is_a_valid_json_schema_of_an_object() -> None:
    from jsonschema_rs import meta

    for tool in own_tools().values():
        for schema in (tool.input_schema, tool.output_schema):
            meta.validate(schema)
            assert schema.get("type") == "object" or schema == {}
        assert tool.input_schema


def test_no_offered_schema_has_a_choice_at_the_top_level() -> None:
    """OpenAI and Anthropic refuse such schemas."""
    for tool in own_tools().values():
        assert not {"oneOf", "anyOf", "allOf"} & tool.input_schema.keys()


def test_the_details_are_valid_against_the_output_schema(tmp_path: Path) -> None:
    from jsonschema_rs import Draft202012Validator

    with Plugin.open(config()) as plugin:
        plugin.load(skills.write(tmp_path))
        for value in ("approved", 3, 2.5, True, {"node": "b"}):
            result = plugin.call("skill_assert", {"subject": "a", "predicate": "hasStatus", "object": value})
            assert Draft202012Validator(own_tools()["skill_assert"].output_schema).is_valid(result.details)
        result = plugin.call("skill_graph_query", {"scope": "namespace"})
        assert len(result.details["matches"]) == 5
        assert Draft202012Validator(QUERY.output_schema).is_valid(result.details)
