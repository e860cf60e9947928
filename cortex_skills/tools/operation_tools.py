"""Tools that are made of operations: the arguments are those of the operation, and so is what may be done.

Rules kept here:
- the JSON Schema of the arguments comes from their types, and is made when it is first used;
- a model gets the text of the answer, a program its document.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from cortex_skills.feature import named
from cortex_skills.operations.json_schemas import schema_of
from cortex_skills.operations.operation import Operation, View
from cortex_skills.tools.base import Call, Outcome, Tool


def arguments_of(operation: Operation[Any, Any], leaves_out: Collection[str]) -> dict[str, Any]:
    """The JSON Schema of the arguments of an operation, without some of them."""
    whole = operation.schema
    return {**whole, "properties": {name: of for name, of in whole["properties"].items() if name not in leaves_out}}


def operation_tool(
    operation: str,
    name: str,
    description: str,
    leaves_out: Collection[str] = (),
    *,
    has_details: bool = False,
    **settings: Any,
) -> Tool:
    """A tool that reads.

    Args:
        operation: which, as `module:name`: it is imported when its schema or an answer is needed.
        name: of the tool.
        description: for a model.
        leaves_out: arguments that a model does not need, by their names in JSON.
        has_details: whether the details of its result are described; else the text has all of them.
        settings: other attributes of `Tool`; by default those of a tool that reads the graph.
    """

    def called(call: Call) -> Outcome:
        of: Operation[Any, Any] = named(operation)
        answer: View = call.operate(of, of.by_name(call.arguments))
        return Outcome(answer.text(call.host.cleaning), answer.document())

    return Tool(
        name,
        description,
        input_schema=lambda: arguments_of(named(operation), leaves_out),
        run=called,
        output_schema=(lambda: schema_of(named(operation).answer)) if has_details else {},
        details=lambda: named(operation).answer,
        **{"permissions": ("graph:read",), "budget": "query", **settings},
    )
