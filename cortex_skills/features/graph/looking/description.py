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
from cortex_graph.namespace.about import origins_ahead
from cortex_graph.namespace.neighbourhood import (
    COUNTED,
    Neighbourhood,
    NeighbourRow,
    neighbourhood,
    neighbourhood_ahead,
)
from cortex_graph.naming.counted import Count
from cortex_graph.naming.spelling import nearest
from cortex_graph.store import Pattern
from cortex_graph.store_access.gathered import counted_page
from cortex_graph.store_access.read_ahead import Ahead, UpTo, reading_ahead
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


def _ahead(call: OperationCall, given: DescribedThing) -> Iterator[Ahead]:
    if given.as_of is None:
        graph = call.host.graph
        node, own = graph.node_of(given.name), graph.names.graph
        yield from neighbourhood_ahead(graph, node)
        yield UpTo(Pattern(own, None, node), given.limit or VALUES)


@operation("graph.describe", effect="reads", permission="read", ahead=_ahead)
def describe(call: OperationCall, given: DescribedThing) -> Description:
    """Return what is stated of a thing, where it is used, and who asserted that."""
    graph, limit = graph_of(call, given.as_of, given.undated), given.limit or VALUES
    node = graph.node_of(given.name)
    found = neighbourhood(graph, graph.names.name(node.value), predicates=_PREDICATES, values=limit)
    as_predicate = Pattern(graph.names.graph, None, node)
    page, counted = counted_page(graph.store, as_predicate, limit, COUNTED + 1)
    uses = Count.up_to(counted, COUNTED)
    if not found.is_known and not uses:
        raise _unknown(graph, node)
    examples = tuple((subject, object_) for subject, _, object_ in page.triples)
    nodes = [node, *_nodes(found), *(term for pair in examples for term in pair)]
    rows, labels = [row.triple_id for row in _rows(found)], labels_in(call, graph)
    with reading_ahead(graph.store, lambda: [*labels.ahead(nodes), *origins_ahead(graph, rows)]):
        return Description(graph, found, uses, examples, labels.of(nodes), _origins(graph, rows))


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
    found = assertions_of(graph, list(triple_ids))
    ids = list(dict.fromkeys(proof_id for record in found.values() for proof_id in record.proofs))
    proofs = today_of(graph).proofs.many(ids)
    kinds = {proof_id: proof.kind for proof_id, proof in zip(ids, proofs, strict=True) if proof is not None}
    return {
        triple_id: Origin(record, tuple(sorted({kinds[each] for each in record.proofs if each in kinds})))
        for triple_id, record in found.items()
    }
