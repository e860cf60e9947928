"""Tools that are made of operations: the arguments are those of the operation, and so is what may be done.

Rules kept here:
- the JSON Schema of the arguments comes from their types, and is made when it is first used;
- a model gets the text of the answer, a program its document.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Any

from cortex_skills.feature import named
from cortex_skills.operations.operation import Operation, View
from cortex_skills.operations.run import run
from cortex_skills.tools.base import Call, Outcome, Tool


class OperationTool(Tool):
    """A tool that reads.

    Args:
        operation: which, as `module:name`: it is imported when its schema or an answer is needed.
        name: of the tool.
        description: for a model.
        leaves_out: arguments that a model does not need, by their names in JSON.
    """

    def __init__(self, operation: str, name: str, description: str, leaves_out: Collection[str] = ()) -> None:
        def called(call: Call) -> Outcome:
            of = self._operation
            answer: View = run(of, call.asking, of.by_name(call.arguments), call.host, call.cancel)
            return Outcome(answer.text(call.host.cleaning), answer.document())

        super().__init__(name, description, {}, ("graph:read",), "query", called, output_schema={})
        object.__delattr__(self, "input_schema")  # the attribute of this class makes it
        object.__setattr__(self, "_made_of", (operation, leaves_out))

    @property
    def _operation(self) -> Operation[Any, Any]:
        where: str = self._made_of[0]  # type: ignore[attr-defined]
        found: Operation[Any, Any] = named(where)
        return found

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        schema, leaves_out = self._operation.schema, self._made_of[1]  # type: ignore[attr-defined]
        members = {name: member for name, member in schema["properties"].items() if name not in leaves_out}
        return {**schema, "properties": members}
