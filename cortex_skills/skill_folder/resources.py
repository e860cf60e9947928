"""The files of a skill that a model may read: instructions, references, scripts and assets.

Rules kept here:
- a resource is a regular file inside the skill's folder, named by its relative path, with `/`;
- hidden files and folders, `node_modules` and symbolic links are not resources; links are never followed;
- the number of resources, their depth and the size of each are limited;
- a resource is returned as bytes and never run.
"""

from __future__ import annotations

import mimetypes
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath

from cortex_skills.errors import CortexError
from cortex_skills.safe_io.outside_file import GENERATED
from cortex_skills.safe_io.schemas import shown

MAX_RESOURCES = 1_000
MAX_ENTRIES = 5_000
MAX_DEPTH = 16
MAX_BYTES = 4 << 20

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FILE = os.O_RDONLY | _NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_FOLDER = os.O_RDONLY | _NO_FOLLOW | getattr(os, "O_DIRECTORY", 0)
_TYPES = {".md": "text/markdown", ".ts": "text/typescript", ".yaml": "application/yaml", ".yml": "application/yaml"}


@dataclass(frozen=True, slots=True)
class Resource:
    """One file.

    Attributes:
        path: relative to the skill's folder.
        size: in bytes.
        media_type: from the file name.
    """

    path: str
    size: int
    media_type: str


def list_resources(folder: Path) -> list[Resource]:
    """The resources of a skill's folder in the order of their paths, up to the limits."""
    found = sorted(_walk(folder), key=lambda resource: resource.path)
    return found[:MAX_RESOURCES]


def read_resource(folder: Path, path: str) -> bytes:
    """The content of one resource.

    Args:
        folder: the skill's folder.
        path: the path of the file relative to it.

    Raises:
        CortexError: `invalid_arguments`: it does not exist, or is too large.
    """
    hint = "give a path from the list of resources"
    if not _is_plain(path):
        raise CortexError("invalid_arguments", f"{shown(path)} is not a path inside a skill", hint=hint)
    try:
        data = _read(folder, PurePosixPath(path).parts)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CortexError("invalid_arguments", f"{shown(path)} cannot be read: {reason}", hint=hint) from None
    if len(data) > MAX_BYTES:
        raise CortexError("invalid_arguments", f"{shown(path)} has more than {MAX_BYTES >> 20} MiB")
    return data


def media_type(path: str) -> str:
    """The media type of a file, from its name."""
    suffix = PurePosixPath(path).suffix.lower()
    return _TYPES.get(suffix) or mimetypes.guess_type(path)[0] or "application/octet-stream"


def _walk(folder: Path) -> Iterator[Resource]:
    pending = [("", folder, 0)]
    entries = 0
    while pending and entries <= MAX_ENTRIES:
        prefix, place, depth = pending.pop()
        try:
            with os.scandir(place) as listing:
                here = sorted(islice(listing, MAX_ENTRIES), key=lambda entry: entry.name)
            entries += len(here)
            for entry in here:
                about = entry.stat(follow_symlinks=False)
                name = f"{prefix}{entry.name}"
                if entry.name.startswith(".") or entry.name in GENERATED or not _is_plain(name):
                    continue
                if stat.S_ISDIR(about.st_mode) and depth < MAX_DEPTH:
                    pending.append((f"{name}/", place / entry.name, depth + 1))
                elif stat.S_ISREG(about.st_mode):
                    yield Resource(name, about.st_size, media_type(name))
        except OSError:
            continue  # unreadable, or deleted meanwhile


def _is_plain(path: object) -> bool:
    """Whether `path` is a relative path that may name a resource."""
    if not isinstance(path, str) or not path or "\0" in path or "\\" in path or len(path) > 4096:
        return False
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return all(part and not part.startswith(".") and part not in GENERATED for part in path.split("/"))


def _read(folder: Path, parts: tuple[str, ...]) -> bytes:
    with ExitStack() as opened:
        if os.open in os.supports_dir_fd:
            place = os.open(folder, _FOLDER & ~_NO_FOLLOW)
            opened.callback(os.close, place)
            for part in parts[:-1]:  # each relative to the one before, so that no link can be inserted
                place = os.open(part, _FOLDER, dir_fd=place)
                opened.callback(os.close, place)
            descriptor = os.open(parts[-1], _FILE, dir_fd=place)
        else:
            path = folder.joinpath(*parts)
            if path.resolve() != folder.resolve().joinpath(*parts):
                raise OSError(0, "it is a symbolic link")
            descriptor = os.open(path, _FILE)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(0, "it is not a regular file")
            return file.read(MAX_BYTES + 1)
