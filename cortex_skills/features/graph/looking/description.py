"""`graph.describe`: what is stated of one thing, where it is used, and who asserted that.

Rules kept here:
- every read is bounded (`cortex_graph.namespace.neighbourhood`); numbers that are not exact are lower bounds;
- a value has the record of its triple: the agent, the skill, the time, and the kinds of its proofs, which nothing here
  verifies. One without a record was imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval, Len
from pyoxigraph import NamedNode

from cortex_graph import NamespacedGraph
from cortex_graph.as_of import today_of
from cortex_graph.assertions import assertions_of
from cortex_graph.namespace.neighbourhood import (
    COUNTED,
    Neighbourhood,
    NeighbourRow,
    neighbourhood,
)
from cortex_graph.naming.counted import Count
from cortex_graph.naming.spelling import nearest
from cortex_graph.store import Pattern
from cortex_skills.errors import CortexError
from cortex_skills.features.graph.looking.call_graph import AsOf, Undated, graph_of, labels_in
from cortex_skills.features.graph.looking.description_text import Description, Origin
from cortex_skills.operations.operation import Described, OperationCall, operation

VALUES = 7  # of each predicate, by default
_PREDICATES = 60


@dataclass(frozen=True, slots=True)
class DescribedThing:
    """A thing."""

    name: Annotated[str, Len(1, 4096), Described("The name of the thing, or its IRI.")]
    limit: Annotated[int, Interval(ge=1, le=100), Described(f"Values of each predicate, {VALUES}.")] | None = None
    as_of: AsOf | None = None
    undated: Undated | None = None


@operation("graph.describe", effect="reads", permission="read")
def describe(call: OperationCall, given: DescribedThing) -> Description:
    """Return what is stated of a thing, where it is used, and who asserted that."""
    graph, limit = graph_of(call, given.as_of, given.undated), given.limit or VALUES
    node = graph.node_of(given.name)
    found = neighbourhood(graph, graph.names.name(node.value), predicates=_PREDICATES, values=limit)
    as_predicate = Pattern(graph.names.graph, None, node)
    uses = Count.up_to(graph.store.count(as_predicate, COUNTED + 1), COUNTED)
    if not found.is_known and not uses:
        raise _unknown(graph, node)
    triples = graph.store.match(as_predicate, limit).triples if uses else []
    examples = tuple((subject, object_) for subject, _, object_ in triples)
    labels = labels_in(call, graph).of([node, *_nodes(found), *(term for pair in examples for term in pair)])
    rows = [row.triple_id for row in _rows(found)]
    return Description(graph, found, uses, examples, labels, _origins(graph, rows))


def _unknown(graph: NamespacedGraph, node: NamedNode) -> CortexError:
    terms = graph.prefixes.terms()
    known = [each.predicate for each in graph.counts.latest(wait_s=0.0).predicates]
    near = nearest(terms.node(node.value), [terms.node(each.value) for each in known], 3)
    meant = f"did you mean {', '.join(near)}? " if near else ""
    return CortexError(
        "invalid_arguments",
        f"{graph.namespace} has no triple with {terms.node(node.value)[:200]}",
        hint=f"{meant}check the spelling and the case; graph_find (a command: graph find) finds names by their words",
        details={"field": "name"},
    )


def _rows(found: Neighbourhood) -> Iterator[NeighbourRow]:
    for direction in (found.outgoing, found.incoming):
        for group in direction.groups:
            yield from group.rows


def _nodes(found: Neighbourhood) -> Iterator[object]:
    for direction in (found.outgoing, found.incoming):
        yield from (group.predicate for group in direction.groups)
    yield from (row.term for row in _rows(found))


def _origins(graph: NamespacedGraph, triple_ids: Iterable[str]) -> dict[str, Origin]:
    kinds: dict[str, str | None] = {}

    def kind(proof_id: str) -> str | None:
        if proof_id not in kinds:
            proof = today_of(graph).proofs.get(proof_id)
            kinds[proof_id] = None if proof is None else proof.kind
        return kinds[proof_id]

    return {
        triple_id: Origin(record, tuple(sorted({name for each in record.proofs if (name := kind(each))})))
        for triple_id, record in assertions_of(graph, list(triple_ids)).items()
    }
