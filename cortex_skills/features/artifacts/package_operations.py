"""Building, inspecting and verifying artifacts, and making an index of some.

Rules kept here:
- what reads folders or writes files is the owner's: no token can ask for it;
- nothing is decided here: a verification runs the steps of an installation, with the trust store or without it;
- no code of an artifact runs, and only a build writes: a file, or the folder of an index, which is whole or not there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Ge, Le
from typing_extensions import TypedDict

from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.dialects.palyra import not_run
from cortex_skills.features.artifacts.index.making import MAX_DAYS, artifact_files, build_index, read_folder
from cortex_skills.features.artifacts.installed.installation import InstallOptions
from cortex_skills.features.artifacts.package import (
    HOST_VERSIONS,
    ArtifactManifest,
    ArtifactSignature,
    VerificationReport,
    build_artifact,
    read_artifact_file,
    read_project,
    verify_artifact,
)
from cortex_skills.features.artifacts.package.build import BUILDER, BuiltArtifact, Form
from cortex_skills.features.artifacts.package.entry_paths import skill_files
from cortex_skills.features.artifacts.tools.contract_calls import negotiated
from cortex_skills.features.registry.folders import check_unchanged
from cortex_skills.keys.folder import key_folder, signing_key
from cortex_skills.operations.caller import OWNER
from cortex_skills.operations.operation import AS_IS, ObjectState, OperationCall, operation
from cortex_skills.safe_io.private_files import write_whole
from cortex_skills.signatures.model_signing import check_model_signature_in, model_signature_result

SUFFIX = ".palyra-skill"


def file_of(call: OperationCall) -> ObjectState | None:
    """An artifact's file, and its hash."""
    try:
        return call.about, f"sha256 {sha256(read_artifact_file(Path(call.about))).hexdigest()}"
    except CortexError:
        return None


@dataclass(frozen=True, slots=True)
class BuildPackage:
    """A project or a skill, the file that is made of it, and who signs it; see `package.build`."""

    folder: Annotated[Path, AS_IS]
    signed_at_unix_ms: Annotated[int, Ge(0)]
    output: Annotated[Path | None, AS_IS] = None
    key: str | None = None
    publisher: str = ""
    version: str = ""
    builder: str = BUILDER
    form: Form = "in-toto"

    @property
    def file(self) -> str:
        """The file; empty where its name follows from the manifest."""
        return str(self.output or "")


@dataclass(frozen=True, slots=True)
class BuiltFile:
    """An artifact that was built, its file, the `did:key` that signed it, and why Palyra would not run it, if asked."""

    file: Path
    built: BuiltArtifact
    key: str
    not_run_by_palyra: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """The answer as JSON."""
        about = {"file": str(self.file), "bytes": len(self.built.data), "key": self.key}
        return {**about, **self.built.report.to_json(), "notRunByPalyra": list(self.not_run_by_palyra)}


@operation("package.build", effect="changes", permission=OWNER, object_="file", state=file_of)
def build(call: OperationCall, given: BuildPackage) -> BuiltFile:
    """Build a signed artifact from a project or a skill; nothing is written unless it is valid."""
    config = call.host.config
    project = read_project(given.folder, given.publisher, given.version)
    check_unchanged(given.folder)
    signer = signing_key(config) if given.key is None else key_folder(config).open(given.key)
    built = build_artifact(project, signer, given.signed_at_unix_ms, given.builder, given.form)
    manifest = built.report.manifest
    if manifest is None:
        raise CortexError("artifact_invalid", "the artifact has no manifest")
    target = given.output or Path(f"{manifest.skill_id}-{manifest.version}{SUFFIX}")
    call.about = str(target)
    call.before = file_of(call)
    try:
        write_whole(target, built.data, 0o644)
    except OSError as error:
        raise CortexError("invalid_arguments", f"{target} cannot be written: {error.strerror}") from None
    call.facts |= {"payloadSha256": built.report.payload_sha256, "key": signer.did}
    return BuiltFile(target, built, signer.did, tuple(not_run(project.content)) if given.form == "palyra" else ())


@dataclass(frozen=True, slots=True)
class InspectPackage:
    """The bytes of an artifact."""

    data: Annotated[bytes, AS_IS]


@dataclass(frozen=True, slots=True)
class InspectedPackage:
    """What an artifact contains, whether it is valid, and its signature by OpenSSF Model Signing."""

    report: VerificationReport
    model: dict[str, Any]

    def document(self) -> dict[str, Any]:
        """The answer as JSON."""
        return self.report.to_json() | _contents(self.report) | {"modelSignature": self.model}


