"""The folder of keys: a file of 32 bytes and one of its public key per key, and which key this installation signs with.

Rules kept here:
- a key is used only if its folder and its file are private (0700 and 0600) and neither is a symbolic link;
- a key file appears complete or not at all, and never replaces another: it is written to a temporary file, synced, and
  then linked to its name, which fails if the name exists;
- the public key is kept beside the seed, `NAME.pub`, and compared when the key is opened: a seed with a flipped bit is
  the key of somebody else. A seed without it, of an earlier version of this program, gets it; a public key without its
  seed is a key that was lost, and no other one takes its name;
- a name cannot lead out of the folder, and is lower case, so that no two names are equal on any file system;
- this installation signs with the key `proofs.key` in the folder `proofs.keys`, by default `keys` in the user's data
  folder. The first use creates it. A key that cannot be used is an error, and is never replaced.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cortex_skills.errors import CortexError
from cortex_skills.keys.ed25519 import SEED_BYTES, Key
from cortex_skills.safe_io.private_files import (
    NotPrivateError,
    check_private_folder,
    make_private_folder,
    read_private,
    sync_folder,
    write_whole,
)

if TYPE_CHECKING:
    from cortex_skills.config.settings import Config

log = logging.getLogger(__name__)

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_SUFFIX, _PUBLIC = ".seed", ".pub"
_MAX_PUBLIC = 256  # bytes


def default_folder() -> Path:
    """`keys` in the user's data folder."""
    from platformdirs import user_data_path

    return user_data_path("cortex-skills", appauthor=False) / "keys"


@dataclass(frozen=True, slots=True)
class KeyInfo:
    """The public facts of a key.

    Attributes:
        name: the name of the key.
        did: the public key as a `did:key`; None when the key cannot be used.
        problem: why the key cannot be used; empty when it can.
        hint: what to do about that.
    """

    name: str
    did: str | None
    problem: str = ""
    hint: str = ""


