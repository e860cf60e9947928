"""SKILL.md: text → `Manifest`, with every rule checked and every problem named."""

from cortex_skills.manifest.dependencies import load_order
from cortex_skills.manifest.errors import ManifestError
from cortex_skills.manifest.load import load_manifest, read_manifest
from cortex_skills.manifest.model import (
    DEFAULT_TOOLS,
    Assertion,
    Dependency,
    Manifest,
    Permissions,
    Query,
    Semantic,
)
from cortex_skills.manifest.parse import parse_manifest
from cortex_skills.schemas import Problem as ManifestProblem

__all__ = [
    "DEFAULT_TOOLS",
    "Assertion",
    "Dependency",
    "Manifest",
    "ManifestError",
    "ManifestProblem",
    "Permissions",
    "Query",
    "Semantic",
    "load_manifest",
    "load_order",
    "parse_manifest",
    "read_manifest",
]
