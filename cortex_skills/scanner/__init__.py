"""Reads the source of a skill for what no skill may do. The rules are in `source`, `folder` and `rules`."""

from cortex_skills.scanner.findings import Finding
from cortex_skills.scanner.folder import scan_folder
from cortex_skills.scanner.source import scan_source

__all__ = ["Finding", "scan_folder", "scan_source"]
