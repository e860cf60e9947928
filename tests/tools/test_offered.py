"""The tools in the formats of model providers."""

from __future__ import annotations

import json
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from cortex_skills import CortexError, Plugin
from cortex_skills.skill_folder.builtin import NOTEBOOK, builtin_skill
from cortex_skills.tools import own_tools
from cortex_skills.tools.offered import listed_input, listed_output
from tests.configs import config
from tests.mcp import skills
from tests.plugin.skills import write_skill

ROOT = Path(__file__).parents[2]
QUERY = own_tools()["skill_graph_query"]
GIVEN = listed_input(QUERY)


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
    assert reader.tools(format="openai") == [{"type": "function", "function": {**about, "parameters": GIVEN}}]
    assert reader.tools(format="anthropic") == [{**about, "input_schema": GIVEN}]
    (tool,) = reader.tools(format="mcp")
    assert {**about, "inputSchema": GIVEN, "outputSchema": listed_output(QUERY)}.items() <= tool.items()
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


def tokens_of_list(plugin: Plugin) -> int:
    """What a model is given of each tool, in tokens of about four characters."""
    given = ("name", "description", "input_schema")
    return sum(len(json.dumps({name: tool[name] for name in given})) for tool in plugin.tools("anthropic")) // 4


def test_the_tools_of_the_default_profile_take_few_tokens_and_say_what_their_answers_have() -> None:
    with Plugin.open(config()) as plugin:
        plugin.load(builtin_skill(NOTEBOOK))
        assert tokens_of_list(plugin) <= 2_000
        names = [tool["name"] for tool in plugin.tools("mcp")]
        assert {"graph_overview", "graph_find", "graph_describe", "graph_sparql", "skill_assert"} < set(names)
        answers = {tool["name"]: tool.get("outputSchema") for tool in plugin.tools("mcp")}
    match = answers["skill_graph_query"]["properties"]["matches"]["items"]["properties"]
    assert match.keys() == {"subject", "predicate", "object", "id", "objectLength", "proved"}
    assert answers["graph_sparql"] is None


def test_a_listed_schema_has_the_members_and_meanings_of_the_checked_one() -> None:
    for tool in own_tools().values():
        listed = listed_input(tool)
        assert listed["properties"].keys() == tool.input_schema["properties"].keys()
        for name, member in listed["properties"].items():
            assert member.get("description") == tool.input_schema["properties"][name].get("description")
        assert listed.get("required") == tool.input_schema.get("required")


PROOFS = {"skill_verify_assertion", "skill_request_zk_proof", "skill_verify_zk_proof"}


@pytest.mark.parametrize(
    ("profiles", "proofs", "offered"),
    [(["core"], [], False), (["core"], ["request", "verify"], True), (["core", "proofs"], ["request", "verify"], True)],
)
def test_the_tools_of_proofs_are_offered_where_a_skill_of_the_user_works_with_proofs(
    tmp_path: Path, profiles: list[str], proofs: list[str], offered: bool
) -> None:
    folder = write_skill(tmp_path / "prover", permissions={"graph": ["read"], "proofs": proofs}, assertions=[])
    with Plugin.open(config(tools={"profiles": profiles})) as plugin:
        plugin.load(builtin_skill(NOTEBOOK))
        assert ({tool["name"] for tool in plugin.tools("mcp")} > PROOFS) == ("proofs" in profiles)
        plugin.load(folder)
        assert ({tool["name"] for tool in plugin.tools("mcp")} > PROOFS) == offered
        assert plugin.call("skill_verify_assertion", {"subject": "a", "predicate": "p"}, skill="notebook").code is None
