"""Reads the manifest of a skill's folder; the only module of this package that reads files.

Rules kept here:
- SKILL.md (its two parts have limits of their own) and its companion (at most 64 KiB) are regular files directly
  inside the folder, not symbolic links, pipes or devices;
- they are UTF-8;
- a file that cannot be read raises `ManifestError`, like any other problem; the error names the folder;
- on request, syntax that other readers of agentskills.io reject is a warning too (see `portable`).
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import replace
from pathlib import Path

from cortex_skills.manifest.frontmatter import (
    FILE_NAME,
    MAX_BODY_BYTES,
    MAX_FRONTMATTER_BYTES,
    Frontmatter,
    build,
    read_companion,
    read_frontmatter,
    unreadable,
)
from cortex_skills.manifest.model import Manifest
from cortex_skills.manifest.portable import is_agentskills, unportable
from cortex_skills.manifest.skill_names import name_of
from cortex_skills.safe_io.schemas import Problem, schema

MAX_FILE_BYTES = MAX_FRONTMATTER_BYTES + MAX_BODY_BYTES + 1024  # for the two lines of ---

# Flags that are missing on some systems; the checks around `os.open` remain there.
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def load_manifest(folder: Path, *, portable: bool = False) -> Manifest:
    """The manifest of a skill's folder; arguments and errors are those of `read_manifest`."""
    return read_manifest(folder, portable=portable)[0]


def read_manifest(folder: Path, *, portable: bool = False) -> tuple[Manifest, dict[str, str]]:
    """Read the SKILL.md of a skill's folder, and its companion file if it names one.

    Args:
        folder: the skill's folder.
        portable: whether the warnings include what other readers of a manifest in the agentskills.io format reject.

    Returns:
        The manifest, and the text of each file that was read, by file name.

    Raises:
        ManifestError: with all problems; also when there is no SKILL.md.
    """
    text, companion_text = "", ""
    name, place = name_of(folder), str(folder)
    rejected: tuple[Problem, ...] = ()
    try:
        text = _read(folder / FILE_NAME, MAX_FILE_BYTES)
        front = read_frontmatter(text)
        if portable and is_agentskills(front):
            rejected = tuple(unportable(text))
    except _UnreadableError as error:
        front = Frontmatter(unreadable(str(error), error.hint or "a skill is a folder with a SKILL.md in it"))
    companion = front.companion_name
    if companion is None or not _is_plain_name(companion):
        return _with_warnings(build(front, None, name, place), rejected), {FILE_NAME: text}
    try:
        companion_text = _read(folder / companion, MAX_FRONTMATTER_BYTES)
        block = read_companion(companion_text, companion)
    except _UnreadableError as error:
        hint = error.hint or "metadata.semantic names a file in the skill's folder"
        block = unreadable(str(error), hint, file=companion, path=("semantic",))
    manifest = build(front, block, name, place)
    return _with_warnings(manifest, rejected), {FILE_NAME: text, companion: companion_text}


def _with_warnings(manifest: Manifest, more: tuple[Problem, ...]) -> Manifest:
    return replace(manifest, warnings=tuple(sorted((*manifest.warnings, *more), key=lambda problem: problem.line or 0)))


class _UnreadableError(Exception):
    """A file is missing or unsuitable; the message has the reason, and the hint a remedy."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def _read(path: Path, limit: int) -> str:
    """The text of a regular file of at most `limit` bytes."""
    try:
        if path.is_symlink():
            raise _UnreadableError("is a symbolic link")
        descriptor = os.open(path, _OPEN_FLAGS)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise _UnreadableError("is not a regular file")
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                content = file.read(limit + 1)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        raise _UnreadableError("does not exist") from None
    except OSError as error:
        raise _UnreadableError(f"cannot be read: {error.strerror}") from None
    except ValueError:  # its text differs between versions of Python
        raise _UnreadableError("cannot be read: its path contains a NUL") from None
    if len(content) > limit:
        raise _UnreadableError(f"has more than {limit >> 10} KiB", "shorten it")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _UnreadableError(f"is not UTF-8: byte {error.start + 1}", "save it as UTF-8") from None


def _is_plain_name(name: str) -> bool:
    """Whether the schema accepts `name` as a companion file; a rejected name is never opened."""
    rule = schema("skill")["properties"]["metadata"]["properties"]["semantic"]
    return len(name) <= rule["maxLength"] and re.search(rule["pattern"], name, re.ASCII) is not None
