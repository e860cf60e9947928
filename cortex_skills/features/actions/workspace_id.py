"""The id of a workspace, in the file `.cortex-workspace` of its folder: requests for approval carry it.

    cortex-workspace/1 ID INODE PLACE

Rules kept here:
- an approved action runs in a process that has the workspace of the request, wherever the request was approved;
- the id is random. The file appears complete when the id is first needed, and is never replaced;
- the inode of the file and a digest of its place (host and path) are noted in it: where both differ, the folder is a
  copy that has the id of another one, and is refused. A folder that was restored, or is mounted on two hosts, keeps
  its id;
- a file that is a link, is no file, or has other content is an error;
- where the folder cannot be written, the id follows from its place, with a warning in the log.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import secrets
import stat
import tempfile
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

from cortex_skills.errors import CortexError
from cortex_skills.safe_io.display import one_line

log = logging.getLogger(__name__)

NAME = ".cortex-workspace"

_FORM = re.compile(rb"cortex-workspace/1 ([0-9a-f]{32}) ([0-9]{1,20}) ([0-9a-f]{32})\n")
_MAX_BYTES = 128
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_NOT_WRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTSUP, errno.ENOSPC, errno.EDQUOT)
_DOMAIN = b"cortex-workspace-place/1\0"


def workspace_id(folder: Path, host: str, *, creates: bool = True) -> str:
    """The id of a workspace.

    Args:
        folder: the workspace.
        host: the id of the host.
        creates: whether it is written where there is none yet.

    Raises:
        CortexError: `workspace_invalid`: the file is not one that this program wrote, or the folder is a copy.
    """
    place = _place(folder, host)
    try:
        return _read(folder, place) or (_created(folder, place) if creates else place)
    except FileNotFoundError:  # the folder itself: an action in it fails with its own error
        return place
    except OSError as error:
        if error.errno not in _NOT_WRITABLE:
            raise _invalid(folder, f"cannot be read or written: {error.strerror}", "check its mode") from None
        _warn(folder, error.strerror or "")
        return place


def _place(folder: Path, host: str) -> str:
    path = os.fsencode(folder.resolve())
    return sha256(_DOMAIN + host.encode() + b"\0" + path).hexdigest()[:32]


def _read(folder: Path, place: str) -> str:
    """The id in the file; empty if there is none.

    Raises:
        CortexError: `workspace_invalid`.
        OSError: it cannot be read.
    """
    try:
        handle = os.open(folder / NAME, _FLAGS)
    except FileNotFoundError:
        return ""
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _damaged(folder) from None
        raise
    try:
        state = os.fstat(handle)
        content = os.read(handle, _MAX_BYTES + 1) if stat.S_ISREG(state.st_mode) else b""
    finally:
        os.close(handle)
    found = _FORM.fullmatch(content)
    if found is None:
        raise _damaged(folder)
    if int(found[2]) != state.st_ino and found[3].decode() != place:
        hint = f"remove {one_line(str(folder / NAME))} to give this folder an id of its own"
        raise _invalid(folder, "was copied from another workspace with its id", hint)
    return found[1].decode()


def _created(folder: Path, place: str) -> str:
    handle, name = tempfile.mkstemp(prefix=f"{NAME}.", dir=folder)
    new = secrets.token_hex(16)
    try:
        with os.fdopen(handle, "wb") as file:
            inode = os.fstat(file.fileno()).st_ino
            file.write(f"cortex-workspace/1 {new} {inode} {place}\n".encode())
            if os.name == "posix":
                os.fchmod(file.fileno(), 0o644)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(name, folder / NAME)
        except FileExistsError:
            return _read(folder, place)
    finally:
        with suppress(OSError):
            Path(name).unlink()
    return new


@cache
def _warn(folder: Path, problem: str) -> None:
    log.warning("%s cannot be written (%s): the id of the workspace follows from its path", folder / NAME, problem)


def _damaged(folder: Path) -> CortexError:
    hint = f"remove {one_line(str(folder / NAME))}; requests that wait for this workspace expire then"
    return _invalid(folder, "is not one that this program wrote", hint)


def _invalid(folder: Path, problem: str, hint: str) -> CortexError:
    message = f"{one_line(str(folder / NAME))}, the id of the workspace, {problem}"
    return CortexError("workspace_invalid", message, hint=hint)
