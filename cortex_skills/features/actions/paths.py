"""Opens files of the workspace by paths from agents, so that no trick leads elsewhere.

Rules kept here:
- a path is relative to the workspace, or absolute inside it; `.`, `..`, empty parts, NUL, backslashes, control
  characters and parts longer than 255 bytes are refused, not normalized;
- it is below one of the allowed folders, part by part (`out` allows neither `outbox` nor `out-evil`), and no part or
  beginning of it is denied; a denial wins. Denials compare names without regard to case and to Unicode form, allowed
  folders compare exactly, so a variant of a name is never more than the name;
- it is opened part by part from a descriptor of the workspace, without following a symbolic link anywhere (O_NOFOLLOW
  with dir_fd): what is swapped between a check and a use is opened as what it is then, and refused;
- only regular files are opened, without waiting; a file with several names (hard links) is neither read nor written;
- the plugin's own data is denied by its identity (device and inode), under any name; what is private in the workspace
  is denied by its path too (`own_files.py`).
"""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from cortex_skills.config.private_paths import user_folders
from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action_settings import ActionSettings
from cortex_skills.safe_io.schemas import shown

MAX_PATH = 1024
_MAX_PART = 255
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
FILE_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)

Parts = tuple[str, ...]


class MissingFile(CortexError):
    """There is no such file or folder in the workspace."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folder that actions work in.

    Attributes:
        root: its path.
        never: the names and beginnings of paths that are denied.
        not_written: those that are denied to what writes.
        own: folders and files of the plugin, denied by their identity.
    """

    root: Path
    never: tuple[str, ...]
    own: tuple[Path, ...] = ()
    not_written: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: ActionSettings) -> Workspace:
        """The workspace of the settings."""
        not_written = getattr(settings, "not_written", ())  # of the settings that the host guards (`own_files`)
        own = getattr(settings, "own", ()) or user_folders()
        return cls(Path(settings.workspace), settings.never, own, not_written)

    def parts_of(self, path: object, roots: Collection[str], field: str = "path") -> Parts:
        """The parts of a path below the workspace, when the rules permit it; nothing is opened.

        Args:
            path: as an agent gave it.
            roots: the folders that it may be in.
            field: the name of the input in errors.

        Raises:
            CortexError: `path_refused`.
        """
        parts = self.plain_parts(path, field)
        if not any(parts[: len(root)] == root for root in map(_split, roots)):
            allowed = ", ".join(roots) or "none"
            raise refused(field, f"{shown(path)} is in none of the allowed folders", f"allowed: {allowed}")
        return parts

    def file_parts(self, path: object, roots: Collection[str], field: str = "path") -> Parts:
        """The same of a file, whose path ends with its name."""
        if isinstance(path, str) and path.endswith("/"):
            raise refused(field, f"{shown(path)} names a folder", "give the path of a file")
        return self.parts_of(path, roots, field)

    def plain_parts(self, path: object, field: str = "path") -> Parts:
        """The same, in any folder of the workspace that is not denied."""
        if not isinstance(path, str) or not path or len(path) > MAX_PATH:
            raise refused(field, f"is not a path of 1 to {MAX_PATH} characters")
        relative = path
        if path.startswith("/"):
            start = f"{str(self.root).rstrip('/')}/"
            if not path.startswith(start):
                raise refused(field, f"{shown(path)} is outside the workspace", "give a path relative to the workspace")
            relative = path[len(start) :]
        parts = tuple(relative.removesuffix("/").split("/"))
        for part in parts:
            if part in ("", ".", "..") or "\\" in part or not part.isprintable():
                raise refused(field, f"{shown(path)} has a part that is not a plain name", "write it without . and ..")
            if len(part.encode("utf-8", "surrogatepass")) > _MAX_PART:
                raise refused(field, f"{shown(path)} has a part that is too long")
        if self.is_denied(parts):
            raise refused(field, f"{shown(path)} is never read or written", "use another file")
        return parts

    @contextmanager
    def folder(self, parts: Sequence[str], field: str = "path", *, create: bool = False) -> Iterator[int]:
        """A descriptor of a folder below the workspace, opened part by part.

        Args:
            parts: of its path.
            field: the name of the input in errors.
            create: whether missing folders are created.

        Raises:
            CortexError: `path_refused`: a part is a link, a file, or a folder of the plugin; `action_failed`: there is
                no such folder, or it cannot be opened.
        """
        held = self._opened(None, str(self.root), field)
        try:
            for number, part in enumerate(parts):
                if create:
                    with suppress(FileExistsError):
                        try:
                            os.mkdir(part, 0o755, dir_fd=held)
                        except OSError as error:
                            if error.errno != errno.EEXIST:
                                raise _not_opened(field, "/".join(parts[: number + 1]), error) from None
                inner = self._opened(held, part, field, "/".join(parts[: number + 1]))
                os.close(held)
                held = inner
            yield held
        finally:
            os.close(held)

    @contextmanager
    def file(self, parts: Sequence[str], field: str = "path") -> Iterator[int]:
        """A descriptor of a regular file below the workspace, for reading.

        Raises:
            CortexError: `path_refused` or `action_failed`, as for `folder`.
        """
        name = "/".join(parts)
        with self.folder(parts[:-1], field) as folder:
            held = _open_in(folder, parts[-1], os.O_RDONLY | FILE_FLAGS, field, name)
        try:
            state = os.fstat(held)
            check_plain(state, field, name)
            if (state.st_dev, state.st_ino) in self.own_identities():
                raise refused(field, f"{shown(name)} is a file of the plugin", "use another file")
            yield held
        finally:
            os.close(held)

    def _opened(self, folder: int | None, part: str, field: str, name: str = "the workspace") -> int:
        flags = _FOLDER if folder is not None else _FOLDER & ~getattr(os, "O_NOFOLLOW", 0)
        held = _open_in(folder, part, flags, field, name)
        state = os.fstat(held)
        if (state.st_dev, state.st_ino) in self.own_identities():
            os.close(held)
            raise refused(field, f"{shown(name)} is a folder of the plugin", "use another file")
        return held

    def own_identities(self) -> set[tuple[int, int]]:
        """The device and the inode of what is the plugin's own."""
        found = set()
        for path in self.own:
            with suppress(OSError):
                state = path.stat()
                found.add((state.st_dev, state.st_ino))
        return found

    def is_denied(self, parts: Parts) -> bool:
        """Whether a path is never read or written, or is below one that is not."""
        return _is_one_of(parts, self.never)

    def denies_entry(self, parts: Parts) -> bool:
        """Whether an entry is denied, of a folder that is not."""
        return any(
            len(pattern) == (1 if anywhere else len(parts)) and _matches(_folded_parts(parts[-len(pattern) :]), pattern)
            for pattern, anywhere in map(_pattern, self.never)
        )

    def check_written(self, parts: Parts, field: str = "path") -> None:
        """Refuse a path that agents may only read.

        Raises:
            CortexError: `path_refused`.
        """
        if _is_one_of(parts, self.not_written):
            name = shown("/".join(parts))
            raise refused(field, f"{name} is never written: it decides what is trusted or loaded", "use another file")


