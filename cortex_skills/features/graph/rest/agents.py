"""`/api/v1/agents/{id}/consistency`: what the proofs of an agent's assertions say, as clients of Cortex read it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from cortex_skills.doors.rest.model_types import Count, FullName, TripleId
from cortex_skills.doors.rest.operations import ApiCall, Operations
from cortex_skills.features.graph.consistency import AgentConsistency, VerdictWord, consistency


class JudgedAssertion(TypedDict):
    """One assertion of the agent; `verified` is null where it was not evaluated."""

    id: TripleId
    subject: FullName
    predicate: FullName
    verified: bool | None
    verdict: VerdictWord


class Consistency(TypedDict):
    """How consistent the latest assertions of an agent are."""

    score: Annotated[float | None, Field(description="`verified` / `evaluated`; null where none was evaluated.")]
    total: Annotated[Count, Field(description="How many assertions were looked at: the latest 100 that are present.")]
    evaluated: Annotated[Count, Field(description="How many of them are verified or refuted.")]
    verified: Count
    assertions: list[JudgedAssertion]
    complete: Annotated[bool, Field(description="Whether these are all assertions of the agent.")]


def _shown(call: ApiCall, found: AgentConsistency) -> Consistency:
    names = call.graph.names
    rows: list[JudgedAssertion] = [
        {
            "id": each.triple_id,
            "subject": names.name(each.triple[0].value),
            "predicate": names.name(each.triple[1].value),
            "verified": {"verified": True, "refuted": False}.get(verdict),
            "verdict": verdict,
        }
        for each, verdict in found.assertions
    ]
    return {
        "score": found.score,
        "total": len(rows),
        "evaluated": found.evaluated,
        "verified": found.count("verified"),
        "assertions": rows,
        "complete": not found.has_more,
    }


OPERATIONS = Operations()
OPERATIONS.serve(
    "GET",
    "/api/v1/agents/{id}/consistency",
    consistency,
    names={"agent": "id"},
    show=_shown,
    errors=("graph_busy", "query_timeout"),
    pool="slow",
)
