"""What an operation of the API is: declared once, for the router, the checks and the OpenAPI document.

Rules kept here:
- an operation is a function of a checked call; it blocks, runs in a lane, and knows nothing of HTTP but a status;
- the graph that it gets is that of one namespace, which the caller may use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from cortex_graph import NamespacedGraph
    from cortex_skills.server.auth import Principal
    from cortex_skills.server.service import Service


@dataclass(frozen=True)
class Call:
    """A call of an operation, checked.

    Attributes:
        service: what answers.
        principal: who asks; None for an operation that is open to all.
        query: the parameters of the query string.
        body: the document that was sent; None for an operation that takes none.
        path: the parameters of the path.

    """

    service: Service
    principal: Principal | None
    query: dict[str, Any] = field(default_factory=dict)
    body: Any = None
    path: Mapping[str, str] = field(default_factory=dict)

    @property
    def caller(self) -> Principal:
        """Who asks."""
        if self.principal is None:
            raise RuntimeError("an open operation has no caller")
        return self.principal

    @cached_property
    def graph(self) -> NamespacedGraph:
        """The graph of the namespace that the call is about.

        Raises:
            HttpError: the caller may not use it.

        """
        return self.service.graph(self.caller.namespace(self.query.get("namespace")))


@dataclass(frozen=True, slots=True)
class Answer:
    """What an operation answers: a status, and a document if there is one."""

    status: int
    document: Any = None


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation.

    Attributes:
        method: of HTTP.
        path: with its parameters in braces.
        name: the `operationId`.
        summary: one line.
        run: what it does.
        answers: the shape of the answer by status; None for an answer without a document.
        permission: what the caller must have; None when it is open to all.
        query: the shape of the query string.
        body: the shape of the body.
        errors: the codes of its own errors, beside those of every operation.
        lane: where it runs; what may take long is `slow`.
        description: more than one line.

    """

    method: Literal["GET", "POST", "DELETE"]
    path: str
    name: str
    summary: str
    run: Callable[[Call], Answer]
    answers: Mapping[int, str | None]
    permission: str | None = "read"
    query: str | None = None
    body: str | None = None
    errors: tuple[str, ...] = ()
    lane: Literal["quick", "slow", "health"] = "quick"
    description: str = ""
