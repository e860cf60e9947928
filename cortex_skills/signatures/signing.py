"""Making a signature of a skill's folder.

Rules kept here:
- what is signed is what is there: the manifest has to be in order, since the statement names the skill and its version;
- a publisher's signature lies in the folder, as `SKILL.sig`, and goes where the skill goes. The local developer's lies
  in the user's data folder: it says that this user vouches for this folder on this machine, and cannot go anywhere.
"""

from __future__ import annotations

import os
import stat
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from cortex_graph.moments import date_time
from cortex_skills.errors import CortexError
from cortex_skills.manifest import Manifest
from cortex_skills.private_files import write_private, write_whole
from cortex_skills.proofs.keys import Key, KeyFolder
from cortex_skills.reading import SIGNATURE
from cortex_skills.schemas import shown
from cortex_skills.signatures.files import LEFT_OUT, SkillFile, files_of
from cortex_skills.signatures.statement import PUBLISHER, Signature, Statement, digest_of

# The publisher that stands for this user on this machine, and the key of that name.
DEVELOPER = "local-developer"


def sign_files(manifest: Manifest, files: list[SkillFile], key: Key, publisher: str, now: datetime) -> Signature:
    """The signature of a skill that consists of these files.

    Args:
        manifest: the skill's.
        files: all of its files.
        key: of the publisher.
        publisher: its name, in small letters, digits, `.` and `-`.
        now: the time, with its zone.

    Raises:
        CortexError: `invalid_arguments`: the publisher's name is none.

    """
    if not PUBLISHER.fullmatch(publisher):
        raise CortexError(
            "invalid_arguments",
            f"{shown(publisher)} is no name of a publisher",
            hint="1 to 64 of small letters, digits, . and -, such as example.org",
        )
    said = Statement(publisher, key.did, manifest.name, version_of(manifest), date_time(now), digest_of(files))
    return Signature(said, tuple(files), key.sign(said.message()))


def version_of(manifest: Manifest) -> str:
    """The version that a statement names; empty when the manifest states none."""
    return manifest.semantic.skill_version if manifest.semantic is not None else ""


def sign_for_others(folder: Path, manifest: Manifest, key: Key, publisher: str, now: datetime) -> Signature:
    """Sign a skill's folder as a publisher, in its `SKILL.sig`.

    Raises:
        CortexError: `signature_invalid`: it holds what cannot be signed; `invalid_arguments`.

    """
    if publisher == DEVELOPER:
        hint = "a publisher has a name that others know, such as example.org"
        raise CortexError("invalid_arguments", f"{DEVELOPER} stands for each user at home, for nobody else", hint=hint)
    signature = sign_files(manifest, files_of(folder), key, publisher, now)
    _put(folder / SIGNATURE, signature.to_file())
    return signature


def sign_for_oneself(folder: Path, manifest: Manifest, keys: KeyFolder, place: Path, now: datetime) -> Signature:
    """Sign a skill's folder as the local developer, in this user's own folder of signatures.

    Args:
        folder: the skill's; it has to belong to this user.
        manifest: the skill's.
        keys: where the developer's key is; made when there is none.
        place: the folder of this user's signatures.
        now: the time, with its zone.

    Raises:
        CortexError: `signature_invalid`: the folder is somebody else's, or holds what cannot be signed.

    """
    check_own(folder)
    signature = sign_files(manifest, files_of(folder), keys.open_or_create(DEVELOPER), DEVELOPER, now)
    write_private(own_signature(folder, place), signature.to_file())
    return signature


def own_folder() -> Path:
    """The folder of the signatures that this user made as the local developer."""
    from platformdirs import user_data_path

    return user_data_path("cortex-skills", appauthor=False) / "signatures"


def own_signature(folder: Path, place: Path) -> Path:
    """Where the local developer's signature of a folder is."""
    return place / f"{sha256(os.fsencode(folder.resolve())).hexdigest()}.sig"


def check_own(folder: Path) -> None:
    """Refuse a folder that is somebody else's, or that others may write to; what is not signed does not count.

    Raises:
        CortexError: `signature_invalid`.

    """
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
        problem = "belongs to somebody else"
    elif state.st_mode & stat.S_IWOTH and not stat.S_ISLNK(state.st_mode):
        problem = "can be changed by anybody"
    else:
        return
    raise CortexError(
        "signature_invalid",
        f"{shown(str(path))} {problem}: the local developer vouches for their own files only",
        hint="make the folder yours alone, or have its publisher sign it",
    )


def _put(path: Path, data: bytes) -> None:
    """Put a file, readable by all, in the place of what is there."""
    try:
        write_whole(path, data, 0o644)
    except OSError as error:
        raise CortexError(
            "config_invalid", f"{path} cannot be written: {error.strerror}", hint="make the skill's folder writable"
        ) from error
