"""The content of a SKILL.md as frozen data, and the error for one that is invalid.

Rules kept here:
- a `Manifest` is valid: only `parse_manifest` creates one;
- fields that the file omits have their default values (tools, scope, version);
- a permission or a tool that the manifest does not grant is denied;
- a `ManifestError` carries every problem that was found, in the order of the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from cortex_skills.errors import CortexError
from cortex_skills.feature import features
from cortex_skills.safe_io.display import one_line
from cortex_skills.safe_io.schemas import Problem, shown, summary

ANY = "*"  # as the predicate of an assertion: any that no other active skill declares
Scope = Literal["agent", "namespace", "global"]

# Tools of other systems, which skills written for them call.
_OF_OTHERS = ("hub_search", "hub_verify", "mesh_request_knowledge")


def default_tools() -> tuple[str, ...]:
    """The tools that a skill may call if its manifest names none: those that the installed features declare as such."""
    return (*(tool for feature in features() for tool in feature.default_tools), *_OF_OTHERS)


_AREAS = ("graph", "proofs", "memory", "registry", "actions")


@dataclass(frozen=True, slots=True)
class Permissions:
    """The permissions of a skill, by area.

    >>> "graph:read" in Permissions(graph=frozenset({"read"}))
    True
    """

    graph: frozenset[str] = frozenset()
    proofs: frozenset[str] = frozenset()
    memory: frozenset[str] = frozenset()
    registry: frozenset[str] = frozenset()
    actions: frozenset[str] = frozenset()

    def __contains__(self, permission: str) -> bool:
        area, _, action = permission.partition(":")
        return area in _AREAS and action in getattr(self, area)

    def names(self) -> frozenset[str]:
        """Every permission as `area:action`."""
        return frozenset(f"{area}:{action}" for area in _AREAS for action in getattr(self, area))


@dataclass(frozen=True, slots=True)
class ManifestAssertion:
    """A predicate that the skill may assert; `*` for any that no other active skill declares."""

    predicate: str
    require_proof: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """A predicate that the skill queries, and the scope of the query."""

    predicate: str
    scope: Scope = "agent"


@dataclass(frozen=True, slots=True)
class Dependency:
    """A skill that must be loaded first, and the npm range that its version must be in."""

    slug: str
    version: str


@dataclass(frozen=True, slots=True)
class EnrichmentField:
    """A field of what the skill adds to an answer: its values, or that it is text.

    Attributes:
        name: the key of the field, at any depth.
        values: the strings that the field may have; empty for a field of text.
    """

    name: str
    values: tuple[str, ...] = ()

    @property
    def is_text(self) -> bool:
        """Whether the field holds text."""
        return not self.values


@dataclass(frozen=True, slots=True)
class Semantic:
    """The semantic block. A skill without a `skillVersion` has version `0.0.0`.

    Attributes:
        states_tools: True when `allowed_tools` comes from the file and is not the default.
    """

    version: int
    permissions: Permissions = Permissions()
    assertions: tuple[ManifestAssertion, ...] = ()
    queries: tuple[Query, ...] = ()
    allowed_tools: tuple[str, ...] = field(default_factory=default_tools)
    max_queries: int | None = None
    skill_version: str = "0.0.0"
    dependencies: tuple[Dependency, ...] = ()
    fields: tuple[EnrichmentField, ...] = ()
    states_tools: bool = field(default=False, compare=False)

    def allows_tool(self, tool: str) -> bool:
        """Whether `tool` may be called while this skill is active."""
        return tool in self.allowed_tools or "*" in self.allowed_tools


@dataclass(frozen=True, slots=True)
class Manifest:
    """A whole SKILL.md: the fields of the frontmatter and the markdown below it.

    Attributes:
        allowed_tools_text: the `allowed-tools` field of agentskills.io, as written; no decision depends on it.
        semantic: None for a plain agentskills.io skill.
        body: the markdown below the frontmatter, as written.
        warnings: what is ignored or was completed in the frontmatter.
    """

    name: str
    description: str
    license: str | None = None
    compatibility: str | None = None
    metadata: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    allowed_tools_text: str | None = None
    semantic: Semantic | None = None
    body: str = field(default="", repr=False)
    warnings: tuple[Problem, ...] = field(default=(), compare=False, repr=False)

    def has_permission(self, permission: str) -> bool:
        """Whether the skill was granted `permission`, such as `graph:read`."""
        return self.semantic is not None and permission in self.semantic.permissions


class ManifestError(CortexError):
    """A manifest (or a set of them) is invalid (`manifest_invalid`).

    Args:
        errors: the problems, at least one.
        skill: the name of the skill for the message, if it is known.
        place: the path of its folder for the message, if it was read from one.
    """

    def __init__(self, errors: Iterable[Problem], skill: str = "", place: str = "") -> None:
        self.errors = sorted(errors, key=lambda problem: problem.line or 0)
        what = f"the manifest in {one_line(place)}" if place else "the manifest"
        super().__init__(
            "manifest_invalid",
            summary(f"the manifest of {shown(skill)}" if skill and not place else what, self.errors),
            hint="correct the fields above; `cortex-skills validate` checks them again",
            details={"errors": [problem.to_json() for problem in self.errors]},
        )
