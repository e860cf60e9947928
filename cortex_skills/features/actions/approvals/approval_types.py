"""Requests for approval as interfaces answer them: the types of JSON objects."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from cortex_skills.features.actions.action_request import ApprovalState
from cortex_skills.policy.trust_levels import Risk

_Id = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$", description="The id of a request for approval.")]
answer = with_config(ConfigDict(extra="forbid", strict=True))


@answer
class ActionResult(TypedDict):
    """How an action ended."""

    code: Annotated[str, Field(description="Of the error; empty if it succeeded.")]
    text: Annotated[str, Field(description="What a model reads.")]
    details: dict[str, Any]
    isCut: Annotated[bool, Field(description="Whether something is left out because it is long.")]


@answer
class Approval(TypedDict):
    """A request for approval, and what came of it."""

    id: _Id
    state: ApprovalState
    action: Annotated[str, Field(description="The id of the action.")]
    manifestVersion: Annotated[str, Field(description="The version of its manifest.")]
    inputs: Annotated[dict[str, Any], Field(description="As they will run.")]
    agent: str
    askedBy: Annotated[str, Field(description="Who sent the call, as the server knows them: the name of a token.")]
    host: Annotated[str, Field(description="The name of the host where it was asked for.")]
    hostId: str
    workspace: Annotated[str, Field(description="The id of the workspace of that process; empty for none.")]
    namespace: str
    skill: Annotated[str, Field(description="The acting skill.")]
    risk: Risk
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


@answer
class ApprovalList(TypedDict):
    """Requests, the newest first."""

    approvals: list[Approval]
    changed: Annotated[list[_Id], Field(description="Requests that were changed in the store: never approved.")]
    count: Annotated[int, Field(ge=0, description="How many are listed.")]
