"""Palyra's rules for artifacts, written once more from its code (`crates/palyra-skills/src`): its reader, its builder.

Refusals have the names of its error variants. What it delegates to Rust libraries is done with the like in Python: its
TOML and JSON parsers here are stricter in nothing that the cases use.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import json
import tomllib
import zipfile
from collections.abc import Mapping
from typing import Any, Literal

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cortex_skills.keys import Key, verify

MAX_ARTIFACT, MAX_ENTRY, MAX_ENTRIES = 64 << 20, 16 << 20, 256
PROTOCOL_MAJOR, RUNTIME = 1, (0, 1, 0)
NAMES = "abcdefghijklmnopqrstuvwxyz0123456789._-"
KINDS = frozenset(
    {
        "memory_provider",
        "context_engine",
        "routing_strategy",
        "run_lifecycle_hook",
        "compaction_provider",
        "diagnostics_provider",
        "policy_signal_provider",
        "channel_binding_provider",
        "delivery_adapter",
        "scheduler_task_provider",
        "model_auth_provider",
        "connector_adapter",
    }
)


class Refused(Exception):
    """The name of Palyra's error, and a text."""

    def __init__(self, kind: str, what: str = "") -> None:
        super().__init__(f"{kind}: {what}")
        self.kind = kind


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Risk(Part):
    default_sensitive: bool = False
    requires_approval: bool = False


class Tool(Part):
    id: str
    name: str
    description: str
    input_schema: Any
    output_schema: Any
    risk: Risk = Risk()


class Entrypoints(Part):
    tools: list[Tool]


class Filesystem(Part):
    read_roots: list[str] = []
    write_roots: list[str] = []


class Secret(Part):
    scope: str
    key_names: list[str] = []


class Quotas(Part):
    wall_clock_timeout_ms: int = Field(30_000, ge=0)
    fuel_budget: int = Field(10_000_000, ge=0)
    max_memory_bytes: int = Field(64 << 20, ge=0)


class Wildcards(Part):
    filesystem: bool = False
    http_egress: bool = False
    secrets: bool = False
    device: bool = False
    node: bool = False


class Capabilities(Part):
    filesystem: Filesystem = Filesystem()
    http_egress_allowlist: list[str] = []
    secrets: list[Secret] = []
    device_capabilities: list[str] = []
    node_capabilities: list[str] = []
    quotas: Quotas = Quotas()
    wildcard_opt_in: Wildcards = Wildcards()


class Compat(Part):
    required_protocol_major: int = Field(alias="required_protocol_major", ge=0)
    min_palyra_version: str
    max_palyra_version: str | None = None


class File(Part):
    path: str
    sha256: str


class Integrity(Part):
    files: list[File] = []


class Checklist(Part):
    capability_declaration_path: str
    provenance_path: str
    test_harness_path: str
    review_notes: str = ""


class Builder(Part):
    experimental: bool
    source_kind: str
    source_ref: str
    rollout_flag: str
    review_status: str = ""
    checklist: Checklist


class Contract(Part):
    kind: str
    version: int = 1


class Plugin(Part):
    default_tool_id: str | None = None
    default_module_path: str | None = None
    default_entrypoint: str | None = None
    contracts: list[Contract] = []


class Property(Part):
    type: Literal["string", "integer", "number", "boolean", "string_list"]
    title: str | None = None
    description: str | None = None
    default: Any = None
    redacted: bool = False
    enum_values: list[str] = []


class Config(Part):
    schema_version: int = 1
    required: list[str] = []
    properties: dict[str, Property] = {}


class Operator(Part):
    display_name: str | None = None
    summary: str | None = None
    description: str | None = None
    categories: list[str] = []
    tags: list[str] = []
    docs_url: str | None = None
    plugin: Plugin = Plugin()
    config: Config | None = None


class Manifest(Part):
    manifest_version: int = 2
    skill_id: str
    name: str
    version: str
    publisher: str
    entrypoints: Entrypoints
    capabilities: Capabilities = Capabilities()
    compat: Compat
    integrity: Integrity = Integrity()
    builder: Builder | None = None
    operator: Operator = Operator()


