"""Puts the files of a new skill onto the disk.

Rules kept here:
- all of them or none: they are written into a folder beside, which takes its name when it is whole;
- nothing that is there is overwritten: the place is free, or an empty folder;
- what was begun is taken away again, whatever goes wrong.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from cortex_skills.errors import CortexError


def write_folder(folder: Path, files: Mapping[str, str]) -> None:
    """Make a folder with these files.

    Args:
        folder: where; the folders above it are made, too.
        files: text by relative path.

    Raises:
        CortexError: `invalid_arguments`, when something is there or it cannot be written; nothing is left then.

    """
    check_free(folder)
    made = _make_parents(folder.parent)
    try:
        work = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            for name, text in files.items():
                path = work / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8", newline="\n")
            work.chmod(0o777 & ~_umask())
            if folder.is_dir():
                _fill(folder, work)
            else:
                work.rename(folder)  # refused where a folder that holds something has come up meanwhile
        except BaseException:
            shutil.rmtree(work, ignore_errors=True)
            raise
    except BaseException as error:
        for parent in made:
            try:
                parent.rmdir()
            except OSError:
                break
        if isinstance(error, OSError):
            raise _refused(
                folder, f"cannot be written: {error.strerror}", "name a place that you may write to"
            ) from None
        raise


def _fill(folder: Path, work: Path) -> None:
    """Move what was written into an empty folder, which stays the one that it is: a shell may stand in it."""
    check_free(folder)
    moved: list[Path] = []
    try:
        for child in sorted(work.iterdir()):
            target = folder / child.name
            if os.path.lexists(target):
                raise _refused(target, "has come up meanwhile", "name a new folder; init overwrites nothing")
            child.rename(target)
            moved.append(target)
    except BaseException:
        for path in moved:
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
        raise
    work.rmdir()


def check_free(folder: Path) -> None:
    """There must be nothing yet, or an empty folder.

    Raises:
        CortexError: `invalid_arguments`.

    """
    hint = "name a new folder; init overwrites nothing"
    try:
        if folder.is_symlink():
            raise _refused(folder, "is a symbolic link", hint)
        if folder.is_dir():
            if any(folder.iterdir()):
                raise _refused(folder, "is there already and is not empty", hint)
        elif folder.exists():
            raise _refused(folder, "is a file", hint)
    except (OSError, ValueError) as error:
        raise _refused(folder, f"cannot be looked at: {getattr(error, 'strerror', None) or error}", hint) from None


def _make_parents(parent: Path) -> list[Path]:
    """Make a folder and those above it; those that were made, the innermost first."""
    missing = []
    place = parent
    while not place.exists():
        missing.append(place)
        place = place.parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _refused(parent, f"cannot be made: {error.strerror}", "name a place that you may write to") from None
    return missing


def _umask() -> int:
    """What the user takes away from new files; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _refused(folder: Path, what: str, hint: str) -> CortexError:
    return CortexError("invalid_arguments", f"{str(folder)[:300]} {what}", hint=hint)
