"""The reason for which an argument is refused is in the message, whatever the value is."""

from __future__ import annotations

from typing import Any

import pytest

from cortex_skills.errors import CortexError
from cortex_skills.tools import Tool, all_tools

LONG = "x" * 100_000
BOUNDED = [
    pytest.param(tool, name, rule["maxLength"], id=f"{tool.name}-{name}")
    for tool in all_tools().values()
    for name, rule in tool.input_schema["properties"].items()
    if "maxLength" in rule and "pattern" not in rule
]


def message_of(tool: Tool, field: str, value: Any) -> str:
    """What is wrong with one argument, of a call with no other one."""
    with pytest.raises(CortexError) as raised:
        tool.check_arguments({field: value})
    assert len(raised.value.message) < 2_000
    (message,) = (each["message"] for each in raised.value.details["errors"] if each["field"] == field)
    assert message in raised.value.message
    return message


@pytest.mark.parametrize(("tool", "field", "most"), BOUNDED)
def test_a_text_that_is_too_long_is_refused_with_the_limit(tool: Tool, field: str, most: int) -> None:
    assert message_of(tool, field, LONG).endswith(f"is longer than {most} characters")


def test_the_other_reasons_are_behind_a_long_value_too() -> None:
    query = all_tools()["skill_graph_query"]
    assert message_of(query, "scope", LONG).endswith('is not one of "agent", "namespace" or "global"')
    assert message_of(query, "limit", LONG).endswith('is not of type "integer"')
    assert "is greater than the maximum of " in message_of(query, "limit", 10**300)


@pytest.mark.parametrize("value", [{"lang": "en", "value": "x"}, [1], {"lang": LONG}])
def test_an_object_in_another_form_is_refused_with_the_forms(value: Any) -> None:
    tool = all_tools()["skill_assert"]
    forms = tool.input_schema["properties"]["object"]["description"]
    assert message_of(tool, "object", value).endswith(f"has none of the forms that are allowed: {forms}")
    with pytest.raises(CortexError, match=r"statements\.0\.object: .*none of the forms that are allowed: A value"):
        tool.check_arguments({"statements": [{"subject": "a", "predicate": "p", "object": value}]})
