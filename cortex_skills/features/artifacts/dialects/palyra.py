"""The artifacts of Palyra (github.com/tomasmarekk/Palyra, `crates/palyra-skills`): their fields, and what it reads.

Rules kept here:
- each field that Palyra reads or writes is in `FIELDS`: with ours for it, or with the reason why it is not kept;
- a field that only this host knows is in `ONLY_HERE`. Palyra refuses a manifest with an unknown field;
- everything is a pure function of a manifest and its contents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

_NOT_KEPT = "not kept: "


def _same(names: str) -> Mapping[str, str]:
    """Fields that have the same name here."""
    return {name: name for name in names.split()}


# By file. `[]` is each element of a list, `*` each member of a table.
FIELDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "skill.toml": {
            **_same("""
                manifest_version skill_id name version publisher
                entrypoints.tools[].id entrypoints.tools[].name entrypoints.tools[].description
                entrypoints.tools[].input_schema entrypoints.tools[].output_schema
                entrypoints.tools[].risk.default_sensitive entrypoints.tools[].risk.requires_approval
                capabilities.filesystem.read_roots capabilities.filesystem.write_roots
                capabilities.http_egress_allowlist capabilities.secrets[].scope capabilities.secrets[].key_names
                capabilities.device_capabilities capabilities.node_capabilities
                capabilities.quotas.wall_clock_timeout_ms capabilities.quotas.fuel_budget
                capabilities.quotas.max_memory_bytes
                capabilities.wildcard_opt_in.filesystem capabilities.wildcard_opt_in.http_egress
                capabilities.wildcard_opt_in.secrets capabilities.wildcard_opt_in.device
                capabilities.wildcard_opt_in.node
                compat.required_protocol_major compat.min_palyra_version compat.max_palyra_version
                integrity.files[].path integrity.files[].sha256
                builder.experimental builder.source_kind builder.source_ref builder.rollout_flag builder.review_status
                builder.checklist.capability_declaration_path builder.checklist.provenance_path
                builder.checklist.test_harness_path builder.checklist.review_notes
                operator.display_name operator.summary operator.description operator.categories operator.tags
                operator.docs_url operator.plugin.default_tool_id operator.plugin.default_module_path
                operator.plugin.default_entrypoint operator.plugin.contracts[].kind operator.plugin.contracts[].version
                operator.config.schema_version operator.config.required
                operator.config.properties.*.type operator.config.properties.*.title
                operator.config.properties.*.description operator.config.properties.*.default
                operator.config.properties.*.redacted operator.config.properties.*.enum_values
                """),
            "compat.min_protocol_major": "compat.required_protocol_major",
            "compat.min_runtime_version": "compat.min_palyra_version",
        },
        "signature.json": _same(
            "algorithm publisher key_id public_key_base64 payload_sha256 signature_base64 signed_at_unix_ms"
        ),
        "provenance.json": {
            "builder.id": "builder_id",
            "subject[].name": "subjects",
            "subject[].digest.sha256": "subjects",
            "builder.version": _NOT_KEPT + "it is the version of the program that wrote the file",
            "buildType": _NOT_KEPT + "only the type in an in-toto statement is read",
            "metadata.source_kind": _NOT_KEPT + "[builder] of the manifest states it",
            "metadata.source_ref": _NOT_KEPT + "[builder] of the manifest states it",
            "metadata.summary": _NOT_KEPT + "[operator] of the manifest has a summary",
        },
        "sbom.cdx.json": {
            "bomFormat": "bomFormat",
            "specVersion": "specVersion",
            "version": _NOT_KEPT + "a bill is read by itself, not as a revision of another",
            "metadata.component.name": "about",
            "metadata.component.version": "about",
            "metadata.component.type": _NOT_KEPT + "the bill is about the artifact",
            "components[].name": "components",
            "components[].version": "components",
            "components[].type": _NOT_KEPT + "known vulnerabilities are found by package URL",
            "components[].publisher": _NOT_KEPT + "known vulnerabilities are found by package URL",
        },
    }
)
ONLY_HERE = (
    "capabilities.graph",
    "capabilities.wildcard_opt_in.graph",
    "operator.plugin.abi",
    "operator.plugin.executable",
    "operator.plugin.kind",
)

_VERSION = re.compile(r"\d{1,9}\.\d{1,9}\.\d{1,9}", re.ASCII)
_MAX_ENTRY = 16 << 20
_CORE_MODULE = b"\0asm\1\0\0\0"
_MAX_MODULE = 8 << 20


def is_kept(ours: str) -> bool:
    """Whether a value of `FIELDS` names a field of this host."""
    return not ours.startswith(_NOT_KEPT)


def without_defaults(document: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest as Palyra reads it: without what states the default of a field that only this host knows."""
    plugin = document.get("operator", {}).get("plugin", {})
    kept = {name: value for name, value in plugin.items() if (name, value) != ("kind", "wasm") and name != "abi"}
    if kept == plugin:
        return dict(document)
    operator = {name: value for name, value in document["operator"].items() if name != "plugin"}
    return {**document, "operator": operator | ({"plugin": kept} if kept else {})}


def unreadable(document: Mapping[str, Any], content: Mapping[str, bytes]) -> Iterator[str]:
    """Why Palyra does not read an artifact that is valid here; nothing if it does.

    Args:
        document: the manifest, without defaults.
        content: the modules and assets by path.
    """
    yield from (f"{path} is known here only" for path in ONLY_HERE if _has(document, path.split(".")))
    versions = {"version": document["version"]} | {
        f"compat.{name}": value for name, value in document["compat"].items() if isinstance(value, str)
    }
    yield from (f"{path} is not three numbers" for path, text in versions.items() if not _VERSION.fullmatch(text))
    if not document["entrypoints"]["tools"]:
        yield "entrypoints.tools is empty"
    if not any(path.startswith("modules/") for path in content):
        yield "it has no module"
    yield from (f"{path} is larger than 16 MiB" for path, data in content.items() if len(data) > _MAX_ENTRY)


def not_run(content: Mapping[str, bytes]) -> Iterator[str]:
    """Why Palyra quarantines an artifact that it reads; nothing if it runs it."""
    for path, data in content.items():
        if not path.startswith("modules/"):
            continue
        if not data.startswith(_CORE_MODULE):
            yield f"Palyra runs core modules, and {path} is a component"
        if len(data) > _MAX_MODULE:
            yield f"Palyra runs modules of at most 8 MiB, and {path} is larger"


def _has(document: Any, path: list[str]) -> bool:
    for name in path:
        if not isinstance(document, dict) or name not in document:
            return False
        document = document[name]
    return True
