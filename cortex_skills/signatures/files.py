"""The files of a skill's folder, as a signature speaks of them.

Rules kept here:
- every file counts, hidden ones too, but the signature itself. Left out are `node_modules` and what tools keep for
  themselves (`.git`, `.hg`, `.svn`): nothing that this software loads or hands on lies in there;
- a symbolic link, a pipe or a device cannot be signed, nor can two names that are one on a system that does not tell
  upper from lower case, or one spelling of a letter from another;
- a file is read to its end, in pieces; how many there are, how long they are and how deep they lie is bounded.
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
from cortex_skills.reading import SIGNATURE
from cortex_skills.schemas import shown

MAX_FILES = 5_000
MAX_BYTES = 256 << 20
MAX_DEPTH = 32
MAX_PATH_BYTES = 1024

LEFT_OUT = frozenset({".git", ".hg", ".svn", "node_modules"})
_PIECE = 1 << 18
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True, order=True)
class SkillFile:
    """One file: its path relative to the skill's folder with `/`, its size in bytes, its SHA-256 in hexadecimal."""

    path: str
    size: int
    sha256: str


def files_of(folder: Path) -> list[SkillFile]:
    """Every file of a skill's folder that a signature speaks of, in the order of their paths.

    Raises:
        CortexError: `signature_invalid`: the folder holds what cannot be signed, more than is read, or cannot be read.

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
    """What a path has in common with those that are the same on a system that does not tell cases apart."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", path).casefold())


def refused(problem: str, hint: str = "take it out of the folder, and sign the folder again") -> CortexError:
    """The error about a folder that cannot be signed."""
    return CortexError("signature_invalid", problem, hint=hint)


def _walk(folder: Path) -> Iterator[tuple[str, Path]]:
    if folder.is_symlink():
        raise refused("the skill's folder is a symbolic link", "name the folder itself")
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
                kind = "a symbolic link" if stat.S_ISLNK(mode) else "no regular file"
                raise refused(f"{shown(relative)} is {kind}")


def _checked(path: str) -> str:
    try:
        encoded = path.encode()
    except UnicodeEncodeError:
        raise refused(f"{shown(path)} is no name in UTF-8", "rename the file") from None
    if len(encoded) > MAX_PATH_BYTES or "\\" in path or any(ord(letter) < 32 or letter == "\x7f" for letter in path):
        raise refused(f"{shown(path)} is no name that every system can have", "rename the file")
    return path


def _read(name: str, path: Path, room: int) -> SkillFile:
    descriptor = os.open(path, _FLAGS)  # a link that was put there meanwhile is not followed
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise refused(f"{shown(name)} is no regular file")
        digest, size = sha256(), status.st_size if status.st_size > room else 0
        while size <= room and (piece := file.read(_PIECE)):
            size += len(piece)
            digest.update(piece)
        if size > room:
            raise refused(f"the folder has more than {MAX_BYTES >> 20} MiB", "leave out what is not needed")
    return SkillFile(name, size, digest.hexdigest())


def _check_names(paths: Iterator[str]) -> None:
    seen: dict[str, str] = {}
    for path in paths:
        other = seen.setdefault(one_name(path), path)
        if other != path:
            raise refused(f"{shown(other)} and {shown(path)} are one file on some systems", "rename one of them")
