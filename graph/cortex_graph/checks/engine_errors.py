"""What the exceptions of Oxigraph and RocksDB mean.

Rules kept here:
- a damaged or missing file is `GraphCorrupt`: the error names the file and how to restore the data;
- a full disk, too few file descriptors, a folder without permission and a file in its place each have their own hint;
- anything else is `GraphUnavailable` with the message of the engine.
"""

from __future__ import annotations

import errno
import os
import re
import traceback
from pathlib import Path

from cortex_graph.checks.size_limits import MOST_BYTES
from cortex_graph.exceptions import GraphCorrupt, GraphError, GraphUnavailable, StoreLocked

_LOCKED = ("While lock file", "lock hold by current process")
_FULL = ("No space left", "Disk quota exceeded")
_DESCRIPTORS = ("Too many open files", "file descriptors")
_REFUSED = ("Permission denied", "Read-only file system", "Operation not permitted")
_NO_FOLDER = ("File exists", "Not a directory")
_DAMAGED = ("orruption", "corrupt", "checksum")
_MISSING = "No such file"
_FILE = re.compile(r"\b(\d{6,}\.(?:sst|log)|MANIFEST-\d+|CURRENT)\b")


def explained(error: BaseException, what: str, folder: Path | None) -> GraphError:
    """Return the error to raise for an exception of the engine.

    The frames of the exception are cleared: they refer to the store, which would stay open, and to iterators, which may
    only be released in the thread that made them.

    Args:
        error: the exception.
        what: what failed, for the message: "the store in … failed".
        folder: its folder; None for a store in memory.
    """
    traceback.clear_frames(error.__traceback__)
    text = getattr(error, "strerror", None) or str(error)
    details = {} if folder is None else {"folder": str(folder)}
    if isinstance(error, MemoryError):
        hint = f"a triple may be longer than {MOST_BYTES >> 20} MiB: split it"
        return GraphUnavailable(f"{what}: {text}", hint=hint)
    if folder is not None and _has(text, _LOCKED):
        return locked(folder)
    if folder is not None and (damage := damage_in(text, folder)) is not None:
        return damage
    if states_full(text):
        details["process"] = str(os.getpid())
    return GraphUnavailable(f"{what}: {text}", hint=_hint(text, folder), details=details)


def damage_in(text: str, folder: Path) -> GraphCorrupt | None:
    """Return the error for a message of the engine about a damaged or missing file; None for any other message."""
    file = next(iter(_FILE.findall(text)), None)  # a manifest is often named after the file that is the cause
    if _MISSING in text and file:
        return corrupt(folder, f"its file {file} is missing", file)
    if _has(text, _DAMAGED):
        return corrupt(folder, f"its file {file} is damaged ({text})" if file else f"it is damaged ({text})", file)
    return None


def locked(folder: Path) -> StoreLocked:
    """Return the error for a store that is open already."""
    return StoreLocked(
        f"the store in {folder} is open already, in another process or in this one",
        hint="stop the other process, or give this one another folder",
        details={"folder": str(folder)},
    )


def corrupt(folder: Path, problem: str, file: str | None = None) -> GraphCorrupt:
    """Return the error for a store that has lost data.

    Args:
        folder: of the store.
        problem: what is lost or damaged.
        file: the name of the damaged file, where it is known.
    """
    return GraphCorrupt(
        f"the store in {folder} has lost data: {problem}",
        hint=(
            f"restore a backup: `cortex-skills graph restore BACKUP --replace --store {folder}`; without one, "
            f"`cortex-skills graph copy --from {folder} --to NEW` copies what can still be read"
        ),
        details={"folder": str(folder), **({"file": str(folder / file)} if file else {})},
    )


def states_full(text: str) -> bool:
    """Return whether a message is about a full disk."""
    return _has(text, _FULL)


def is_full(error: BaseException | None) -> bool:
    """Return whether an error, or one that caused it, is about a full disk."""
    while error is not None:
        if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or states_full(str(error)):
            return True
        error = error.__cause__
    return False


def _hint(text: str, folder: Path | None) -> str:
    if folder is None:
        return "see whether the memory of the machine is exhausted"
    if _has(text, _FULL):
        # RocksDB refuses every write from then on.
        return (
            f"free some space, and restart the process that has the store open ({os.getpid()}): until then it can "
            "only be read. All acknowledged writes are safe"
        )
    if _has(text, _DESCRIPTORS):
        return "the process may open too few files: raise the limit (`ulimit -n 1024`) and start it again"
    if _has(text, _NO_FOLDER) and not folder.is_dir():
        return "there is a file, or a link that leads nowhere: name a folder, or one that does not exist yet"
    if _has(text, _REFUSED):
        return "check that this user may write to the folder and its files"
    return "see whether the disk is full or read-only, and check the store with `cortex-skills graph check`"


def _has(text: str, signs: tuple[str, ...]) -> bool:
    return any(sign in text for sign in signs)
