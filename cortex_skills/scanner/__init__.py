"""Scans the sources and documents of a skill for forbidden patterns."""

from cortex_skills.scanner.findings import Finding
from cortex_skills.scanner.folder import is_source, read_documents, read_sources, scan_folder, scan_sources
from cortex_skills.scanner.source import scan_source

__all__ = ["Finding", "is_source", "read_documents", "read_sources", "scan_folder", "scan_source", "scan_sources"]
