"""The rules of `skill.toml` that its schema cannot express. Each problem names its field.

Rules kept here:
- the version, and those of the runtime, are semver; the highest is not below the lowest;
- the id of each tool starts with the publisher and a dot, and occurs once; its schemas are JSON Schemas (draft 2020-12)
  that refer only to themselves, so checking one never opens a URL;
- only a TypeScript skill may have no tools;
- `*` is allowed only where `wildcard_opt_in` allows it; a host is `*`, `*.` and a host, or a host;
- paths are relative, as those of entries are;
- version 1 has no `[operator]` but an empty one; a default tool is one of the tools; a contract is one of the twelve
  kinds, in the version that this host has; a contract and a configured value occur once; a default has its declared
  type and is one of the declared values;
- a TypeScript skill declares nothing that only a module has;
- what a builder made stays experimental.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cortex_skills.features.artifacts.contracts import KINDS, VERSION
from cortex_skills.features.artifacts.package.artifact_error import ArtifactError
from cortex_skills.features.artifacts.package.artifact_manifest import SEMANTIC
from cortex_skills.features.artifacts.package.entry_paths import relative_path
from cortex_skills.safe_io.schemas import Path, Problem, did_you_mean, shown
from cortex_skills.safe_io.secret_names import names_secret

_HOST = re.compile(
    r"(?=.{1,253}\Z)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*", re.ASCII
)
_LABEL = re.compile(r"[a-z0-9._-]{1,64}", re.ASCII)
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_REFERENCES = frozenset({"$ref", "$dynamicRef"})
_MAX_SCHEMA_ERROR = 200
_OF_MODULES = ("abi", "default_tool_id", "default_module_path", "default_entrypoint")
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "string_list": list,
}


def problems_of(document: Mapping[str, Any]) -> Iterator[Problem]:
    """The problems of a document that matches the schema."""
    yield from _of_versions(document)
    yield from _of_tools(document)
    yield from _of_capabilities(document.get("capabilities", {}))
    yield from _of_paths(
        ("integrity", "files"), [file["path"] for file in document.get("integrity", {}).get("files", ())]
    )
    yield from _of_operator(document)
    yield from _of_builder(document.get("builder"))


def warnings_of(document: Mapping[str, Any]) -> dict[str, str]:
    """What is allowed but not recommended, by id."""
    found = {}
    operator = document.get("operator", {})
    if document["manifest_version"] == 1:
        found["legacy_manifest_version"] = "manifest_version is 1; 2 is current"
    if is_empty(operator):
        found["missing_operator_metadata"] = "there is no [operator], so listings show only the id"
    elif "display_name" not in operator:
        found["missing_operator_display_name"] = "operator.display_name is missing"
    config = operator.get("config")
    if config is not None and not config.get("properties"):
        found["empty_operator_config_contract"] = "operator.config declares no properties"
    open_secrets = [
        name
        for name, declared in (config or {}).get("properties", {}).items()
        if not declared.get("redacted") and names_secret(name)
    ]
    if open_secrets:
        found["operator_config_redaction_recommended"] = f"{', '.join(open_secrets[:8])}: secret, but not redacted"
    return found


def is_empty(operator: Mapping[str, Any]) -> bool:
    """Whether `[operator]` states nothing; Palyra writes such a table into each manifest."""
    return not any(operator.values())


def is_version(text: str) -> bool:
    """Whether a text is a version (semver 2.0)."""
    from semantic_version import Version

    try:
        Version(text)
    except ValueError:
        return False
    return text.isascii()


def is_older(first: str, second: str) -> bool:
    """Whether one version is before another (semver 2.0, §11); build metadata does not count."""
    from semantic_version import Version

    older: bool = Version(first).precedence_key < Version(second).precedence_key
    return older


def _of_versions(document: Mapping[str, Any]) -> Iterator[Problem]:
    compat = document["compat"]
    given: list[tuple[Path, str]] = [(("version",), document["version"])]
    given += [(("compat", key), value) for key, value in compat.items() if isinstance(value, str)]
    wrong = [
        Problem(path, f"{shown(text)} is not a version", "write it as 1.2.3")
        for path, text in given
        if not is_version(text)
    ]
    yield from wrong
    highest = compat.get("max_palyra_version")
    if not wrong and highest is not None and is_older(highest, compat["min_palyra_version"]):
        yield Problem(("compat", "max_palyra_version"), "is below min_palyra_version")


def _of_tools(document: Mapping[str, Any]) -> Iterator[Problem]:
    tools, seen = document["entrypoints"]["tools"], set()
    if not tools and document.get("operator", {}).get("plugin", {}).get("kind") != SEMANTIC:
        yield Problem(("entrypoints", "tools"), "is empty", "declare a tool")
    for index, tool in enumerate(tools):
        path: Path = ("entrypoints", "tools", index)
        if not tool["id"].startswith(f"{document['publisher']}."):
            yield Problem((*path, "id"), f"does not start with {document['publisher']} and a dot")
        if tool["id"] in seen:
            yield Problem((*path, "id"), f"{shown(tool['id'])} is there twice")
        seen.add(tool["id"])
        for name in ("input_schema", "output_schema"):
            yield from _of_schema((*path, name), tool[name])


def _of_schema(path: Path, schema: dict[str, Any]) -> Iterator[Problem]:
    from jsonschema_rs import Draft202012Validator

    for key, value in _members(schema):
        if key in _REFERENCES and isinstance(value, str) and not value.startswith("#"):
            yield Problem((*path, key), "refers to another schema", "write that schema below $defs")
            return
        if (key == "$id" and isinstance(value, str)) or (key == "$schema" and value != _DIALECT):
            yield Problem((*path, key), "names another schema or dialect", "remove it: the dialect is 2020-12")
            return
    try:
        Draft202012Validator(schema)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        yield Problem(path, f"is not a JSON Schema: {str(error)[:_MAX_SCHEMA_ERROR]}")


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    """Every member of every object in a JSON value."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            yield from item.items()
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)


