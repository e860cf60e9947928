"""`graphClient` for the code of skills.

Rules kept here:
- the only graph that a skill can reach is the namespaced one of its host;
- the rules of a tool call apply: permissions, declared predicates, proofs, budgets; what changes a statement is an
  operation (`statement_changes.py`);
- a skill inspects the memories of the agent on whose behalf it acts, and of no other;
- surplus arguments are ignored, as in JavaScript: `rows.map(graphClient.createTriple)` passes three.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cortex_graph import NamespacedGraph
from cortex_graph.as_of import today_of
from cortex_graph.namespace.agent_graph import AgentGraph
from cortex_skills.errors import CortexError
from cortex_skills.features.graph.acting_skill import ActingSkill, StatementsRefusedError
from cortex_skills.features.graph.statement_changes import assert_statements, withdraw
from cortex_skills.operations.run import run
from cortex_skills.policy.permissions import is_of_memories
from cortex_skills.runtime.host_functions import HostFunctions
from cortex_skills.tools.base import code_caller


def graph_functions(of: HostFunctions) -> dict[str, Callable[..., Any]]:
    """The functions for one skill."""
    graph, acting = of.host.graph, ActingSkill(of.manifest, of.semantic, is_code=True)

    def create_triple(triple: Any = None, *_: Any) -> dict[str, Any]:
        """Write a triple; `created` is False when it was there already."""
        of.check("graph:write", "graphClient.createTriple")
        if not isinstance(triple, dict):
            graph.quad_of(triple)  # refuses it
        with of.budgets.write(of.skill) as slot:
            try:
                (created,) = run(
                    assert_statements, code_caller(of), {"statements": [triple], "acting": acting}, of.host
                )
            except StatementsRefusedError as error:
                raise error.first from None
            if not created["created"]:
                slot.refund()
            return created

    def list_triples(query: Any = None, *_: Any) -> dict[str, Any]:
        """A page of triples."""
        of.check("graph:read", "graphClient.listTriples")
        return asked(query).list_triples({} if query is None else query)

    def pattern_query(query: Any = None, *_: Any) -> dict[str, Any]:
        """A page of the triples that match a pattern."""
        of.check("graph:read", "graphClient.patternQuery")
        return asked(query).pattern_query({} if query is None else query)

    def delete_triple(triple_id: Any = None, *_: Any) -> bool:
        """Delete a triple of the namespace by its id, or withdraw one that has proofs; True if it was there."""
        of.check("graph:write", "graphClient.deleteTriple")
        with of.budgets.write(of.skill) as slot:
            try:
                if graph.get_triple(triple_id) is None:
                    slot.refund()
                    return False
                run(withdraw, code_caller(of), {"triple": triple_id, "acting": acting}, of.host)
            except CortexError as error:
                if error.code != "not_found":
                    raise
                slot.refund()
                return False
            return True

    def asked(query: Any) -> NamespacedGraph:
        """The graph of a query: of the namespace, or the memories of the agent."""
        predicate = query.get("predicate") if isinstance(query, Mapping) else None
        if not is_of_memories(predicate, graph.names):
            return graph
        of.check("memory:inspect", "a query of memories")
        return AgentGraph(today_of(graph), of.agent)

    return {
        "graphClient.createTriple": create_triple,
        "graphClient.listTriples": list_triples,
        "graphClient.patternQuery": pattern_query,
        "graphClient.deleteTriple": delete_triple,
    }
