"""Which requests for approval, and which rules, a copy of a store takes along.

Rules kept here:
- a request that waits, and one that has ended, is copied; so the queue and its history are in the copy;
- one that was approved and did not start, or that runs, stays in the source: in two stores it could run twice, and only
  the source learns how it ends;
- a rule that has not ended stays there too: in two stores it could be used twice as often, and a person who ends it in
  one would not end it in the other.
"""

from __future__ import annotations

from pyoxigraph import NamedNode, Quad

from cortex_graph.naming.names import Names
from cortex_graph.store import GraphStore, Pattern
from cortex_skills.features.actions.approvals.queue import ApprovalQueue
from cortex_skills.features.actions.approvals.rule_book import RULE, RULE_END
from cortex_skills.features.graph.copied_parts import LeftThere, StorePart


def _left(store: GraphStore, names: Names) -> LeftThere:
    queue = ApprovalQueue(store, names)
    underway = {
        record.id: record.state(queue.now())
        for record in queue.read_all()
        if record.state(queue.now()) in ("approved", "running")
    }
    rules = _subjects(store, names, RULE) - _subjects(store, names, RULE_END)
    left = {names.beside("approval", approval_id).value for approval_id in underway} | rules

    def is_left(quad: Quad) -> bool:
        subject = quad.subject.value if isinstance(quad.subject, NamedNode) else ""
        return subject in left or subject.rpartition("/")[0] in rules  # a use of a rule

    notes = [f"{each} is {state}, and ends there" for each, state in underway.items()]
    notes += [f"the rule {each.rpartition('/')[2]} holds there only" for each in sorted(rules)]
    return LeftThere(is_left, tuple(notes))


def _subjects(store: GraphStore, names: Names, predicate: NamedNode) -> set[str]:
    quads = store.quads(Pattern(names.approvals_graph, None, predicate))
    return {quad.subject.value for quad in quads if isinstance(quad.subject, NamedNode)}


REQUESTS = StorePart("requests for approval", lambda names: names.approvals_graph, _left)
LEVEL = StorePart("trust level", lambda names: names.trust_graph)