# --- the manifest


def parse_manifest(text: str) -> Manifest:
    """A manifest that passed Palyra's validation."""
    try:
        document = tomllib.loads(text)
        compat = document.get("compat", {})
        old = {"min_protocol_major": "required_protocol_major", "min_runtime_version": "min_palyra_version"}
        document["compat"] = {old.get(name, name): value for name, value in compat.items()}
        manifest = Manifest.model_validate(document)
    except (ValueError, ValidationError) as error:
        raise Refused("ManifestParse", str(error)) from None
    _validate(manifest)
    return manifest


def _need(holds: object, what: str) -> None:
    if not holds:
        raise Refused("ManifestValidation", what)


def _identifier(value: str, what: str) -> str:
    value = value.strip()
    _need(value and all(char in NAMES + ":" for char in value), what)
    return value


def _semver(value: str, what: str) -> tuple[int, ...]:
    parts = value.strip().split(".")
    _need(len(parts) == 3 and all(part.isascii() and part.isdecimal() for part in parts), what)
    numbers = tuple(map(int, parts))
    _need(max(numbers) < 1 << 32, what)
    return numbers


def normal_path(raw: str) -> str:
    """A path in the form in which Palyra compares it."""
    path = raw.strip().replace("\\", "/")
    if not path or path.startswith("/") or "\0" in path or ":" in path or {"", ".", ".."} & set(path.split("/")):
        raise Refused("InvalidArtifactPath", raw)
    return path


def _wildcard(value: str, what: str, *, allowed: bool) -> None:
    if "*" in value:
        _need(allowed, f"{what} contains * without opt-in")
    else:
        _identifier(value, what)


def _validate(manifest: Manifest) -> None:
    _need(manifest.manifest_version in (1, 2), "manifest_version")
    publisher = _identifier(manifest.publisher, "publisher")
    skill_id = _identifier(manifest.skill_id, "skill_id")
    _need(":" not in skill_id and all(skill_id.split(".")), "skill_id")
    _semver(manifest.version, "version")
    lowest = _semver(manifest.compat.min_palyra_version, "compat.min_palyra_version")
    if manifest.compat.max_palyra_version is not None:
        _need(_semver(manifest.compat.max_palyra_version, "max_palyra_version") >= lowest, "max_palyra_version")
    _need(manifest.name.strip(), "name")
    tools = manifest.entrypoints.tools
    _need(tools, "entrypoints.tools")
    for tool in tools:
        _need(_identifier(tool.id, "tool id").startswith(f"{publisher}."), "tool id must be namespaced")
        _need(tool.name.strip() and tool.description.strip(), "tool texts")
        _need(isinstance(tool.input_schema, dict) and isinstance(tool.output_schema, dict), "tool schemas")
    _need(len({tool.id.strip() for tool in tools}) == len(tools), "duplicate tool id")
    _validate_capabilities(manifest.capabilities)
    if (builder := manifest.builder) is not None:
        _need(builder.experimental, "builder.experimental")
        for text in (builder.source_kind, builder.source_ref, builder.rollout_flag):
            _need(text.strip(), "builder")
        for name in ("capability_declaration_path", "provenance_path", "test_harness_path"):
            _need(getattr(builder.checklist, name).strip(), f"builder.checklist.{name}")
            normal_path(getattr(builder.checklist, name))
    _validate_operator(manifest, publisher)