@operation("package.inspect", effect="reads", permission="approve")
def inspect(call: OperationCall, given: InspectPackage) -> InspectedPackage:
    """Show what an artifact contains and requests, and whether it is valid; its publisher is not checked."""
    report = verify_artifact(given.data, HOST_VERSIONS, _not_checked)
    keys = call.host.config.verification.model_keys
    try:
        model = model_signature_result(check_model_signature_in(skill_files(report.entries), keys))
    except CortexError as error:
        model = model_signature_result(error)
    return InspectedPackage(report, model)


def _not_checked(_: ArtifactSignature, __: ArtifactManifest) -> str:
    return "the publisher is not checked: `package verify` does"


def _contents(report: VerificationReport) -> dict[str, Any]:
    """What a valid artifact contains and requests."""
    manifest, signature = report.manifest, report.signature
    if manifest is None:
        return {}
    capabilities = asdict(manifest.capabilities)
    capabilities["wildcard_opt_in"] = sorted(manifest.capabilities.wildcard_opt_in)
    return {
        "name": manifest.name,
        "kind": "semantic" if manifest.is_semantic else "wasm",
        "tools": [asdict(tool) for tool in manifest.tools],
        "capabilities": capabilities,
        "contracts": negotiated(manifest, manifest.capabilities).to_json(),
        "compat": asdict(manifest.compat),
        "operator": dict(manifest.operator),
        "builder": dict(manifest.builder),
        "signedAtUnixMs": signature.signed_at_unix_ms if signature is not None else None,
        "entries": {path: len(data) for path, data in report.entries.items()},
        "components": [asdict(component) for component in report.components],
        "provenance": report.provenance.to_json() if report.provenance is not None else None,
        "warnings": dict(manifest.warnings),
    }


@dataclass(frozen=True, slots=True)
class VerifyPackage:
    """The bytes of an artifact, and whom it may come from."""

    data: Annotated[bytes, AS_IS]
    options: Annotated[InstallOptions, AS_IS]


@operation("package.verify", effect="reads", permission="approve")
def verify(call: OperationCall, given: VerifyPackage) -> VerificationReport:
    """Verify an artifact with the trusted publishers, as an installation does; nothing changes."""
    return verify_artifact(given.data, HOST_VERSIONS, given.options.trust_check(call.host.config, datetime.now(UTC)))


def made_index_of(call: OperationCall) -> ObjectState | None:
    """The folder of an index, and its snapshot."""
    try:
        found = read_folder(Path(call.about))
    except (CortexError, OSError):
        return None
    return None if found is None else (call.about, f"snapshot {found.page.snapshot}, {len(found.entries)} artifacts")


@dataclass(frozen=True, slots=True)
class BuildIndex:
    """A folder of artifacts, the folder of their index, who signs it, how long it is valid, and what is withdrawn."""

    folder: Annotated[Path, AS_IS]
    output: Annotated[Path, AS_IS]
    key: str
    publisher: str
    expires_days: Annotated[int, Ge(1), Le(MAX_DAYS)] = 30
    yank: tuple[tuple[str, str], ...] = ()


class BuiltIndex(TypedDict):
    """The snapshot that was made, and the `did:key` that signed it."""

    snapshot: int
    entries: int
    key: str
    folder: str


@operation("index.build", effect="changes", permission=OWNER, object_="output", state=made_index_of)
def make_index(call: OperationCall, given: BuildIndex) -> BuiltIndex:
    """Make an index of the artifacts in a folder, or its next snapshot; each artifact is verified first."""
    output = given.output
    if output.resolve() == given.folder.resolve() or output.resolve() in given.folder.resolve().parents:
        raise CortexError(
            "invalid_arguments",
            f"the artifacts are in {output}",
            hint="name another folder for the index: files of old snapshots are removed there",
        )
    signer = key_folder(call.host.config).open(given.key)
    reading: list[Path] = []
    try:
        paths = [path for path in artifact_files(given.folder) if output.resolve() not in path.resolve().parents]
        made = build_index(
            _each_read(paths, reading),
            output,
            key=signer,
            publisher=given.publisher,
            now=datetime.now(UTC),
            lasts=timedelta(days=given.expires_days),
            yank=set(given.yank),
        )
    except OSError as error:
        hint = "choose a writable folder"
        raise CortexError("invalid_arguments", f"{output} cannot be written: {error.strerror}", hint=hint) from error
    except CortexError as error:
        if not reading:
            raise
        message = f"{reading[0]}: {error.message}"
        raise CortexError(error.code, message, hint=error.hint, details=error.details) from None
    return {
        "snapshot": made.page.snapshot,
        "entries": len(made.entries),
        "key": signer.did,
        "folder": str(output),
    }


def _each_read(paths: Iterable[Path], reading: list[Path]) -> Iterator[bytes]:
    """The bytes of each file, of which `reading` has the path until the next one."""
    for path in paths:
        reading[:] = [path]
        yield read_artifact_file(path)
    reading.clear()
