"""Files that processes of one user share: compiled code and bundles.

    keep("bundle", "key", b"content", entries=4)
    recall("bundle", "key")  # b"content", in this process and later ones; None when it cannot be kept

Rules kept here:
- compiled code is run without further checks, so the folder must be private to the user: created with mode 0700, owned
  by the user, not a link, not writable by others. Otherwise the cache is not used;
- the same holds for each file;
- a file appears whole or not at all: it is written beside and renamed, so a killed process leaves no partial file;
- `recall` returns what `keep` was given for the same key or nothing: every file has a digest, checked when it is read;
- the number and total size of the files of one label are limited: the oldest are deleted;
- without a usable cache everything works, only slower to start; the log has the reason.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

log = logging.getLogger(__name__)

_OVERRIDE = "CORTEX_SANDBOX_CACHE"
_VARIABLE = re.compile(r"\$(?:\{([^}]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
_DIGEST_BYTES = hashlib.sha256().digest_size


def chosen_folder() -> Path | None:
    """The folder that `CORTEX_SANDBOX_CACHE` names; None when it is not set, or names no folder."""
    override = os.environ.get(_OVERRIDE, "")
    names = [one or other for one, other in _VARIABLE.findall(override)]
    folder = os.path.expanduser(os.path.expandvars(override))  # noqa: PTH111 - it raises nothing
    if not override or (override.startswith("~") and folder.startswith("~")) or not all(map(os.environ.get, names)):
        return None
    return Path(folder)


def cache_folder() -> Path | None:
    """The private cache folder, created when absent; None when it cannot be made safe."""
    if override := os.environ.get(_OVERRIDE):
        folder = chosen_folder()
        if folder is None:
            log.warning("no cache in %s, which names no folder: every start compiles again", override)
            return None
    else:
        import platformdirs

        folder = Path(platformdirs.user_cache_dir("cortex-skills", appauthor=False)) / "code"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if is_private(folder, stat.S_ISDIR) else None
    except OSError as error:
        log.warning("no cache in %s (%s): every start compiles again", folder, error)
        return None


def is_private(path: Path, is_kind: Callable[[int], bool]) -> bool:
    """Whether a path is of the kind, owned by this user, not a link, and not writable by others.

    Raises:
        OSError: when the path does not exist or cannot be read.
    """
    info = path.lstat()
    if not hasattr(os, "getuid"):
        return is_kind(info.st_mode)
    safe = is_kind(info.st_mode) and info.st_uid == os.getuid() and not info.st_mode & 0o022
    if not safe:
        log.warning("%s is not private to this user: nothing is read from it", path)
    return safe


def store(path: Path, content: bytes | bytearray, *, sync: bool = True) -> bool:
    """Write a file, whole or not at all; a failure is logged, and the result is False.

    Args:
        path: the file.
        content: its content.
        sync: whether it must be whole after a crash of the system too; needed when its content is not verified.
    """
    import tempfile

    try:
        handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                if sync:
                    file.flush()
                    os.fsync(file.fileno())
            Path(scratch).replace(path)
        except BaseException:
            Path(scratch).unlink(missing_ok=True)
            raise
    except OSError as error:
        log.warning("%s could not be kept in %s (%s)", path.name, path.parent, error)
        return False
    return True


def recall(label: str, key: str) -> bytes | None:
    """The content kept under this label and key; None when there is none that can be trusted.

    Args:
        label: a short name, for messages and the file name.
        key: everything that determines the content.
    """
    path = _path(label, key)
    try:
        if path is None or not is_private(path, stat.S_ISREG):
            return None
        with path.open("rb", buffering=0) as file:
            digest, content = file.read(_DIGEST_BYTES), file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        log.warning("%s cannot be read (%s): it is made again", path, error)
        return None
    if digest != _digest(key, content):
        log.warning("%s is damaged: it is made again", path)
        return None
    return content


def keep(label: str, key: str, content: bytes, *, entries: int = 4, total_bytes: int = 128 << 20) -> None:
    """Keep content for `recall`, where that is possible.

    Args:
        label: as for `recall`.
        key: as for `recall`.
        content: the content.
        entries: the maximum number of files of this label.
        total_bytes: their maximum total size.
    """
    if path := _path(label, key):
        store(path, _digest(key, content) + content, sync=False)
        delete_oldest(path.parent, label, entries, total_bytes)


def _path(label: str, key: str) -> Path | None:
    folder = cache_folder()
    return folder / f"{label}-{hashlib.sha256(key.encode()).hexdigest()[:40]}.kept" if folder else None


def _digest(key: str, content: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(key.encode()).digest() + content).digest()


def delete_oldest(folder: Path, label: str, entries: int, total_bytes: int, suffix: str = ".kept") -> None:
    """Delete the oldest files of a label above a number of files, or above a total size in bytes."""
    try:
        with os.scandir(folder) as found:
            files = [item for item in found if item.name.startswith(f"{label}-") and item.name.endswith(suffix)]
        kept_bytes = 0
        for number, item in enumerate(sorted(files, key=lambda item: item.stat().st_mtime_ns, reverse=True), 1):
            kept_bytes += item.stat().st_size
            if number > entries or kept_bytes > total_bytes:
                Path(item.path).unlink(missing_ok=True)
    except OSError:
        return  # another process deletes files at the same time
