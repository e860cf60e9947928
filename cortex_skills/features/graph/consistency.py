"""`graph.consistency`: how many of the latest assertions of an agent have proofs that hold.

Rules kept here:
- the newest `MAX_ASSERTIONS` assertions of the agent that are in the graph are counted, and verified within the time
  limit of one request;
- an assertion without a proof, or whose proofs could not be checked, was not evaluated: it counts neither for nor
  against the agent, and where none was evaluated there is no score.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from annotated_types import Len

from cortex_graph.assertions import Assertion, AssertionFilter, list_assertions
from cortex_skills.operations.operation import Described, OperationCall, operation

MAX_ASSERTIONS = 100


@dataclass(frozen=True, slots=True)
class AgentToScore:
    """An agent, by its id."""

    agent: Annotated[str, Len(1, 256), Described("The id of the agent.")]


@dataclass(frozen=True, slots=True)
class AgentConsistency:
    """The verdicts of the latest assertions of an agent, and whether there are more."""

    assertions: tuple[tuple[Assertion, str], ...]
    has_more: bool

    def count(self, *verdicts: str) -> int:
        """How many have one of these verdicts."""
        return sum(verdict in verdicts for _, verdict in self.assertions)

    @property
    def evaluated(self) -> int:
        """How many have proofs that were checked."""
        return self.count("verified", "well-formed", "refuted")

    @property
    def score(self) -> float | None:
        """The share of the evaluated assertions that are verified, 0 to 1; None where none was evaluated."""
        return self.count("verified") / self.evaluated if self.evaluated else None


@operation("graph.consistency", effect="reads", permission="read")
def consistency(call: OperationCall, given: AgentToScore) -> AgentConsistency:
    """Verify the latest assertions of an agent, and count those whose proofs hold."""
    from cortex_skills.features.proofs.assertions import check_assertion, verdict_of
    from cortex_skills.features.proofs.kinds import CheckContext

    graph, config = call.host.graph, call.host.config
    page = list_assertions(graph, AssertionFilter(agent=given.agent), limit=MAX_ASSERTIONS)
    deadline = time.monotonic() + config.skill_sandbox.proof_timeout_ms / 1000
    context = CheckContext(datetime.now(UTC), config, graph, deadline=deadline, cancel=call.cancel)
    found = []
    for each in page.assertions:
        if not each.is_present:
            continue
        verdict = "not checked"
        quad = graph.index.find(each.triple_id)
        if quad is not None and graph.proofs.has_any(each.triple_id):
            verdict = verdict_of(check_assertion(graph, quad, context)).value
        found.append((each, verdict))
    return AgentConsistency(tuple(found), page.cursor is not None)
