"""What a skill's code may do to the graph and to the memory: the host functions of its sandbox.

Rules kept here:
- the only graph that a skill is handed is the namespaced one of its host;
- the same rules as for a tool call: permissions, declared predicates, proofs, budgets (`policy`, `limits`);
- a skill recalls and remembers for the agent on whose behalf it acts, and for nobody else;
- a failure reaches the skill as an error with its stable code; what the skill makes of it is its own affair;
- arguments too many are ignored, as JavaScript has it: `rows.map(graphClient.createTriple)` passes three;
- a deadline is kept: a graph call that would start after it is not started.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cortex_graph import NamespacedGraph, Provenance
from cortex_sandbox import Promised, SandboxTimeout, remaining_s
from cortex_skills.limits import Budgets
from cortex_skills.manifest import Manifest
from cortex_skills.memory import Memories, new_memory, wanted
from cortex_skills.memory.hiding import without_memories
from cortex_skills.memory.owned import PATIENCE_S
from cortex_skills.policy import check_may_write, check_permissions


class GraphBridge:
    """`graphClient` and `memory` for one skill.

    Args:
        manifest: of the skill; with a semantic block.
        graph: the namespaced graph of the host.
        memories: what agents remember in it.
        budgets: counts the skill's writes.
        agent: on whose behalf the skill acts.
        strict_declarations: whether only declared predicates may be written.

    Attributes:
        agent: on whose behalf the skill acts just now, for provenance.

    """

    def __init__(
        self,
        manifest: Manifest,
        graph: NamespacedGraph,
        memories: Memories,
        budgets: Budgets,
        agent: str,
        *,
        strict_declarations: bool,
    ) -> None:
        if manifest.semantic is None:
            raise ValueError(f"{manifest.name} is no semantic skill")
        self._manifest = manifest
        self._semantic = manifest.semantic
        self._graph = graph
        self._memories = memories
        self._budgets = budgets
        self._strict = strict_declarations
        self.agent = agent

    def functions(self) -> Mapping[str, Promised]:
        """The host functions by the name under which the skill finds them."""
        offered: dict[str, Callable[..., Any]] = {
            "graphClient.createTriple": self.create_triple,
            "graphClient.listTriples": self.list_triples,
            "graphClient.patternQuery": self.pattern_query,
            "graphClient.deleteTriple": self.delete_triple,
            "memory.remember": self.remember,
            "memory.recall": self.recall,
        }
        return {name: Promised(function) for name, function in offered.items()}

    def create_triple(self, triple: Any = None, *_: Any) -> dict[str, Any]:
        """Write a triple, once; `created` says whether it is new."""
        self._check("graph:write", "graphClient.createTriple")
        predicate = triple.get("predicate") if isinstance(triple, Mapping) else None
        if isinstance(predicate, str):  # the graph itself refuses whatever else is wrong with a triple
            self._check_predicate(predicate)
        with self._budgets.write(self._manifest.name) as slot:
            provenance = Provenance(self._manifest.name, self._semantic.skill_version, self.agent)
            created = self._graph.create_triple(triple, provenance)
            if not created["created"]:
                slot.refund()
            return created

    def list_triples(self, query: Any = None, *_: Any) -> dict[str, Any]:
        """A page of triples."""
        self._check("graph:read", "graphClient.listTriples")
        page = self._graph.list_triples({} if query is None else query)
        return without_memories(page, "triples", self._semantic, self._graph.names)

    def pattern_query(self, query: Any = None, *_: Any) -> dict[str, Any]:
        """A page of the triples that match a pattern."""
        self._check("graph:read", "graphClient.patternQuery")
        page = self._graph.pattern_query({} if query is None else query)
        return without_memories(page, "matches", self._semantic, self._graph.names)

    def delete_triple(self, triple_id: Any = None, *_: Any) -> bool:
        """Delete a triple of the own namespace by its id; True if it was there. What may not be written stays, too."""
        self._check("graph:write", "graphClient.deleteTriple")
        with self._budgets.write(self._manifest.name) as slot:
            triple = self._graph.get_triple(triple_id)
            if triple is not None:
                self._check_predicate(triple["predicate"])
            deleted = triple is not None and self._graph.delete_triple(triple_id)
            if not deleted:
                slot.refund()
            return deleted

    def remember(self, text: Any = None, options: Any = None, *_: Any) -> str:
        """Remember a text; its id. What is remembered already stays as it is."""
        self._check("memory:remember", "memory.remember")
        new = new_memory(text, options)
        with self._budgets.write(self._manifest.name) as slot:
            identifier, created = self._memories.remember(new, agent=self.agent, skill=self._manifest.name)
            if not created:
                slot.refund()
            return identifier

    def recall(self, query: Any = None, options: Any = None, *_: Any) -> list[dict[str, Any]]:
        """The memories that fit a query best, each with its score."""
        self._check("memory:recall", "memory.recall")
        # Some of the time is left to the skill, to make something of the refusal.
        patience_s = min(PATIENCE_S, 0.8 * remaining_s())
        recalled = self._memories.recall(wanted(query, options), agent=self.agent, patience_s=patience_s)
        return [{**memory.to_json(), **scored.to_json()} for memory, scored in recalled.found]

    def _check_predicate(self, predicate: str) -> None:
        check_may_write(predicate, self._manifest.name, self._semantic, self._graph.names, strict=self._strict)

    def _check(self, permission: str, action: str) -> None:
        if remaining_s() <= 0:
            raise SandboxTimeout("stopped: the time limit was reached", "Timeout")
        check_permissions([permission], self._manifest, action)
