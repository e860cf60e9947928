"""The files of a skill's folder that a signature covers.

Rules kept here:
- every file is covered, hidden files too, except the signature itself, `node_modules`, and the folders of version
  control (`.git`, `.hg`, `.svn`): this software never loads or serves files from them;
- a symbolic link, a pipe or a device cannot be signed, nor can two names that are equal on a system that ignores case
  or the Unicode form of letters;
- files are read completely, in pieces; their number, their size and the depth of the folder are bounded.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path

from cortex_skills.errors import CortexError
from cortex_skills.safe_io.outside_file import NOT_SHIPPED
from cortex_skills.safe_io.schemas import shown
from cortex_skills.skill_folder.snapshot import SIGNATURE

MAX_FILES = 5_000
MAX_BYTES = 256 << 20
MAX_DEPTH = 32
MAX_PATH_BYTES = 1024

LEFT_OUT = NOT_SHIPPED
_PIECE = 1 << 18
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True, order=True)
class SkillFile:
    """One file: its path relative to the skill's folder with `/`, its size in bytes, its SHA-256 in hexadecimal."""

    path: str
    size: int
    sha256: str


def files_of(folder: Path) -> list[SkillFile]:
    """The files of a skill's folder that a signature covers, ordered by path.

    Raises:
        CortexError: `signature_invalid`: the folder has a file that cannot be signed, is too large, or cannot be read.
    """
    found: list[SkillFile] = []
    size = 0
    try:
        for name, path in _walk(folder):
            entry = _read(name, path, MAX_BYTES - size)
            size += entry.size
            found.append(entry)
    except OSError as error:
        raise refused(f"{shown(str(error.filename or folder))} cannot be read: {error.strerror}") from None
    _check_names(entry.path for entry in found)
    return sorted(found)


def one_name(path: str) -> str:
    """The normal form of a path: equal for paths that are one file on some systems."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", path).casefold())


def refused(problem: str, hint: str = "remove it from the folder, and sign the folder again") -> CortexError:
    """The error for a folder that cannot be signed."""
    return CortexError("signature_invalid", problem, hint=hint)


def _walk(folder: Path) -> Iterator[tuple[str, Path]]:
    if folder.is_symlink():
        raise refused("the skill's folder is a symbolic link", "give the folder itself")
    pending = [("", folder, 0)]
    entries = 0
    while pending:
        prefix, place, depth = pending.pop()
        with os.scandir(place) as listing:
            names = [entry.name for entry in islice(listing, MAX_FILES + 1)]
        entries += len(names)
        if entries > MAX_FILES or depth > MAX_DEPTH:
            raise refused(f"the folder has more than {MAX_FILES:,} entries or {MAX_DEPTH} levels", "split the skill")
        for name in names:
            path, relative = place / name, f"{prefix}{name}"
            if name in LEFT_OUT or relative == SIGNATURE:
                continue
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode):
                pending.append((f"{relative}/", path, depth + 1))
            elif stat.S_ISREG(mode):
                yield _checked(relative), path
            else:
                kind = "a symbolic link" if stat.S_ISLNK(mode) else "not a regular file"
                raise refused(f"{shown(relative)} is {kind}")


def _checked(path: str) -> str:
    try:
        encoded = path.encode()
    except UnicodeEncodeError:
        raise refused(f"{shown(path)} is not a UTF-8 name", "rename the file") from None
    if len(encoded) > MAX_PATH_BYTES or "\\" in path or any(ord(letter) < 32 or letter == "\x7f" for letter in path):
        raise refused(f"{shown(path)} is not a valid name on every system", "rename the file")
    return path


def _read(name: str, path: Path, room: int) -> SkillFile:
    descriptor = os.open(path, _FLAGS)  # a link that replaced the file meanwhile is not followed
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise refused(f"{shown(name)} is not a regular file")
        digest, size = sha256(), status.st_size if status.st_size > room else 0
        while size <= room and (piece := file.read(_PIECE)):
            size += len(piece)
            digest.update(piece)
        if size > room:
            raise refused(f"the folder has more than {MAX_BYTES >> 20} MiB", "remove files that are not needed")
    return SkillFile(name, size, digest.hexdigest())


def _check_names(paths: Iterator[str]) -> None:
    seen: dict[str, str] = {}
    for path in paths:
        other = seen.setdefault(one_name(path), path)
        if other != path:
            raise refused(f"{shown(other)} and {shown(path)} are one file on some systems", "rename one of them")
