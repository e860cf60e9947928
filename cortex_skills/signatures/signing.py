"""Signing a skill's folder.

Rules kept here:
- the folder is signed as it is; the manifest must be valid, because the statement names the skill and its version;
- a publisher's signature is the file `SKILL.sig` in the folder, and is distributed with the skill. The local
  developer's signature is in the user's data folder: it is valid for this folder on this machine only.
"""

from __future__ import annotations

import os
import stat
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from cortex_graph.checks.datetimes import date_time
from cortex_skills.errors import CortexError
from cortex_skills.keys import Key, KeyFolder
from cortex_skills.manifest import Manifest
from cortex_skills.safe_io.private_files import write_private, write_whole
from cortex_skills.safe_io.schemas import shown
from cortex_skills.signatures.skill_files import LEFT_OUT, SkillFile, files_of
from cortex_skills.signatures.statement import PUBLISHER, Signature, SignedStatement, digest_of
from cortex_skills.skill_folder.snapshot import SIGNATURE

# The publisher name of this user on this machine, and the name of their key.
DEVELOPER = "local-developer"


def sign_files(manifest: Manifest, files: list[SkillFile], key: Key, publisher: str, now: datetime) -> Signature:
    """Sign the files of a skill.

    Raises:
        CortexError: `invalid_arguments`: the publisher's name is not valid.
    """
    if not PUBLISHER.fullmatch(publisher):
        raise CortexError(
            "invalid_arguments",
            f"{shown(publisher)} is not a valid name of a publisher",
            hint="use 1 to 64 lower-case letters, digits, . and -, such as example.org",
        )
    statement = SignedStatement(
        publisher, key.did, manifest.name, version_of(manifest), date_time(now), digest_of(files)
    )
    return Signature(statement, tuple(files), key.sign(statement.message()))


def version_of(manifest: Manifest) -> str:
    """The version in the manifest; empty when it has none."""
    return manifest.semantic.skill_version if manifest.semantic is not None else ""


def sign_for_others(folder: Path, manifest: Manifest, key: Key, publisher: str, now: datetime) -> Signature:
    """Sign a skill's folder as a publisher, in its `SKILL.sig`.

    Raises:
        CortexError: `signature_invalid`: a file cannot be signed; `invalid_arguments`.
    """
    if publisher == DEVELOPER:
        hint = "use a name that identifies the publisher to others, such as example.org"
        raise CortexError("invalid_arguments", f"{DEVELOPER} is reserved for local signatures", hint=hint)
    signature = sign_files(manifest, files_of(folder), key, publisher, now)
    _put(folder / SIGNATURE, signature.to_file())
    return signature


def sign_for_oneself(folder: Path, manifest: Manifest, keys: KeyFolder, place: Path, now: datetime) -> Signature:
    """Sign a skill's folder as the local developer, in this user's own folder of signatures.

    Args:
        folder: the skill's folder; it must belong to this user.
        manifest: the skill's manifest.
        keys: the folder of the developer's key, which is created when missing.
        place: the folder of this user's signatures.
        now: the current time, with its zone.
    """
    check_own(folder)
    signature = sign_files(manifest, files_of(folder), keys.open_or_create(DEVELOPER), DEVELOPER, now)
    write_private(own_signature(folder, place), signature.to_file())
    return signature


def own_folder() -> Path:
    """The folder of the signatures of the local developer."""
    from platformdirs import user_data_path

    return user_data_path("cortex-skills", appauthor=False) / "signatures"


def own_signature(folder: Path, place: Path) -> Path:
    """Where the local developer's signature of a folder is."""
    return place / f"{sha256(os.fsencode(folder.resolve())).hexdigest()}.sig"


def check_own(folder: Path) -> None:
    """Refuse a folder with files that belong to another user, or are writable for all; excluded files do not count."""
    if os.name != "posix":
        return
    pending = [folder]
    try:
        _check_one(folder, folder.lstat())
        while pending:
            with os.scandir(pending.pop()) as listing:
                for entry in listing:
                    if entry.name in LEFT_OUT:
                        continue
                    _check_one(Path(entry.path), entry.stat(follow_symlinks=False))
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(Path(entry.path))
    except OSError as error:
        raise CortexError("signature_invalid", f"{folder} cannot be read: {error.strerror}") from None


def _check_one(path: Path, state: os.stat_result) -> None:
    if os.geteuid() not in (0, state.st_uid):
        problem = "belongs to another user"
    elif state.st_mode & stat.S_IWOTH and not stat.S_ISLNK(state.st_mode):
        problem = "is writable for all users"
    else:
        return
    raise CortexError(
        "signature_invalid",
        f"{shown(str(path))} {problem}: the local developer can sign only their own files",
        hint="make the folder private, or have its publisher sign it",
    )


def _put(path: Path, data: bytes) -> None:
    """Replace a file with one that is readable for all."""
    try:
        write_whole(path, data, 0o644)
    except OSError as error:
        raise CortexError(
            "config_invalid", f"{path} cannot be written: {error.strerror}", hint="make the skill's folder writable"
        ) from error
