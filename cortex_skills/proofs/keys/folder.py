"""The folder that keys are kept in: one file of 32 bytes for each.

Rules kept here:
- a key is used only if its folder and its file are ours alone (0700 and 0600), and neither is a symbolic link;
- a key appears whole or not at all, and never takes the place of another: it is written beside, made durable, then
  linked to its name, which fails if the name is taken;
- a name is a word that cannot lead out of the folder: lower case, so that no two are one on any file system.
"""

from __future__ import annotations

import os
import re
import secrets
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cortex_skills.errors import CortexError
from cortex_skills.private_files import (
    NotPrivateError,
    check_private_folder,
    make_private_folder,
    read_private,
    sync_folder,
)
from cortex_skills.proofs.keys.ed25519 import SEED_BYTES, Key

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_SUFFIX = ".seed"


def default_folder() -> Path:
    """`keys` in the user's data folder."""
    from platformdirs import user_data_path

    return user_data_path("cortex-skills", appauthor=False) / "keys"


@dataclass(frozen=True, slots=True)
class KeyInfo:
    """What may be shown of a key.

    Attributes:
        name: what its owner calls it.
        did: its public part as a `did:key`; None when the key cannot be used.
        problem: why it cannot be used; empty when it can.

    """

    name: str
    did: str | None
    problem: str = ""


class KeyFolder:
    """The keys in a folder; a folder that is not there holds none.

    Args:
        path: the folder; it is made when the first key is.

    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def create(self, name: str) -> Key:
        """Make a new key.

        Raises:
            CortexError: `invalid_arguments`: the name is none, or taken; `config_invalid`: the folder cannot be used.

        """
        path = self._file(name)
        seed = secrets.token_bytes(SEED_BYTES)
        try:
            make_private_folder(self.path)
            self._check_folder()
            self._write(path, seed)
        except FileExistsError:
            hint = "choose another name; a key that is not needed any more is removed by hand"
            raise CortexError("invalid_arguments", f"there is a key called {name}", hint=hint) from None
        except OSError as error:
            raise _refused(self.path, f"cannot be written: {error.strerror}", "see who owns it") from error
        return Key(name, seed)

    def open(self, name: str) -> Key:
        """The key of a name.

        Raises:
            CortexError: `invalid_arguments`: the name is none, or there is no such key; `config_invalid`: the folder or
                the file is not ours alone, or the file is no key.

        """
        path = self._file(name)
        try:
            self._check_folder()
            return Key(name, _read(path))
        except FileNotFoundError:
            hint = f"`cortex-skills key create {name}` makes one, `key list` lists those that there are"
            raise CortexError("invalid_arguments", f"there is no key called {name}", hint=hint) from None
        except OSError as error:
            raise _refused(path, f"cannot be read: {error.strerror}", "see who owns it") from error

    def open_or_create(self, name: str) -> Key:
        """The key of a name, which is made when there is none; one that cannot be used is never replaced.

        Raises:
            CortexError: as `open` and `create` do.

        """
        path = self._file(name)
        try:
            is_there = path.exists()
        except OSError as error:
            raise _refused(path, f"cannot be read: {error.strerror}", "see who owns it") from error
        if is_there:
            return self.open(name)
        try:
            return self.create(name)
        except CortexError:
            if path.exists():  # another process was faster
                return self.open(name)
            raise

    def list(self) -> list[KeyInfo]:
        """All keys by name; one that cannot be used is among them, and says why.

        Raises:
            CortexError: `config_invalid`: the folder is not ours alone.

        """
        try:
            self._check_folder()
            names = sorted(path.name.removesuffix(_SUFFIX) for path in self.path.iterdir() if path.suffix == _SUFFIX)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _refused(self.path, f"cannot be read: {error.strerror}", "see who owns it") from error
        return [self._info(name) for name in names if _NAME.fullmatch(name)]

    def _info(self, name: str) -> KeyInfo:
        try:
            return KeyInfo(name, self.open(name).did)
        except CortexError as error:
            return KeyInfo(name, None, error.message)

    def _file(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            hint = "1 to 64 of lower-case letters, digits and . _ -, the first a letter or a digit"
            raise CortexError("invalid_arguments", "the name of a key is not well-formed", hint=hint)
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
    """The seed in a file that is ours alone.

    Raises:
        CortexError: `config_invalid`: the file is not to be used.
        OSError: it cannot be read.

    """
    if path.is_symlink():
        raise _refused(path, "is a symbolic link", "put the key itself there")
    try:
        seed = read_private(path, SEED_BYTES)
    except NotPrivateError as error:
        raise _refused(path, error.problem, f"if nobody else has seen it: {error.hint}; else make a new key") from None
    if len(seed) != SEED_BYTES or not any(seed):
        raise _refused(path, "is damaged: a key is 32 bytes", "put its copy back, or make a new key")
    return seed


def _refused(path: Path, problem: str, hint: str) -> CortexError:
    return CortexError("config_invalid", f"{path} {problem}", hint=hint)
