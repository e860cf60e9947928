"""Reads skills from folders, and exports them to folders.

Rules kept here:
- the manifest is read as the loader reads it, so that both refuse the same skills;
- a folder is read without following symbolic links; each file that is left out, and why, is a warning;
- a file whose owner may start it is executable in the document, and no other part of its mode is kept;
- an exported folder has the files of the document, a `SKILL.md` that the reference validator of agentskills.io accepts,
  and the sidecar `.cortex-registry.json` with the digests, the executable files and the signature. It is registered
  elsewhere with the same digests and the same signature, also where a file system or an archive lost the modes;
- a folder that is not what its sidecar states, or whose sidecar cannot be read, is refused, unless the caller accepts
  that it changed: then it is another document, without a signature, and a warning states that. The same holds for a
  folder with the `SKILL.sig` of other files;
- an export appears complete, in one rename, and replaces nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from cortex_skills.errors import CortexError
from cortex_skills.features.registry.document import (
    MANIFEST,
    MAX_RESOURCE,
    MAX_RESOURCES,
    MAX_TOTAL,
    SkillDocument,
    SkillResource,
    path_problem,
)
from cortex_skills.features.registry.registration import UNSIGNED, VersionSignature
from cortex_skills.features.registry.sidecar import (
    MAX_SIDECAR,
    SIDECAR,
    ChangedError,
    as_exported,
    executable_of,
    sidecar_of,
)
from cortex_skills.features.registry.skill_md import read_skill_md, write_skill_md
from cortex_skills.features.registry.skill_record import SkillVersion
from cortex_skills.manifest import ManifestError, read_manifest
from cortex_skills.safe_io.outside_file import GENERATED
from cortex_skills.safe_io.schemas import Problem, shown
from cortex_skills.safe_io.strict_json import read_json
from cortex_skills.signatures.skill_files import files_of
from cortex_skills.signatures.statement import read_signature
from cortex_skills.signatures.verifier import check_holds
from cortex_skills.skill_folder.snapshot import MAX_SIGNATURE, SIGNATURE, read_beside

_MAX_ENTRIES = 20_000
_MAX_DEPTH = 32
_OWN = frozenset({MANIFEST, SIDECAR, SIGNATURE})


@dataclass(frozen=True, slots=True)
class SkillFolder:
    """A skill that was read from a folder.

    Attributes:
        document: the document.
        signature: that of the sidecar, not verified; None for a document that was not read from a folder.
        warnings: what was left out.
        manifests: the texts of `SKILL.md` and its companion, by name.
    """

    document: SkillDocument
    signature: VersionSignature | None = None
    warnings: tuple[str, ...] = ()
    manifests: Mapping[str, str] = field(default_factory=dict)


def read_skill_folder(folder: Path, namespace: str, *, accept_changed: bool = False) -> SkillFolder:
    """Read a skill from its folder.

    Args:
        folder: contains a `SKILL.md`.
        namespace: the namespace of a document that names none.
        accept_changed: read a folder that is not what its sidecar states, as another document without a signature.

    Raises:
        ManifestError: with all problems; also when there is no `SKILL.md`, or a file cannot be read.
        CortexError: `export_changed`: the folder is not what its sidecar states; `signature_invalid`: it has a
            `SKILL.sig` that is not of its files.
    """
    try:
        manifest, texts = read_manifest(folder)
    except ManifestError as error:
        raise ManifestError(error.errors, folder.name) from None  # without the path, which clients may read
    companion = next((text for name, text in texts.items() if name != MANIFEST), None)
    warnings: list[str] = []
    resources = tuple(_resources(folder, {*_OWN, *texts}, warnings))
    unused: list[Problem] = []
    document = read_skill_md(
        texts[MANIFEST], namespace=namespace, resources=resources, companion=companion, warnings=unused
    )
    warnings += [str(each) for each in (*manifest.warnings, *unused) if each.path == ("name",) or each in unused]
    try:
        warnings += _check_publisher_signature(folder, document.name)
    except CortexError as error:
        if not accept_changed:
            raise
        warnings.append(f"it is registered without the signature in {SIGNATURE}: {error.message}")
    try:
        document, signature = as_exported(document, read_beside(folder / SIDECAR, MAX_SIDECAR))
    except ChangedError as change:
        if not accept_changed:
            hint = "with --accept-changed (`accept_changed`) it is registered as another document, without a signature"
            raise _changed(folder, change, hint) from None
        signature = UNSIGNED
        warnings.append(f"it was changed after its export, and is registered as another document: {change}")
    return SkillFolder(document, signature, tuple(warnings), texts)


def check_unchanged(folder: Path) -> None:
    """Refuse a folder that is not what its sidecar states, before somebody signs it; one without a sidecar is accepted.

    Raises:
        CortexError: `export_changed`; `manifest_invalid`: it cannot be read.
    """
    sidecar = read_beside(folder / SIDECAR, MAX_SIDECAR)
    if sidecar is None:
        return
    _, texts = read_manifest(folder)
    companion = next((text for name, text in texts.items() if name != MANIFEST), None)
    resources = tuple(_resources(folder, {*_OWN, *texts}, []))
    document = read_skill_md(
        texts[MANIFEST], namespace=folder.name, resources=resources, companion=companion, warnings=[]
    )
    try:
        as_exported(document, sidecar)
    except ChangedError as change:
        raise _changed(folder, change, f"if the change is yours, remove {SIDECAR}") from None


def _changed(folder: Path, change: ChangedError, hint: str) -> CortexError:
    message = f"{shown(folder.resolve().name)} was changed after its export: {change}"
    return CortexError(
        "export_changed", message, hint=f"get it again from its publisher; {hint}", details={"file": SIDECAR}
    )


def _check_publisher_signature(folder: Path, name: str) -> list[str]:
    """Check that the `SKILL.sig` of a folder, if it has one, is of its files; whom to trust is not asked here.

    Returns:
        A warning about one of another program, which is not checked.

    Raises:
        CortexError: `signature_invalid`.
    """
    data = read_beside(folder / SIGNATURE, MAX_SIGNATURE)
    if data is None:
        return []
    with suppress(ValueError):
        stated = read_json(data, max_size=MAX_SIGNATURE)
        if isinstance(stated, dict) and "format" not in stated:
            return [f"{SIGNATURE} is of another program, and is not checked"]
    signature = read_signature(data)
    check_holds(signature, name, signature.statement.version, files_of(folder))
    return []


def write_skill_folder(document: SkillDocument, version: SkillVersion, target: Path) -> Path:
    """Export a document to a new folder with its name.

    Args:
        document: the document.
        version: what it is registered as.
        target: the folder that will contain the new one; created when it is missing.

    Returns:
        The new folder.

    Raises:
        CortexError: `skill_exists`: there is such a folder; `invalid_arguments`: it cannot be written.
    """
    place = target / document.name
    files = {name: text.encode() for name, text in write_skill_md(document).items()}
    files |= {resource.path: resource.data for resource in document.resources}
    executable = executable_of(document)
    files[SIDECAR] = json.dumps(sidecar_of(version, executable), indent=1).encode() + b"\n"
    try:
        target.mkdir(parents=True, exist_ok=True)
        if place.exists() or place.is_symlink():
            raise CortexError("skill_exists", f"{place} exists", hint="choose another folder, or remove it")
        scratch = Path(tempfile.mkdtemp(prefix=".export-", dir=target))
        try:
            written = scratch / document.name
            for path, data in files.items():
                file = written / path
                file.parent.mkdir(parents=True, exist_ok=True)
                with file.open("xb") as opened:
                    opened.write(data)
                    os.fsync(opened.fileno())
                if path in executable:
                    mode = file.stat().st_mode
                    file.chmod(stat.S_IMODE(mode) | (mode & 0o444) >> 2)  # for those who may read it
            written.rename(place)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    except OSError as error:
        hint = "name a folder to which you may write"
        raise CortexError("invalid_arguments", f"{place} cannot be written: {error.strerror}", hint=hint) from error
    return place


def skill_folders_in(folder: Path) -> list[Path]:
    """The folder itself if it is that of a skill, else the folders of skills directly in it, by name.

    One whose content cannot be listed is among them, so that reading it says why.
    """
    if _has_manifest(folder):
        return [folder]
    try:
        inside = sorted(folder.iterdir())
    except OSError:
        return []
    return [each for each in inside if not each.name.startswith(".") and _has_manifest(each)]


def _has_manifest(folder: Path) -> bool:
    try:
        return stat.S_ISREG((folder / MANIFEST).lstat().st_mode) or (folder / MANIFEST).is_symlink()
    except PermissionError:
        return folder.is_dir()
    except OSError:
        return False


def _resources(folder: Path, own: Collection[str], warnings: list[str]) -> Iterator[SkillResource]:
    """Read the files of a folder, within the limits; a larger one is refused before all is read."""
    count = total = 0
    for path, size, executable in _files(folder, own, warnings):
        count, total = count + 1, total + size
        for is_over, problem in (
            (count > MAX_RESOURCES, f"has more than {MAX_RESOURCES:,} files"),
            (size > MAX_RESOURCE, f"has a file of more than {MAX_RESOURCE >> 20} MiB: {shown(path)}"),
            (total > MAX_TOTAL, f"has more than {MAX_TOTAL >> 20} MiB of files"),
        ):
            if is_over:
                raise _refused(folder, problem)
        data = read_beside(folder / path, MAX_RESOURCE)
        if data is None or len(data) > MAX_RESOURCE:
            raise _refused(folder, f"changes while it is read: {shown(path)}")
        if len(data) != size:
            raise _refused(folder, f"has a file that cannot be read: {shown(path)}")
        yield SkillResource(path, data, executable)


def _files(folder: Path, own: Collection[str], warnings: list[str]) -> Iterator[tuple[str, int, bool]]:
    """The files that are resources: path, size, and whether the owner may start it; a warning for each other one."""
    pending = [("", folder, 0)]
    entries = 0
    while pending:
        prefix, place, depth = pending.pop()
        try:
            with os.scandir(place) as listing:
                here = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            raise _refused(folder, f"cannot be read: {shown(prefix)}: {error.strerror}") from None
        entries += len(here)
        if entries > _MAX_ENTRIES:
            raise _refused(folder, f"has more than {_MAX_ENTRIES:,} entries")
        for entry in here:
            name = f"{prefix}{entry.name}"
            if name in own:
                continue
            about = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(about.st_mode) and not entry.name.startswith(".") and entry.name not in GENERATED:
                if depth == _MAX_DEPTH:
                    raise _refused(folder, f"has more than {_MAX_DEPTH} levels of folders")
                pending.append((f"{name}/", Path(entry.path), depth + 1))
                continue
            problem = _left_out(name, about.st_mode)
            if problem:
                warnings.append(f"{shown(name)} is left out: it {problem}")
            else:
                yield name, about.st_size, bool(about.st_mode & stat.S_IXUSR)


def _left_out(name: str, mode: int) -> str:
    """Why a file is no resource; empty when it is one."""
    if stat.S_ISLNK(mode):
        return "is a symbolic link"
    if stat.S_ISDIR(mode):
        return "is a hidden or generated folder"
    if not stat.S_ISREG(mode):
        return "is not a regular file"
    return path_problem(name)


def _refused(folder: Path, problem: str) -> ManifestError:
    return ManifestError([Problem(("resources",), f"{shown(folder.name)} {problem}")], skill=folder.name)
