"""A tool of an installed artifact as an action: what the gate needs to know of it, and the skill that it acts as.

Rules kept here:
- the terms come from the verified manifest: whole JSON Schemas, the quotas as limits, the risk;
- the version of the terms covers the payload and what the user granted: a person approves one version with its grants;
- an artifact that reaches nothing but the graph for reading has low risk, any other medium, a sensitive tool high;
- its skill may do in the graph what was granted, asserts only the granted predicates, and forbids no tool to others;
- a core module takes nothing, and answers with the number that `run` returns.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rfc8785

from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action import AgentAction
from cortex_skills.features.actions.manifest import ActionLimits, ActionManifest
from cortex_skills.manifest import Manifest, Semantic
from cortex_skills.manifest.model import ManifestAssertion, Permissions
from cortex_skills.policy.trust_levels import Risk
from cortex_skills.runtime.skill import Skill

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

    from cortex_skills.features.artifacts.installed import InstalledArtifact
    from cortex_skills.features.artifacts.package.artifact_manifest import (
        ArtifactCapabilities,
        ArtifactManifest,
        ArtifactTool,
    )

COMPONENT = b"\0asm\x0d\0\1\0"
RESULT = "result"  # the output of a tool that answers with something else than an object
_MAX_TIMEOUT_MS = 3_600_000
_REFERENCES = ("$ref", "$dynamicRef")
_NO_INPUT: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
_CODE: dict[str, Any] = {"type": "object", "properties": {"code": {"type": "integer"}}, "required": ["code"]}


@dataclass(frozen=True)
class ToolTerms(ActionManifest):
    """What the gate needs to know of a tool.

    Attributes:
        given_input: the JSON Schema of its inputs.
        given_output: the JSON Schema of its outputs.
        payload_sha256: of the artifact.
        may: what the artifact may do, as text.
    """

    given_input: Mapping[str, Any] = field(default_factory=dict, hash=False)
    given_output: Mapping[str, Any] = field(default_factory=dict, hash=False)
    payload_sha256: str = ""
    may: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check nothing: the manifest of the artifact was verified."""

    @cached_property
    def version(self) -> str:
        """The SHA-256 of the tool, the payload and the grants, in hexadecimal."""
        named = {"tool": self.id, "payload": self.payload_sha256, "may": sorted(self.may)}
        return hashlib.sha256(rfc8785.dumps(named)).hexdigest()

    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of its inputs."""
        return {"type": "object", "properties": {}, **self.given_input}

    def output_schema(self) -> dict[str, Any]:
        """The JSON Schema of its outputs; the answer itself was checked against the declared one before."""
        if not self.answers_object:
            return {"type": "object", "properties": {RESULT: {}}, "required": [RESULT]}
        refers = any(f'"{name}"' in repr(self.given_output).replace("'", '"') for name in _REFERENCES)
        return {"type": "object"} if refers else dict(self.given_output)

    @cached_property
    def answer_validator(self) -> Draft202012Validator:
        """The compiled schema of the answer of the tool."""
        from jsonschema_rs import Draft202012Validator

        return Draft202012Validator(dict(self.given_output))

    @property
    def answers_object(self) -> bool:
        """Whether the answer of the tool is an object."""
        return self.given_output.get("type") == "object"


@dataclass(frozen=True, slots=True, eq=False)
class ArtifactAction(AgentAction):
    """A tool of an installed artifact.

    Attributes:
        installed: the version that it is of.
        fulfils: the typed contracts that it is called for: kinds and operations.
        default_tool_id: of the artifact; empty without one.
    """

    installed: InstalledArtifact | None = None
    fulfils: frozenset[tuple[str, str]] = frozenset()
    default_tool_id: str = ""

    @property
    def skill_id(self) -> str:
        """The id of the artifact."""
        return "" if self.installed is None else self.installed.key.skill_id


def module_of(manifest: ArtifactManifest, entries: Mapping[str, bytes]) -> bytes:
    """The module that runs the tools of an artifact.

    Raises:
        CortexError: `artifact_invalid`: it has several, and does not name the one that runs.
    """
    modules = sorted(path for path in entries if path.startswith("modules/"))
    path = manifest.plugin.get("default_module_path", modules[0] if len(modules) == 1 else None)
    if path not in modules:
        raise CortexError(
            "artifact_invalid",
            f"{manifest.skill_id} has {len(modules)} modules, and does not name the one that runs",
            hint="its publisher sets operator.plugin.default_module_path",
        )
    return entries[path]


def terms_of(
    tool: ArtifactTool,
    may: ArtifactCapabilities,
    payload: str,
    *,
    core: bool,
    per_minute: int,
) -> ToolTerms:
    """The terms of a tool.

    Args:
        tool: of the manifest.
        may: what the artifact may do.
        payload: the SHA-256 of the payload.
        core: whether it is a core module.
        per_minute: how often it may run.

    Raises:
        CortexError: `artifact_invalid`: its input is not an object.
    """
    given, answer = (_NO_INPUT, _CODE) if core else (tool.input_schema, tool.output_schema)
    if given.get("type", "object") != "object" or not isinstance(given.get("properties", {}), dict):
        raise CortexError("artifact_invalid", f"{tool.id} takes no object", hint="its publisher changes input_schema")
    return ToolTerms(
        id=tool.id,
        name=tool.name,
        description=tool.description,
        category="artifact",
        inputs={},
        outputs={},
        risk=_risk(tool, may),
        cost="cheap" if reaches_out(may) else "free",
        min_trust_level="observe",
        requires_approval=tool.requires_approval,
        limits=ActionLimits(per_minute, min(may.quotas.wall_clock_timeout_ms, _MAX_TIMEOUT_MS)),
        given_input=given,
        given_output=answer,
        payload_sha256=payload,
        may=tuple(grants_as_text(may)),
    )


def skill_of(manifest: ArtifactManifest, may: ArtifactCapabilities, folder: Path) -> Skill:
    """The skill as which the tools of an artifact act in the graph."""
    permitted = {name for name, granted in (("read", may.graph_read), ("write", may.graph_write)) if granted}
    semantic = Semantic(
        1,
        permissions=Permissions(graph=frozenset(permitted)),
        assertions=tuple(ManifestAssertion(predicate) for predicate in may.graph_predicates),
        allowed_tools=("*",),
        skill_version=manifest.version,
    )
    return Skill(Manifest(manifest.skill_id, manifest.name, semantic=semantic), semantic, folder, None)


def reaches_out(may: ArtifactCapabilities) -> bool:
    """Whether an artifact may do more than read the graph."""
    return bool(
        may.http_hosts or may.secrets or may.read_roots or may.write_roots or may.node or may.device or may.graph_write
    )


def grants_as_text(may: ArtifactCapabilities) -> list[str]:
    """What an artifact may do, one text each."""
    found = [f"http {host}" for host in may.http_hosts]
    found += [f"secret {each.scope}/{key}" for each in may.secrets for key in each.key_names]
    found += [f"storage {root} (read)" for root in may.read_roots] + [
        f"storage {root} (write)" for root in may.write_roots
    ]
    found += [f"channel {name}" for name in may.node]
    found += ["graph (read)"] * may.graph_read + ["graph (write)"] * may.graph_write
    return found + [f"asserts {predicate}" for predicate in may.graph_predicates]


def _risk(tool: ArtifactTool, may: ArtifactCapabilities) -> Risk:
    if tool.default_sensitive:
        return "high"
    return "medium" if reaches_out(may) else "low"
