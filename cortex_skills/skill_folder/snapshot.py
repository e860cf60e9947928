"""A snapshot of a skill's folder.

Rules kept here:
- a folder is read into memory once: the same texts are scanned, bundled, run, and compared by a reload;
- two snapshots are equal when their manifests, source files and signatures are; file times and files that are not
  loaded do not count;
- a test file is named `*.test.ts`, or has another suffix of TypeScript or JavaScript. Test files are read and scanned,
  but they are not bundled, and a change of one causes no reload;
- an invalid manifest is part of a snapshot and does not end the read.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from cortex_skills.errors import CortexError
from cortex_skills.manifest import Manifest, name_of, read_manifest
from cortex_skills.scanner import Finding, read_sources
from cortex_skills.skill_folder.skipped import skipped_skills

MANIFEST = "SKILL.md"
SIGNATURE = "SKILL.sig"
MAX_SIGNATURE = 2 << 20  # bytes
SHAPES = "shapes.ttl"
MAX_SHAPES = 64 << 10  # bytes
_MAX_SHOWN = 300
_DIGEST_BYTES = 16
_TEST_FILE = re.compile(r"\.test\.[cm]?[jt]sx?$", re.IGNORECASE)
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True)
class SkillSnapshot:
    """A skill's folder at one moment.

    Attributes:
        folder: the path of the folder.
        manifest: the manifest; None when it is invalid.
        error: the error of an invalid manifest.
        sources: the text of each source file by relative path, without tests.
        findings: the findings about unreadable files.
        digests: the digest of each source file, of the signature and of the shapes, by path.
        tests: the text of each test file by relative path.
        manifest_texts: the text of each file of the manifest.
        signature: the content of the signature file, unchecked; None without one.
        shapes: the text of `shapes.ttl`, unchecked; None without one.
        known_name: the name that the skill in this folder had before, if it is known.
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
    known_name: str = ""

    @property
    def name(self) -> str:
        """The name of the skill; when the manifest is invalid, the one that it had, or that of the folder."""
        return self.manifest.name if self.manifest is not None else self.known_name or name_of(self.folder)

    def texts(self) -> dict[str, str]:
        """The text of every file of the snapshot, by relative path."""
        shapes = {} if self.shapes is None else {SHAPES: self.shapes}
        return {**self.manifest_texts, **self.sources, **self.tests, **shapes}

    def same_as(self, other: SkillSnapshot) -> bool:
        """Whether both snapshots have the same content."""
        return (self.manifest, str(self.error), self.digests) == (other.manifest, str(other.error), other.digests)


def is_developed(folder: Path, developing: Collection[Path]) -> bool:
    """Whether a folder of a skill is one of those that the user is writing, or directly in one."""
    place = folder.resolve()
    return any(place == each or place.parent == each for each in (root.resolve() for root in developing))


def is_test_file(path: str) -> bool:
    """Whether a file is a test, by its name.

    >>> [is_test_file(name) for name in ("skill.test.ts", "rules/a.test.js", "test.ts", "latest.ts")]
    [True, True, False, False]
    """
    return _TEST_FILE.search(path) is not None


def read_skill(folder: Path, known_name: str = "") -> SkillSnapshot:
    """Read a skill's folder; `known_name` is the name of the skill that was read from it before."""
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
    return SkillSnapshot(
        folder, manifest, error, sources, findings, digests, tests, manifest_texts, signature, shapes, known_name
    )


def read_beside(path: Path, most: int) -> bytes | None:
    """The content of a file; None when it does not exist, and empty when it is unreadable or not a regular file."""
    try:
        descriptor = os.open(path, _FLAGS)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(most + 1) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    except FileNotFoundError:
        return None
    except OSError:
        return b""


def skill_folders(path: Path) -> list[Path]:
    """The folders with a skill: the path itself, or the folders directly in it.

    Raises:
        CortexError: `manifest_invalid`: there is none.
    """
    try:
        if is_skill(path):
            return [path]
        inside = sorted(child for child in path.iterdir() if not child.name.startswith("."))
        folders = [child for child in inside if _has_manifest(child)]
    except (OSError, ValueError) as error:  # ValueError: the path contains a NUL
        reason = getattr(error, "strerror", None) or error
        raise CortexError(
            "manifest_invalid",
            f"{str(path)[:_MAX_SHOWN]!r} cannot be read: {reason}",
            hint="give the folder of a skill",
        ) from None
    if not folders:
        skipped = skipped_skills(path)
        raise CortexError(
            "manifest_invalid",
            "\n".join([f"{path} contains no {MANIFEST}, and neither does a folder in it", *map(str, skipped)]),
            hint="give the folder of a skill, or a folder of skills",
            details={"skipped": [each.to_json() for each in skipped]} if skipped else {},
        )
    return folders


def _has_manifest(folder: Path) -> bool:
    try:
        return (folder / MANIFEST).is_file()
    except PermissionError:
        return folder.is_dir()  # reading it reports why it cannot be read


def is_skill(folder: Path) -> bool:
    """Whether a folder is the folder of one skill."""
    return (folder / MANIFEST).exists() or (folder / MANIFEST).is_symlink()


def digest_of(text: str) -> str:
    """The digest of the text of a file."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).hexdigest()
