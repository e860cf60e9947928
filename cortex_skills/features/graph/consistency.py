"""`graph.consistency`: how many of the latest assertions of an agent have proofs that hold.

Rules kept here:
- the newest `MAX_ASSERTIONS` assertions of the agent that are in the graph are counted, and verified within the time
  limit of one request;
- an assertion without a proof, whose proofs could not be checked, or about whose meaning no rule was checked
  (`well-formed`), was not evaluated: it counts neither for nor against the agent. Where none was evaluated there is no
  score: 0 would be read as false, and 1 as verified.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal

from annotated_types import Len

from cortex_graph.assertions import Assertion, AssertionFilter, list_assertions
from cortex_skills.operations.operation import Described, OperationCall, operation

MAX_ASSERTIONS = 100
VerdictWord = Literal["verified", "well-formed", "not checked", "refuted"]


@dataclass(frozen=True, slots=True)
class AgentToScore:
    """An agent, by its id."""

    agent: Annotated[str, Len(1, 256), Described("The id of the agent.")]


@dataclass(frozen=True, slots=True)
class AgentConsistency:
    """The verdicts of the latest assertions of an agent, and whether there are more."""

    assertions: tuple[tuple[Assertion, VerdictWord], ...]
    has_more: bool

    def count(self, *verdicts: VerdictWord) -> int:
        """How many have one of these verdicts."""
        return sum(verdict in verdicts for _, verdict in self.assertions)

    @property
    def evaluated(self) -> int:
        """How many are verified or refuted."""
        return self.count("verified", "refuted")

    @property
    def score(self) -> float | None:
        """The share of the evaluated assertions that are verified, 0 to 1; None where none was evaluated."""
        return self.count("verified") / self.evaluated if self.evaluated else None


@operation("graph.consistency", effect="reads", permission="read")
def consistency(call: OperationCall, given: AgentToScore) -> AgentConsistency:
    """Verify the latest assertions of an agent, and count those whose proofs hold.

    The agent is an id, or its full name (`NS:agent:ID`).
    """
    from cortex_skills.features.proofs.assertions import check_assertion, verdict_of
    from cortex_skills.features.proofs.kinds import CheckContext

    graph, config = call.host.graph, call.host.config
    agent = given.agent.removeprefix(f"{graph.names.prefix}agent:")
    page = list_assertions(graph, AssertionFilter(agent=agent), limit=MAX_ASSERTIONS)
    deadline = time.monotonic() + config.skill_sandbox.proof_timeout_ms / 1000
    context = CheckContext(datetime.now(UTC), config, graph, deadline=deadline, cancel=call.cancel)
    found = []
    for each in page.assertions:
        if not each.is_present:
            continue
        verdict: VerdictWord = "not checked"
        quad = graph.index.find(each.triple_id)
        if quad is not None and graph.proofs.has_any(each.triple_id):
            verdict = verdict_of(check_assertion(graph, quad, context)).value
        found.append((each, verdict))
    return AgentConsistency(tuple(found), page.cursor is not None)