class KeyFolder:
    """The keys in a folder; a missing folder has no keys.

    Args:
        path: the folder; created with the first key.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def create(self, name: str) -> Key:
        """Create a key.

        Raises:
            CortexError: `invalid_arguments`: the name is malformed, or exists; `config_invalid`: the folder cannot be
                used, or the key with this name was lost.
        """
        path = self._file(name)
        seed = secrets.token_bytes(SEED_BYTES)
        key = Key(name, seed)
        try:
            make_private_folder(self.path)
            self._check_folder()
            if _public_of(path).exists() and not path.exists():
                raise _lost(path)
            self._write(path, seed)
            _check_public(path, key)
        except FileExistsError:
            hint = "choose another name, or remove the files of a key that is no longer needed"
            raise CortexError("invalid_arguments", f"a key named {name} exists", hint=hint) from None
        except OSError as error:
            raise _refused(self.path, f"cannot be written: {error.strerror}", "check its owner and its mode") from error
        return key

    def open(self, name: str) -> Key:
        """The key with a name.

        Raises:
            CortexError: `invalid_arguments`: the name is malformed, or there is no such key; `config_invalid`: the
                folder or the file is not private, or the file is not a key, or not the one that it was.
        """
        path = self._file(name)
        try:
            self._check_folder()
            key = Key(name, _read(path))
            _check_public(path, key)
            return key
        except FileNotFoundError:
            if _public_of(path).exists():
                raise _lost(path) from None
            hint = f"create it with `cortex-skills key create {name}`; `key list` lists the keys"
            raise CortexError("invalid_arguments", f"there is no key named {name}", hint=hint) from None
        except OSError as error:
            raise _refused(path, f"cannot be read: {error.strerror}", "check its owner and its mode") from error

    def open_or_create(self, name: str) -> Key:
        """The key with a name, created when it does not exist; a key that cannot be used is never replaced.

        Raises:
            CortexError: as `open` and `create`.
        """
        path = self._file(name)
        try:
            exists = path.exists()
        except OSError as error:
            raise _refused(path, f"cannot be read: {error.strerror}", "check its owner and its mode") from error
        if exists:
            return self.open(name)
        try:
            return self.create(name)
        except CortexError:
            if path.exists():  # another process created it first
                return self.open(name)
            raise

    def list(self) -> list[KeyInfo]:
        """All keys, ordered by name; a key that cannot be used has a `problem`.

        Raises:
            CortexError: `config_invalid`: the folder is not private.
        """
        try:
            self._check_folder()
            names = sorted({path.stem for path in self.path.iterdir() if path.suffix in (_SUFFIX, _PUBLIC)})
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _refused(self.path, f"cannot be read: {error.strerror}", "check its owner and its mode") from error
        return [self._info(name) for name in names if _NAME.fullmatch(name)]

    def _info(self, name: str) -> KeyInfo:
        try:
            return KeyInfo(name, self.open(name).did)
        except CortexError as error:
            return KeyInfo(name, None, error.message, error.hint)

    def _file(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            hint = "use 1 to 64 lower-case letters, digits and . _ -, beginning with a letter or a digit"
            raise CortexError("invalid_arguments", "the name of the key is malformed", hint=hint)
        return self.path / f"{name}{_SUFFIX}"

    def _check_folder(self) -> None:
        try:
            check_private_folder(self.path)
        except NotPrivateError as error:
            raise _refused(self.path, error.problem, error.hint) from None

    def _write(self, path: Path, seed: bytes) -> None:
        handle, name = tempfile.mkstemp(prefix=".new-", dir=self.path)  # 0600 from the start
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(seed)
                file.flush()
                os.fsync(file.fileno())
            path.hardlink_to(name)
        finally:
            Path(name).unlink()
        sync_folder(self.path)


def _read(path: Path) -> bytes:
    if path.is_symlink():
        raise _refused(path, "is a symbolic link", "put the key file itself there")
    try:
        seed = read_private(path, SEED_BYTES)
    except NotPrivateError as error:
        raise _refused(
            path, error.problem, f"if no other user has read it: {error.hint}; otherwise create a new key"
        ) from None
    if len(seed) != SEED_BYTES or not any(seed):
        raise _refused(path, "is damaged: a key is 32 bytes", "restore a copy, or create a new key")
    return seed


def _public_of(path: Path) -> Path:
    return path.with_name(f"{path.name.removesuffix(_SUFFIX)}{_PUBLIC}")


def _check_public(path: Path, key: Key) -> None:
    """Refuse a seed that is not that of the public key beside it; write the public key where there is none."""
    public = _public_of(path)
    try:
        if public.is_symlink():
            raise _refused(public, "is a symbolic link", "put the public key itself there")
        stated = read_private(public, _MAX_PUBLIC)
    except FileNotFoundError:
        try:
            write_whole(public, f"{key.did}\n".encode(), 0o600)
        except OSError as error:
            log.info("the public key of %s is not kept beside it: %s", path, error.strerror)
        return
    except NotPrivateError as error:
        raise _refused(public, error.problem, error.hint) from None
    if stated.strip() != key.did.encode():
        raise _refused(
            path,
            f"is not the key that it was: its public key is {key.did}, and not the one in {public.name}",
            f"restore copies of both files; if this is the right key, remove {public.name}",
        )


def _lost(path: Path) -> CortexError:
    hint = (
        f"restore a copy of it; for a new key with this name, which others do not know, remove {_public_of(path).name}"
    )
    return _refused(path, "is missing, and its public key is there", hint)


def _refused(path: Path, problem: str, hint: str) -> CortexError:
    return CortexError("config_invalid", f"{path} {problem}", hint=hint)


def key_folder(config: Config) -> KeyFolder:
    """The folder of this installation's keys."""
    given = config.proofs.keys
    return KeyFolder(Path(given) if given else default_folder())


def signing_key(config: Config) -> Key:
    """The key that this installation signs with; created at the first use.

    Raises:
        CortexError: `config_invalid`: the folder or the file is not private, or cannot be read.
    """
    return key_folder(config).open_or_create(config.proofs.key)


def own_keys(config: Config) -> frozenset[str]:
    """The public keys of this installation, as `did:key`, without those that cannot be used (`doctor` reports them)."""
    try:
        found = key_folder(config).list()
    except CortexError as error:
        log.info("the keys of this installation are not known: %s", error.message)
        return frozenset()
    return frozenset(info.did for info in found if info.did is not None)
