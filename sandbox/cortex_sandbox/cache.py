"""What was dear to work out on this machine, kept in files between processes.

    keep("words", "v1", b"all of them")
    recall("words", "v1")  # b"all of them", here and in later processes; None where nothing can be kept

Rules kept here:
- compiled code is among it and is run without further checks, so the folder must be the user's alone: created 0700,
  owned by the user, no link, not writable by anybody else; otherwise the cache is not used at all;
- a file appears whole or not at all (written beside, then renamed), so that a killed process leaves nothing broken;
- bytes that were kept are those that were given, or there are none: a damaged file is noticed;
- of what has the same label, the last few are kept;
- without a usable cache everything works, only slower to start; the log says so.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
import zlib
from collections.abc import Callable
from pathlib import Path

log = logging.getLogger(__name__)

# How many of a label stay: a machine may have more than one version in use.
_MOST_KEPT = 4
_CHECK_BYTES = 4


def cache_folder() -> Path | None:
    """The private folder for what is kept, created when absent; None when it cannot be made safe."""
    override = os.environ.get("CORTEX_SANDBOX_CACHE")
    if override:
        folder = Path(override)
    else:
        import platformdirs

        folder = Path(platformdirs.user_cache_dir("cortex-skills", appauthor=False)) / "code"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if is_private(folder, stat.S_ISDIR) else None
    except OSError as error:
        log.warning("no cache in %s (%s): every start compiles anew", folder, error)
        return None


def is_private(path: Path, is_kind: Callable[[int], bool]) -> bool:
    """Whether a path is of the kind, this user's own, no link, and writable by nobody else.

    Raises:
        OSError: there is no such path, or it cannot be looked at.

    """
    info = path.lstat()
    if not hasattr(os, "getuid"):
        return is_kind(info.st_mode)
    safe = is_kind(info.st_mode) and info.st_uid == os.getuid() and not info.st_mode & 0o022
    if not safe:
        log.warning("%s is not private to this user: nothing is read from it", path)
    return safe


def store(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all; a folder that cannot be written to is no error."""
    import tempfile

    try:
        handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(scratch).replace(path)
        except BaseException:
            Path(scratch).unlink(missing_ok=True)
            raise
    except OSError as error:
        log.warning("%s could not be kept in %s (%s)", path.name, path.parent, error)


def recall(label: str, key: str) -> bytes | None:
    """The bytes that were kept by this label and key; None when there are none, or none that can be trusted.

    Args:
        label: a short name, for messages and for the file.
        key: all that decides what the bytes are.

    """
    path = _path(label, key)
    try:
        if path is None or not is_private(path, stat.S_ISREG):
            return None
        with path.open("rb", buffering=0) as file:
            check, content = file.read(_CHECK_BYTES), file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        log.warning("%s cannot be read (%s): it is worked out anew", path, error)
        return None
    if check != _check_of(content):
        log.warning("%s is damaged: it is worked out anew", path)
        return None
    return content


def keep(label: str, key: str, content: bytes) -> None:
    """Keep bytes for `recall`, where that is possible."""
    if path := _path(label, key):
        store(path, _check_of(content) + content)
        _forget_oldest(path.parent, label)


def _path(label: str, key: str) -> Path | None:
    folder = cache_folder()
    return folder / f"{label}-{hashlib.sha256(key.encode()).hexdigest()[:40]}.kept" if folder else None


def _check_of(content: bytes) -> bytes:
    # Of the length, too: the checksum of nothing is zero.
    return zlib.crc32(content, ~len(content) & 0xFFFFFFFF).to_bytes(_CHECK_BYTES, "little")


def _forget_oldest(folder: Path, label: str) -> None:
    try:
        kept = sorted(folder.glob(f"{label}-*.kept"), key=lambda path: path.stat().st_mtime_ns)
        for path in kept[:-_MOST_KEPT]:
            path.unlink(missing_ok=True)
    except OSError:
        return  # another process tidies up at the same time
