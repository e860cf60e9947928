"""What lies in a skill's folder, read once.

Rules kept here:
- a folder is read into memory in one go: what is scanned is what is bundled is what runs, and what a reload compares;
- two readings say the same when their manifests do, and their source files hold the same: times do not count, nor does
  a file that is not loaded. A new signature counts;
- tests are read with the rest, to be scanned, and are no part of what is said (`testing.files`);
- a manifest that is not in order is part of a reading, not an end of it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from cortex_skills.errors import CortexError
from cortex_skills.manifest import Manifest, read_manifest
from cortex_skills.scanner import Finding, read_sources
from cortex_skills.testing import is_test_file

MANIFEST = "SKILL.md"
SIGNATURE = "SKILL.sig"
MAX_SIGNATURE = 2 << 20  # bytes
SHAPES = "shapes.ttl"
MAX_SHAPES = 64 << 10  # bytes
_MAX_SHOWN = 300
_DIGEST_BYTES = 16
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True)
class Reading:
    """A skill's folder as it was at one moment.

    Attributes:
        folder: where it lies.
        manifest: what it declares; None when it is not in order.
        error: what is wrong with the manifest, if it is not in order.
        sources: the text of each source file by its relative path, tests not among them.
        findings: about what could not be read.
        digests: what stands for the content of each source file, of the signature and of the shapes, by its path.
        tests: the text of each test file; they are no part of what is loaded.
        manifest_texts: the text of each file that the manifest was read from.
        signature: the content of the signature's file, whatever it is; None when there is none.
        shapes: the text of `shapes.ttl`, whatever it is; None when there is none.

    """

    folder: Path
    manifest: Manifest | None
    error: CortexError | None
    sources: Mapping[str, str]
    findings: Sequence[Finding]
    digests: Mapping[str, str]
    tests: Mapping[str, str] = field(default_factory=dict)
    manifest_texts: Mapping[str, str] = field(default_factory=dict)
    signature: bytes | None = None
    shapes: str | None = None

    @property
    def name(self) -> str:
        """The skill's name; that of the folder when the manifest is not in order."""
        return self.manifest.name if self.manifest is not None else name_of(self.folder)

    def texts(self) -> dict[str, str]:
        """The text of every file that was read, by its relative path."""
        shapes = {} if self.shapes is None else {SHAPES: self.shapes}
        return {**self.manifest_texts, **self.sources, **self.tests, **shapes}

    def same_as(self, other: Reading) -> bool:
        """Whether both say the same."""
        return (self.manifest, str(self.error), self.digests) == (other.manifest, str(other.error), other.digests)


def read_skill(folder: Path) -> Reading:
    """Read a skill's folder."""
    manifest, error = None, None
    manifest_texts: dict[str, str] = {}
    try:
        manifest, manifest_texts = read_manifest(folder)
    except CortexError as problem:
        error = problem.with_traceback(None)
    every, findings = read_sources(folder)
    sources = {name: text for name, text in every.items() if not is_test_file(name)}
    tests = {name: text for name, text in every.items() if is_test_file(name)}
    digests = {finding.file: finding.rule for finding in findings}
    digests |= {name: digest_of(text) for name, text in sources.items()}
    signature = read_beside(folder / SIGNATURE, MAX_SIGNATURE)
    if signature is not None:
        digests[SIGNATURE] = digest_of(signature.decode("latin-1"))
    data = read_beside(folder / SHAPES, MAX_SHAPES)
    shapes = None if data is None else data.decode("utf-8", "replace")
    if shapes is not None:
        digests[SHAPES] = digest_of(shapes)
    return Reading(folder, manifest, error, sources, findings, digests, tests, manifest_texts, signature, shapes)


def read_beside(path: Path, most: int) -> bytes | None:
    """A file of a skill; None when there is none, and empty when what is there cannot be read as one."""
    try:
        descriptor = os.open(path, _FLAGS)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(most + 1) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    except FileNotFoundError:
        return None
    except OSError:
        return b""


def name_of(folder: Path) -> str:
    """The name that a skill in this folder must have."""
    return folder.name if folder.name not in ("", "..") else folder.resolve().name


def skill_folders(path: Path) -> list[Path]:
    """The folders that hold a skill: the path itself, or those directly in it.

    Raises:
        CortexError: `manifest_invalid` when there is none.

    """
    try:
        if is_skill(path):
            return [path]
        inside = sorted(child for child in path.iterdir() if not child.name.startswith("."))
        folders = [child for child in inside if (child / MANIFEST).is_file()]
    except (OSError, ValueError) as error:  # a ValueError: a path that holds a NUL
        reason = getattr(error, "strerror", None) or error
        raise CortexError(
            "manifest_invalid", f"{str(path)[:_MAX_SHOWN]!r} cannot be read: {reason}", hint="name a skill's folder"
        ) from None
    if not folders:
        raise CortexError(
            "manifest_invalid",
            f"{path} holds no {MANIFEST}, and neither does a folder in it",
            hint="name a skill's folder, or a folder of them",
        )
    return folders


def is_skill(folder: Path) -> bool:
    """Whether a folder is a skill's, and not one of skills."""
    return (folder / MANIFEST).exists() or (folder / MANIFEST).is_symlink()


def digest_of(text: str) -> str:
    """What stands for the content of a source file."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).hexdigest()
