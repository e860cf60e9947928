"""What a program gets from the plugin: skills by name, calls that can be awaited, results that show themselves."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import get_args, get_overloads, get_type_hints

import pytest
from jsonschema_rs import Draft202012Validator

from cortex_skills import Config, CortexError, Plugin, Result
from cortex_skills.cancellation import CancelToken
from cortex_skills.features.typed_calls import TypedCalls
from cortex_skills.operations.json_schemas import schema_of
from cortex_skills.skill_folder.builtin import builtin_skill, named_folder

OVERLOADS = get_overloads(TypedCalls.call)


def asserted(plugin: Plugin, value: object) -> Result:
    return plugin.call("skill_assert", {"subject": "ada", "predicate": "knows", "object": value})


def test_a_skill_of_the_package_is_loaded_by_its_name_unless_a_folder_has_it(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Plugin.open(Config()) as plugin:
        assert plugin.load("notebook") == ["notebook"]
    assert named_folder("notebook") == builtin_skill("notebook")
    for name in ("nobody", "../notebook", "./notebook", "", "."):
        assert named_folder(name) == Path(name)
    (tmp_path / "notebook").mkdir()
    assert named_folder("notebook") == Path("notebook")


def test_a_call_is_awaited_in_a_session_of_its_own_and_can_be_cancelled() -> None:
    async def use() -> None:
        async with Plugin.open(Config()) as plugin:
            plugin.load("notebook")
            given = {"subject": "ada", "predicate": "knows", "object": "bob"}
            assert not (await plugin.acall("skill_assert", given, session="s")).is_error
            asked = plugin.recent_calls.page().calls[0].record.session
            assert asked not in (None, plugin.session)
            cancel = CancelToken()
            cancel.cancel()
            assert (await plugin.acall("skill_graph_query", {"subject": "ada"}, cancel=cancel)).code == "cancelled"
        assert plugin.call("skill_graph_query", {"subject": "ada"}).is_error

    asyncio.run(use())


def test_the_matches_of_a_query_are_a_table_whose_values_are_escaped() -> None:
    with Plugin.open(Config()) as plugin:
        plugin.load("notebook")
        asserted(plugin, "<script>\u202e")
        found = plugin.call("skill_graph_query", {"subject": "ada"})
        shown = found._repr_html_()
        assert "<th>subject</th>" in shown
        assert "&lt;script&gt;" in shown
        assert "<script" not in shown
        assert "\u202e" not in shown
        refused = plugin.call("skill_graph_query", {"subject": 1})
        assert refused._repr_html_().startswith("<pre>")
        with pytest.raises(CortexError, match="no result of a query"):
            asserted(plugin, 1).to_dataframe()


def test_the_matches_of_a_query_are_a_data_frame_where_pandas_is() -> None:
    pytest.importorskip("pandas")
    with Plugin.open(Config()) as plugin:
        plugin.load("notebook")
        for value in (1, 2):
            asserted(plugin, value)
        frame = plugin.call("skill_graph_query", {"subject": "ada"}).to_dataframe()
        assert sorted(frame["object"]) == [1, 2]


def test_what_features_add_is_among_the_names_of_a_plugin() -> None:
    with Plugin.open(Config()) as plugin:
        assert {"acall", "approvals", "load"} <= set(dir(plugin))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("skill_assert", {"subject": "ada", "predicate": "likes", "object": "tea"}),
        ("skill_graph_query", {"subject": "ada"}),
        ("skill_memory_remember", {"text": "Ada moved to Oslo"}),
        ("skill_memory_context", {"query": "Oslo"}),
        ("graph_overview", {}),
        ("graph_find", {"text": "ada"}),
        ("graph_describe", {"name": "ada"}),
        ("graph_sparql", {"query": "SELECT * { ?s ?p ?o }"}),
    ],
)
def test_the_details_of_a_result_have_the_members_of_their_type_and_no_others(tool: str, arguments: dict) -> None:
    with Plugin.open(Config()) as plugin:
        plugin.load("notebook")
        asserted(plugin, "bob")
        plugin.call("skill_memory_remember", {"text": "Ada lives in Oslo"})
        result = plugin.call(tool, arguments)
    assert not result.is_error, result.text
    types = {get_args(of["tool"])[0]: get_args(of["return"])[0] for of in map(get_type_hints, OVERLOADS[:-1])}
    schema = schema_of(types[tool], closed=True)
    assert schema["properties"]
    assert [error.message for error in Draft202012Validator(schema).iter_errors(result.details)] == []
