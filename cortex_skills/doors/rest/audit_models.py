"""The models of the audit log and of events: what the clients of Cortex read, and the members of an audit record."""

from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired

from pydantic import AfterValidator, Field
from typing_extensions import TypedDict

from cortex_graph.checks.moments import check_moment
from cortex_graph.exceptions import InvalidArguments
from cortex_skills.doors.rest.model_types import (
    FROM_QUERY,
    ApiModel,
    CallId,
    Count,
    Moment,
    NamespaceQuery,
    QueryBoolean,
)

_Text = Annotated[str, Field(min_length=1, max_length=256)]


def _moment(given: str) -> datetime:
    try:
        return check_moment(given, "from")
    except InvalidArguments as error:
        raise ValueError(error.message) from None


_Moment = Annotated[Moment, AfterValidator(_moment)]
_Times = TypedDict(
    "_Times",
    {
        "from": Annotated[_Moment, Field(description="The earliest start.")],
        "to": Annotated[_Moment, Field(description="The latest start.")],
    },
    total=False,
)


class AuditQuery(NamespaceQuery, _Times, total=False):
    """Which calls."""

    user_id: Annotated[_Text, Field(description="The agent.")]
    action: Annotated[_Text, Field(description="The tool.")]
    skill: Annotated[_Text, Field(description="The acting skill.")]
    outcome: Annotated[_Text, Field(description="`ok`, `refused` for everything else, or one code.")]
    cleaned: Annotated[QueryBoolean, Field(description="Whether something was removed from the enrichment.")]
    about: Annotated[_Text, Field(description="An id or a digest that the data or the inputs name.")]
    session: Annotated[_Text, Field(description="The id of a client's session.")]
    q: Annotated[_Text, Field(description="What a text of the record contains, in any case.")]
    limit: Annotated[int, Field(ge=1, le=1_000, description="100 by default."), FROM_QUERY]
    cursor: Annotated[CallId, Field(description="The id of the last call of the page before.")]


class RemovedValue(ApiModel):
    """What was removed from an enrichment; its text is not kept."""

    reason: str
    path: Annotated[str, Field(description="A JSON Pointer (RFC 6901).")]
    count: Count


class AuditedChange(ApiModel):
    """What a call changed, or tried to."""

    event: Annotated[str, Field(description="The operation.")]
    success: bool
    code: Annotated[str | None, Field(description="Of the error.")]
    data: NotRequired[Annotated[Any, Field(description="Its object, the state before and after, the reason, …")]]


class AuditedHost(ApiModel):
    """An installation."""

    id: str
    name: str


class AuditedCall(ApiModel):
    """One call of a tool or an action, or an event that is no call."""

    id: CallId
    timestamp: Annotated[str, Field(description="The start (RFC 3339).")]
    user_id: Annotated[str, Field(description="The agent.")]
    namespace: str
    action: Annotated[str, Field(description="The tool.")]
    resource: Annotated[str, Field(description="The acting skill; empty if there was none.")]
    details: Annotated[str, Field(description="The same as `outcome`.")]
    skill: str | None
    outcome: Annotated[str, Field(description="`ok`, or the code of the error.")]
    milliseconds: Annotated[float, Field(ge=0)]
    stripped: Annotated[Count, Field(description="How many values were removed from the enrichment.")]
    removed: Annotated[list[RemovedValue], Field(description="The first 20 of them.")]
    level: Literal["info", "warn", "error"]
    category: Annotated[str, Field(description="`tool`, `action`, or the first part of the event.")]
    event: Annotated[str, Field(description="`tool.call`, `skill_executed`, or what happened.")]
    actor: Annotated[str | None, Field(description="Who did it, if not the agent.")]
    inputs: Annotated[Any, Field(description="Redacted and bounded; null where no journal is kept.")]
    outputs: Annotated[Any, Field(description="The same of the result.")]
    data: Annotated[Any, Field(description="The same of an event that is no call.")]
    approval_required: bool
    approved_by: str | None
    trust_level: str | None
    host: Annotated[AuditedHost | None, Field(description="That wrote it; null where no journal is kept.")]
    session: Annotated[str | None, Field(description="The id of the client's session; null for what is no call.")]
    changes: Annotated[list[AuditedChange], Field(description="What the call changed: the first 20.")]


class AuditStats(ApiModel):
    """Numbers of the calls that are kept."""

    total_entries: Count
    actions_by_type: Annotated[dict[str, Count], Field(description="By tool.")]
    entries_by_user: Annotated[dict[str, Count], Field(description="By agent.")]
    entries_by_namespace: dict[str, Count]
    calls_by_outcome: dict[str, Count]


class EventsQuery(NamespaceQuery, _Times, total=False):
    """Which events."""

    agent: Annotated[_Text, Field(description="The agent.")]
    agentId: Annotated[_Text, Field(description="The same, as clients of Mayros name it.")]
    type: Annotated[_Text, Field(description="The type; calls of tools have `tool_call`.")]
    limit: Annotated[int, Field(ge=1, le=1_000, description="100 by default."), FROM_QUERY]


class Event(TypedDict):
    """A call of a tool, or what a client recorded; its members have the names of all clients."""

    id: str
    type: str
    event_type: str
    agentId: str
    agent_id: str
    timestamp: Annotated[str, Field(description="When it was, as a client stated it; of a call its start (RFC 3339).")]
    session: NotRequired[str]
    parentEvent: NotRequired[str]
    parent_event: NotRequired[str]
    durationMs: NotRequired[float]
    duration_ms: NotRequired[float]
    fields: Annotated[dict[str, str], Field(description="Of a call `tool`, `skill` and `outcome`.")]
    recordedBy: Annotated[str | None, Field(description="The client that recorded it; null for a call of the audit.")]


class EventList(TypedDict):
    """Events, the newest first."""

    events: list[Event]
    total: Annotated[Count, Field(description="How many are listed.")]
