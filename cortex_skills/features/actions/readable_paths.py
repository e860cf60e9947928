"""What a confined command may read: the folders of the workspace without what is denied, and parts of the system.

Rules kept here:
- a folder that holds nothing denied is one path; of any other, each entry that may be read;
- only plain files with one name, below folders that can be listed, are read; one that cannot be looked at, because it
  was removed meanwhile, is too deep or belongs to others, is left out, and prevents nothing else;
- what is private is left out wherever it is, also by another name of its folder, and what is given of the system holds
  neither it nor the workspace.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from cortex_skills.errors import CortexError
from cortex_skills.features.actions.paths import Parts, Workspace

_MAX_ENTRIES = 20_000


def readable(workspace: Workspace, roots: Sequence[str]) -> tuple[list[str], list[str]]:
    """The paths that a confined command may read, and the folders of which it may read the names only.

    Args:
        workspace: with what is denied.
        roots: the folders in it.

    Raises:
        CortexError: `action_failed`: the folders have too many entries to look through.
    """
    read: list[str] = []
    listed: list[str] = []
    top = workspace.root.resolve()
    found = _Folders(workspace)
    for root in roots:
        parts = tuple(part for part in root.split("/") if part)
        path = top.joinpath(*parts)
        if path.is_dir() and not path.is_symlink() and not workspace.is_denied(parts):
            found.look_through(str(path), parts)
    for folder, files in found.files.items():
        if folder in found.partial:
            listed.append(folder)
            read += files
        elif (above := os.path.dirname(folder)) in found.partial or above not in found.files:  # noqa: PTH120 - of many
            read.append(folder)
    return read, listed


class _Folders:
    """The folders that were looked through.

    Attributes:
        files: of each folder, the paths of its files that may be read; a folder is before those in it.
        partial: the folders that hold something that may not be read, at any depth.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.files: dict[str, list[str]] = {}
        self.partial: set[str] = set()
        self._workspace = workspace
        self._own = workspace.own_identities()
        self._left = _MAX_ENTRIES

    def look_through(self, path: str, parts: Parts) -> None:
        """Look through a folder and those in it, without end of their depth."""
        waiting = [(path, parts)]
        while waiting:
            folder, its_parts = waiting.pop()
            self.files[folder] = []
            try:
                with os.scandir(folder) as entries:
                    inner = ((entry, (*its_parts, entry.name)) for entry in entries)
                    waiting += ((entry.path, each) for entry, each in inner if self._is_folder(folder, entry, each))
            except OSError:
                self._hide_a_part(folder)

    def _is_folder(self, folder: str, entry: os.DirEntry[str], parts: Parts) -> bool:
        """Whether an entry is a folder to look through; a file is kept when it may be read."""
        self._left -= 1
        if self._left < 0:
            message = f"the folders that are read have more than {_MAX_ENTRIES:,} entries"
            raise CortexError("action_failed", message, hint="list fewer")
        if entry.is_symlink():  # it opens nothing but what is given anyway
            return False
        state = None
        if not self._workspace.denies_entry(parts):
            try:
                state = entry.stat(follow_symlinks=False)
            except OSError:
                state = None
        if state is not None and (state.st_dev, state.st_ino) not in self._own:
            if stat.S_ISDIR(state.st_mode):
                return True
            if stat.S_ISREG(state.st_mode) and state.st_nlink == 1:
                self.files[folder].append(entry.path)
                return False
        self._hide_a_part(folder)
        return False

    def _hide_a_part(self, folder: str) -> None:
        """Give a folder, and those above it, in parts."""
        while folder in self.files and folder not in self.partial:
            self.partial.add(folder)
            folder = os.path.dirname(folder)  # noqa: PTH120 - of many


def apart_from(path: Path, left_out: Collection[Path]) -> Iterator[Path]:
    """A folder; or what it holds, apart from some paths, if one of them is in it. All without symbolic links."""
    inside = [each for each in left_out if each.is_relative_to(path)]
    if not inside:
        yield path
    elif path not in inside:
        for entry in path.iterdir():
            if not entry.is_symlink():
                yield from apart_from(entry, inside)
