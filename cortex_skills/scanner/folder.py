"""Reads the source files and documents of a skill's folder once, so that the scanned text is the text that runs.

Rules kept here:
- every source file is read, in the order of the paths, and named by its path relative to the folder, with `/`;
- hidden files and folders and `node_modules` are skipped: the bundler does not load from them;
- documents (`DOCUMENT_SUFFIXES`) are read only for the scan, within the same limits;
- a symbolic link is a finding and is never followed, also as the folder itself; so is a source file that is not a
  regular file, is too large, is not UTF-8 or cannot be read;
- the number of entries and files, the size of a file and the total size are limited; beyond a limit there is a
  critical finding, and nothing more is read;
- the content of the folder never raises an error.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path

from cortex_skills.safe_io.outside_file import PACKAGES
from cortex_skills.scanner.documents import DOCUMENT_SUFFIXES, scan_document
from cortex_skills.scanner.findings import Finding, file_finding, folder_findings
from cortex_skills.scanner.source import SOURCE_LIMIT, scan_source
from cortex_skills.scanner.tree import SOURCE_SUFFIXES
from cortex_skills.scanner.whole_files import (
    FILE_TOO_LARGE,
    FOLDER_TOO_LARGE,
    NOT_UTF8,
    SYMLINK,
    TOO_MANY_FILES,
    UNREADABLE,
)

FILES_LIMIT = 200
ENTRIES_LIMIT = 5_000
FOLDER_SIZE_LIMIT = 4 * 1024 * 1024
DEPTH_LIMIT = 32


def scan_folder(folder: Path) -> list[Finding]:
    """Scan the sources and documents below `folder`; an unreadable file is a critical finding."""
    sources, findings = read_sources(folder)
    documents, more = read_documents(folder)
    findings += [finding for finding in more if finding not in findings]
    findings += scan_sources({**documents, **sources})
    return folder_findings(findings)


def read_sources(folder: Path) -> tuple[dict[str, str], list[Finding]]:
    """The text of every source file below `folder` by relative path, and findings about unreadable files."""
    findings: list[Finding] = []
    return dict(_read_all(folder, SOURCE_SUFFIXES, findings)), findings


def is_source(name: str) -> bool:
    """Whether a regular file with this relative path is a source of its folder."""
    hidden = any(part.startswith(".") or part in PACKAGES for part in name.split("/"))
    return not hidden and Path(name).suffix.lower() in SOURCE_SUFFIXES


def read_documents(folder: Path) -> tuple[dict[str, str], list[Finding]]:
    """The text of every document below `folder` by relative path, and findings about unreadable files."""
    findings: list[Finding] = []
    return dict(_read_all(folder, DOCUMENT_SUFFIXES, findings)), findings


def scan_sources(sources: Mapping[str, str]) -> list[Finding]:
    """Scan sources and documents, given by relative path."""
    findings: list[Finding] = []
    for name, text in sorted(sources.items()):
        scan = scan_source if Path(name).suffix.lower() in SOURCE_SUFFIXES else scan_document
        findings += scan(text, name)
    return folder_findings(findings)


def _read_all(folder: Path, suffixes: Collection[str], findings: list[Finding]) -> Iterator[tuple[str, str]]:
    """The files with these suffixes in the order of their paths; problems are added to `findings`."""
    if folder.is_symlink():
        findings.append(file_finding(SYMLINK, ".", "the folder is a symbolic link", "Give the folder itself."))
        return
    found = list(_walk(folder, suffixes))
    findings += [item for item in found if isinstance(item, Finding)]
    places = sorted(item for item in found if not isinstance(item, Finding))
    if len(places) > FILES_LIMIT:
        message = f"the folder has {len(places):,} such files; at most {FILES_LIMIT} are scanned"
        findings.append(file_finding(TOO_MANY_FILES, ".", message))
        return
    size = 0
    for name, path in places:
        text = _read(name, path)
        if isinstance(text, Finding):
            findings.append(text)
            continue
        size += len(text.encode())
        if size > FOLDER_SIZE_LIMIT:
            message = f"such files have more than {FOLDER_SIZE_LIMIT:,} bytes together"
            findings.append(file_finding(FOLDER_TOO_LARGE, name, message))
            return
        yield name, text


def _walk(folder: Path, suffixes: Collection[str]) -> Iterator[tuple[str, Path] | Finding]:
    """The files with these suffixes below `folder`, and findings about links and folders that cannot be read."""
    pending: list[tuple[str, Path, int]] = [("", folder, 0)]
    entries = 0
    while pending:
        prefix, place, depth = pending.pop()
        try:
            with os.scandir(place) as listing:
                names = sorted(entry.name for entry in islice(listing, ENTRIES_LIMIT + 1))
        except OSError as error:
            message = f"the folder cannot be read: {error.strerror}"
            yield file_finding(UNREADABLE, prefix or ".", message, "Give a folder that can be read.")
            continue
        entries += len(names)
        if entries > ENTRIES_LIMIT or depth > DEPTH_LIMIT:
            message = f"the folder has more than {ENTRIES_LIMIT:,} entries or {DEPTH_LIMIT} levels"
            yield file_finding(TOO_MANY_FILES, prefix or ".", message)
            return
        for entry in names:
            if entry.startswith(".") or entry in PACKAGES:
                continue
            name, path = f"{prefix}{entry}", place / entry
            mode = _mode(path)
            if stat.S_ISLNK(mode):
                yield file_finding(SYMLINK, name, "a symbolic link")
            elif stat.S_ISDIR(mode):
                pending.append((f"{name}/", path, depth + 1))
            elif Path(entry).suffix.lower() in suffixes:
                yield name, path


def _mode(path: Path) -> int:
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


def _read(name: str, path: Path) -> str | Finding:
    """The text of a regular file, or the finding about it."""
    try:
        # Rejects a link or a pipe that replaced the file after the walk, without waiting for a writer.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return file_finding(UNREADABLE, name, "not a regular file")
            data = file.read(SOURCE_LIMIT + 1)
    except OSError as error:
        message = f"the file cannot be read: {error.strerror}"
        return file_finding(UNREADABLE, name, message)
    if len(data) > SOURCE_LIMIT:
        message = f"the file has more than {SOURCE_LIMIT:,} bytes"
        return file_finding(FILE_TOO_LARGE, name, message)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"the file is not UTF-8: byte {error.start:,} cannot be read"
        return file_finding(NOT_UTF8, name, message)
