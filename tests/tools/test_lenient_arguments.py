"""`null` for what is optional, and `5.0` for an integer: for every tool and every body of the REST api()."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cortex_skills import Plugin
from cortex_skills.doors.rest.schemas import _described, check, parse_query
from cortex_skills.doors.server.app import api
from cortex_skills.errors import CortexError
from cortex_skills.features.graph.rest.triple_models import ListQuery, NewTriple, NewTriples, TriplePattern
from cortex_skills.safe_io.lenient_values import by_schema
from cortex_skills.tools import Tool, all_tools

TOOLS = [pytest.param(tool, id=name) for name, tool in all_tools().items()]


def problems(tool: Tool, arguments: dict[str, Any]) -> list[str]:
    """The fields that are refused."""
    try:
        tool.check_arguments(arguments)
    except CortexError as error:
        return [problem["field"] for problem in error.details["errors"]]
    return []


@pytest.mark.parametrize("tool", TOOLS)
def test_null_is_no_value_for_each_optional_argument_and_a_fault_for_each_required_one(tool: Tool) -> None:
    properties, required = tool.input_schema["properties"], tool.input_schema.get("required", [])
    missing = problems(tool, {})
    assert problems(tool, dict.fromkeys(name for name in properties if name not in required)) == missing
    assert set(required) <= set(problems(tool, dict.fromkeys(properties))) or not required


@pytest.mark.parametrize("tool", TOOLS)
def test_a_whole_float_is_an_integer_for_each_argument_that_is_one(tool: Tool) -> None:
    for name, rule in tool.input_schema["properties"].items():
        if rule.get("type") == "integer":
            given = by_schema({name: float(rule.get("minimum", 1))}, tool.input_schema)
            assert type(given[name]) is int
            assert name not in problems(tool, {name: float(rule.get("minimum", 1))})
            assert name in problems(tool, {name: 1.5})


def test_the_arguments_reach_the_graph_as_integers(plugin: Plugin, skill: Callable[..., Path]) -> None:
    plugin.load(skill("probe"))
    plugin.call("skill_assert", {"subject": "s", "predicate": "note", "object": 5.0, "requireProof": None})
    query = {"subject": None, "predicate": "note", "object": None, "limit": 1.0, "scope": "namespace", "cursor": None}
    found = plugin.call("skill_graph_query", query)
    assert [match["object"] for match in found.details["matches"]] == [5.0]
    assert type(found.details["matches"][0]["object"]) is float  # an object keeps what was asserted
    refused = plugin.call("skill_assert", {"subject": "s", "predicate": "note", "object": None})
    assert refused.code == "invalid_arguments"


BODIES = [operation.body for operation in api() if operation.body is not None]


def test_null_is_no_value_for_each_optional_member_of_a_body() -> None:
    assert len(BODIES) > 10
    for model in BODIES:
        schema, definitions = _described(model)
        for each in (schema, *definitions.values()):
            optional = [name for name in each.get("properties", ()) if name not in each.get("required", ())]
            kept = by_schema(dict.fromkeys(optional), each, definitions)
            assert all(by_schema({name: None}, each, definitions) for name in kept)


def test_null_is_no_value_in_the_parts_of_an_object_of_a_statement(plugin: Plugin, skill: Callable[..., Path]) -> None:
    plugin.load(skill("probe"))
    value = {"node": None, "value": "Ada", "datatype": None, "language": "en"}
    asserted = plugin.call("skill_assert", {"subject": "s", "predicate": "note", "object": value})
    assert asserted.details["object"] == {"value": "Ada", "language": "en"}
    assert check(NewTriple, {"subject": "s", "predicate": "p", "object": value})["object"] == asserted.details["object"]
    every = {"node": None, "value": "Ada", "datatype": None, "language": None, "direction": None}
    plain = plugin.call("skill_assert", {"subject": "s", "predicate": "note", "object": every})
    assert plain.details["object"] == "Ada"
    refused = plugin.call("skill_assert", {"subject": "s", "predicate": "note", "object": {"node": None}})
    assert refused.code == "invalid_arguments"


def test_a_body_and_a_query_string_take_null_and_whole_floats() -> None:
    kept = {"triples": [], "provenance": None}  # which its schema allows
    assert check(NewTriples, kept) == kept
    assert check(TriplePattern, {"limit": 5.0}) == {"limit": 5}
    assert parse_query(ListQuery, b"limit=5.0") == {"limit": 5}


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "integer"}, 5.0, "5"),
        ({"type": ["integer", "string"]}, 5.0, "5"),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, 5.0, "5"),
        ({"type": "number"}, 5.0, "5.0"),
        ({"type": "integer"}, 5.5, "5.5"),
        ({"type": "integer"}, float("inf"), "inf"),
        ({}, 5.0, "5.0"),
        ({"items": {"type": "integer"}}, [1.0, "a"], "[1, 'a']"),
        ({"properties": {"a": {"type": ["string", "null"]}}}, {"a": None}, "{'a': None}"),
        ({"properties": {"a": {"enum": ["x", None]}}}, {"a": None}, "{'a': None}"),
        ({"properties": {"a": {}}}, {"a": None}, "{'a': None}"),
        ({"properties": {"a": {"enum": ["x"]}}}, {"a": None, "b": None}, "{'b': None}"),
        ({"properties": {"a": {"$ref": "#/$defs/x"}}}, {"a": {"b": None}}, "{'a': {}}"),
        ({"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"a": None}, "{'a': None}"),
        ({"anyOf": [{"type": "string"}, {"$ref": "#/$defs/x"}]}, {"b": None, "c": None}, "{'c': None}"),
        (
            {"anyOf": [{"$ref": "#/$defs/x"}, {"properties": {"c": {"type": "string"}}}]},
            {"b": "1", "c": None},
            "{'b': '1'}",
        ),
        ({"anyOf": [{"$ref": "#/$defs/x"}, {"properties": {"b": {"type": "null"}}}]}, {"b": None}, "{'b': None}"),
    ],
)
def test_a_value_is_read_as_its_schema_means_it(schema: dict[str, Any], value: Any, expected: str) -> None:
    assert repr(by_schema(value, schema, {"x": {"properties": {"b": {"type": "string"}}}})) == expected
