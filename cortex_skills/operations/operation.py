"""What an operation is: declared once, in a table, for every interface.

    @operation("registry.promote", effect="changes", permission="registry", object_="skill", state=standing_of)
    def promote(call: OperationCall, given: PromoteSkill) -> SkillRecord:
        ...

    run(promote, caller, {"skill": "fetch-data"}, host)         # `run.py`

Rules kept here:
- the arguments are a frozen dataclass, whose types are also their checks; the checks are made when they are first used;
- what changes anything names its object, and how the state of the object is read: the audit has both. What only reads
  has no record, unless it is declared with one (`recorded`);
- no name is declared twice.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar, cast, get_type_hints, runtime_checkable

from cortex_skills.audit.bounded import Fact
from cortex_skills.errors import CortexError
from cortex_skills.feature import features, imported
from cortex_skills.operations.caller import Caller
from cortex_skills.operations.json_schemas import schema_of

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from cortex_graph.store_access.read_ahead import Ahead
    from cortex_skills.cancellation import CancelToken
    from cortex_skills.enrichment.policy import Policy
    from cortex_skills.host import Host

G = TypeVar("G")
R = TypeVar("R")
P = TypeVar("P")
Effect = Literal["changes", "reads"]
ObjectState = tuple[str, str]
_MAX_PROBLEMS = 20
_OF_THE_CORE = (
    "cortex_skills.operations.trust_operations",
    "cortex_skills.operations.secret_operations",
    "cortex_skills.operations.namespace_operations",
    "cortex_skills.operations.sandbox_operations",
    "cortex_skills.operations.token_operations",
    "cortex_skills.operations.host_operations",
    "cortex_skills.operations.key_operations",
    "cortex_skills.lifecycle.grant_operations",
)


@dataclass(slots=True)
class OperationCall:
    """One run of an operation.

    Attributes:
        caller: runs it.
        host: of the namespace that it concerns; `part` is what a feature keeps for it.
        about: its object, for the audit; an operation that names it itself, such as learning, corrects it.
        before: the state of the object before; one that names its object itself, and changes it, reads it again.
        after: the state of the object after, where the operation knows it from its write; else it is read.
        facts: what the record states beside: ids and digests that this program made, never what was given to it.
        data: what the record keeps of what was given, redacted.
        cancel: ends one that reads early.
    """

    caller: Caller
    host: Host
    about: str = ""
    before: ObjectState | None = None
    after: ObjectState | None = None
    facts: dict[str, Fact] = field(default_factory=dict)
    data: dict[str, str] = field(default_factory=dict)
    cancel: CancelToken | None = None

    def part(self, kind: Callable[[Host], P]) -> P:
        """What a feature keeps for the host; see `Host.part`."""
        return self.host.part(kind)


@runtime_checkable
class View(Protocol):
    """An answer that is shown in several forms."""

    def text(self, policy: Policy | None = ..., /) -> str:
        """The answer for a model; for a person without a policy: nothing is withheld, and nothing cut."""

    def document(self) -> Any:
        """The answer for a program; its type is that of the answer in JSON."""


@dataclass(frozen=True)
class Operation(Generic[G, R]):
    """One thing that a caller can do.

    Attributes:
        name: `SUBJECT.VERB`, which is also the name of its audit records.
        effect: whether it changes anything.
        permission: of a token; None when every caller may.
        run: performs it, for a caller with the permission.
        object_: the attribute of its arguments that names what it changes; empty for one that only reads.
        state: the name that opens that object, and its state in words; None when there is no such object.
        per_minute: how often a caller may run it; 0 for any number. The owner is not limited.
        ahead: what it reads of the store, which a server is asked for in one request; None where that is not known.
        recorded: whether it has a record in the audit: every change, and what reads something that belongs to somebody.
    """

    name: str
    effect: Effect
    permission: str | None
    run: Callable[[OperationCall, G], R]
    object_: str = ""
    state: Callable[[OperationCall], ObjectState | None] = field(default=lambda _: None)
    per_minute: int = 0
    ahead: Callable[[OperationCall, Any], Iterable[Ahead]] | None = None
    recorded: bool = False

    @cached_property
    def subject(self) -> str:
        """The first part of its name."""
        return self.name.partition(".")[0]

    @property
    def summary(self) -> str:
        """What it does, in one line."""
        return inspect.cleandoc(self.run.__doc__ or "").partition("\n")[0]

    @cached_property
    def given(self) -> type[G]:
        """The type of its arguments."""
        return cast("type[G]", get_type_hints(self.run)["given"])

    @cached_property
    def answer(self) -> Any:
        """The type of its answer in JSON."""
        answer = get_type_hints(self.run, include_extras=True)["return"]
        shows = getattr(answer, "document", None)
        return get_type_hints(shows, include_extras=True)["return"] if callable(shows) else answer

    def to_json(self, answer: R) -> Any:
        """An answer as JSON."""
        if callable(shows := getattr(answer, "document", None)):
            return shows()
        return self._answers.dump_python(answer, mode="json")

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments, by their names in JSON (`wire_name`)."""
        schema = schema_of(self.given, closed=True)
        properties = {wire_name(name): member for name, member in schema["properties"].items()}
        required = [wire_name(name) for name in schema.get("required", ())]
        return {**schema, "properties": properties, **({"required": required} if required else {})}

    def by_name(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments by name, of those by their names in JSON; null is none."""
        names = self._names
        return {names.get(wire, wire): value for wire, value in given.items() if value is not None}

    @cached_property
    def _names(self) -> dict[str, str]:
        """The names of its arguments by their names in JSON."""
        return {wire_name(each.name): each.name for each in fields(self.given)}  # type: ignore[arg-type]

    @cached_property
    def _answers(self) -> TypeAdapter[R]:
        from pydantic import TypeAdapter

        return TypeAdapter(self.answer)

    @cached_property
    def _adapter(self) -> TypeAdapter[G]:
        from pydantic import ConfigDict, TypeAdapter

        setattr(self.given, "__pydantic_config__", ConfigDict(extra="forbid"))  # noqa: B010 - no attribute of the type
        return TypeAdapter(self.given)

    @cached_property
    def _validator(self) -> Any:
        return self._adapter.validator  # without what the adapter adds to each call

    def checked(self, given: Mapping[str, Any]) -> G:
        """The arguments, when they are valid.

        Raises:
            CortexError: `invalid_arguments`, naming every field that is wrong.
        """
        try:
            checked: G = self._validator.validate_python(given if type(given) is dict else dict(given))
            return checked
        except ValueError as error:
            from pydantic import ValidationError

            if not isinstance(error, ValidationError):
                raise
            found = error.errors(include_url=False, include_context=False, include_input=False)[:_MAX_PROBLEMS]
        problems = [{"field": ".".join(map(str, each["loc"])), "message": each["msg"][:300]} for each in found]
        what = "; ".join(f"{each['field']}: {each['message']}" for each in problems[:5])
        raise CortexError(
            "invalid_arguments",
            f"the arguments of {self.name} are not valid: {what}",
            hint=f"it takes {', '.join(get_type_hints(self.given)) or 'nothing'}",
            details={"errors": problems},
        )


@dataclass(frozen=True)
class Follower:
    """What a feature does after an operation, with what it reads for that; see `Feature.follows`.

    Attributes:
        run: does it.
        ahead: what it reads of the store, which is asked for with what the operation reads.
    """

    run: Callable[[OperationCall, Any], None]
    ahead: Callable[[OperationCall, Any], Iterable[Ahead]]

    def __call__(self, call: OperationCall, given: Any) -> None:
        """Do it."""
        self.run(call, given)


def wire_name(name: str) -> str:
    """The name in JSON of an attribute.

    >>> wire_name("as_of"), wire_name("class_")
    ('asOf', 'class')
    """
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(map(str.capitalize, rest))


OPERATIONS: dict[str, Operation[Any, Any]] = {}
"""The operations that are declared by now, by name."""


def all_operations() -> Mapping[str, Operation[Any, Any]]:
    """The operations of the core and of all features by name."""
    for module in _OF_THE_CORE:
        import_module(module)
    for feature in features():
        imported(feature, feature.operations)
    return dict(sorted(OPERATIONS.items()))


def operation(
    name: str,
    *,
    effect: Effect,
    permission: str | None,
    object_: str = "",
    state: Callable[[OperationCall], ObjectState | None] | None = None,
    per_minute: int = 0,
    ahead: Callable[[OperationCall, Any], Iterable[Ahead]] | None = None,
    recorded: bool = False,
) -> Callable[[Callable[[OperationCall, G], R]], Operation[G, R]]:
    """Declare a function as an operation; its docstring describes it.

    Args:
        name: `SUBJECT.VERB`.
        effect: `changes` or `reads`.
        permission: of a token; None when every caller may.
        object_: the attribute of the arguments that names what is changed.
        state: the name that opens that object, and its state in words.
        per_minute: how often a caller may run it; 0 for any number.
        ahead: what it reads of the store, which a server is asked for in one request (`read_ahead.py` of the graph).
        recorded: whether the audit has a record of one that reads; of a change it has one in any case.

    Raises:
        TypeError: it changes something, and does not name its object; or its name is taken.
    """
    if effect == "changes" and (not object_ or state is None):
        raise TypeError(f"{name} changes something: declare its object and the state of that")
    if name in OPERATIONS:
        raise TypeError(f"there is an operation {name} already")

    def declare(run: Callable[[OperationCall, G], R]) -> Operation[G, R]:
        has_record = recorded or effect == "changes"
        declared = Operation(
            name, effect, permission, run, object_, state or (lambda _: None), per_minute, ahead, has_record
        )
        OPERATIONS[name] = declared
        return declared

    return declare


class _AsIs:
    """Marks a type that checks its own values: an argument is one of them, or refused."""

    def __get_pydantic_core_schema__(self, source: Any, _: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.is_instance_schema(source)


class Described:
    """Describes an argument, in every schema and command that is made of its type.

    Args:
        description: what it means.
        keywords: further keywords of JSON Schema, which a type has no words for.
    """

    def __init__(self, description: str, **keywords: Any) -> None:
        self.description = description
        self._keywords = keywords

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        """Return the schema of the type with its description."""
        return {**handler(core), "description": self.description, **self._keywords}


AS_IS = _AsIs()
