"""Reads skills from folders, exports them to folders, and finds the folders that clients name.

Rules kept here:
- the sidecar of an export, `.cortex-registry.json`, states the digest, the executable files and the signature, which is
  verified where the document is registered;
- a document that is not what its sidecar states is refused (`ChangedError`), and so is a sidecar that cannot be read;
- the manifest is read as the loader reads it, so that both refuse the same skills;
- a folder is read without following symbolic links; each file that is left out, and why, is a warning;
- a file whose owner may start it is executable in the document, and no other part of its mode is kept;
- an exported folder has the files of the document, a `SKILL.md` that the reference validator of agentskills.io accepts,
  and the sidecar `.cortex-registry.json` with the digests, the executable files and the signature. It is registered
  elsewhere with the same digests and the same signature, also where a file system or an archive lost the modes. In the
  form of ai-memory its files are in `resources/`, and the sidecar states which were not there;
- a folder that is not what its sidecar states, or whose sidecar cannot be read, is refused, unless the caller accepts
  that it changed: then it is another document, without a signature, and a warning states that. The same holds for a
  folder with the `SKILL.sig` of other files;
- an export appears complete, in one rename, and replaces nothing;
- clients over HTTP and MCP register from `registry.importRoot` and export to `registry.exportRoot`; without a
  configured root nothing is imported and nothing exported;
- a client names a folder below the root, relative to it: no absolute path, no `..`, no hidden segment, no name that
  some file systems do not have. Each segment that exists is a folder, and no symbolic link. A refusal names neither the
  root nor what else is in it;
- what the plugin keeps private in the root (`config.private_paths`) is neither imported nor written into;
- the root is the owner's: who can change it while it is read can change what is read there anyway.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from cortex_skills.config.private_paths import private_below
from cortex_skills.config.settings import Config
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.documents.ai_memory_form import ai_memory_md, path_there
from cortex_skills.features.registry.documents.document import (
    MANIFEST,
    MAX_RESOURCE,
    MAX_RESOURCES,
    MAX_TOTAL,
    SkillDocument,
    SkillResource,
    compat_digest,
    digest,
    path_problem,
)
from cortex_skills.features.registry.documents.skill_md import former_steps_of, read_skill_md, steps_of, write_skill_md
from cortex_skills.features.registry.records.skill_record import UNSIGNED, SkillVersion, VersionSignature
from cortex_skills.features.registry.registry_settings import RegistrySettings
from cortex_skills.manifest import ManifestError, read_manifest
from cortex_skills.manifest.skill_names import hyphenated
from cortex_skills.safe_io.outside_file import GENERATED
from cortex_skills.safe_io.schemas import Problem, shown
from cortex_skills.safe_io.strict_json import read_json
from cortex_skills.signatures.skill_files import files_of
from cortex_skills.signatures.statement import read_signature
from cortex_skills.signatures.verifier import check_holds
from cortex_skills.skill_folder.snapshot import MAX_SIGNATURE, SIGNATURE, read_beside

Form = Literal["agentskills", "ai-memory"]
FORMS: tuple[Form, ...] = get_args(Form)
SIDECAR = ".cortex-registry.json"
MAX_SIDECAR = 16 << 20  # bytes, with the paths of all executable files
_FORMAT = "cortex-registry/1"


def executable_of(document: SkillDocument) -> list[str]:
    """The paths of the executable files of a document."""
    return [resource.path for resource in document.resources if resource.executable]


def sidecar_of(version: SkillVersion, document: SkillDocument, moved: list[str]) -> dict[str, Any]:
    """The content of the sidecar of a version; `moved` are the files that are in `resources/` in this form alone."""
    return {
        "format": _FORMAT,
        "namespace": version.key.namespace,
        "name": version.key.name,
        "version": version.number,
        "digest": version.digest,
        "compatDigest": compat_digest(document),
        "executable": executable_of(document),
        **({"moved": moved} if moved else {}),
        "publicKey": version.public_key or None,
        "signature": version.signature or None,
    }


class ChangedError(Exception):
    """Why a folder is not what its sidecar states."""


def _paths(stated: dict[str, Any], member: str) -> list[str]:
    """The paths in a member of a sidecar; one of an earlier version has none.

    Raises:
        ChangedError: they are none, or too many.
    """
    given = stated.get(member, [])
    if not isinstance(given, list) or not all(isinstance(path, str) for path in given):
        raise ChangedError(f"{SIDECAR} is not of the form {_FORMAT}")
    if len(given) > MAX_RESOURCES:
        raise ChangedError(f"{SIDECAR} names more than {MAX_RESOURCES:,} {member} files")
    return given


def as_exported(document: SkillDocument, sidecar: bytes | None) -> tuple[SkillDocument, VersionSignature]:
    """The document with the executable files that its sidecar states, and the signature; as it is without a sidecar.

    Args:
        document: as its files are.
        sidecar: the content of the sidecar; None without one.

    Raises:
        ChangedError: the sidecar is about another document, or cannot be read.
    """
    if sidecar is None:
        return document, UNSIGNED
    if not sidecar:
        raise ChangedError(f"{SIDECAR} is empty, or is not a regular file that can be read")
    try:
        stated = read_json(sidecar, max_size=MAX_SIDECAR)
    except ValueError as error:
        raise ChangedError(f"{SIDECAR} cannot be read: {error}") from None
    if not isinstance(stated, dict) or stated.get("format") != _FORMAT:
        raise ChangedError(f"{SIDECAR} is not of the form {_FORMAT}")
    executable, moved = (_paths(stated, member) for member in ("executable", "moved"))
    match stated.get("publicKey"), stated.get("signature"):
        case None, None:
            signature = UNSIGNED
        case str(key), str(value):
            signature = VersionSignature(key, value)
        case _:
            raise ChangedError(f"{SIDECAR} has a key without a signature, or a signature without a key")
    there = {path_there(path): path for path in moved}
    paths = frozenset(executable)
    resources = (replace(each, path=there.get(each.path, each.path)) for each in document.resources)
    exported = document.changed(resources=tuple(replace(each, executable=each.path in paths) for each in resources))
    if document.steps == steps_of(document.body) and digest(exported) != stated.get("digest"):
        former = replace(exported, steps=former_steps_of(document.body))
        exported = former if digest(former) == stated.get("digest") else exported
    found = {
        "namespace": exported.namespace,
        "name": exported.name,
        "digest": digest(exported),
        "compatDigest": compat_digest(exported),
        "executable": executable_of(exported),
    }
    for member, is_now in found.items():
        then = executable if member == "executable" else stated.get(member)
        if member == "compatDigest" and then == compat_digest(exported, exported.body):
            continue  # an export of an earlier version
        if then != is_now:
            raise ChangedError(f"its {member} is {shown(is_now)}, and {SIDECAR} states {shown(then)}")
    return exported, signature


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
        problems = error.errors
        is_empty = any(each.message.startswith(("is missing", "is shorter than 1 ")) for each in problems)
        if is_empty and all(each.path == ("description",) for each in problems):
            hint = "add the line `description: WHAT IT DOES, AND WHEN TO USE IT` below `name`"
            problems = [replace(problems[0], message="is all that is missing", hint=hint)]
        raise ManifestError(problems, folder.name) from None  # without the path, which clients may read
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


def write_skill_folder(document: SkillDocument, version: SkillVersion, target: Path, form: Form = FORMS[0]) -> Path:
    """Export a document to a new folder with its name.

    Args:
        document: the document.
        version: what it is registered as.
        target: the folder that will contain the new one; created when it is missing.
        form: who reads it.

    Returns:
        The new folder.

    Raises:
        CortexError: `skill_exists`: there is such a folder; `invalid_arguments`: it cannot be written.
        ManifestError: the readers of the form could not read it.
    """
    name = hyphenated(document.name)
    place = target / name
    is_there = form == "ai-memory"
    texts = {MANIFEST: ai_memory_md(document)} if is_there else write_skill_md(document)
    paths = {each.path: path_there(each.path) if is_there else each.path for each in document.resources}
    files = {name: text.encode() for name, text in texts.items()}
    files |= {paths[resource.path]: resource.data for resource in document.resources}
    executable = {paths[path] for path in executable_of(document)}
    moved = [path for path, there in paths.items() if path != there]
    files[SIDECAR] = json.dumps(sidecar_of(version, document, moved), indent=1).encode() + b"\n"
    try:
        target.mkdir(parents=True, exist_ok=True)
        if place.exists() or place.is_symlink():
            raise CortexError("skill_exists", f"{place} exists", hint="choose another folder, or remove it")
        scratch = Path(tempfile.mkdtemp(prefix=".export-", dir=target))
        try:
            written = scratch / name
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


_FIELDS = {"importRoot": "folder_path", "exportRoot": "target_folder"}  # of requests


def import_folder(config: Config, given: str) -> Path:
    """The folder that a client names to register from.

    Raises:
        CortexError: `permission_denied`: no folder is configured; `invalid_arguments`: it is not one below it.
    """
    root = config.section(RegistrySettings).import_root
    place = _below(root, "importRoot", given, must_exist=True)
    found = place.resolve()
    for private in private_below(config, Path(root)):
        if found.is_relative_to(private) or private.is_relative_to(found):
            raise _outside(given, "importRoot", "holds private data of this installation")
    return place


def export_folder(config: Config, given: str, name: str) -> Path:
    """The folder that a client names to export to; it need not exist, and empty is the root itself.

    Args:
        config: the settings.
        given: as the client names it.
        name: of the folder that is written there.

    Raises:
        CortexError: `permission_denied`: no folder is configured; `invalid_arguments`: it is not one below it.
    """
    root = config.section(RegistrySettings).export_root
    place = _below(root, "exportRoot", given, must_exist=False)
    if any((place / name).resolve().is_relative_to(private) for private in private_below(config, Path(root))):
        raise _outside(given, "exportRoot", "is where this installation keeps private data")
    return place


def export_to(config: Config, document: SkillDocument, version: SkillVersion, given: str, form: Form = FORMS[0]) -> str:
    """Export a document in a form to a new folder in the one that a client names.

    Returns:
        The path of the new folder, relative to the root.

    Raises:
        CortexError: as `export_folder`; `skill_exists`: there is such a folder; `invalid_arguments`: it cannot be
            written.
    """
    place = export_folder(config, given, hyphenated(document.name))
    path = f"{given.rstrip('/')}/{hyphenated(document.name)}".lstrip("/")
    try:
        write_skill_folder(document, version, place, form)
    except CortexError as error:
        problem = "exists" if error.code == "skill_exists" else "cannot be written"
        raise CortexError(error.code, f"the folder {shown(path)} {problem}", hint=error.hint) from None
    return path


def _below(root: str, setting: str, given: str, *, must_exist: bool) -> Path:
    if not root:
        message = f"clients cannot name folders here: `registry.{setting}` is not configured"
        raise CortexError("permission_denied", message, hint="ask the owner of this installation to set it")
    place = Path(root)
    segments = [] if not given and not must_exist else given.rstrip("/").split("/")
    problem = path_problem("/".join(segments)) if segments else ""
    if problem:
        raise _outside(given, setting, problem)
    for number, segment in enumerate(segments):
        place /= segment
        try:
            mode = place.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            if must_exist:
                raise _outside(given, setting, "does not exist") from None
            return place.joinpath(*segments[number + 1 :])
        except OSError:
            raise _outside(given, setting, "cannot be read") from None
        if not stat.S_ISDIR(mode):
            raise _outside(given, setting, "leads through a symbolic link" if stat.S_ISLNK(mode) else "is not a folder")
    return place


def _outside(given: str, setting: str, problem: str) -> CortexError:
    hint = "name a folder relative to the one that is configured, such as skills/fetch-data"
    details = {"field": _FIELDS[setting]}
    return CortexError("invalid_arguments", f"the folder {shown(given)} {problem}", hint=hint, details=details)
