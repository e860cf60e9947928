"""Write the files of a new skill to disk.

Rules kept here:
- all files or none: they are written to a temporary folder beside the target, which is renamed when complete;
- nothing is overwritten: the target does not exist, or is an empty folder;
- after an error everything that was created is removed.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from cortex_skills.errors import CortexError


def write_folder(folder: Path, files: Mapping[str, str]) -> None:
    """Create a folder with these files.

    Args:
        folder: the target; missing parent folders are created.
        files: text by relative path.

    Raises:
        CortexError: `invalid_arguments`: the target exists or cannot be written.
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
                work.rename(folder)  # fails when a non-empty folder was created meanwhile
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
            raise _refused(folder, f"cannot be written: {error.strerror}", "choose a writable folder") from None
        raise


def _fill(folder: Path, work: Path) -> None:
    """Move the files into an existing empty folder, which is kept because it may be a current directory."""
    check_free(folder)
    moved: list[Path] = []
    try:
        for child in sorted(work.iterdir()):
            target = folder / child.name
            if os.path.lexists(target):
                raise _refused(target, "was created meanwhile", "choose a new folder; init overwrites nothing")
            child.rename(target)
            moved.append(target)
    except BaseException:
        for path in moved:
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
        raise
    work.rmdir()


def check_free(folder: Path) -> None:
    """Check that the target does not exist, or is an empty folder.

    Raises:
        CortexError: `invalid_arguments`.
    """
    hint = "choose a new folder; init overwrites nothing"
    try:
        if folder.is_symlink():
            raise _refused(folder, "is a symbolic link", hint)
        if folder.is_dir():
            if any(folder.iterdir()):
                raise _refused(folder, "exists and is not empty", hint)
        elif folder.exists():
            raise _refused(folder, "is a file", hint)
    except (OSError, ValueError) as error:
        raise _refused(folder, f"cannot be read: {getattr(error, 'strerror', None) or error}", hint) from None


def _make_parents(parent: Path) -> list[Path]:
    """Create a folder and its parents. Returns the created folders, the innermost first."""
    missing = []
    place = parent
    while not place.exists():
        missing.append(place)
        place = place.parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _refused(parent, f"cannot be created: {error.strerror}", "choose a writable folder") from None
    return missing


def _umask() -> int:
    """The file mode creation mask of the process, which can be read only by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _refused(folder: Path, what: str, hint: str) -> CortexError:
    return CortexError("invalid_arguments", f"{str(folder)[:300]} {what}", hint=hint)