def _is_one_of(parts: Parts, patterns: Iterable[str]) -> bool:
    """Whether one of some patterns is a path, or the beginning of one."""
    folded = _folded_parts(parts)
    for pattern, anywhere in map(_pattern, patterns):
        places = range(len(folded)) if anywhere else (0,)
        if any(_matches(folded[place : place + len(pattern)], pattern) for place in places):
            return True
    return False


@lru_cache(maxsize=1024)
def _pattern(denied: str) -> tuple[Parts, bool]:
    """The parts of a pattern, and whether it is a name at any depth."""
    pattern = _folded_parts(_split(denied))
    return pattern, len(pattern) == 1 and not denied.startswith("/")


def _folded_parts(parts: Parts) -> Parts:
    return tuple(map(folded, parts))


def check_plain(state: os.stat_result, field: str, name: str) -> None:
    """Refuse what is not one regular file with one name.

    Raises:
        CortexError: `path_refused`.
    """
    if not stat.S_ISREG(state.st_mode):
        raise refused(field, f"{shown(name)} is not a regular file", "give the path of a file")
    if state.st_nlink > 1:
        raise refused(field, f"{shown(name)} has several names (hard links), and one may be elsewhere", "copy the file")


def refused(field: str, what: str, hint: str = "") -> CortexError:
    """The error for a path that is not opened."""
    return CortexError("path_refused", f"{field}: {what}", hint=hint, details={"field": field})


def _open_in(folder: int | None, part: str, flags: int, field: str, name: str) -> int:
    try:
        return os.open(part, flags, dir_fd=folder)
    except (OSError, ValueError) as error:
        raise _not_opened(field, name, error) from None


def _not_opened(field: str, name: str, error: OSError | ValueError) -> CortexError:
    number = getattr(error, "errno", None)
    if number in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
        return refused(field, f"{shown(name)} is, or is below, a symbolic link or a file", "give the path of a file")
    if number in (errno.ENXIO, errno.EISDIR):
        return refused(field, f"{shown(name)} is not a regular file", "give the path of a file")
    is_missing = number == errno.ENOENT
    reason = "does not exist" if is_missing else f"cannot be opened: {getattr(error, 'strerror', None)}"
    return (MissingFile if is_missing else CortexError)(
        "action_failed", f"{field}: {shown(name)} {reason}", hint="check the path", details={"field": field}
    )


def _split(folder: str) -> Parts:
    return tuple(part for part in folder.split("/") if part not in ("", "."))


@lru_cache(maxsize=4096)
def folded(part: str) -> str:
    """A name as file systems without case compare it, also without compatibility forms and trailing dots and blanks."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", part).casefold()).rstrip(". ")


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    return len(parts) == len(pattern) and all(map(_fits, parts, pattern))


def _fits(part: str, pattern: str) -> bool:
    return fnmatchcase(part, pattern)
