"""The errors of `cortex_graph`: one class hierarchy, one stable code for each class.

Rules kept here:
- every error that `cortex_graph` raises on purpose is a `GraphError`; its `code` is one of the stable codes of the
  plugin;
- an error states what happened and to what (`message`), what to do next (`hint`), and facts for a program (`details`).
"""

from __future__ import annotations

from typing import Any, ClassVar


class GraphError(Exception):
    """An error of `cortex_graph`.

    Args:
        message: what happened, and to what.
        hint: what to do next; may be empty.
        details: JSON-ready facts for a program.
    """

    code: ClassVar[str] = "graph_unavailable"

    def __init__(self, message: str, *, hint: str = "", details: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details or {}


class InvalidArguments(GraphError):
    """An argument is invalid; `details["field"]` names it, where there is a name."""

    code = "invalid_arguments"


class RelativeIri(InvalidArguments):
    """A file has a relative IRI, and no base; `details` has line and column, where they are known."""

    code = "relative_iri"


class RemoteContext(InvalidArguments):
    """A JSON-LD file names a context that it does not contain; `details` has line and column."""

    code = "remote_context"


class NamespaceViolation(GraphError):
    """A request names data of another namespace."""

    code = "namespace_violation"


class GraphUnavailable(GraphError):
    """The store cannot be opened, reached, read or written."""

    code = "graph_unavailable"


class UnknownOutcome(GraphUnavailable):
    """A change was sent, and the answer was lost: the change was made or not."""

    code = "outcome_unknown"


class GraphCorrupt(GraphUnavailable):
    """Files of the store are damaged or missing, or acknowledged writes are; `details["file"]` names the file."""

    code = "graph_corrupt"


class GraphBusy(GraphError):
    """The store is busy with an operation for which this call would have to wait."""

    code = "graph_busy"


class QueryTimeout(GraphError):
    """A query exceeded its time limit."""

    code = "query_timeout"


class QueryLimit(GraphError):
    """A query or an update exceeds a limit: bytes of the result, memory, number of triples."""

    code = "query_limit"


class PermissionDenied(GraphError):
    """A request asks for something that is never permitted, such as a query to another server."""

    code = "permission_denied"


class StoreLocked(GraphError):
    """Another process has the data folder open."""

    code = "store_locked"


def invalid(field: str, problem: str, *, hint: str = "") -> InvalidArguments:
    """Return the error for one argument; its message is "`field` problem"."""
    return InvalidArguments(f"`{field}` {problem}", hint=hint, details={"field": field})
