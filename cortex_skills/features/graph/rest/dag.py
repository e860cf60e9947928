"""`/api/v1/dag` and `/api/v1/auth`, as clients of AIngle ask for them.

Rules kept here:
- there is no chain of signed actions over the graph: who asserted and withdrew what are its records, which are not
  signed, and an answer says so;
- tokens are made by the owner on the machine: nobody gets or checks one over HTTP, with or without a password;
- what is not offered is refused with what to do instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, NotRequired

from pydantic import Field
from starlette.routing import Route
from starlette.types import Receive, Scope, Send
from typing_extensions import TypedDict

from cortex_graph.assertions import Assertion, AssertionFilter, list_assertions
from cortex_graph.naming.names import Names
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.rest.model_types import FROM_QUERY, Count, NamespaceQuery, TripleId
from cortex_skills.doors.rest.operations import ApiCall, Operations

if TYPE_CHECKING:
    from cortex_skills.config.settings import Config

_NO_CHAIN = (
    "the graph has no chain of signed actions: GET /api/v1/assertions lists who asserted what, and the journal of the "
    "audit is the chain of what was done (`cortex-skills audit verify`)"
)
_ABSENT = {
    "auth": (
        "tokens are not given, renewed, checked or registered over HTTP",
        "the owner makes one: `cortex-skills token create NAME`; send it as `Authorization: Bearer TOKEN`",
    ),
    "dag": ("this is not offered: " + _NO_CHAIN.partition(":")[0], _NO_CHAIN.partition(": ")[2]),
}

_Limit = Annotated[int, Field(ge=1, le=1000, description="The largest number of actions, 50."), FROM_QUERY]
_Text = Annotated[str, Field(min_length=1, max_length=256)]


class HistoryQuery(NamespaceQuery):
    """Whose history."""

    subject: Annotated[str, Field(min_length=1, max_length=2048, description="The name of the subject.")]
    limit: NotRequired[_Limit]


class ChainQuery(NamespaceQuery):
    """Whose actions."""

    author: Annotated[_Text, Field(description="The agent.")]
    limit: NotRequired[_Limit]


class Tips(TypedDict):
    """The ends of the chain of actions: there is no chain."""

    tips: list[str]
    count: Count
    reason: str


class DagAction(TypedDict):
    """An assertion or a withdrawal as an action; it is not signed, and has no parents."""

    hash: TripleId
    parents: list[str]
    author: str
    timestamp: str
    payload_type: Literal["TripleInsert", "TripleDelete"]
    payload_summary: str
    signed: Literal[False]
    signature_status: Literal["unsigned"]
    content_hash: None
    verification: None


OPERATIONS = Operations()


@OPERATIONS.add("GET", "/api/v1/dag/tips", query=NamespaceQuery)
def get_dag_tips(_: ApiCall) -> Tips:
    """Return no tips, and the reason."""
    return {"tips": [], "count": 0, "reason": _NO_CHAIN}


@OPERATIONS.add("GET", "/api/v1/dag/history", query=HistoryQuery, errors=("query_timeout",), pool="slow")
def get_dag_history(call: ApiCall) -> list[DagAction]:
    """Return who asserted and withdrew the statements of a subject, the newest first."""
    return _actions(call, AssertionFilter(subject=call.query["subject"], withdrawn=True))


@OPERATIONS.add("GET", "/api/v1/dag/chain", query=ChainQuery, errors=("query_timeout",), pool="slow")
def get_dag_chain(call: ApiCall) -> list[DagAction]:
    """Return what an agent asserted, and whether it was withdrawn, the newest first."""
    return _actions(call, AssertionFilter(agent=call.query["author"], withdrawn=True))


def _actions(call: ApiCall, which: AssertionFilter) -> list[DagAction]:
    page = list_assertions(call.graph, which, limit=call.query.get("limit", 50))
    actions = [action for each in page.assertions for action in _of(each, call.graph.names)]
    return sorted(actions, key=lambda action: action["timestamp"], reverse=True)


def _of(assertion: Assertion, names: Names) -> list[DagAction]:
    """The actions of one record: that it was asserted, and that it was withdrawn."""
    summary = " ".join(names.name(each.value) for each in assertion.triple[:2])
    gone = assertion.withdrawn
    made: list[tuple[Literal["TripleInsert", "TripleDelete"], str | None, str | None]] = [
        ("TripleInsert", assertion.agent, assertion.time),
        *([] if gone is None else [("TripleDelete", gone.get("agent"), gone.get("time"))]),  # type: ignore[list-item]
    ]
    return [
        {
            "hash": assertion.triple_id,
            "parents": [],
            "author": author or "",
            "timestamp": time or "",
            "payload_type": kind,
            "payload_summary": summary,
            "signed": False,
            "signature_status": "unsigned",
            "content_hash": None,
            "verification": None,
        }
        for kind, author, time in made
    ]


def absent_routes(_: Config) -> list[Route]:
    """Routes of what clients ask for and is not offered; none reads its request."""
    return [
        Route(f"/api/v1/{name}/{{rest:path}}", _Absent(*why), include_in_schema=False) for name, why in _ABSENT.items()
    ]


class _Absent:
    """Refuses each request."""

    def __init__(self, message: str, hint: str) -> None:
        self._message, self._hint = message, hint

    async def __call__(self, _: Scope, __: Receive, ___: Send) -> None:
        """Refuse a request (ASGI)."""
        raise HttpError("permission_denied", self._message, hint=self._hint)