def _validate_capabilities(given: Capabilities) -> None:
    opted = given.wildcard_opt_in
    for path in given.filesystem.read_roots + given.filesystem.write_roots:
        _need("*" not in path or opted.filesystem, "capability path")
        normal_path(path)
    for host in given.http_egress_allowlist:
        if "*" in host:
            _need(opted.http_egress, "host")
            continue
        host = host.strip().rstrip(".").lower()
        _need(host and ".." not in host and host[0] not in ".-" and host[-1] not in ".-", "host")
        _need(all(char in "abcdefghijklmnopqrstuvwxyz0123456789.-" for char in host), "host")
    for secret in given.secrets:
        scope = secret.scope.strip()
        if scope != "global":
            kind, colon, name = scope.partition(":")
            _need(colon and kind in ("principal", "channel", "skill"), "secret scope")
            _identifier(name, "secret scope")
        _need(secret.key_names, "key_names")
        for key in secret.key_names:
            _wildcard(key, "key_names", allowed=opted.secrets)
    for name in given.device_capabilities:
        _wildcard(name, "device_capabilities", allowed=opted.device)
    for name in given.node_capabilities:
        _wildcard(name, "node_capabilities", allowed=opted.node)
    quotas = given.quotas
    _need(quotas.wall_clock_timeout_ms and quotas.fuel_budget and quotas.max_memory_bytes >= 65536, "quotas")


def _validate_operator(manifest: Manifest, publisher: str) -> None:
    operator = manifest.operator
    if operator == Operator():
        return
    _need(manifest.manifest_version == 2, "operator metadata requires manifest_version 2")
    for text in (operator.display_name, operator.summary, operator.description):
        _need(text is None or text.strip(), "operator text")
    for label in operator.categories + operator.tags:
        _need(label.strip() and all(char in NAMES for char in label.strip()), "operator label")
    if (url := operator.docs_url) is not None:
        _need(url.strip().startswith("https://") and " " not in url.strip() and "#" not in url, "docs_url")
    plugin = operator.plugin
    if plugin.default_tool_id is not None:
        tool = _identifier(plugin.default_tool_id, "default_tool_id")
        _need(tool in {each.id for each in manifest.entrypoints.tools}, "default_tool_id")
        _need(tool.startswith(f"{publisher}."), "default_tool_id")
    if (path := plugin.default_module_path) is not None:
        _need(path.startswith("modules/") and path.endswith(".wasm") and ".." not in path, "default_module_path")
        normal_path(path)
    if (entrypoint := plugin.default_entrypoint) is not None:
        entrypoint = entrypoint.strip()
        _need(entrypoint and all(char in NAMES.replace(".", "") for char in entrypoint), "default_entrypoint")
    for contract in plugin.contracts:
        if contract.kind not in KINDS:
            raise Refused("ManifestParse", "an unknown kind of contract")
        _need(contract.version == 1, "contract version")
    _need(len({each.kind for each in plugin.contracts}) == len(plugin.contracts), "duplicate kind")
    if operator.config is not None:
        _validate_config(operator.config)


def _validate_config(config: Config) -> None:
    _need(config.schema_version, "schema_version")
    for name in [*config.required, *config.properties]:
        _need(name.strip() and all(char in NAMES for char in name.strip()), "config key")
    _need(set(config.required) <= set(config.properties), "config.required")
    types: Mapping[str, Any] = {"string": str, "integer": int, "number": (int, float), "boolean": bool}
    for declared in config.properties.values():
        for text in (declared.title, declared.description):
            _need(text is None or text.strip(), "property text")
        values = declared.enum_values
        if values:
            _need(declared.type == "string", "enum_values need a string")
            _need(all(value.strip() for value in values), "enum_values")
            _need(len({value.strip() for value in values}) == len(values), "enum_values")
        if (default := declared.default) is None:
            continue
        if declared.type == "string_list":
            _need(isinstance(default, list) and all(isinstance(item, str) for item in default), "default")
        else:
            is_bool = isinstance(default, bool)
            _need(isinstance(default, types[declared.type]) and is_bool == (declared.type == "boolean"), "default")
        _need(not values or default in values, "default")


def warnings_of(manifest: Manifest) -> list[str]:
    """The codes of Palyra's warnings about a manifest."""
    found = ["legacy_manifest_version"] if manifest.manifest_version == 1 else []
    operator = manifest.operator
    if operator == Operator():
        return [*found, "missing_operator_metadata"]
    found += ["missing_operator_display_name"] if operator.display_name is None else []
    properties = {} if operator.config is None else operator.config.properties
    found += ["empty_operator_config_contract"] if operator.config is not None and not properties else []
    words = ("secret", "token", "password", "api_key", "client_key")
    return found + [
        "operator_config_redaction_recommended"
        for name, declared in properties.items()
        if not declared.redacted and any(word in name.lower() for word in words)
    ]


