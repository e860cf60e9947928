"""`/api/v1/trust-level`: how far the agents of a namespace are trusted.

Rules kept here:
- a client that may approve what agents ask for sets the level; no agent does, and each change is in the audit.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cortex_skills.doors.rest.model_types import ApiModel, NamespaceQuery
from cortex_skills.doors.rest.operations import ApiAnswer, ApiCall, Operations
from cortex_skills.features.actions.trust_store import TrustStore

Level = Literal["observe", "suggest", "supervised_auto", "bounded_auto"]

OPERATIONS = Operations()


class TrustLevelState(ApiModel):
    """The trust level of a namespace."""

    namespace: str
    level: Level
    configured: Annotated[Level, Field(description="The level until one is set.")]


class TrustLevelToSet(ApiModel):
    """A trust level."""

    level: Level


class TrustLevelChange(ApiModel):
    """What was changed."""

    namespace: str
    before: Level
    after: Level


def _store(call: ApiCall) -> tuple[str, TrustStore]:
    namespace = call.caller.namespace(call.query.get("namespace"))
    return namespace, call.service.plugin.trust_of(call.service.graph(namespace))


@OPERATIONS.add("GET", "/api/v1/trust-level", {200: TrustLevelState}, query=NamespaceQuery)
def get_trust_level(call: ApiCall) -> ApiAnswer:
    """Return how far the agents of a namespace are trusted."""
    namespace, store = _store(call)
    return ApiAnswer(200, {"namespace": namespace, "level": store.level(), "configured": store.configured})


@OPERATIONS.add(
    "POST",
    "/api/v1/trust-level",
    {200: TrustLevelChange},
    permission="approve",
    query=NamespaceQuery,
    body=TrustLevelToSet,
)
def set_trust_level(call: ApiCall) -> ApiAnswer:
    """Set how far the agents of a namespace are trusted, from the next call on."""
    namespace, store = _store(call)
    change = store.set(call.body["level"], actor=call.caller.name)
    return ApiAnswer(200, {"namespace": namespace, "before": change.before, "after": change.after})
