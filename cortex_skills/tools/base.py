"""What a tool is, and what it receives.

Rules kept here:
- a tool holds no policy: the gate has checked a call before the tool runs;
- it uses the `Host` (the namespaced graph, the memories, the settings) and the acting skill, and nothing else;
- it returns an `Outcome`, whose text is without the enrichment: the gate cleans and appends that;
- input schemas are strict about structure, and lenient about `null` and `5.0` (`by_schema`); what a name means is
  checked by the graph, whose errors are clearer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from cortex_graph import GraphError
from cortex_skills.audit.audit_log import AuditLog
from cortex_skills.audit.call_records import CallChanges
from cortex_skills.cancellation import CancelToken
from cortex_skills.errors import CortexError
from cortex_skills.host import Host
from cortex_skills.manifest import Manifest
from cortex_skills.operations.caller import Caller
from cortex_skills.operations.json_schemas import schema_of
from cortex_skills.operations.operation import G, Operation, R
from cortex_skills.operations.run import run
from cortex_skills.policy.budgets import Budgets
from cortex_skills.policy.permissions import LEARN, MANAGE
from cortex_skills.policy.session_limits import SessionLimits
from cortex_skills.runtime.host_functions import HostFunctions
from cortex_skills.runtime.skill import Skill
from cortex_skills.safe_io.lenient_values import by_schema
from cortex_skills.safe_io.schemas import did_you_mean, errors_of, reason_of
from cortex_skills.tokens import PERMISSIONS

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, ValidationError

    from cortex_graph.store_access.read_ahead import Ahead

# The seconds of a skill's time that an enrichment may cost.
ENRICHMENT_S = 2.0
_MAX_ERRORS = 20
_MOST_SHOWN = 80

Profile = Literal["core", "proofs", "registry", "operator"]

# Who sends the call of this context, as the interface knows them: a call may name an agent, and no caller is another.
CALLER: ContextVar[Caller | None] = ContextVar("CALLER", default=None)
_OF_REGISTRY = (LEARN, MANAGE)
_EVERY = frozenset(PERMISSIONS)


def acting_caller(skill: Manifest, agent: str, host: Host, session: str = "", also: Iterable[str] = ()) -> Caller:
    """The agent for which a skill acts in a call.

    Args:
        skill: the manifest of the acting skill.
        agent: on whose behalf.
        host: of the namespace.
        session: the key of the client's session.
        also: permissions that the skill has and its caller may lack.
    """
    sender = CALLER.get()
    given = _EVERY if sender is None else sender.permissions.difference(_OF_REGISTRY)
    granted = list(also)
    if skill.semantic is not None and skill.semantic.permissions.registry:
        granted += filter(skill.has_permission, _OF_REGISTRY)
    return Caller(
        agent if sender is None else sender.name,
        "agent",
        "python" if sender is None else sender.door,
        given.union(granted) if granted else given,
        agent,
        skill.name,
        session,
        host.graph.namespace,
        sender is not None and sender.acts_for_all,
        "" if sender is None else sender.person,
    )


def code_caller(functions: HostFunctions) -> Caller:
    """The caller of an operation that the code of a skill runs: the agent for which it acts, and no other.

    Its skill was granted what the code does, also where the agent only asked to read.
    """
    also = ("read", "write")
    caller = acting_caller(functions.manifest, functions.agent, functions.host, functions.session, also)
    return replace(caller, acts_for_all=False)


@dataclass(frozen=True, slots=True)
class Call:
    """One call that the gate permits.

    Attributes:
        skill: the acting skill.
        arguments: validated against the tool's schema.
        agent: on whose behalf.
        host: of the plugin.
        budgets: of the session of the call; None for a query of the context, which uses none.
        cancel: cancels the call early.
        active: the active skills by name.
        session: the key of the client's session; empty for the plugin's own.
        changes: collects what its tool changes, for the record of the call.
    """

    skill: Skill
    arguments: dict[str, Any]
    agent: str
    host: Host
    budgets: Budgets | None
    cancel: CancelToken | None = None
    active: Mapping[str, Skill] = field(default_factory=dict)
    session: str = ""
    changes: CallChanges = field(default_factory=CallChanges)

    def operate(self, operation: Operation[G, R], given: Mapping[str, Any] | G) -> R:
        """Run an operation for the call, whose record has what it changes.

        Raises:
            CortexError, GraphError: those of the operation.
        """
        return run(operation, self.asking, given, self.host, self.cancel, self.changes)

    @property
    def caller(self) -> str:
        """Who sends the call, as the interface knows them; the agent where the interface names it itself."""
        sender = CALLER.get()
        return self.agent if sender is None else sender.name

    @property
    def asked_by(self) -> str:
        """Who sends the call: the person whose token it has, or else the same as `caller`."""
        sender = CALLER.get()
        return self.agent if sender is None else sender.who

    @property
    def asking(self) -> Caller:
        """Who asks for the operations of the call: an agent, with the permissions of its token and of the skill."""
        return acting_caller(self.skill.manifest, self.agent, self.host, self.session)

    @property
    def enrich(self) -> bool:
        """Whether the skill's `onQuery` is called."""
        return self.budgets is not None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a tool returns, before the gate appends the cleaned enrichment.

    Attributes:
        text: for a model.
        details: for a program; JSON-ready.
        enrichment: what the skill returned for a model, not cleaned; None when there is nothing.
        spent: the units of its budget that the call used: 0 when it changed nothing, so that its slot is returned.
        proposed: actions that the skill proposed, as it wrote them.
    """

    text: str
    details: dict[str, Any]
    enrichment: Any = None
    spent: int = 1
    proposed: Sequence[Any] = ()

    def with_budget(self, low: Mapping[str, Any]) -> Outcome:
        """The outcome with what is left of a budget, `{of, left, limit}`."""
        note = f"({low['left']} of {low['limit']} {low['of']} are left in this session)"
        return replace(self, text=f"{self.text}\n{note}", details={**self.details, "budget": dict(low)})


class ToolRun(Protocol):
    """One call of a tool that takes its own steps."""

    def run(self, tool: Tool, call: Call, limits: SessionLimits | None) -> Outcome:
        """The steps between the permission and the outcome; the arguments of the call are not checked yet.

        Raises:
            CortexError: the refusal of a step.
        """

    def recorded(self, audit: AuditLog, text: str, details: Mapping[str, Any]) -> dict[str, Any]:
        """What the audit states about the call, also when it was refused: further attributes of its record.

        Args:
            audit: bounds and redacts what it keeps.
            text: what a model reads of the result.
            details: of the result. `outputs` of the attributes is an object, which the gate bounds and redacts.
        """


class ToolSteps(Protocol):
    """How a tool runs that takes its own steps in place of those of the gate."""

    @property
    def acting(self) -> Skill | None:
        """The skill as which it acts, also when a caller names another; None for that of the call."""

    def begin(self) -> ToolRun:
        """Begin a call."""


class SchemaMember:
    """A JSON Schema that a tool is made with: as it is, as a type, or as a function; made when it is first used.

    Args:
        default: makes that of a tool that is made without one; None for a schema that every tool has.
        closed: whether objects of a type have no other members.
    """

    def __init__(self, default: Callable[[], dict[str, Any]] | None = None, *, closed: bool = False) -> None:
        self._default = default
        self._closed = closed

    def __set_name__(self, owner: type, name: str) -> None:
        self._name, self._made = f"_{name}", f"_{name}_made"

    def __get__(self, tool: Tool | None, owner: type | None = None) -> Any:
        if tool is None:
            if self._default is None:
                raise AttributeError(self._name)  # which a dataclass takes as: there is no default
            return self._default
        made = tool.__dict__.get(self._made)
        if made is None:
            made = tool.__dict__[self._made] = self._schema(self.given(tool))
        return made

    def __set__(self, tool: Tool, value: Any) -> None:
        tool.__dict__[self._name] = value

    def given(self, tool: Tool) -> Any:
        """What the tool was made with."""
        return tool.__dict__[self._name]

    def _schema(self, given: Any) -> dict[str, Any]:
        if isinstance(given, dict):
            return given
        return schema_of(given, closed=self._closed) if isinstance(given, type) else given()


@dataclass(frozen=True)
class Tool:
    """A tool. Its schemas are JSON Schemas, or types: a dataclass for the arguments, a `TypedDict` for the details.

    Attributes:
        name, description: for a model.
        input_schema: JSON Schema of its arguments, with `properties`.
        permissions: what the acting skill must have been granted.
        budget: which budget a call takes a slot from; None when it takes none.
        run: performs a call.
        repeated: the outcome of a call that would change nothing, because what it asks for was done before; else None.
            It writes nothing, and uses no slot.
        rate_limited: whether a call counts in the rate window.
        read_only: whether it changes nothing.
        destructive: whether it may remove or overwrite data.
        idempotent: whether a repeated call changes nothing further.
        output_schema: JSON Schema of the details of a result that is not an error; empty when the text has all of it,
            and a model gets no details.
        open_world: whether it reaches programs or servers beyond this one.
        profile: with which profile of the configuration a model is offered it.
        steps: those that it takes in place of the steps of the gate; None for a tool that takes these.
        one_of: groups of arguments of which a call gives exactly one, and that whole. A model's host takes no choice at
            the top of a schema, so the schema does not have it.
        units: how many units of its budget a call takes.
        details: makes the type of the details, where `output_schema` is not made of it.
        ahead: what a call reads of the store, which a server is asked for in one request; what it reads beside is read
            once. None for a tool whose reads are those of one operation, or that waits for others.
    """

    name: str
    description: str
    _: KW_ONLY
    input_schema: SchemaMember = SchemaMember(closed=True)
    permissions: tuple[str, ...]
    budget: Literal["query", "assertion"] | None
    run: Callable[[Call], Outcome]
    repeated: Callable[[Call], Outcome | None] | None = None
    rate_limited: bool = True
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    output_schema: SchemaMember = SchemaMember(lambda: {"type": "object"})
    open_world: bool = False
    profile: Profile = "core"
    steps: ToolSteps | None = None
    one_of: tuple[tuple[str, ...], ...] = ()
    units: Callable[[Call], int] = lambda _: 1
    details: Callable[[], Any] | None = None
    ahead: Callable[[Call], Iterable[Ahead]] | None = None
    _validators: list[Draft202012Validator] = field(default_factory=list, repr=False, compare=False)

    @property
    def acting(self) -> Skill | None:
        """The skill as which it acts; None for that of the call."""
        return None if self.steps is None else self.steps.acting

    def reads(self, call: Call) -> list[Ahead] | None:
        """What a call reads ahead; None where that is not known. An error is raised when the tool runs."""
        if self.ahead is not None:
            with suppress(CortexError, GraphError):
                return list(self.ahead(call))
        return None

    def definition(self) -> dict[str, Any]:
        """The tool as `Plugin.tools` lists it."""
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": self.input_schema,
            "permissions": list(self.permissions),
        }

    @property
    def type_of_details(self) -> Any:
        """The type of the details that the tool returns; None where no type declares them."""
        if self.details is not None:
            return self.details()
        given = vars(Tool)["output_schema"].given(self)
        return given if isinstance(given, type) else None

    def validator(self) -> Draft202012Validator:
        """The compiled input schema."""
        if not self._validators:
            from jsonschema_rs import Draft202012Validator

            self._validators.append(Draft202012Validator(self.input_schema))
        return self._validators[0]

    def check_arguments(self, arguments: object) -> dict[str, Any]:
        """The arguments, when they are valid against the schema.

        Raises:
            CortexError: `invalid_arguments`, naming every field that is wrong.
        """
        if not isinstance(arguments, dict):
            raise self._invalid([("arguments", f"must be an object, not {type(arguments).__name__}")])
        validator = self.validator()
        try:
            given: dict[str, Any] = by_schema(arguments, self.input_schema)
            if validator.is_valid(given):
                return self._chosen(given)
            errors = errors_of(validator, given, _MAX_ERRORS)
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            raise self._invalid([("arguments", f"are not JSON: {error}")]) from None
        problems = [(".".join(map(str, e.instance_path)) or "arguments", self._reason(e)) for e in errors]
        raise self._invalid(problems, tuple(given))

    def _reason(self, error: ValidationError) -> str:
        """What is wrong with an argument; where it may have several forms, the schema describes them."""
        name = next((part for part in reversed(error.instance_path) if isinstance(part, str)), "")
        forms = self.input_schema["properties"].get(name, {}).get("description", "")
        if forms and error.schema_path[-1] == "anyOf":
            given = json.dumps(error.instance)
            given = given if len(given) <= _MOST_SHOWN else f"{given[:_MOST_SHOWN]}…"
            return f"{given} has none of the forms that are allowed: {forms}"
        return reason_of(error)

    def _chosen(self, given: dict[str, Any]) -> dict[str, Any]:
        if not self.one_of:
            return given
        groups = [group for group in self.one_of if any(name in given for name in group)]
        forms = " or ".join(", ".join(group) for group in self.one_of)
        if len(groups) > 1:
            raise self._invalid([("arguments", f"give either {forms}, not both")])
        missing = [name for group in groups for name in group if name not in given]
        if missing or not groups:
            raise self._invalid([(name, f"is missing: give {forms}") for name in missing or ("arguments",)])
        return given

    def _invalid(self, problems: list[tuple[str, str]], given: tuple[object, ...] = ()) -> CortexError:
        errors = [{"field": where, "message": what[:310]} for where, what in problems]
        first, *others = self.one_of or ((),)
        instead = [name for group in others for name in group]
        required = {*self.input_schema.get("required", ()), *first}
        known = [name for name in self.input_schema["properties"] if name not in instead]
        names = ", ".join(name if name in required else f"{name}?" for name in known) or "nothing"
        takes = f"{names}; or {', '.join(instead)}" if instead else names
        return CortexError(
            "invalid_arguments",
            f"the arguments of {self.name} are not valid: "
            + "; ".join(f"{e['field']}: {e['message']}" for e in errors[:5]),
            hint=" ".join([*self._meant(given), f"{self.name} takes {takes}"]),
            details={"errors": errors},
        )

    def _meant(self, given: tuple[object, ...]) -> list[str]:
        """The nearest argument for a misspelt name, if there is one."""
        known = self.input_schema["properties"]
        unknown = (name for name in given[:_MAX_ERRORS] if isinstance(name, str) and name not in known)
        return [near for name in unknown if (near := did_you_mean(name, known))][:1]
