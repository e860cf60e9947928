"""The host functions of a skill's sandbox: what its code may do to the graph, and what features add.

Rules kept here:
- the only graph that a skill can reach is the namespaced one of its host;
- the rules of a tool call apply: permissions, declared predicates, proofs, budgets (`policy`);
- deleting a statement that has proofs withdraws it;
- a skill inspects the memories of the agent on whose behalf it acts, and of no other;
- a failure reaches the skill's code as an error with its stable code and its hint, and is remembered, so that it keeps
  them where the code does not handle it;
- surplus arguments are ignored, as in JavaScript: `rows.map(graphClient.createTriple)` passes three;
- a graph call does not start after the deadline of the skill.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from cortex_graph import NamespacedGraph, Provenance
from cortex_graph.as_of import today_of
from cortex_graph.namespace.agent_graph import AgentGraph
from cortex_graph.naming.names import Names
from cortex_sandbox import Promised, SandboxError, SandboxTimeout, remaining_s
from cortex_skills.errors import CortexError, from_floor
from cortex_skills.feature import functions as added_functions
from cortex_skills.host import Host
from cortex_skills.manifest import Manifest, Semantic
from cortex_skills.policy.declared_predicates import DeclaredPredicates
from cortex_skills.policy.permissions import check_may_write, check_permissions, is_of_memories
from cortex_skills.policy.removals import is_withdrawn

_MAX_REFUSALS = 16


class HostFunctions:
    """`graphClient` for one skill, and what features add.

    Attributes:
        host: of the plugin.
        skill: its name.
        agent: on whose behalf it acts at the moment.
        budgets: of the session of the call that it answers at the moment; else the plugin's own.
    """

    def __init__(self, manifest: Manifest, semantic: Semantic, host: Host) -> None:
        self.host = host
        self.skill = manifest.name
        self._manifest = manifest
        self._semantic = semantic
        self._graph = host.graph
        self._required = host.declared_predicates
        self._strict = host.config.strict_declarations
        self._refusals: deque[Exception] = deque(maxlen=_MAX_REFUSALS)
        self.agent = host.session.agent
        self.own_budgets = self.budgets = host.limits.own.budgets

    def by_name(self) -> Mapping[str, Promised]:
        """The functions by the names under which the skill finds them."""
        functions: dict[str, Callable[..., Any]] = {
            "graphClient.createTriple": self.create_triple,
            "graphClient.listTriples": self.list_triples,
            "graphClient.patternQuery": self.pattern_query,
            "graphClient.deleteTriple": self.delete_triple,
        }
        for added in added_functions("host_functions"):
            functions |= added(self)
        return {name: Promised(self._remembering(function)) for name, function in functions.items()}

    def refusal(self, error: SandboxError) -> CortexError | None:
        """The error of a host function that the code of the skill did not handle; None for another exception."""
        if error.name != "HostError":
            return None
        for refused in reversed(self._refusals):
            message = getattr(refused, "message", "")
            if message and error.message.startswith(message):
                return from_floor(refused)
        return None

    def _remembering(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def remembering(*given: Any) -> Any:
            try:
                return function(*given)
            except Exception as error:
                self._refusals.append(error.with_traceback(None))
                raise

        return remembering

    def create_triple(self, triple: Any = None, *_: Any) -> dict[str, Any]:
        """Write a triple; `created` is False when it was there already."""
        self.check("graph:write", "graphClient.createTriple")
        predicate = triple.get("predicate") if isinstance(triple, Mapping) else None
        if isinstance(predicate, str):  # the graph refuses any other error in a triple
            check_may_write(predicate, *self._declared(), strict=self._strict)
        with self.budgets.write(self.skill) as slot:
            created = self._graph.create_triple(triple, self._provenance())
            if not created["created"]:
                slot.refund()
            return created

    def list_triples(self, query: Any = None, *_: Any) -> dict[str, Any]:
        """A page of triples."""
        self.check("graph:read", "graphClient.listTriples")
        return self._asked(query).list_triples({} if query is None else query)

    def pattern_query(self, query: Any = None, *_: Any) -> dict[str, Any]:
        """A page of the triples that match a pattern."""
        self.check("graph:read", "graphClient.patternQuery")
        return self._asked(query).pattern_query({} if query is None else query)

    def delete_triple(self, triple_id: Any = None, *_: Any) -> bool:
        """Delete a triple of the namespace by its id, or withdraw one that has proofs; True if it was there."""
        self.check("graph:write", "graphClient.deleteTriple")
        with self.budgets.write(self.skill) as slot:
            triple = self._graph.get_triple(triple_id)
            deleted = triple is not None and self._remove(triple)
            if not deleted:
                slot.refund()
            return deleted

    def _asked(self, query: Any) -> NamespacedGraph:
        """The graph of a query: of the namespace, or the memories of the agent."""
        predicate = query.get("predicate") if isinstance(query, Mapping) else None
        if not is_of_memories(predicate, self._graph.names):
            return self._graph
        self.check("memory:inspect", "a query of memories")
        return AgentGraph(today_of(self._graph), self.agent)

    def _remove(self, triple: Mapping[str, Any]) -> bool:
        name, semantic, required, _ = self._declared()
        if is_withdrawn(triple, self._graph, name, semantic, required, strict=self._strict):
            return self._graph.withdraw(triple["id"], self._provenance())
        return self._graph.delete_triple(triple["id"])

    def _provenance(self) -> Provenance:
        return Provenance(self.skill, self._semantic.skill_version, self.agent)

    def _declared(self) -> tuple[str, Semantic, DeclaredPredicates, Names]:
        return self.skill, self._semantic, self._required, self._graph.names

    def check(self, permission: str, action: str) -> None:
        """Check that the skill may do something, and has time for it.

        Raises:
            CortexError: `permission_denied`.
            SandboxTimeout: the deadline is over.
        """
        if remaining_s() <= 0:
            raise SandboxTimeout("stopped: the time limit was reached", "Timeout")
        check_permissions([permission], self._manifest, action)
        self._graph.settle()
