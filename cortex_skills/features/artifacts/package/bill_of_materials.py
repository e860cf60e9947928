"""The software bill of materials of an artifact: CycloneDX JSON in `sbom.cdx.json`.

Rules kept here:
- it is strict JSON of at most 4 MiB that matches the schema of its version of the specification, from 1.2 to 1.7;
- components inside components are listed too; a package URL that is not one is an error,
  as is a name, version or package URL with characters that cannot be printed;
- a bill without components is valid.

The schemas are those in `cyclonedx-python-lib`. Its reader is not used: it takes 2 ms a component, so that a bill of
1 MB would block a thread for 25 s, where validating takes 10 ms.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from cortex_skills.features.artifacts.package.artifact_error import ArtifactError
from cortex_skills.features.artifacts.package.entry_paths import SBOM
from cortex_skills.safe_io.schemas import first_error, shown
from cortex_skills.safe_io.strict_json import read_json

if TYPE_CHECKING:
    from jsonschema_rs import Draft7Validator

_MAX_FILE = 4 << 20
_MAX_DEPTH = 64
_VERSIONS = re.compile(r"1\.[2-7]", re.ASCII)
_REFERRED = ("spdx", "jsf-0.82", "cryptography-defs")
_ADDRESS = "http://cyclonedx.org/schema/"


@dataclass(frozen=True, slots=True)
class SbomComponent:
    """A component: its name, its version (empty if unknown), and its package URL (empty if it has none)."""

    name: str
    version: str
    purl: str


def read_bill(data: bytes) -> tuple[SbomComponent, ...]:
    """The components in `sbom.cdx.json` in their order, without the one that the bill is about.

    Raises:
        ArtifactError: it is not a CycloneDX bill of materials.
    """
    try:
        document = read_json(data, max_size=_MAX_FILE, max_depth=_MAX_DEPTH)
    except ValueError as error:
        raise _refused(f"is not JSON: {error}") from None
    if not isinstance(document, dict) or document.get("bomFormat") != "CycloneDX":
        raise _refused("bomFormat is not CycloneDX")
    version = document.get("specVersion")
    if not isinstance(version, str) or not _VERSIONS.fullmatch(version):
        raise _refused(f"specVersion is {shown(version)}, not 1.2 to 1.7")
    try:
        found = first_error(_validator(version), document)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise _refused(f"cannot be validated: {str(error)[:200]}") from None
    if found is not None:
        where = "/".join(str(part) for part in found.instance_path)
        raise _refused(f"is not CycloneDX {version}, at {shown(where)}: {shown(found.message)}")
    return tuple(_listed(document.get("components", [])))


def bill_hashes(data: bytes, about: str) -> tuple[str, list[tuple[str, str]]]:
    """What a valid bill states about files: for a security audit.

    Args:
        data: the bill, which `read_bill` has read.
        about: the name of what the bill is about.

    Returns:
        The version that the bill is about; empty if it is about something else. The SHA-256 of each component that has
        one, by its name.
    """
    document = read_json(data, max_size=_MAX_FILE, max_depth=_MAX_DEPTH)
    subject = document.get("metadata", {}).get("component", {})
    hashes: list[tuple[str, str]] = []
    pending = document.get("components", [])[::-1]
    while pending:
        component = pending.pop()
        digests = [each["content"].lower() for each in component.get("hashes", []) if each["alg"] == "SHA-256"]
        hashes += [(component["name"], digest) for digest in digests]
        pending.extend(component.get("components", [])[::-1])
    return subject.get("version", "") if subject.get("name") == about else "", hashes


def _listed(components: list[dict[str, Any]]) -> Iterator[SbomComponent]:
    pending = components[::-1]
    while pending:
        component = pending.pop()
        name, version, purl = component["name"], component.get("version", ""), component.get("purl", "")
        if not f"{name}{version}{purl}".isprintable():
            raise _refused(f"the component {shown(name)} has a name, version or package URL that cannot be printed")
        if purl:
            _check_purl(purl)
        yield SbomComponent(name, version, purl)
        pending.extend(component.get("components", [])[::-1])


def _check_purl(text: str) -> None:
    from packageurl import PackageURL

    try:
        PackageURL.from_string(text)
    except ValueError as error:
        raise _refused(f"{shown(text)} is not a package URL: {shown(str(error))}") from None


@cache
def _validator(version: str) -> Draft7Validator:
    from jsonschema_rs import Draft7, Draft7Validator, Registry

    known = [(f"{_ADDRESS}{name}.SNAPSHOT.schema.json", _schema(name)) for name in _REFERRED]
    return Draft7Validator(
        _schema(f"bom-{version}"), registry=Registry(known, draft=Draft7, retriever=_fetches_nothing)
    )


def _schema(name: str) -> Any:
    file = resources.files("cyclonedx.schema") / "_res" / f"{name}.SNAPSHOT.schema.json"
    return json.loads(file.read_text(encoding="utf-8"))


def _fetches_nothing(address: str) -> Any:
    raise ValueError(f"the schemas refer to {address}, which is not among them")


def _refused(problem: str) -> ArtifactError:
    return ArtifactError(f"{SBOM}: {problem}", hint="write it with a tool for CycloneDX, and build the artifact again")