# --- the archive


def decode_zip(data: bytes) -> dict[str, bytes]:
    """The entries of an archive."""
    if len(data) > MAX_ARTIFACT:
        raise Refused("ArtifactTooLarge")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError) as error:
        raise Refused("Zip", str(error)) from None
    if len(archive.infolist()) > MAX_ENTRIES:
        raise Refused("ArtifactTooManyEntries")
    entries: dict[str, bytes] = {}
    total = 0
    for info in archive.infolist():
        if info.is_dir():
            continue
        path = normal_path(info.filename)
        if info.file_size > MAX_ENTRY:
            raise Refused("ArtifactEntryTooLarge", path)
        if total + info.file_size > MAX_ARTIFACT:
            raise Refused("ArtifactTooLarge")
        try:
            content = archive.read(info)
        except (zipfile.BadZipFile, ValueError, EOFError) as error:
            raise Refused("Io", str(error)) from None
        total += len(content)
        if path in entries:
            raise Refused("DuplicateArtifactEntry", path)
        entries[path] = content
    return dict(sorted(entries.items()))


def encode_zip(entries: Mapping[str, bytes]) -> bytes:
    """An archive as Palyra writes it: deflated, at the time 1980-01-01, with the mode 0644."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, content in sorted(entries.items()):
            info = zipfile.ZipInfo(path, date_time=(1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o100644 << 16
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


# --- an artifact


def inspect(data: bytes) -> tuple[Manifest, dict[str, bytes]]:
    """The manifest and the entries of an artifact that Palyra's reader accepts."""
    entries = decode_zip(data)
    manifest = parse_manifest(_text(_entry(entries, "skill.toml")))
    _check_sbom(_entry(entries, "sbom.cdx.json"))
    _check_provenance(_entry(entries, "provenance.json"))
    if not any(path.startswith("modules/") and path.endswith(".wasm") for path in entries):
        raise Refused("MissingArtifactEntry", "modules/*.wasm")
    signature = _json(_entry(entries, "signature.json"), "Serialization")
    payload = payload_hash(entries)
    if signature["payload_sha256"] != payload:
        raise Refused("PayloadHashMismatch")
    _check_signature(signature, payload)
    if signature["publisher"] != manifest.publisher:
        raise Refused("SignatureVerificationFailed", "publisher")
    found = {path: _sha256(data) for path, data in entries.items() if path not in ("skill.toml", "signature.json")}
    if found != {normal_path(file.path): file.sha256 for file in manifest.integrity.files}:
        raise Refused("ManifestValidation", "integrity")
    _check_compat(manifest.compat)
    return manifest, entries


def build(
    manifest: str,
    modules: Mapping[str, bytes],
    assets: Mapping[str, bytes],
    sbom: bytes,
    provenance: bytes,
    key: Key,
) -> bytes:
    """The artifact that Palyra's builder makes; paths are those below `modules/` and `assets/`."""
    parsed = parse_manifest(manifest)
    _check_compat(parsed.compat)
    _check_sbom(sbom)
    _check_provenance(provenance)
    if not modules:
        raise Refused("ManifestValidation", "at least one module")
    if not all(path.endswith(".wasm") for path in modules):
        raise Refused("ManifestValidation", "module path")
    entries = {f"modules/{normal_path(path)}": data for path, data in modules.items()}
    entries |= {f"assets/{normal_path(path)}": data for path, data in assets.items()}
    entries |= {"sbom.cdx.json": sbom, "provenance.json": provenance}
    parsed.integrity.files = [File(path=path, sha256=_sha256(data)) for path, data in sorted(entries.items())]
    entries["skill.toml"] = tomli_w.dumps(_serialized(parsed)).encode()
    payload = payload_hash(entries)
    signature = {
        "algorithm": "ed25519-sha256",
        "publisher": parsed.publisher,
        "key_id": _key_id(key.public),
        "public_key_base64": base64.b64encode(key.public).decode(),
        "payload_sha256": payload,
        "signature_base64": base64.b64encode(key.sign(payload.encode())).decode(),
        "signed_at_unix_ms": 1_777_000_000_000,
    }
    entries["signature.json"] = json.dumps(signature, indent=2).encode()
    if any(len(data) > MAX_ENTRY for data in entries.values()):
        raise Refused("ArtifactEntryTooLarge")
    if len(entries) > MAX_ENTRIES:
        raise Refused("ArtifactTooManyEntries")
    if sum(map(len, entries.values())) > MAX_ARTIFACT:
        raise Refused("ArtifactTooLarge")
    return encode_zip(entries)


