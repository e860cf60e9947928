"""Verifying an artifact: every step in its order, as a report.

Rules kept here:
- the steps are those of `STEPS`, in this order; after the first that fails the others are skipped, and nothing of the
  artifact may be used;
- the report is about the bytes that were given: what runs is verified from the same bytes, not from a file that is
  read again;
- trust is an argument: a function that raises a `CortexError` for a publisher or key that is not trusted. It is called
  last, with a signature that is valid;
- nothing is read or written here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal

from cortex_skills.config.extras import check_extra
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.package.archive import check_entries, read_archive
from cortex_skills.features.artifacts.package.artifact_error import ArtifactError
from cortex_skills.features.artifacts.package.artifact_manifest import ArtifactManifest
from cortex_skills.features.artifacts.package.bill_of_materials import SbomComponent, read_bill
from cortex_skills.features.artifacts.package.entry_paths import (
    MANIFEST,
    PROVENANCE,
    SBOM,
    SIGNATURE,
    SKILL_MD,
    is_module,
)
from cortex_skills.features.artifacts.package.manifest_rules import is_older
from cortex_skills.features.artifacts.package.payload import ArtifactSignature, payload_hash, read_artifact_signature
from cortex_skills.features.artifacts.package.provenance_statement import (
    UNATTESTED,
    ProvenanceStatement,
    read_provenance,
)
from cortex_skills.features.artifacts.package.skill_toml import read_skill_toml
from cortex_skills.safe_io.schemas import shown

Status = Literal["passed", "warned", "failed", "skipped"]
TrustCheck = Callable[[ArtifactSignature, ArtifactManifest], str]
_MAX_LISTED = 8
_CORE_MODULE = b"\0asm\1\0\0\0"


@dataclass(frozen=True, slots=True)
class RuntimeVersions:
    """What this host runs: the major version of the protocol, and the version of the runtime (semver)."""

    protocol_major: int
    palyra_version: str


# The origin of the format, Palyra, states the major version of its protocol in `crates/palyra-common/src/lib.rs`
# (CANONICAL_PROTOCOL_MAJOR) and compares `[compat]` with the version of its workspace in `Cargo.toml`. It has had no
# other version with either format of the manifest.
HOST_VERSIONS = RuntimeVersions(protocol_major=1, palyra_version="0.1.0")


@dataclass(frozen=True, slots=True)
class ExpectedArtifact:
    """Which artifact is meant, when it is verified again; empty parts are not compared."""

    skill_id: str = ""
    version: str = ""
    payload_sha256: str = ""


@dataclass(frozen=True, slots=True)
class VerificationStep:
    """A step: its id, its status, and what was found; the error of a step that failed."""

    id: str
    status: Status
    message: str = ""
    error: CortexError | None = None

    def to_json(self) -> dict[str, Any]:
        """The step as a JSON object."""
        found: dict[str, Any] = {"id": self.id, "status": self.status, "message": self.message}
        return found | ({"error": self.error.to_json()} if self.error is not None else {})


@dataclass
class _Reading:
    """What the steps have read so far."""

    data: bytes | None
    entries: Mapping[str, bytes]
    runtime: RuntimeVersions
    trust: TrustCheck
    expected: ExpectedArtifact
    components: tuple[SbomComponent, ...] = ()
    manifest: ArtifactManifest | None = None
    provenance: ProvenanceStatement | None = None
    signature: ArtifactSignature | None = None
    payload_sha256: str = ""
    warnings: list[str] = field(default_factory=list)

    def declared(self) -> ArtifactManifest:
        """The manifest, which an earlier step has read."""
        if self.manifest is None:
            raise ArtifactError("the manifest was not read")
        return self.manifest

    def signed(self) -> ArtifactSignature:
        """The signature, which an earlier step has read."""
        if self.signature is None:
            raise ArtifactError("the signature was not read")
        return self.signature


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """What the verification of an artifact found.

    Attributes:
        steps: every step of `STEPS`, in order.
        payload_sha256: the hash of the payload; empty if no step came so far.
        manifest: the manifest; None if it was not read.
        signature: the signature; None if it was not read.
        components: the components of the bill of materials.
        provenance: the provenance; None if it was not read.
        entries: the entries by path; empty if the artifact is not valid.
    """

    steps: tuple[VerificationStep, ...]
    payload_sha256: str
    manifest: ArtifactManifest | None
    signature: ArtifactSignature | None
    components: tuple[SbomComponent, ...]
    provenance: ProvenanceStatement | None
    entries: Mapping[str, bytes]

    @property
    def error(self) -> CortexError | None:
        """The error of the step that failed; None for a valid artifact."""
        return next((step.error for step in self.steps if step.error is not None), None)

    @property
    def is_valid(self) -> bool:
        """Whether every step passed, with or without warnings."""
        return all(step.status in ("passed", "warned") for step in self.steps)

    def to_json(self) -> dict[str, Any]:
        """The report as a JSON object, without the contents of the artifact."""
        return {
            "valid": self.is_valid,
            "skillId": self.manifest.skill_id if self.manifest else None,
            "version": self.manifest.version if self.manifest else None,
            "publisher": self.manifest.publisher if self.manifest else None,
            "keyId": self.signature.key_id if self.signature else None,
            "payloadSha256": self.payload_sha256 or None,
            "steps": [step.to_json() for step in self.steps],
        }


def verify_artifact(
    data: bytes, runtime: RuntimeVersions, trust: TrustCheck, expected: ExpectedArtifact | None = None
) -> VerificationReport:
    """Verify an artifact.

    Args:
        data: the bytes of the archive.
        runtime: what this host runs.
        trust: raises a `CortexError` for an untrusted publisher or key, and returns how it is trusted.
        expected: which artifact is meant; None for any.
    """
    return _run(_Reading(data, {}, runtime, trust, expected or ExpectedArtifact()))


def verify_entries(
    entries: Mapping[str, bytes], runtime: RuntimeVersions, trust: TrustCheck, expected: ExpectedArtifact | None = None
) -> VerificationReport:
    """Verify the entries of an artifact by path, as `verify_artifact` does."""
    return _run(_Reading(None, entries, runtime, trust, expected or ExpectedArtifact()))


def _run(reading: _Reading) -> VerificationReport:
    check_extra("artifacts", "verifying an artifact")
    steps: list[VerificationStep] = []
    for name, step in STEPS.items():
        if steps and steps[-1].status in ("failed", "skipped"):
            steps.append(VerificationStep(name, "skipped"))
            continue
        reading.warnings = []
        try:
            message = step(reading)
        except CortexError as error:
            steps.append(VerificationStep(name, "failed", error.message, error))
        else:
            status: Status = "warned" if reading.warnings else "passed"
            steps.append(VerificationStep(name, status, "; ".join(reading.warnings) or message))
    valid = steps[-1].status in ("passed", "warned")
    return VerificationReport(
        tuple(steps),
        reading.payload_sha256,
        reading.manifest,
        reading.signature,
        reading.components,
        reading.provenance,
        reading.entries if valid else {},
    )


def _archive(reading: _Reading) -> str:
    if reading.data is not None:
        reading.entries = read_archive(reading.data)
    else:
        check_entries(reading.entries)
    return f"{len(reading.entries)} entries"


def _manifest(reading: _Reading) -> str:
    reading.manifest = read_skill_toml(_required(reading.entries, MANIFEST))
    reading.warnings += reading.manifest.warnings.values()
    return f"{reading.manifest.skill_id} {reading.manifest.version}"


def _sbom(reading: _Reading) -> str:
    reading.components = read_bill(_required(reading.entries, SBOM))
    if not reading.components:
        reading.warnings.append("the bill of materials names no component")
    unnamed = [component.name for component in reading.components if not component.purl]
    if unnamed:
        reading.warnings.append(f"components without a package URL: {_listed(unnamed)}")
    return f"{len(reading.components)} components"


def _provenance(reading: _Reading) -> str:
    reading.provenance = read_provenance(_required(reading.entries, PROVENANCE), reading.entries)
    if uncovered := reading.provenance.uncovered(reading.entries):
        reading.warnings.append(f"no subject of the provenance: {_listed(uncovered)}")
    if not reading.provenance.is_statement:
        reading.warnings.insert(0, f"{UNATTESTED}, built by {shown(reading.provenance.builder_id)}")
        if absent := reading.provenance.absent(reading.entries):
            reading.warnings.append(f"not compared: {_listed(absent)}")
    return f"built by {shown(reading.provenance.builder_id)}"


def _content(reading: _Reading) -> str:
    manifest, modules = reading.declared(), [path for path in reading.entries if is_module(path)]
    if manifest.is_semantic and SKILL_MD not in reading.entries:
        raise ArtifactError(f"a TypeScript skill has {SKILL_MD}, and this artifact has not")
    if not manifest.is_semantic and not modules:
        raise ArtifactError("the artifact contains no module", hint="put a WebAssembly module into modules/")
    default = manifest.plugin.get("default_module_path")
    if default is not None and default not in modules:
        raise ArtifactError(f"the default module {shown(default)} is not in the artifact")
    for path in modules:
        is_core = reading.entries[path].startswith(_CORE_MODULE)
        if manifest.plugin.get("abi", "core" if is_core else "component") != ("core" if is_core else "component"):
            raise ArtifactError(f"{shown(path)} is not what operator.plugin.abi states: {manifest.plugin['abi']}")
    if missing := sorted(manifest.executable - reading.entries.keys()):
        raise ArtifactError(f"the executable file {shown(missing[0])} is not in the artifact")
    return "a TypeScript skill" if manifest.is_semantic else f"{len(modules)} modules"


def _signature_file(reading: _Reading) -> str:
    reading.signature = read_artifact_signature(_required(reading.entries, SIGNATURE))
    return reading.signature.key_id


def _payload(reading: _Reading) -> str:
    reading.payload_sha256 = payload_hash(reading.entries)
    if reading.payload_sha256 != reading.signed().payload_sha256:
        raise ArtifactError(
            "the contents are not those that were signed",
            code="signature_invalid",
            hint="get the artifact from its publisher again",
        )
    return reading.payload_sha256


def _signature(reading: _Reading) -> str:
    if not reading.signed().is_valid():
        raise ArtifactError(
            "the signature was not made with the key that it names",
            code="signature_invalid",
            hint="get the artifact from its publisher again",
        )
    return f"signed by {reading.signed().key_id}"


def _publisher(reading: _Reading) -> str:
    manifest, signature = reading.declared(), reading.signed()
    if signature.publisher != manifest.publisher:
        raise ArtifactError(
            f"{SIGNATURE} names the publisher {shown(signature.publisher)}, {MANIFEST} {shown(manifest.publisher)}",
            code="signature_invalid",
        )
    if not manifest.skill_id.startswith(f"{manifest.publisher}."):
        raise ArtifactError(
            f"the skill {shown(manifest.skill_id)} does not start with its publisher {shown(manifest.publisher)}",
            code="signature_invalid",
            hint=f"its publisher names it {manifest.publisher}.NAME",
        )
    return manifest.publisher


def _integrity(reading: _Reading) -> str:
    declared = reading.declared().integrity
    found = {
        path: sha256(content).hexdigest()
        for path, content in reading.entries.items()
        if path not in (MANIFEST, SIGNATURE)
    }
    if declared != found:
        wrong = sorted(path for path in {*declared, *found} if declared.get(path) != found.get(path))
        raise ArtifactError(
            f"integrity.files in {MANIFEST} does not list exactly the entries: {_listed(wrong)}",
            hint="build the artifact again: the build writes this list",
        )
    return f"{len(found)} files"


def _compatibility(reading: _Reading) -> str:
    compat, runtime = reading.declared().compat, reading.runtime
    if compat.required_protocol_major > runtime.protocol_major:
        raise ArtifactError(
            f"the artifact needs version {compat.required_protocol_major} of the protocol, and this host has "
            f"{runtime.protocol_major}",
            hint="update this host",
        )
    if is_older(runtime.palyra_version, compat.min_palyra_version):
        raise ArtifactError(
            f"the artifact needs runtime {compat.min_palyra_version}, and this host has {runtime.palyra_version}",
            hint="update this host",
        )
    if compat.max_palyra_version is not None and is_older(compat.max_palyra_version, runtime.palyra_version):
        raise ArtifactError(
            f"the artifact runs up to runtime {compat.max_palyra_version}, and this host has {runtime.palyra_version}",
            hint="ask its publisher for a newer version",
        )
    return f"runtime {runtime.palyra_version}"


def _expected(reading: _Reading) -> str:
    manifest, expected = reading.declared(), reading.expected
    for name, wanted, found in (
        ("id", expected.skill_id, manifest.skill_id),
        ("version", expected.version, manifest.version),
        ("payload hash", expected.payload_sha256, reading.payload_sha256),
    ):
        if wanted and wanted != found:
            raise ArtifactError(
                f"the {name} of the artifact is {shown(found)}, not {shown(wanted)}", hint="install the artifact again"
            )
    return ""


def _trust(reading: _Reading) -> str:
    return reading.trust(reading.signed(), reading.declared())


STEPS: Mapping[str, Callable[[_Reading], str]] = {
    "archive": _archive,
    "manifest": _manifest,
    "sbom": _sbom,
    "provenance": _provenance,
    "content": _content,
    "signature_file": _signature_file,
    "payload_hash": _payload,
    "signature": _signature,
    "publisher": _publisher,
    "integrity": _integrity,
    "compatibility": _compatibility,
    "expected": _expected,
    "trust": _trust,
}


def _required(entries: Mapping[str, bytes], path: str) -> bytes:
    if path not in entries:
        raise ArtifactError(f"the artifact contains no {path}", hint="build the artifact again")
    return entries[path]


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return ", ".join(shown(name) for name in names[:_MAX_LISTED]) + more
