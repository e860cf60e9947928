"""The folder of a project as what an artifact is built from.

Rules kept here:
- a folder with `skill.toml` is a project: `modules/` and `assets/` are its contents, and the lists of its dependencies
  are beside them; nothing else is packed;
- a folder with `SKILL.md` is a skill, packed as it is, but for its signature; its `skill.toml` is made from its
  manifest, unless it is there;
- hidden files of a skill, such as the settings of an editor, are not packed: no skill loads them;
- a core module that was compiled for the world of components becomes a component, others are packed as they are; with
  `operator.plugin.abi` all modules are of that kind, or it is an error;
- the files of a skill whose owner may start them are named in `skill.toml`, which is signed: the modes of the entries
  are not, and all artifacts have the same;
- `skill.toml` states the version that a skill's own manifest states;
- the publisher in `skill.toml` is the one who signs.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cortex_skills.features.artifacts.package.archive import MAX_ENTRIES, MAX_TOTAL
from cortex_skills.features.artifacts.package.artifact_error import ArtifactError
from cortex_skills.features.artifacts.package.artifact_manifest import SEMANTIC
from cortex_skills.features.artifacts.package.artifact_verification import HOST_VERSIONS
from cortex_skills.features.artifacts.package.build import ArtifactProject
from cortex_skills.features.artifacts.package.dependencies import FILES, read_dependencies
from cortex_skills.features.artifacts.package.entry_paths import ASSETS, MANIFEST, MODULES, SKILL_FILES, is_module
from cortex_skills.features.artifacts.package.manifest_rules import is_version
from cortex_skills.features.artifacts.package.skill_toml import parse_document
from cortex_skills.manifest import Manifest, load_manifest
from cortex_skills.manifest.model import ANY
from cortex_skills.safe_io.outside_file import OutsideFileError, read_folder
from cortex_skills.safe_io.schemas import shown

_MAX_FILES = 20_000  # of a project, whose sources and tests are not packed
_OWN_ENTRIES = 4  # skill.toml, signature.json, sbom.cdx.json, provenance.json
_CORE_MODULE = b"\0asm\1\0\0\0"
_MAX_SUMMARY, _MAX_NAME = 512, 256


def read_project(folder: Path, publisher: str = "", version: str = "") -> ArtifactProject:
    """The project in a folder.

    Args:
        folder: of a project, or of a skill.
        publisher: who signs; needed where there is no `skill.toml`.
        version: of a skill whose manifest has none.

    Raises:
        ArtifactError: `artifact_invalid`, `manifest_invalid`.
        ManifestError: SKILL.md is not valid.
    """
    files = _read(folder)
    dependencies = read_dependencies({name: files[name] for name in FILES if name in files})
    document = _document(files[MANIFEST], publisher) if MANIFEST in files else None
    if "SKILL.md" in files:
        content = {f"{SKILL_FILES}{path}": data for path, data in files.items() if path != MANIFEST}
        manifest = load_manifest(folder)
        document = document or document_of_skill(manifest, publisher, version)
        _check_version(document, manifest)
    elif document is not None:
        content = {path: data for path, data in files.items() if path.startswith((ASSETS, MODULES))}
    else:
        raise ArtifactError(
            f"{shown(str(folder))} contains neither {MANIFEST} nor SKILL.md",
            hint="create a project with `cortex-skills package init NAME`, or give the folder of a skill",
        )
    abi = plugin_of(document).get("abi")
    packed = {path: _module(path, data, abi) for path, data in content.items() if not _is_hidden(path)}
    if len(packed) > MAX_ENTRIES - _OWN_ENTRIES:
        most = MAX_ENTRIES - _OWN_ENTRIES
        raise ArtifactError(f"the project has more than {most} files to pack", hint="pack fewer, larger files")
    if plugin_of(document).get("kind") == SEMANTIC:
        _state_executable(document, folder, packed)
    return ArtifactProject(document, packed, dependencies)


def plugin_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """The table `[operator.plugin]`, which is not checked yet; empty without one."""
    operator = document.get("operator")
    plugin = operator.get("plugin") if isinstance(operator, dict) else None
    return plugin if isinstance(plugin, dict) else {}


def _state_executable(document: dict[str, Any], folder: Path, packed: Mapping[str, bytes]) -> None:
    """Add the files of the skill that their owner may start to those that `skill.toml` names."""
    plugin = plugin_of(document)
    found = {path for path in packed if path.startswith(SKILL_FILES) and _is_executable(folder, path)}
    declared = plugin.get("executable", [])
    if found and isinstance(declared, list):
        plugin["executable"] = sorted({*declared, *found}, key=str)


def _is_executable(folder: Path, path: str) -> bool:
    places = (folder / path.removeprefix(SKILL_FILES), folder / path)  # of a skill, of a project
    return any(place.is_file() and place.stat().st_mode & stat.S_IXUSR for place in places)


def document_of_skill(manifest: Manifest, publisher: str, version: str = "") -> dict[str, Any]:
    """The document of `skill.toml` for a skill in a folder.

    Raises:
        ArtifactError: `manifest_invalid`: it has no publisher or no version.
    """
    semantic = manifest.semantic
    found = version or (semantic.skill_version if semantic is not None else manifest.metadata.get("version", ""))
    if not publisher:
        raise ArtifactError(
            f"{manifest.name} has no publisher", code="manifest_invalid", hint="name yourself with --publisher NAME"
        )
    if not isinstance(found, str) or not is_version(found):
        raise ArtifactError(
            f"{manifest.name} has no version that is semver", code="manifest_invalid", hint="give --version 1.0.0"
        )
    document: dict[str, Any] = {
        "manifest_version": 2,
        "skill_id": f"{publisher}.{manifest.name}",
        "name": manifest.name,
        "version": found,
        "publisher": publisher,
        "entrypoints": {"tools": []},
        "compat": {
            "required_protocol_major": HOST_VERSIONS.protocol_major,
            "min_palyra_version": HOST_VERSIONS.palyra_version,
        },
        "operator": {
            "display_name": manifest.name[:_MAX_NAME],
            "summary": manifest.description[:_MAX_SUMMARY],
            "plugin": {"kind": SEMANTIC},
        },
    }
    if semantic is not None:
        asserted = [each.predicate for each in semantic.assertions]
        graph: dict[str, Any] = {
            "read": "graph:read" in semantic.permissions,
            "write": "graph:write" in semantic.permissions,
            "predicates": [predicate for predicate in asserted if predicate != ANY],
        }
        document["capabilities"] = {"graph": graph}
        if ANY in asserted:
            graph["predicates"].append(ANY)
            document["capabilities"]["wildcard_opt_in"] = {"graph": True}
    return document


def _check_version(document: Mapping[str, Any], manifest: Manifest) -> None:
    stated = manifest.semantic.skill_version if manifest.semantic is not None else ""
    if stated and document.get("version") != stated:
        raise ArtifactError(
            f"the version is {shown(document.get('version'))} in {MANIFEST}, and {shown(stated)} in SKILL.md",
            code="manifest_invalid",
            hint="state the same version in both",
        )


def _is_hidden(path: str) -> bool:
    return path.startswith(SKILL_FILES) and any(part.startswith(".") for part in path.split("/"))


def _module(path: str, data: bytes, abi: object) -> bytes:
    """A module as it is packed.

    Raises:
        ArtifactError: it is no module, or not of the kind `abi`.
    """
    if not is_module(path):
        return data
    from cortex_sandbox.errors import SandboxError
    from cortex_sandbox.wasm import is_for_components, make_component

    is_core = data.startswith(_CORE_MODULE)
    try:
        if is_core and is_for_components(data):
            if abi != "core":
                return make_component(data)
            is_core = False
    except SandboxError as error:
        raise ArtifactError(f"{shown(path)}: {error.message}", hint="compile it as sdk/c/README.md describes") from None
    if abi in ("core", "component") and is_core != (abi == "core"):
        raise ArtifactError(
            f"{shown(path)} is a {'core module' if is_core else 'component'}, and operator.plugin.abi is {abi}",
            hint="a core module imports palyra:plugins/host-capabilities@0.1.0 and exports run () -> i32",
        )
    return data


def _document(data: bytes, publisher: str) -> dict[str, Any]:
    document = parse_document(data)
    given = document.setdefault("publisher", publisher)
    if publisher and given != publisher:
        raise ArtifactError(
            f"{MANIFEST} names the publisher {shown(given)}, not {shown(publisher)}",
            code="manifest_invalid",
            hint="change the manifest, or leave out --publisher",
        )
    document.pop("integrity", None)
    return document


def _read(folder: Path) -> dict[str, bytes]:
    try:
        return read_folder(folder, most_files=_MAX_FILES, most_bytes=MAX_TOTAL, left_out=("SKILL.sig",))
    except OutsideFileError as error:
        raise ArtifactError(f"{shown(str(folder))} {error}", hint="remove it from the folder") from None
