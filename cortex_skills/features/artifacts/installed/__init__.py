"""What is installed: files on disk, an index in the graph, grants, security audits and quarantine.

`installed_in(host)` is the `InstalledArtifacts` of a plugin. Errors are `CortexError`.
"""

from cortex_skills.features.artifacts.installed.artifact_grants import (
    Grant,
    Granted,
    effective,
    grant_differences,
    requested,
)
from cortex_skills.features.artifacts.installed.installed_artifact import ArtifactKey, InstalledArtifact
from cortex_skills.features.artifacts.installed.installed_artifacts import (
    InstalledArtifacts,
    OpenArtifact,
    installed_in,
)

__all__ = [
    "ArtifactKey",
    "Grant",
    "Granted",
    "InstalledArtifact",
    "InstalledArtifacts",
    "OpenArtifact",
    "effective",
    "grant_differences",
    "installed_in",
    "requested",
]
