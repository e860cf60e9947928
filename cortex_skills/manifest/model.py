"""What a SKILL.md says, as frozen data.

Rules kept here:
- a manifest in memory is valid: only `parse_manifest` makes one;
- what the file leaves out is filled in (default tools, scope, version), so that no reader needs to know;
- a question about a permission or a tool that is not granted is answered with no.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

Scope = Literal["agent", "namespace", "global"]

DEFAULT_TOOLS = (
    "skill_graph_query",
    "skill_assert",
    "skill_verify_assertion",
    "skill_request_zk_proof",
    "skill_verify_zk_proof",
    "skill_memory_context",
    "hub_search",
    "hub_verify",
    "mesh_request_knowledge",
)


@dataclass(frozen=True, slots=True)
class Permissions:
    """What a skill may do, by area.

    >>> "graph:read" in Permissions(graph=frozenset({"read"}))
    True
    """

    graph: frozenset[str] = frozenset()
    proofs: frozenset[str] = frozenset()
    memory: frozenset[str] = frozenset()

    def __contains__(self, permission: str) -> bool:
        area, _, action = permission.partition(":")
        return action in self._areas().get(area, ())

    def names(self) -> frozenset[str]:
        """Every permission as `area:action`."""
        return frozenset(f"{area}:{action}" for area, actions in self._areas().items() for action in actions)

    def _areas(self) -> dict[str, frozenset[str]]:
        return {"graph": self.graph, "proofs": self.proofs, "memory": self.memory}


@dataclass(frozen=True, slots=True)
class Assertion:
    """A predicate that the skill may assert."""

    predicate: str
    require_proof: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """A predicate that the skill asks for, and how widely."""

    predicate: str
    scope: Scope = "agent"


@dataclass(frozen=True, slots=True)
class Dependency:
    """A skill that has to be loaded before, and the npm range its version has to be in."""

    slug: str
    version: str


@dataclass(frozen=True, slots=True)
class Semantic:
    """The semantic block. A skill that states no `skillVersion` is at `0.0.0`, before any release.

    Attributes:
        states_tools: whether `allowed_tools` is what the file says, and not the default.

    """

    version: int
    permissions: Permissions = Permissions()
    assertions: tuple[Assertion, ...] = ()
    queries: tuple[Query, ...] = ()
    allowed_tools: tuple[str, ...] = DEFAULT_TOOLS
    max_queries: int | None = None
    skill_version: str = "0.0.0"
    dependencies: tuple[Dependency, ...] = ()
    states_tools: bool = field(default=False, compare=False)

    def allows_tool(self, tool: str) -> bool:
        """Whether `tool` may be called while this skill is active."""
        return tool in self.allowed_tools or "*" in self.allowed_tools


@dataclass(frozen=True, slots=True)
class Manifest:
    """A whole SKILL.md: the frontmatter's fields and the markdown below it.

    Attributes:
        allowed_tools_text: agentskills.io's `allowed-tools`, as written; the plugin takes no decision by it.
        semantic: None for a plain agentskills.io skill.
        body: the markdown below the frontmatter, as written.

    """

    name: str
    description: str
    license: str | None = None
    compatibility: str | None = None
    metadata: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    allowed_tools_text: str | None = None
    semantic: Semantic | None = None
    body: str = field(default="", repr=False)

    def has_permission(self, permission: str) -> bool:
        """Whether the skill was granted `permission`, such as `graph:read`."""
        return self.semantic is not None and permission in self.semantic.permissions
