"""The files of installed artifacts: `FOLDER/NAMESPACE/SKILL_ID/VERSION-HASH/artifact.palyra-skill`.

Rules kept here:
- HASH is the first 16 digits of the hash of the payload. A TypeScript skill is extracted beside it, in `skill/NAME`;
- folders have the mode 0700 and files 0600, or 0700 where the manifest names a file of the skill as executable; a
  folder that others can open or write is refused;
- a version is written to a folder beside, each file and folder is flushed, and then it is renamed: it is there whole or
  not at all. What a killed process left beside is removed by the next one;
- writers wait for one another (`locked`); readers do not, and read a file once, through no symbolic link;
- a file that is not there is `not_on_this_host`: another host may have it. Every other failure is
  `artifact_unavailable` and names the file.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from cortex_skills.config.settings import Config
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.artifact_settings import ArtifactSettings
from cortex_skills.features.artifacts.installed.installed_artifact import ArtifactKey
from cortex_skills.features.artifacts.package.archive import MAX_ARCHIVE, read_archive
from cortex_skills.features.artifacts.package.entry_paths import MANIFEST, SKILL_FILES, SKILL_MD, skill_files
from cortex_skills.features.artifacts.package.skill_toml import read_skill_toml
from cortex_skills.manifest.frontmatter import read_frontmatter
from cortex_skills.manifest.skill_names import is_skill_name, normalized
from cortex_skills.safe_io.private_files import (
    NotPrivateError,
    check_private_folder,
    locked,
    make_private_folder,
    read_private,
    stamp_of,
    sync_folder,
    write_private,
)
from cortex_skills.safe_io.schemas import shown

ARTIFACT = "artifact.palyra-skill"
SKILL = "skill"
_STAGING = ".staging-"
_UNTRUSTED = ".untrusted"
_MAX_NOTED = 4 << 20
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def artifacts_folder(config: Config) -> Path:
    """The folder of all installed artifacts: that of the configuration, else beside the store, else of the user."""
    from platformdirs import user_data_path

    if config.section(ArtifactSettings).folder:
        return Path(config.section(ArtifactSettings).folder).absolute()
    store = config.store_folder
    if store is not None:
        return store.with_name(f"{store.name}.artifacts").absolute()
    return user_data_path("cortex-skills", appauthor=False) / "artifacts"


class ArtifactFiles:
    """The files of one namespace."""

    def __init__(self, folder: Path, namespace: str) -> None:
        self.folder = folder / namespace.replace("/", "%2F")
        self._untrusted = self.folder / _UNTRUSTED

    def place(self, key: ArtifactKey) -> Path:
        """The folder of a version."""
        return self.folder / key.skill_id / f"{key.version}-{key.payload_sha256[:16]}"

    def stamp(self, key: ArtifactKey) -> tuple[int, ...] | None:
        """The state of an installed artifact, which differs after each change of its file; None without one."""
        return stamp_of(f"{self.folder}/{key.skill_id}/{key.version}-{key.payload_sha256[:16]}/{ARTIFACT}")

    def has(self, key: ArtifactKey) -> bool:
        """Whether there is anything in place of the file of a version."""
        return os.path.lexists(self.place(key) / ARTIFACT)

    def read(self, key: ArtifactKey) -> bytes:
        """The bytes of an installed artifact.

        Raises:
            CortexError: `not_on_this_host`, `artifact_unavailable`.
        """
        path = self.place(key) / ARTIFACT
        with _reported(path):
            try:
                handle = os.open(path, os.O_RDONLY | _NO_LINK)
            except (FileNotFoundError, NotADirectoryError):
                raise not_on_this_host(key) from None
            with os.fdopen(handle, "rb") as file:
                state = os.fstat(handle)
                if not stat.S_ISREG(state.st_mode):
                    raise _unavailable(path, "is not a regular file")
                data = file.read(min(state.st_size, MAX_ARCHIVE) + 1)  # a buffer of this size is allocated
        if len(data) > MAX_ARCHIVE:
            raise _unavailable(path, "is larger than an artifact can be")
        return data

    def write(self, key: ArtifactKey, data: bytes, entries: Mapping[str, bytes]) -> Path:
        """Write a version, while holding the lock; returns its folder.

        Args:
            key: which version.
            data: the bytes of the artifact.
            entries: its entries by path.

        Raises:
            CortexError: `artifact_unavailable`.
        """
        place = self.place(key)
        staging = self.folder / f"{_STAGING}{uuid4().hex}"
        tree = tree_of(data, entries)
        with _reported(place):
            make_private_folder(place.parent)
            try:
                _write_tree(staging, tree)
                if (problem := difference_of_tree(staging, tree)) is not None:
                    raise _unavailable(staging, problem)
                if place.exists() or place.is_symlink():
                    place.rename(self.folder / f"{_STAGING}{uuid4().hex}")
                staging.rename(place)
            finally:
                self._remove_staged()
            sync_folder(place.parent)
            sync_folder(self.folder)
        return place

    def note_untrusted(self, key: ArtifactKey) -> None:
        """Note that a version was accepted here without trust in its publisher, while holding the lock.

        Raises:
            CortexError: `artifact_unavailable`.
        """
        if not self.is_noted_untrusted(key):
            with _reported(self._untrusted):
                write_private(self._untrusted, f"{self._noted()}{key} {key.payload_sha256}\n".encode())

    def is_noted_untrusted(self, key: ArtifactKey) -> bool:
        """Whether a version was accepted here without trust in its publisher.

        Raises:
            CortexError: `artifact_unavailable`.
        """
        return f"{key} {key.payload_sha256}" in self._noted().splitlines()

    def _noted(self) -> str:
        with _reported(self._untrusted), suppress(FileNotFoundError):
            return read_private(self._untrusted, _MAX_NOTED).decode(errors="replace")
        return ""

    def problem(self, key: ArtifactKey, data: bytes) -> str | None:
        """What is wrong with the files of a version: links, other files, files that others can write; None for nothing.

        Args:
            key: which version.
            data: its artifact, which is valid.

        Raises:
            CortexError: `artifact_unavailable`.
        """
        place = self.place(key)
        with _reported(place):
            for folder in (self.folder.parent, self.folder, place.parent, place):
                try:
                    check_private_folder(folder)
                except NotPrivateError as error:
                    return f"{shown(str(folder))} {error.problem}"
            return difference_of_tree(place, tree_of(data, read_archive(data)))

    def remove(self, key: ArtifactKey) -> None:
        """Remove the files of a version, while holding the lock.

        Raises:
            CortexError: `artifact_unavailable`.
        """
        self.remove_place(self.place(key))

    def remove_place(self, place: Path) -> None:
        """Remove the folder of a version, also of one that is in no index, while holding the lock.

        Raises:
            CortexError: `artifact_unavailable`.
        """
        with _reported(place):
            if place.exists():
                place.rename(self.folder / f"{_STAGING}{uuid4().hex}")
                sync_folder(place.parent)
            self._remove_staged()
            if place.parent.exists() and not any(place.parent.iterdir()):
                place.parent.rmdir()

    def listed(self) -> Iterator[Path]:
        """The folders of versions, also those that are in no index."""
        with _reported(self.folder):
            if self.folder.exists():
                for parent in sorted(self.folder.iterdir()):
                    if parent.is_dir() and not parent.name.startswith("."):
                        yield from sorted(parent.iterdir())

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of the files, across processes.

        Raises:
            CortexError: `artifact_unavailable`.
        """
        with _reported(self.folder):
            for folder in (self.folder.parent, self.folder):
                make_private_folder(folder)
                check_private_folder(folder)
        with _locked(self.folder / "installed"):
            yield

    def _remove_staged(self) -> None:
        for name in os.listdir(self.folder):  # noqa: PTH208 - of thousands; `glob` takes ten times as long
            if name.startswith(_STAGING):
                shutil.rmtree(self.folder / name, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class TreeFile:
    """A file of a version: its bytes, and whether it can be started as a program."""

    data: bytes
    executable: bool = False


def tree_of(data: bytes, entries: Mapping[str, bytes]) -> dict[str, TreeFile]:
    """The files of a version by their path below its folder: the artifact, and those of its skill."""
    executable = read_skill_toml(entries[MANIFEST]).executable
    folder = skill_folder_of(entries)
    skill = {
        f"{folder}/{path}": TreeFile(content, f"{SKILL_FILES}{path}" in executable)
        for path, content in skill_files(entries).items()
    }
    return {ARTIFACT: TreeFile(data), **skill}


def skill_folder_of(entries: Mapping[str, bytes]) -> str:
    """The folder of the skill of an artifact, below that of its version: `skill/NAME`, since a folder names its skill.

    Without a valid name it is `skill/invalid`, whose skill no plugin loads.
    """
    try:
        document = read_frontmatter(entries.get(SKILL_MD, b"").decode()).document.data
    except (UnicodeDecodeError, CortexError):
        document = None
    given = document.get("name") if isinstance(document, dict) else None
    name = normalized(given) if isinstance(given, str) else ""
    return f"{SKILL}/{name if is_skill_name(name) else 'invalid'}"


def difference_of_tree(folder: Path, tree: Mapping[str, TreeFile]) -> str | None:
    """How the files of a folder differ from files by path; None if they are these, and private.

    Raises:
        OSError: a file cannot be read.
    """
    found = set()
    for path in sorted(folder.rglob("*")):
        state, name = path.lstat(), path.relative_to(folder).as_posix()
        if stat.S_ISLNK(state.st_mode):
            return f"contains the symbolic link {shown(name)}"
        if os.name == "posix" and state.st_mode & 0o022:
            return f"contains {shown(name)}, which others can write"
        if stat.S_ISDIR(state.st_mode):
            continue
        if not stat.S_ISREG(state.st_mode) or name not in tree:
            return f"contains {shown(name)}, which is no file of the artifact"
        file = tree[name]
        if state.st_size != len(file.data) or path.read_bytes() != file.data:
            return f"contains {shown(name)} with other bytes"
        if os.name == "posix" and bool(state.st_mode & stat.S_IXUSR) != file.executable:
            return f"contains {shown(name)}, which {'cannot' if file.executable else 'can'} be started"
        found.add(name)
    missing = sorted(tree.keys() - found)
    return f"lacks {shown(missing[0])}" if missing else None


def _write_tree(folder: Path, tree: Mapping[str, TreeFile]) -> None:
    folder.mkdir(mode=0o700)
    folders = {folder}
    for name, content in tree.items():
        path = folder / name
        for parent in reversed(path.relative_to(folder).parents[:-1]):
            (folder / parent).mkdir(mode=0o700, exist_ok=True)
            folders.add(folder / parent)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o700 if content.executable else 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(content.data)
            file.flush()
            os.fsync(file.fileno())
    for each in folders:
        sync_folder(each)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """The lock; errors in the block are not those of the lock."""
    manager = locked(path)
    with _reported(path):
        manager.__enter__()
    try:
        yield
    finally:
        manager.__exit__(None, None, None)


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    try:
        yield
    except NotPrivateError as error:
        raise _unavailable(path, error.problem, error.hint) from None
    except OSError as error:
        raise _unavailable(
            Path(error.filename or path), f"cannot be used: {error.strerror}", "check its owner, mode and free space"
        ) from error


def not_on_this_host(key: ArtifactKey) -> CortexError:
    """The error for an installed artifact whose bytes are on another host."""
    return CortexError(
        "not_on_this_host",
        f"the bytes of {key} are not on this host, and the store does not have them",
        hint="install it here, or start `cortex-skills serve` on the host that has it, which writes them to the store",
    )


def _unavailable(path: Path, problem: str, hint: str = "install the artifact again") -> CortexError:
    return CortexError("artifact_unavailable", f"{shown(str(path))} {problem}", hint=hint)