def payload_hash(entries: Mapping[str, bytes]) -> str:
    """The hash that is signed."""
    hashed = hashlib.sha256(b"palyra.skill.payload.v1")
    for path, content in sorted(entries.items()):
        if path != "signature.json":
            for part in (path.encode(), content):
                hashed.update(len(part).to_bytes(8, "big") + part)
    return hashed.hexdigest()


def _serialized(manifest: Manifest) -> dict[str, Any]:
    """A manifest as Palyra writes it: with all defaults but optional values, `contracts` and `enum_values`."""
    document = manifest.model_dump(exclude_none=True)
    plugin = document["operator"]["plugin"]
    if not plugin["contracts"]:
        del plugin["contracts"]
    for declared in document["operator"].get("config", {}).get("properties", {}).values():
        if not declared["enum_values"]:
            del declared["enum_values"]
    return document


def _check_signature(signature: Mapping[str, Any], payload: str) -> None:
    try:
        public = base64.b64decode(signature["public_key_base64"], validate=True)
        signed = base64.b64decode(signature["signature_base64"], validate=True)
    except (binascii.Error, ValueError):
        raise Refused("SignatureVerificationFailed", "base64") from None
    if (
        signature["algorithm"] != "ed25519-sha256"
        or len(public) != 32
        or signature["key_id"] != _key_id(public)
        or len(signed) != 64
        or not verify(public, payload.encode(), signed)
    ):
        raise Refused("SignatureVerificationFailed")


def _check_compat(compat: Compat) -> None:
    if compat.required_protocol_major > PROTOCOL_MAJOR:
        raise Refused("UnsupportedProtocolMajor")
    if _semver(compat.min_palyra_version, "version") > RUNTIME:
        raise Refused("UnsupportedRuntimeVersion")
    if compat.max_palyra_version is not None and _semver(compat.max_palyra_version, "version") < RUNTIME:
        raise Refused("RuntimeVersionAboveSupportedMaximum")


def _check_sbom(data: bytes) -> None:
    document = _json(data, "InvalidSbom")
    if document.get("bomFormat") != "CycloneDX" or not isinstance(document.get("specVersion"), str):
        raise Refused("InvalidSbom")
    if not document["specVersion"]:
        raise Refused("InvalidSbom")


def _check_provenance(data: bytes) -> None:
    document = _json(data, "InvalidProvenance")
    subject = document.get("subject")
    if not isinstance(document.get("builder"), dict) or not isinstance(subject, list) or not subject:
        raise Refused("InvalidProvenance")


def _json(data: bytes, kind: str) -> dict[str, Any]:
    try:
        document = json.loads(data)
    except ValueError as error:
        raise Refused(kind, str(error)) from None
    if not isinstance(document, dict):
        raise Refused(kind, "not an object")
    return document


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Refused("ManifestParse", "not UTF-8") from None


def _entry(entries: Mapping[str, bytes], path: str) -> bytes:
    if path not in entries:
        raise Refused("MissingArtifactEntry", path)
    return entries[path]


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _key_id(public: bytes) -> str:
    return f"ed25519:{hashlib.sha256(public).digest()[:8].hex()}"