def _of_capabilities(given: Mapping[str, Any]) -> Iterator[Problem]:
    opted = given.get("wildcard_opt_in", {})
    filesystem, graph = given.get("filesystem", {}), given.get("graph", {})
    for name in ("read_roots", "write_roots"):
        roots = filesystem.get(name, [])
        yield from _of_paths(("capabilities", "filesystem", name), roots)
        yield from _of_wildcards(("capabilities", "filesystem", name), roots, "filesystem", opted)
    hosts = given.get("http_egress_allowlist", [])
    yield from _of_wildcards(("capabilities", "http_egress_allowlist"), hosts, "http_egress", opted)
    for index, host in enumerate(hosts):
        if host != "*" and not _HOST.fullmatch(host.removeprefix("*.")):
            yield Problem(
                ("capabilities", "http_egress_allowlist", index),
                f"{shown(host)} is not a host",
                "as in api.example.com",
            )
    for index, secret in enumerate(given.get("secrets", [])):
        yield from _of_wildcards(("capabilities", "secrets", index, "key_names"), secret["key_names"], "secrets", opted)
    for name in ("device", "node"):
        key = f"{name}_capabilities"
        yield from _of_wildcards(("capabilities", key), given.get(key, []), name, opted)
    yield from _of_wildcards(("capabilities", "graph", "predicates"), graph.get("predicates", []), "graph", opted)


def _of_wildcards(path: Path, values: list[str], name: str, opted: Mapping[str, bool]) -> Iterator[Problem]:
    for index, value in enumerate(values):
        if "*" in value and not opted.get(name):
            yield Problem(
                (*path, index), "contains *", f"set capabilities.wildcard_opt_in.{name} = true, or name each one"
            )


def _of_paths(path: Path, values: Iterable[str]) -> Iterator[Problem]:
    seen = set()
    for index, value in enumerate(values):
        yield from _of_path((*path, index), value)
        normal = value.replace("\\", "/")
        if normal in seen:
            yield Problem((*path, index), f"{shown(value)} is there twice")
        seen.add(normal)


