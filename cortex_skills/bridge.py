"""What a skill's code may do to the graph: the host functions of its sandbox.

Rules kept here:
- the only graph that a skill is handed is the namespaced one of its host;
- the same rules as for a tool call: permissions, declared predicates, proofs, budgets (`policy`, `limits`);
- a failure reaches the skill as an error with its stable code; what the skill makes of it is its own affair;
- a deadline is kept: a graph call that would start after it is not started.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from cortex_graph import NamespacedGraph, Provenance
from cortex_sandbox import Promised, SandboxTimeout, remaining_s
from cortex_skills.limits import Budgets
from cortex_skills.manifest import Manifest
from cortex_skills.policy import check_may_write, check_permissions

log = logging.getLogger(__name__)


class GraphBridge:
    """`graphClient` for one skill.

    Args:
        manifest: of the skill; with a semantic block.
        graph: the namespaced graph of the host.
        budgets: counts the skill's writes.
        agent: on whose behalf the skill acts, for provenance.
        strict_declarations: whether only declared predicates may be written.

    """

    def __init__(
        self, manifest: Manifest, graph: NamespacedGraph, budgets: Budgets, agent: str, *, strict_declarations: bool
    ) -> None:
        if manifest.semantic is None:
            raise ValueError(f"{manifest.name} is no semantic skill")
        self._manifest = manifest
        self._semantic = manifest.semantic
        self._graph = graph
        self._budgets = budgets
        self._strict = strict_declarations
        self._provenance = Provenance(skill=manifest.name, skill_version=manifest.semantic.skill_version, agent=agent)

    def functions(self) -> Mapping[str, Promised]:
        """The host functions by the name under which the skill finds them."""
        offered: dict[str, Callable[..., Any]] = {
            "graphClient.createTriple": self.create_triple,
            "graphClient.listTriples": self.list_triples,
            "graphClient.patternQuery": self.pattern_query,
            "graphClient.deleteTriple": self.delete_triple,
        }
        return {name: Promised(function) for name, function in offered.items()}

    def create_triple(self, triple: Any = None) -> dict[str, Any]:
        """Write a triple, once; `created` says whether it is new."""
        self._check("graph:write", "graphClient.createTriple")
        predicate = triple.get("predicate") if isinstance(triple, Mapping) else None
        if isinstance(predicate, str):  # the graph itself refuses whatever else is wrong with a triple
            check_may_write(predicate, self._manifest.name, self._semantic, self._graph.names, strict=self._strict)
        with self._budgets.write(self._manifest.name) as slot:
            created = self._graph.create_triple(triple, provenance=self._provenance)
            if not created["created"]:
                slot.refund()
            return created

    def list_triples(self, query: Any = None) -> dict[str, Any]:
        """A page of triples."""
        self._check("graph:read", "graphClient.listTriples")
        return self._graph.list_triples(query or {})

    def pattern_query(self, query: Any = None) -> dict[str, Any]:
        """A page of the triples that match a pattern."""
        self._check("graph:read", "graphClient.patternQuery")
        return self._graph.pattern_query(query or {})

    def delete_triple(self, triple_id: Any = None) -> bool:
        """Delete a triple of the own namespace by its id; True if it was there."""
        self._check("graph:write", "graphClient.deleteTriple")
        with self._budgets.write(self._manifest.name) as slot:
            deleted = self._graph.delete_triple(triple_id)
            if not deleted:
                slot.refund()
            return deleted

    def _check(self, permission: str, action: str) -> None:
        if remaining_s() <= 0:
            raise SandboxTimeout("stopped: the time limit was reached", "Timeout")
        check_permissions([permission], self._manifest, action)


def log_lines(skill: str, lines: list[Any], logger: logging.Logger = log) -> None:
    """Pass on what a skill logged, with its name in front."""
    levels = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
    for line in lines:
        logger.log(levels.get(line.level, logging.INFO), "[skill:%s] %s", skill, line.text)
