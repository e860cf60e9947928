"""What changes many statements of namespaces at once: `graph.update`.

Rules kept here:
- the caller has checked that every namespace may be used; removing a statement that has proofs needs the permission
  `provenance`;
- a record names the namespaces, with the number of their statements before and after, up to `COUNTED`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Gt

from cortex_graph import NamespacedGraph, Provenance
from cortex_graph.naming.counted import Count
from cortex_graph.sparql import Updated, update_graphs
from cortex_graph.sparql.parse import TIMEOUT_S
from cortex_graph.store import Pattern
from cortex_skills.operations.operation import AS_IS, ObjectState, OperationCall, operation

COUNTED = 1_000


def state_of_namespace(call: OperationCall) -> ObjectState | None:
    """The namespace of a call, and how many statements it has; of several, their names."""
    graph = call.host.graph
    if call.about not in ("", graph.namespace):
        return call.about, "several namespaces"
    count = Count.up_to(graph.store.count(Pattern(graph.names.graph), COUNTED + 1), COUNTED)
    return graph.namespace, f"{count.text} statements"


@dataclass(frozen=True, slots=True)
class GraphUpdate:
    """A SPARQL 1.1 update of graphs, by default that of the namespace.

    `using` and `using_named` are those of the protocol; what is written has no record of who wrote it where
    `is_recorded` is false.
    """

    update: str
    graphs: Sequence[Annotated[NamespacedGraph, AS_IS]] = ()
    using: Sequence[str] | None = None
    using_named: Sequence[str] | None = None
    is_recorded: bool = True
    timeout_s: Annotated[float, Gt(0)] = TIMEOUT_S

    @property
    def namespaces(self) -> str:
        """Their names."""
        return ", ".join(graph.namespace for graph in self.graphs)


@operation("graph.update", effect="changes", permission="write", object_="namespaces", state=state_of_namespace)
def update(call: OperationCall, given: GraphUpdate) -> Updated:
    """Execute a SPARQL 1.1 update; the number of statements that it wrote, and of those that it removed."""
    done = update_graphs(
        call.host.graph.store,
        given.graphs or [call.host.graph],
        given.update,
        using_graphs=given.using,
        using_named_graphs=given.using_named,
        provenance=Provenance(agent=call.caller.name) if given.is_recorded else None,
        may_withdraw="provenance" in call.caller.permissions,
        timeout_s=given.timeout_s,
        cancel=call.cancel,
    )
    call.facts |= {"inserted": done.inserted, "removed": done.removed}
    return done
