r"""The paths of an artifact's entries.

Rules kept here:
- `\` is read as `/`. A path is relative, without empty, `.` and `..` segments, control characters and `:`, and no
  segment starts or ends with a space or ends with a dot, which Windows removes;
- an artifact contains `skill.toml`, `signature.json`, `sbom.cdx.json`, `provenance.json`, `modules/*.wasm` (also in
  folders below `modules`) and files below `assets`; nothing else;
- two paths that are the same file or folder to some file system (after Unicode normalization and case folding) are
  refused, as is a file with the path of a folder.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping

from cortex_skills.features.artifacts.package.artifact_error import ArtifactError
from cortex_skills.safe_io.schemas import shown

MANIFEST = "skill.toml"
SIGNATURE = "signature.json"
SBOM = "sbom.cdx.json"
PROVENANCE = "provenance.json"
MODULES = "modules/"
ASSETS = "assets/"
SKILL_FILES = "assets/skill/"
SKILL_MD = f"{SKILL_FILES}SKILL.md"

_FIXED = frozenset({MANIFEST, SIGNATURE, SBOM, PROVENANCE})
_MAX_SEGMENT = 255
_MAX_PATH = 1024
_CONTROL = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def relative_path(raw: str) -> str:
    r"""A path in its normal form.

    Raises:
        ArtifactError: the path is not a safe relative path.

    >>> relative_path("assets\\prompt.txt")
    'assets/prompt.txt'
    """
    path = raw.replace("\\", "/")
    if not path or path.startswith("/"):
        raise _refused(raw, "is empty or absolute")
    if ":" in path or any(unicodedata.category(char) in _CONTROL for char in path):
        raise _refused(raw, "contains a colon or an invisible character")
    if path.endswith("/"):
        raise _refused(raw, "is that of a folder")
    for segment in path.split("/"):
        if segment in ("", ".", ".."):
            raise _refused(raw, "contains an empty, . or .. segment")
        if segment != segment.strip() or segment.endswith("."):
            raise _refused(raw, "has a segment with a space at an end or a dot at its end")
        if len(segment.encode()) > _MAX_SEGMENT:
            raise _refused(raw, f"has a segment of more than {_MAX_SEGMENT} bytes")
    if len(path.encode()) > _MAX_PATH:
        raise _refused(raw, f"is longer than {_MAX_PATH:,} bytes")
    return path


def entry_path(raw: str) -> str:
    """The path of an entry in its normal form.

    Raises:
        ArtifactError: the path is not safe, or not one that an artifact contains.
    """
    path = relative_path(raw)
    if path in _FIXED or path.startswith(ASSETS) or is_module(path):
        return path
    raise ArtifactError(
        f"the entry {shown(raw)} does not belong in an artifact",
        hint="an artifact contains skill.toml, sbom.cdx.json, provenance.json, modules/*.wasm and assets/",
    )


def is_module(path: str) -> bool:
    """Whether an entry is a WebAssembly module."""
    return path.startswith(MODULES) and path.endswith(".wasm") and len(path) > len(MODULES) + len(".wasm")


def is_content(path: str) -> bool:
    """Whether an entry is a module or an asset."""
    return is_module(path) or path.startswith(ASSETS)


def skill_files(entries: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of the skill of an artifact, by their path in the folder of the skill."""
    return {path.removeprefix(SKILL_FILES): data for path, data in entries.items() if path.startswith(SKILL_FILES)}


def check_distinct(paths: Iterable[str]) -> None:
    """Check that paths are distinct on every file system, files and folders.

    Raises:
        ArtifactError: two paths are not.
    """
    files: set[str] = set()
    spelled: dict[str, str] = {}
    for path in paths:
        segments = path.split("/")
        prefixes = ["/".join(segments[:length]) for length in range(1, len(segments) + 1)]
        for prefix in prefixes:
            first = spelled.setdefault(_folded(prefix), prefix)
            if first != prefix:
                raise ArtifactError(
                    f"the paths {shown(first)} and {shown(prefix)} are the same on some file systems",
                    hint="rename one of them",
                )
            if prefix in files:
                raise ArtifactError(f"the entry {shown(prefix)} is there twice, or is also a folder")
        files.add(path)
    for path in spelled.values():
        parent = path.rpartition("/")[0]
        if parent in files:
            raise ArtifactError(f"the entry {shown(parent)} is also a folder")


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())


def _refused(raw: str, why: str) -> ArtifactError:
    return ArtifactError(f"the path {shown(raw)} {why}", hint="use a relative path such as assets/prompt.txt")
