"""The protocol and the runtime that this host is equal to, for artifacts."""

from __future__ import annotations

from cortex_skills.features.artifacts.package.artifact_verification import RuntimeVersions

# The origin of the format, Palyra, states the major version of its protocol in `crates/palyra-common/src/lib.rs`
# (CANONICAL_PROTOCOL_MAJOR) and compares `[compat]` with the version of its workspace in `Cargo.toml`. It has had no
# other version with either format of the manifest.
HOST_VERSIONS = RuntimeVersions(protocol_major=1, palyra_version="0.1.0")
