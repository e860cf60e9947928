"""Signed artifacts, `.palyra-skill`: their archive, manifest, signature, provenance and bill of materials.

Everything is computed from bytes; only `read_artifact_file` and `read_project` read files. Errors are `ArtifactError`.
"""

from cortex_skills.features.artifacts.package.archive import read_archive, read_artifact_file, write_archive
from cortex_skills.features.artifacts.package.artifact_error import ArtifactError
from cortex_skills.features.artifacts.package.artifact_manifest import ArtifactManifest
from cortex_skills.features.artifacts.package.artifact_verification import (
    HOST_VERSIONS,
    ExpectedArtifact,
    RuntimeVersions,
    VerificationReport,
    VerificationStep,
    verify_artifact,
    verify_entries,
)
from cortex_skills.features.artifacts.package.build import ArtifactProject, BuiltArtifact, build_artifact
from cortex_skills.features.artifacts.package.payload import (
    ArtifactSignature,
    payload_hash,
    read_artifact_signature,
    sign_payload,
)
from cortex_skills.features.artifacts.package.project import read_project
from cortex_skills.features.artifacts.package.skill_toml import read_skill_toml

__all__ = [
    "HOST_VERSIONS",
    "ArtifactError",
    "ArtifactManifest",
    "ArtifactProject",
    "ArtifactSignature",
    "BuiltArtifact",
    "ExpectedArtifact",
    "RuntimeVersions",
    "VerificationReport",
    "VerificationStep",
    "build_artifact",
    "payload_hash",
    "read_archive",
    "read_artifact_file",
    "read_artifact_signature",
    "read_project",
    "read_skill_toml",
    "sign_payload",
    "verify_artifact",
    "verify_entries",
    "write_archive",
]
