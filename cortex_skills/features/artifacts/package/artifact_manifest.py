"""What the manifest of an artifact declares, as values.

Rules kept here:
- a manifest comes from `read_skill_toml`, which has checked it; nothing is checked here;
- every list is a tuple in the declared order, and every default is that of the format.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SEMANTIC = "semantic"


@dataclass(frozen=True, slots=True)
class ArtifactTool:
    """A tool: its id, its texts, its JSON Schemas and its risk."""

    id: str
    name: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    default_sensitive: bool = False
    requires_approval: bool = False


@dataclass(frozen=True, slots=True)
class SecretScope:
    """The names of secrets in one scope: `global`, or `principal:`, `channel:` or `skill:` and a name."""

    scope: str
    key_names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ArtifactQuotas:
    """The limits of one call: milliseconds, units of fuel, bytes of linear memory."""

    wall_clock_timeout_ms: int = 30_000
    fuel_budget: int = 10_000_000
    max_memory_bytes: int = 64 << 20


@dataclass(frozen=True, slots=True)
class ArtifactCapabilities:
    """What an artifact requests. What it may do is this and what the user grants at installation."""

    read_roots: tuple[str, ...] = ()
    write_roots: tuple[str, ...] = ()
    http_hosts: tuple[str, ...] = ()
    secrets: tuple[SecretScope, ...] = ()
    device: tuple[str, ...] = ()
    node: tuple[str, ...] = ()
    graph_read: bool = False
    graph_write: bool = False
    graph_predicates: tuple[str, ...] = ()
    quotas: ArtifactQuotas = ArtifactQuotas()
    wildcard_opt_in: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ArtifactCompat:
    """The hosts that can run an artifact: a major version of the protocol, and versions of the runtime."""

    required_protocol_major: int
    min_palyra_version: str
    max_palyra_version: str | None = None


@dataclass(frozen=True, slots=True)
class ArtifactManifest:
    """The contents of `skill.toml`.

    Attributes:
        manifest_version: 1 or 2.
        skill_id: the publisher, a dot, and a name.
        publisher: who publishes it.
        name: for a person.
        version: semver.
        tools: what can be called; a TypeScript skill may have none.
        capabilities: what it requests.
        compat: the hosts that can run it.
        integrity: the SHA-256 of each entry by path, as the build listed them.
        operator: `[operator]` as a JSON object; empty in version 1.
        builder: `[builder]` as a JSON object; empty without one.
        warnings: what is allowed but not recommended, by id.
    """

    manifest_version: int
    skill_id: str
    publisher: str
    name: str
    version: str
    tools: tuple[ArtifactTool, ...]
    capabilities: ArtifactCapabilities
    compat: ArtifactCompat
    integrity: Mapping[str, str]
    operator: Mapping[str, Any]
    builder: Mapping[str, Any]
    warnings: Mapping[str, str]

    @property
    def plugin(self) -> Mapping[str, Any]:
        """`[operator.plugin]` as a JSON object."""
        plugin: Mapping[str, Any] = self.operator.get("plugin", {})
        return plugin

    @property
    def is_semantic(self) -> bool:
        """Whether the artifact is a TypeScript skill in `assets/skill`."""
        return self.plugin.get("kind") == SEMANTIC

    @property
    def entrypoint(self) -> str:
        """The export that is called."""
        return str(self.plugin.get("default_entrypoint", "run"))

    @property
    def config(self) -> Mapping[str, Any]:
        """`[operator.config]` as a JSON object."""
        config: Mapping[str, Any] = self.operator.get("config", {})
        return config

    @property
    def executable(self) -> frozenset[str]:
        """The entries that can be started as programs."""
        return frozenset(self.plugin.get("executable", ()))


def manifest_of(document: Mapping[str, Any], warnings: Mapping[str, str]) -> ArtifactManifest:
    """The manifest in a checked document with the current names."""
    return ArtifactManifest(
        manifest_version=document["manifest_version"],
        skill_id=document["skill_id"],
        publisher=document["publisher"],
        name=document["name"],
        version=document["version"],
        tools=tuple(_tool(tool) for tool in document["entrypoints"]["tools"]),
        capabilities=_capabilities(document.get("capabilities", {})),
        compat=ArtifactCompat(**document["compat"]),
        integrity={file["path"]: file["sha256"] for file in document.get("integrity", {}).get("files", ())},
        operator=document.get("operator", {}),
        builder=document.get("builder", {}),
        warnings=warnings,
    )


def _tool(tool: Mapping[str, Any]) -> ArtifactTool:
    given = {key: value for key, value in tool.items() if key != "risk"}
    return ArtifactTool(**given | {"description": tool["description"].strip()}, **tool.get("risk", {}))


def _capabilities(given: Mapping[str, Any]) -> ArtifactCapabilities:
    filesystem, graph = given.get("filesystem", {}), given.get("graph", {})
    return ArtifactCapabilities(
        read_roots=tuple(filesystem.get("read_roots", ())),
        write_roots=tuple(filesystem.get("write_roots", ())),
        http_hosts=tuple(given.get("http_egress_allowlist", ())),
        secrets=tuple(SecretScope(each["scope"], tuple(each["key_names"])) for each in given.get("secrets", ())),
        device=tuple(given.get("device_capabilities", ())),
        node=tuple(given.get("node_capabilities", ())),
        graph_read=graph.get("read", False),
        graph_write=graph.get("write", False),
        graph_predicates=tuple(graph.get("predicates", ())),
        quotas=ArtifactQuotas(**given.get("quotas", {})),
        wildcard_opt_in=frozenset(name for name, opted in given.get("wildcard_opt_in", {}).items() if opted),
    )
