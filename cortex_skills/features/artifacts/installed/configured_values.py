"""The values of `operator.config` of an artifact: what its owner configured, and the defaults.

    values = ConfiguredValues(manifest, config.section(ArtifactSettings), lambda: SecretStore.of(config.secrets))
    values.check()               # before each call
    values.json("api_base_url")  # for `config-read` of a component

Rules kept here:
- a value is that of `artifacts.config`, or the default; that of a redacted property is the secret
  `skill:ID/config.NAME`, which is hidden from every output once it was read, or the default. No other secret is read:
  those that the artifact requests are granted;
- without a value for a required property, with a value of another type than declared or none of `enum_values`, and with
  a value that is not declared, no tool of the artifact runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cortex_sandbox.wasm import HostRefusal
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.artifact_settings import ArtifactSettings
from cortex_skills.features.artifacts.package.artifact_manifest import ArtifactManifest
from cortex_skills.features.artifacts.package.manifest_rules import has_type
from cortex_skills.safe_io.schemas import shown
from cortex_skills.safe_io.strict_json import read_json
from cortex_skills.secrets import SecretName, SecretStore

REDACTED = "[redacted]"
_MAX_DEPTH = 4


@dataclass(frozen=True, slots=True)
class ConfiguredValues:
    """The configured values of one artifact.

    Attributes:
        manifest: of the artifact.
        settings: the section `artifacts` of the configuration.
        secrets: opens the secrets of the owner; called only for a redacted property.
    """

    manifest: ArtifactManifest
    settings: ArtifactSettings
    secrets: Callable[[], SecretStore]

    def check(self) -> None:
        """Check that every value is as the manifest declares.

        Raises:
            CortexError: `config_invalid`, with each problem in `details["errors"]`.
        """
        problems = list(self._problems())
        if problems:
            raise CortexError(
                "config_invalid",
                f"{self.manifest.skill_id} is not configured as it needs: {'; '.join(problems)}",
                hint=f"set artifacts.config.{self.manifest.skill_id}, and a redacted value with "
                f"`cortex-skills secrets set skill:{self.manifest.skill_id}/config.NAME`",
                details={"errors": [{"field": "artifacts.config", "message": problem} for problem in problems]},
            )

    def json(self, name: str) -> str:
        """A value as JSON.

        Raises:
            HostRefusal: `config_not_found`: it is not declared, or has no value.
        """
        value = self._value(name) if name in self._properties else None
        if value is None:
            raise HostRefusal("config_not_found", f"there is no value of {shown(name)}")
        return json.dumps(value, ensure_ascii=False)

    def to_json(self) -> list[dict[str, Any]]:
        """The declared properties with their values for a person; redacted ones are not read."""
        required = self.manifest.config.get("required", [])
        return [
            {
                "name": name,
                "type": declared["type"],
                "required": name in required,
                "value": REDACTED if declared.get("redacted") else self._value(name),
            }
            for name, declared in self._properties.items()
        ]

    @property
    def _properties(self) -> Mapping[str, Any]:
        properties: Mapping[str, Any] = self.manifest.config.get("properties", {})
        return properties

    @property
    def _given(self) -> Mapping[str, Any]:
        given = self.settings.config.get(self.manifest.skill_id, {})
        return given if isinstance(given, Mapping) else {}

    def _value(self, name: str) -> Any:
        """The value of a declared property; None without one."""
        declared = self._properties[name]
        if not declared.get("redacted"):
            return self._given.get(name, declared.get("default"))
        try:
            text = self.secrets().read(SecretName(f"skill:{self.manifest.skill_id}", f"config.{name}"))
        except CortexError as error:
            if error.code != "secret_not_found":
                raise
            return declared.get("default")
        if declared["type"] == "string":
            return text
        try:
            return read_json(text, max_depth=_MAX_DEPTH)
        except ValueError:
            return text  # which is not of the type

    def _problems(self) -> Iterator[str]:
        for name in self._given:
            if name not in self._properties:
                yield f"{shown(name)} is not declared by its manifest"
            elif self._properties[name].get("redacted"):
                yield f"{name} is redacted, and not kept in the settings"
        for name, declared in self._properties.items():
            value = self._value(name)
            if value is None:
                if name in self.manifest.config.get("required", []):
                    yield f"{name} is required, and has no value"
            elif not has_type(value, declared["type"]):
                yield f"{name} is not of the type {declared['type']}"
            elif (allowed := declared.get("enum_values")) and value not in allowed:
                yield f"{name} is none of {', '.join(allowed)}"
