"""`/api/v1/trust-level` and `/api/v1/actions`: how far the agents of a namespace are trusted, and with what."""

from __future__ import annotations

from cortex_skills.doors.rest.model_types import ApiModel, NamespaceQuery
from cortex_skills.doors.rest.operations import ApiAnswer, ApiCall, Operations
from cortex_skills.features.actions import action_operations as operations
from cortex_skills.policy.trust_levels import TrustLevel

OPERATIONS = Operations()


class TrustLevelToSet(ApiModel):
    """A trust level."""

    level: TrustLevel


@OPERATIONS.add("GET", "/api/v1/trust-level", {200: operations.TrustLevelState}, query=NamespaceQuery)
def get_trust_level(call: ApiCall) -> ApiAnswer:
    """Return how far the agents of a namespace are trusted."""
    return ApiAnswer(200, call.operate(operations.show_trust_level))


@OPERATIONS.add(
    "POST",
    "/api/v1/trust-level",
    {200: operations.TrustLevelChange},
    permission="approve",
    query=NamespaceQuery,
    body=TrustLevelToSet,
)
def set_trust_level(call: ApiCall) -> ApiAnswer:
    """Set how far the agents of a namespace are trusted, from the next call on."""
    return ApiAnswer(200, call.operate(operations.set_trust_level, level=call.body["level"]))


OPERATIONS.serve("GET", "/api/v1/actions", operations.list_actions)
OPERATIONS.serve("GET", "/api/v1/actions/{action}", operations.describe_action, errors=("tool_not_found",))
