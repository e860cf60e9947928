"""Which requests for approval a copy of a store takes along.

Rules kept here:
- a request that waits, and one that has ended, is copied; so the queue and its history are in the copy;
- one that was approved and did not start, or that runs, stays in the source: in two stores it could run twice, and only
  the source learns how it ends.
"""

from __future__ import annotations

from pyoxigraph import NamedNode

from cortex_graph.naming.names import Names
from cortex_graph.store import GraphStore
from cortex_skills.features.actions.approvals.queue import ApprovalQueue
from cortex_skills.features.graph.copied_parts import LeftThere, StorePart, subjects_left


def _left(store: GraphStore, names: Names) -> LeftThere:
    queue = ApprovalQueue(store, names)
    underway = {
        record.id: record.state(queue.now())
        for record in queue.read_all()
        if record.state(queue.now()) in ("approved", "running")
    }
    subjects: set[NamedNode] = {names.beside("approval", approval_id) for approval_id in underway}
    return subjects_left(subjects, tuple(f"{each} is {state}, and ends there" for each, state in underway.items()))


REQUESTS = StorePart("requests for approval", lambda names: names.approvals_graph, _left)
LEVEL = StorePart("trust level", lambda names: names.trust_graph)
