"""What an operation of the REST API is: declared once, for the routes, the checks and the OpenAPI document.

Rules kept here:
- an operation is a function of a checked call; it blocks, runs in a worker pool, and knows no HTTP but a status;
- its graph, or registry, is that of one namespace, which the caller may use; or the memories of one agent in it, for
  a caller with the permission `memories`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, get_type_hints

from pydantic.alias_generators import to_camel

from cortex_graph.as_of import as_of
from cortex_graph.exceptions import invalid
from cortex_graph.namespace.agent_graph import AgentGraph
from cortex_skills.doors.http.auth import Principal
from cortex_skills.doors.http.sandboxes import Sandboxes
from cortex_skills.doors.rest.schemas import check
from cortex_skills.doors.rest.wire_arguments import WireArguments
from cortex_skills.operations.caller import Caller, holder_permissions
from cortex_skills.operations.operation import G, Operation, P, R
from cortex_skills.operations.run import run

if TYPE_CHECKING:
    from cortex_graph import NamespacedGraph
    from cortex_skills.cancellation import CancelGroup, CancelToken
    from cortex_skills.doors.http.store_health import StoreHealth
    from cortex_skills.host import Host
    from cortex_skills.plugin import Plugin


class OperationService(Protocol):
    """What operations use of the server; `service.Service` implements it."""

    plugin: Plugin
    sandboxes: Sandboxes
    store_health: StoreHealth
    started: float
    calls: CancelGroup

    def graph(self, namespace: str) -> NamespacedGraph:
        """The graph of a namespace."""

    def host(self, namespace: str) -> Host:
        """What operations use of a namespace."""

    def under_way(self) -> int:
        """How many calls run or wait."""


@dataclass(frozen=True)
class ApiCall:
    """A checked call of an operation.

    Attributes:
        service: the server.
        principal: the caller; None for an operation without a permission.
        query: the parameters of the query string.
        body: the document that was sent; None for an operation without one.
        path: the parameters of the path.
        door: whether it is a request of a program, an update by the SPARQL protocol, or an action on a page.
        cancel: ends an operation that reads early.
    """

    service: OperationService
    principal: Principal | None
    query: dict[str, Any] = field(default_factory=dict)
    body: Any = None
    path: Mapping[str, str] = field(default_factory=dict)
    door: Literal["rest", "page", "sparql"] = "rest"
    cancel: CancelToken | None = None

    @property
    def caller(self) -> Principal:
        """The caller of an operation that needs a permission."""
        if self.principal is None:
            raise RuntimeError("an operation without a permission has no caller")
        return self.principal

    def operate(self, operation: Operation[G, R], **given: Any) -> R:
        """Run an operation in the namespace of the call.

        Raises:
            HttpError: the caller may not use the namespace.
            CortexError: that of the operation.
        """
        holder, host = self.caller, self.host
        permissions = holder_permissions(holder.permissions)
        asking = Caller(
            holder.name,
            holder.holder,
            self.door,
            permissions,
            namespace=host.graph.namespace,
            acts_for_all=holder.is_host,
            person=holder.person,
            is_anonymous=not holder.has_token,
        )
        return run(operation, asking, given, host, self.cancel)

    @property
    def host(self) -> Host:
        """What operations use of the namespace of the call.

        Raises:
            HttpError: the caller may not use the namespace.
        """
        return self.service.host(self.caller.namespace(self.query.get("namespace")))

    def part(self, kind: Callable[[Host], P]) -> P:
        """What a feature keeps for the namespace of the call; see `Host.part`.

        Raises:
            HttpError: the caller may not use the namespace.
        """
        return self.host.part(kind)

    @property
    def graph(self) -> NamespacedGraph:
        """The graph of the namespace of the call, or the memories in it of the agent that the call names.

        As of a moment, if the call names one (`asOf`).

        Raises:
            HttpError: the caller may not use it.
        """
        graph = self.service.graph(self.caller.namespace(self.query.get("namespace")))
        agent, moment, undated = (self.query.get(key) for key in ("memoriesOf", "asOf", "undated"))
        if moment is not None and agent is None:
            return as_of(graph, moment, undated or "include")
        if moment is not None or undated is not None:
            raise invalid("asOf" if moment else "undated", "is for the graph of a namespace as of a moment")
        if agent is None:
            return graph
        self.caller.require("memories")
        return AgentGraph(graph, agent)


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """The status of an answer, and its document if there is one."""

    status: int
    document: Any = None


@dataclass(frozen=True, slots=True)
class ApiOperation:
    """One operation.

    Attributes:
        method: the HTTP method.
        path: with its parameters in braces.
        name: the `operationId`.
        summary: one line.
        description: more lines.
        run: the function.
        answers: the model of the answer by status; None for an answer without a document.
        permission: the permission that the caller needs; None if none is needed.
        instead: a permission that suffices in its place; what the caller gets follows from those that it has.
        query: the model of the query string.
        body: the model of the body.
        needs_body: whether a request without a body is refused.
        errors: the codes of its errors, beside those that every operation has.
        pool: the worker pool; `slow` for what may take long.
        path_types: the types of parameters of the path that only this operation has.
    """

    method: Literal["GET", "POST", "DELETE"]
    path: str
    name: str
    summary: str
    description: str
    run: Callable[[ApiCall], ApiAnswer]
    answers: Mapping[int, Any]
    permission: str | None = "read"
    instead: str = ""
    query: Any = None
    body: Any = None
    needs_body: bool = True
    errors: tuple[str, ...] = ()
    pool: Literal["quick", "slow", "health"] = "quick"
    path_types: Mapping[str, Any] = field(default_factory=dict)


F = TypeVar("F", bound=Callable[..., Any])


def _returned(run: Callable[..., Any]) -> Any:
    return get_type_hints(run, include_extras=True)["return"]


def _answered(run: Callable[[ApiCall], Any]) -> Callable[[ApiCall], ApiAnswer]:
    return lambda call: ApiAnswer(200, run(call))


class Operations(list[ApiOperation]):
    """The operations of a module."""

    def add(
        self,
        method: Literal["GET", "POST", "DELETE"],
        path: str,
        answers: Mapping[int, Any] | None = None,
        **settings: Any,
    ) -> Callable[[F], F]:
        """Declare a function as an operation; its name and its docstring name and describe the operation.

        Args:
            method: the HTTP method.
            path: with its parameters in braces.
            answers: the model of the answer by status, of a function that returns an `ApiAnswer`; None for an answer
                without a document. By default the function returns a document, whose type is its annotation.
            settings: the other attributes of `ApiOperation`.
        """

        def declare(run: F) -> F:
            summary, _, more = inspect.cleandoc(run.__doc__ or "").partition("\n\n")
            name = re.sub("_(.)", lambda found: found[1].upper(), run.__name__)
            given = {"description": " ".join(more.split()), **settings}
            models, perform = (answers, run) if answers else ({200: _returned(run)}, _answered(run))
            self.append(ApiOperation(method, path, name, summary, run=perform, answers=models, **given))
            return run

        return declare

    def serve(
        self,
        method: Literal["GET", "POST", "DELETE"],
        path: str,
        operation: Operation[Any, R],
        *,
        name: str = "",
        names: Mapping[str, str] | None = None,
        given: Mapping[str, Any] | None = None,
        show: Callable[[ApiCall, R], Any] | None = None,
        path_types: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        """Offer an operation as it is: its docstring, its arguments and its answer are those of the endpoint.

        Arguments that the path names are there; the others are members of the body of a `POST`, or parameters of the
        query string, in camel case.

        Args:
            method: the HTTP method.
            path: with its parameters in braces.
            operation: of any feature.
            name: the `operationId`; by default that of the operation.
            names: the names of arguments in requests that have others than those in camel case.
            given: arguments that a request may leave out, although the operation needs them.
            show: makes the document of the answer, whose type is its annotation; by default that of the operation.
            path_types: the types in the OpenAPI of parameters of the path, where the operation takes more: what is of
                none of these types is not found.
            settings: other attributes of `ApiOperation`, such as `errors` and `pool`.
        """
        wire = WireArguments(operation, path, names or {}, given or {}, from_query=method != "POST")

        def perform(call: ApiCall) -> ApiAnswer:
            path_values = {name: check(model, call.path[name]) for name, model in wire.path_types.items()}
            answer = call.operate(operation, **wire.given({**call.query, **(call.body or {}), **path_values}))
            return ApiAnswer(200, operation.to_json(answer) if show is None else show(call, answer))

        summary, _, more = inspect.cleandoc(operation.run.__doc__ or "").partition("\n\n")
        self.append(
            ApiOperation(
                method,
                path,
                name or to_camel(operation.name.replace(".", "_")),
                summary,
                " ".join(more.split()),
                perform,
                {200: operation.answer if show is None else _returned(show)},
                operation.permission,
                query=wire.query,
                body=wire.body,
                path_types={**wire.path_types, **(path_types or {})},
                **settings,
            )
        )
