"""Builds an artifact: bill of materials, provenance, manifest, signature, archive.

Rules kept here:
- the same project gives the same bytes, but for `signed_at_unix_ms`: no time and no random number is written; the
  serial number of the bill is computed from the contents;
- each module and asset is a component of the bill, with its SHA-256 and a package URL, and a subject of the provenance;
- `integrity.files` lists every entry but `skill.toml` and `signature.json`; what the author wrote there is replaced;
- `skill.toml` states no default, so that Palyra reads it; the form `palyra` adds the `builder` that Palyra reads to the
  provenance, which is no valid in-toto statement then, and refuses what Palyra does not read;
- what is built passes every step of the verification but that of trust: it is verified before it is returned.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

from cortex_skills.config.extras import check_extra
from cortex_skills.features.artifacts.dialects.palyra import unreadable, without_defaults
from cortex_skills.features.artifacts.package.archive import check_entries, write_archive
from cortex_skills.features.artifacts.package.artifact_error import ArtifactError
from cortex_skills.features.artifacts.package.artifact_manifest import ArtifactManifest
from cortex_skills.features.artifacts.package.artifact_verification import (
    HOST_VERSIONS,
    VerificationReport,
    verify_artifact,
)
from cortex_skills.features.artifacts.package.dependencies import ContainedPackage
from cortex_skills.features.artifacts.package.entry_paths import MANIFEST, PROVENANCE, SBOM, SIGNATURE, is_content
from cortex_skills.features.artifacts.package.payload import ArtifactSignature, payload_hash, sign_payload
from cortex_skills.features.artifacts.package.provenance_statement import PREDICATE_TYPE, STATEMENT_TYPE
from cortex_skills.features.artifacts.package.skill_toml import read_document
from cortex_skills.keys import Key

Form = Literal["in-toto", "palyra"]
BUILDER = "urn:cortex-skills:package-build"
BUILD_TYPE = "urn:cortex-skills:artifact:1"


@dataclass(frozen=True, slots=True)
class ArtifactProject:
    """What an artifact is built from.

    Attributes:
        manifest: the document of `skill.toml`, as it is without `integrity`.
        content: the modules and assets, by their paths in the artifact.
        dependencies: the packages that they contain.
    """

    manifest: Mapping[str, Any]
    content: Mapping[str, bytes]
    dependencies: tuple[ContainedPackage, ...] = ()


@dataclass(frozen=True, slots=True)
class BuiltArtifact:
    """An artifact: its bytes, and what the verification of them found."""

    data: bytes
    report: VerificationReport


def build_artifact(
    project: ArtifactProject, key: Key, signed_at_unix_ms: int, builder: str = BUILDER, form: Form = "in-toto"
) -> BuiltArtifact:
    """Build and sign an artifact.

    Args:
        project: what it is built from.
        key: of the publisher that the manifest names.
        signed_at_unix_ms: the time, in milliseconds since 1970.
        builder: the URI of who builds, for the provenance.
        form: of the provenance; `palyra` for an artifact that Palyra reads.

    Raises:
        ArtifactError: `manifest_invalid`, `artifact_invalid`: it would not be valid, or not read by Palyra.
    """
    strange = [path for path in project.content if not is_content(path)]
    if strange:
        raise ArtifactError(f"{strange[0]} is neither a module nor an asset", hint="put it into modules/ or assets/")
    check_entries(project.content)
    document = without_defaults(read_document(_toml(project.manifest)))
    if form == "palyra":
        _check_readable(document, project.content)
    entries = {
        **project.content,
        SBOM: bill_of(document, project.content, project.dependencies),
        PROVENANCE: provenance_of(document, project.content, project.dependencies, builder, form),
    }
    files = [{"path": path, "sha256": _sha256(content)} for path, content in sorted(entries.items())]
    entries[MANIFEST] = _toml({**document, "integrity": {"files": files}})
    entries[SIGNATURE] = sign_payload(entries, document["publisher"], key, signed_at_unix_ms).to_bytes()
    data = write_archive(entries)
    report = verify_artifact(data, HOST_VERSIONS, _built_here)
    if report.error is not None:
        raise report.error
    return BuiltArtifact(data, report)


def bill_of(
    manifest: Mapping[str, Any], content: Mapping[str, bytes], dependencies: tuple[ContainedPackage, ...] = ()
) -> bytes:
    """The bill of materials of modules, assets and dependencies: CycloneDX 1.6 JSON.

    Raises:
        CortexError: `config_invalid`: the extra `artifacts` is not installed.
    """
    check_extra("artifacts", "building an artifact")
    from cyclonedx.model import HashAlgorithm, HashType
    from cyclonedx.model.bom import Bom, BomMetaData
    from cyclonedx.model.component import Component, ComponentType
    from cyclonedx.output.json import JsonV1Dot6
    from packageurl import PackageURL

    name, version = manifest["skill_id"], manifest["version"]

    def component(path: str, data: bytes) -> Component:
        purl = PackageURL("generic", None, name, version, {"checksum": f"sha256:{_sha256(data)}"}, path)
        hashes = [HashType(alg=HashAlgorithm.SHA_256, content=_sha256(data))]
        return Component(
            name=path, type=ComponentType.FILE, version=version, bom_ref=f"file:{path}", purl=purl, hashes=hashes
        )

    def package(dependency: ContainedPackage) -> Component:
        purl = PackageURL.from_string(dependency.purl)
        algorithms = {"sha256": HashAlgorithm.SHA_256, "sha512": HashAlgorithm.SHA_512}
        hashes = [HashType(alg=algorithms[name], content=digest) for name, digest in dependency.digests]
        return Component(
            name=purl.name,
            group=purl.namespace,
            version=purl.version,
            bom_ref=dependency.purl,
            purl=purl,
            hashes=hashes,
        )

    subject = Component(
        name=name,
        type=ComponentType.APPLICATION,
        version=version,
        publisher=manifest["publisher"],
        bom_ref=f"{name}@{version}",
        purl=PackageURL("generic", None, name, version),
    )
    components = [component(path, data) for path, data in content.items()] + [package(each) for each in dependencies]
    about = f"{name}@{version} {payload_hash(content)} {' '.join(each.purl for each in dependencies)}"
    bill = Bom(
        components=components,
        serial_number=uuid.uuid5(uuid.NAMESPACE_URL, about),
        metadata=BomMetaData(component=subject),
    )
    bill.register_dependency(subject, components)
    document = json.loads(JsonV1Dot6(bill).output_as_string())
    del document["metadata"]["timestamp"]
    return _json(document)


def provenance_of(
    manifest: Mapping[str, Any],
    content: Mapping[str, bytes],
    dependencies: tuple[ContainedPackage, ...] = (),
    builder: str = BUILDER,
    form: Form = "in-toto",
) -> bytes:
    """The provenance: an in-toto Statement v1 with an SLSA v1 predicate, in the form `palyra` with its `builder`."""
    document: dict[str, Any] = {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": path, "digest": {"sha256": _sha256(data)}} for path, data in sorted(content.items())],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {name: manifest[name] for name in ("skill_id", "version", "publisher")},
                "resolvedDependencies": [_resolved(each) for each in dependencies],
            },
            "runDetails": {"builder": {"id": builder}},
        },
    }
    return _json(document | ({"builder": {"id": builder}} if form == "palyra" else {}))


def _check_readable(document: Mapping[str, Any], content: Mapping[str, bytes]) -> None:
    if problems := list(unreadable(document, content)):
        raise ArtifactError(
            f"Palyra would not read it: {'; '.join(problems)}",
            hint="change that, or build without --form palyra",
            errors=tuple({"field": "", "message": problem} for problem in problems),
        )


def _built_here(_: ArtifactSignature, __: ArtifactManifest) -> str:
    return "built here"


def _resolved(dependency: ContainedPackage) -> dict[str, Any]:
    found: dict[str, Any] = {"uri": dependency.purl}
    return found | ({"digest": dict(dependency.digests)} if dependency.digests else {})


def _toml(document: Mapping[str, Any]) -> bytes:
    import tomli_w

    try:
        return tomli_w.dumps(document).encode()
    except (TypeError, ValueError) as error:
        raise ArtifactError(f"{MANIFEST} cannot be written: {error}", code="manifest_invalid") from None


def _json(document: Any) -> bytes:
    return json.dumps(document, indent=1, ensure_ascii=False).encode()


def _sha256(data: bytes) -> str:
    return sha256(data).hexdigest()
