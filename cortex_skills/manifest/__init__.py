"""SKILL.md manifests: parsing, validation and load order."""

from cortex_skills.manifest.dependencies import Joining, load_order
from cortex_skills.manifest.frontmatter import parse_manifest
from cortex_skills.manifest.load import load_manifest, read_manifest
from cortex_skills.manifest.model import (
    Dependency,
    EnrichmentField,
    Manifest,
    ManifestAssertion,
    ManifestError,
    Permissions,
    Query,
    Semantic,
    default_tools,
)
from cortex_skills.manifest.skill_names import name_of
from cortex_skills.safe_io.schemas import Problem as ManifestProblem

__all__ = [
    "Dependency",
    "EnrichmentField",
    "Joining",
    "Manifest",
    "ManifestAssertion",
    "ManifestError",
    "ManifestProblem",
    "Permissions",
    "Query",
    "Semantic",
    "default_tools",
    "load_manifest",
    "load_order",
    "name_of",
    "parse_manifest",
    "read_manifest",
]
