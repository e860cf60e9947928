"""Types that several tools take and answer: a name, an object, a triple, what is left of a budget."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from annotated_types import Ge, Len, MaxLen
from typing_extensions import TypedDict

from cortex_skills.operations.json_schemas import schema_of
from cortex_skills.operations.operation import Described

Name = Annotated[str, Len(1, 4096)]


class NodeOrLiteral(TypedDict, total=False):
    """A node by its name, or a literal with its datatype or language."""

    node: Name
    value: str
    datatype: Name
    language: Annotated[str, MaxLen(255)]
    direction: Literal["ltr", "rtl"]


class _AsSchema:
    """Gives a value of any type the JSON Schema of another type: a tool checks it, and converts nothing."""

    def __init__(self, type_: Any) -> None:
        self._type = type_

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        """Return the schema of the type."""
        return schema_of(self._type, closed=True)


Value = Annotated[Any, _AsSchema(str | float | bool | NodeOrLiteral)]


Object = str | float | bool | dict[str, Any]
ObjectLength = Annotated[int, Described("Its characters, where `object` is its beginning.")]


class Triple(TypedDict):
    """A triple of a result; of a long object its beginning."""

    subject: str
    predicate: str
    object: Object
    objectLength: NotRequired[ObjectLength]


class BudgetLeft(TypedDict, total=False):
    """What is left of a budget."""

    of: str
    left: int
    limit: int


LowBudget = Annotated[BudgetLeft, Described("What is left of a budget, if less than a fifth.")]


class QueryCosts(TypedDict, total=False):
    """What the gate adds to the details of a query."""

    queriesUsed: Annotated[int, Ge(0)]
    budget: LowBudget
