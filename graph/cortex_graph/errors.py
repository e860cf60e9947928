"""The errors of the graph floor: one tree, one stable code each.

Rules kept here:
- every error that leaves `cortex_graph` on purpose is a `GraphError`; its `code` is one of the plugin's stable codes;
- it says what happened and to what (`message`), what to do next (`hint`), and the facts for a program (`details`).
"""

from __future__ import annotations

from typing import Any, ClassVar


class GraphError(Exception):
    """What went wrong in the graph floor.

    Args:
        message: what happened, and to what.
        hint: what to do next; empty when there is nothing to say.
        details: JSON-ready facts for a program.

    """

    code: ClassVar[str] = "graph_unavailable"

    def __init__(self, message: str, *, hint: str = "", details: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details or {}


class InvalidArguments(GraphError):
    """Something that was passed in is not what it must be; `details["field"]` names it where there is one."""

    code = "invalid_arguments"


class NamespaceViolation(GraphError):
    """Somebody reached for what belongs to another namespace."""

    code = "namespace_violation"


class GraphUnavailable(GraphError):
    """The store cannot be opened, reached, read or written."""

    code = "graph_unavailable"


class GraphBusy(GraphError):
    """The store is at work on something that this call would have to wait for."""

    code = "graph_busy"


class QueryTimeout(GraphError):
    """A query ran out of its time."""

    code = "query_timeout"


class QueryLimit(GraphError):
    """A query or an update would take more than it may: bytes of an answer, memory, triples."""

    code = "query_limit"


class PermissionDenied(GraphError):
    """Somebody asked for what nobody may do here, such as asking another server."""

    code = "permission_denied"


class StoreLocked(GraphError):
    """The data folder is open in another process."""

    code = "store_locked"


def invalid(field: str, problem: str, *, hint: str = "") -> InvalidArguments:
    """The error for one bad argument: "`field` problem"."""
    return InvalidArguments(f"`{field}` {problem}", hint=hint, details={"field": field})