def _of_path(path: Path, value: str) -> Iterator[Problem]:
    try:
        relative_path(value)
    except ArtifactError as error:
        yield Problem(path, error.message, error.hint)


def _of_operator(document: Mapping[str, Any]) -> Iterator[Problem]:
    operator = document.get("operator", {})
    if not is_empty(operator) and document["manifest_version"] == 1:
        yield Problem(("operator",), "needs manifest_version 2")
    plugin = operator.get("plugin", {})
    default = plugin.get("default_tool_id")
    if default is not None and default not in {tool["id"] for tool in document["entrypoints"]["tools"]}:
        yield Problem(("operator", "plugin", "default_tool_id"), f"{shown(default)} is none of the tools")
    if (module := plugin.get("default_module_path")) is not None:
        yield from _of_path(("operator", "plugin", "default_module_path"), module)
    for index, name in enumerate(plugin.get("executable", [])):
        yield from _of_path(("operator", "plugin", "executable", index), name)
    if "executable" in plugin and plugin.get("kind") != SEMANTIC:
        yield Problem(("operator", "plugin", "executable"), f"needs the kind {SEMANTIC}")
    if plugin.get("kind") == SEMANTIC:
        yield from (Problem(("operator", "plugin", name), "needs a module") for name in _OF_MODULES if name in plugin)
        if "config" in operator:
            yield Problem(("operator", "config"), "needs a module: a TypeScript skill cannot read it")
    kinds = set()
    for index, contract in enumerate(plugin.get("contracts", [])):
        path: Path = ("operator", "plugin", "contracts", index, "kind")
        if contract["kind"] not in KINDS:
            hint = did_you_mean(contract["kind"], KINDS) or f"one of {', '.join(KINDS)}"
            yield Problem(path, f"{contract['kind']} is not a kind of contract", hint)
        if contract["kind"] in kinds:
            yield Problem(path, f"{contract['kind']} is there twice")
        elif (version := contract.get("version", VERSION)) != VERSION:
            problem = f"is {version}, and this host has version {VERSION} of {contract['kind']}"
            yield Problem((*path[:-1], "version"), problem, "ask its publisher for that version, or update this host")
        kinds.add(contract["kind"])
    config = operator.get("config", {})
    properties = config.get("properties", {})
    for index, name in enumerate(config.get("required", [])):
        if name not in properties:
            yield Problem(("operator", "config", "required", index), f"{shown(name)} is none of the properties")
    for name, declared in properties.items():
        yield from _of_property(("operator", "config", "properties", name), name, declared)


def _of_property(path: Path, name: str, declared: Mapping[str, Any]) -> Iterator[Problem]:
    if not _LABEL.fullmatch(name):
        yield Problem(path, "has a name with other characters than a-z, 0-9, dot, _ and -")
    values = declared.get("enum_values", [])
    if values and declared["type"] != "string":
        yield Problem((*path, "enum_values"), "needs the type string")
    if len(set(values)) != len(values):
        yield Problem((*path, "enum_values"), "contains a value twice")
    if "default" not in declared:
        return
    default = declared["default"]
    if not has_type(default, declared["type"]):
        yield Problem((*path, "default"), f"is not of the type {declared['type']}")
    elif values and default not in values:
        yield Problem((*path, "default"), "is none of enum_values")


def has_type(value: Any, name: str) -> bool:
    """Whether a value has a type of `operator.config`."""
    if isinstance(value, bool):
        return name == "boolean"
    if not isinstance(value, _TYPES[name]):
        return False
    return not isinstance(value, list) or all(isinstance(item, str) for item in value)


def _of_builder(builder: Mapping[str, Any] | None) -> Iterator[Problem]:
    if builder is None:
        return
    if not builder["experimental"]:
        yield Problem(("builder", "experimental"), "is not true", "what a builder made stays experimental")
    for name in ("capability_declaration_path", "provenance_path", "test_harness_path"):
        yield from _of_path(("builder", "checklist", name), builder["checklist"][name])
