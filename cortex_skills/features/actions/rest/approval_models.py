"""The models of requests for approval."""

from typing import Annotated, Any, Literal

from pydantic import Field

from cortex_skills.doors.rest.model_types import FROM_QUERY, ApiModel, ApprovalId, Count, NamespaceQuery
from cortex_skills.features.actions.approvals.record import MAX_TEXT

State = Literal["pending", "approved", "rejected", "expired", "running", "done", "failed", "interrupted"]


class ActionResult(ApiModel):
    """How an action ended."""

    code: Annotated[str, Field(description="Of the error; empty if it succeeded.")]
    text: Annotated[str, Field(description="What a model reads.")]
    details: dict[str, Any]
    isCut: Annotated[bool, Field(description="Whether something is left out because it is long.")]


class Approval(ApiModel):
    """A request for approval, and what came of it."""

    id: ApprovalId
    state: State
    action: Annotated[str, Field(description="The id of the action.")]
    manifestVersion: Annotated[str, Field(description="The version of its manifest.")]
    inputs: Annotated[dict[str, Any], Field(description="As they will run.")]
    agent: str
    namespace: str
    skill: Annotated[str, Field(description="The acting skill.")]
    risk: Literal["low", "medium", "high"]
    reason: Annotated[str, Field(description="Why a person has to decide.")]
    preview: Annotated[str, Field(description="What it would change; empty if there is nothing to show.")]
    digest: Annotated[str, Field(description="Over the action, its version, the inputs, the agent and the namespace.")]
    created: str
    expires: str
    resolvedBy: str | None
    resolvedAt: str | None
    resolvedReason: str | None
    started: str | None
    ended: str | None
    result: ActionResult | None


class ApprovalList(ApiModel):
    """Requests, the newest first."""

    approvals: list[Approval]
    changed: Annotated[list[ApprovalId], Field(description="Requests that were changed in the store: never approved.")]
    count: Annotated[Count, Field(description="How many are listed.")]


class ApprovalsQuery(NamespaceQuery, total=False):
    """Which requests."""

    state: State
    agent: Annotated[str, Field(min_length=1, max_length=256)]
    limit: Annotated[int, Field(ge=1, le=1_000, description="100 by default."), FROM_QUERY]


class DecisionReason(ApiModel, total=False):
    """Why."""

    reason: Annotated[str, Field(max_length=MAX_TEXT)]
