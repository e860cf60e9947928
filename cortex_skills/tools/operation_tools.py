"""Tools that are made of operations: the arguments are those of the operation, and so is what may be done.

Rules kept here:
- the JSON Schema of the arguments comes from their types, and is made when it is first used;
- a model gets the text of the answer, a program its document.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Any

from cortex_skills.operations.operation import Operation, View
from cortex_skills.operations.run import run
from cortex_skills.tools.base import Call, Outcome, Tool


class OperationTool(Tool):
    """A tool that reads.

    Args:
        operation: which.
        name: of the tool.
        description: for a model.
        leaves_out: arguments that a model does not need, by their names in JSON.
    """

    def __init__(
        self, operation: Operation[Any, Any], name: str, description: str, leaves_out: Collection[str] = ()
    ) -> None:
        def called(call: Call) -> Outcome:
            answer: View = run(operation, call.asking, operation.by_name(call.arguments), call.host, call.cancel)
            return Outcome(answer.text(call.host.cleaning), answer.document())

        super().__init__(name, description, {}, ("graph:read",), "query", called, output_schema={})
        object.__delattr__(self, "input_schema")  # the attribute of this class makes it
        object.__setattr__(self, "_made_of", (operation, leaves_out))

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        operation, leaves_out = self._made_of  # type: ignore[attr-defined]
        schema: dict[str, Any] = operation.schema
        members = {name: member for name, member in schema["properties"].items() if name not in leaves_out}
        return {**schema, "properties": members}
