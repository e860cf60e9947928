"""Where the processes of one data folder meet: the hidden folder `.owner` in it.

Rules kept here:
- `.owner` is the user's own, 0700; the record, the claim and the socket in it are 0600. What belongs to another user,
  or is a symbolic link, is not followed and not mended: it is an error;
- the record (JSON: protocol, pid, address, token, folder) appears whole, and only once its owner listens. It counts
  only in the folder that it was written for: a copy of a data folder does not lead to the owner of the original;
- a socket whose path would be too long for the system lies in a 0700 folder of its own among the temporary files;
- where there are no Unix sockets, the owner listens on a port of the loopback interface; the token keeps strangers out;
- a record of a dead owner is no error: nobody answers there, and the next owner replaces it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import stat
import struct
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from cortex_graph.errors import GraphUnavailable
from cortex_graph.stores.shared import limits
from cortex_graph.stores.shared.channel import PROTOCOL

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]

FOLDER = ".owner"
_RECORD = "record.json"
_CLAIM = "claim"
_SOCKET_SUFFIX = ".sock"
_FAR_PREFIX = "cortex-graph-"
_RECORD_BYTES = 4096
_PATH_BYTES = 100  # of a socket's path; systems take 103 (macOS) or 107 (Linux)
_LOOPBACK = "127.0.0.1"
HAS_UNIX_SOCKETS = hasattr(socket, "AF_UNIX")


@dataclass(frozen=True)
class Record:
    """Who owns a folder, and where it listens.

    Attributes:
        pid: its process.
        address: the path of a Unix socket, or a loopback port.
        token: what it and its clients know, and nobody else.

    """

    pid: int
    address: str | int
    token: bytes


class Place:
    """The `.owner` of one data folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._here = folder / FOLDER
        self._claim: int | None = None

    def is_another_users(self) -> bool:
        """Whether owners of another user meet here."""
        with contextlib.suppress(OSError):
            return not _is_ours(self._here.lstat())
        return False

    def prepare(self) -> None:
        """Make `.owner`, or see that it is the user's own.

        Raises:
            GraphUnavailable: it is not, or it cannot be made.

        """
        with self._told():
            self._here.mkdir(mode=0o700, exist_ok=True)
        self._check()
        with self._told():
            self._here.chmod(0o700)

    def claim(self) -> bool:
        """Take what only one process can have, and lose it with its life; answer whether it was taken.

        It keeps those who cannot become the owner from trying to open the store, which leaves a file behind each time.
        """
        if fcntl is None or self._claim is not None:  # pragma: no branch
            return True
        with self._told():
            file = os.open(self._here / _CLAIM, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            return False
        self._claim = file
        return True

    def unclaim(self) -> None:
        """Let somebody else have it."""
        if self._claim is not None:
            os.close(self._claim)
            self._claim = None

    def read(self) -> Record | None:
        """The record; None when there is none that could be one.

        Raises:
            GraphUnavailable: `.owner` or the record is not the user's own.

        """
        if not self._here.is_symlink() and not self._here.exists():
            return None
        self._check()
        try:
            # A pipe that somebody has put there is not waited for.
            flags = (getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK"))
            file = os.open(self._here / _RECORD, os.O_RDONLY | sum(flags))
        except OSError:
            return None
        with os.fdopen(file, "rb") as opened:
            told = os.fstat(file)
            if not stat.S_ISREG(told.st_mode) or not _is_ours(told):
                raise self._planted(_RECORD)
            if told.st_mode & 0o077 and hasattr(os, "geteuid"):
                return None  # others may know the token
            return self._record(opened.read(_RECORD_BYTES + 1))

    def listen(self) -> tuple[socket.socket, Record]:
        """A socket that listens, and the record that is to be written for it.

        Raises:
            GraphUnavailable: no socket can be made.

        """
        token = secrets.token_hex(32).encode()
        with self._told():
            if not HAS_UNIX_SOCKETS:
                listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
                listener.bind((_LOOPBACK, 0))
                address: str | int = listener.getsockname()[1]
            else:
                path = self._here / (secrets.token_hex(4) + _SOCKET_SUFFIX)
                if len(os.fsencode(path.absolute())) > _PATH_BYTES:
                    path = Path(tempfile.mkdtemp(prefix=_FAR_PREFIX), "owner" + _SOCKET_SUFFIX)
                listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                listener.bind(str(path.absolute()))
                path.chmod(0o600)
                address = str(path.absolute())
            listener.listen(limits.MAX_PEERS)
        return listener, Record(os.getpid(), address, token)

    def write(self, record: Record) -> None:
        """Let the others find the owner.

        Raises:
            GraphUnavailable: the record cannot be written.

        """
        near = isinstance(record.address, str) and Path(record.address).parent == self._here.absolute()
        said = {
            "protocol": PROTOCOL,
            "pid": record.pid,
            "address": Path(str(record.address)).name if near else record.address,
            "token": record.token.decode(),
            "folder": self._identity(),
        }
        part = self._here / f"{_RECORD}.{record.pid}"
        with self._told():
            part.unlink(missing_ok=True)
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(orjson.dumps(said))
            part.replace(self._here / _RECORD)

    def clear(self) -> bool:
        """Remove what owners have left here; answer whether there was a record. Only for who has the claim."""
        with contextlib.suppress(GraphUnavailable):
            if (left := self.read()) is not None:
                forget(left)
        was_there = False
        for entry in self._here.iterdir():
            if entry.name == _RECORD or entry.name.startswith(f"{_RECORD}.") or entry.suffix == _SOCKET_SUFFIX:
                was_there = was_there or entry.name == _RECORD
                with self._told():
                    entry.unlink(missing_ok=True)
        return was_there

    def remove(self, record: Record) -> None:
        """Take an own record back, with its socket, as far as they are there and can be removed."""
        with contextlib.suppress(OSError, GraphUnavailable):
            if self.read() == record:
                (self._here / _RECORD).unlink(missing_ok=True)
        forget(record)

    def _record(self, text: bytes) -> Record | None:
        """What a record says; None for anything else, which is as good as no record."""
        try:
            said = orjson.loads(text) if len(text) <= _RECORD_BYTES else None
        except ValueError:
            return None
        if not isinstance(said, dict) or said.get("folder") != self._identity():
            return None
        pid, address, token = said.get("pid"), said.get("address"), said.get("token")
        if type(pid) is not int or pid <= 0 or not isinstance(token, str) or len(token) < 32:
            return None
        if isinstance(address, str) and address:
            return Record(pid, str(self._here.absolute() / address), token.encode())
        if type(address) is int and 0 < address < 65536:
            return Record(pid, address, token.encode())
        return None

    def _identity(self) -> list[int]:
        told = self.folder.stat()
        return [told.st_dev, told.st_ino]

    def _check(self) -> None:
        with self._told():
            told = self._here.lstat()
        if not stat.S_ISDIR(told.st_mode) or not _is_ours(told) or (told.st_mode & 0o022 and hasattr(os, "geteuid")):
            raise self._planted("")

    def _planted(self, name: str) -> GraphUnavailable:
        return GraphUnavailable(
            f"{self._here / name} is not this user's own, or is no plain file or folder",
            hint="see who put it there; remove it when no process has the store open",
            details={"folder": str(self.folder)},
        )

    @contextlib.contextmanager
    def _told(self) -> Any:
        try:
            yield
        except OSError as error:
            raise GraphUnavailable(
                f"{self._here}, where the processes of a store meet, cannot be used: {error.strerror or error}",
                hint="check that you may write to the folder and that the disk is not full",
                details={"folder": str(self.folder)},
            ) from error


def connected(record: Record) -> socket.socket | None:
    """A connection to where a record points; None when nobody of this user listens there."""
    if isinstance(record.address, int):
        connection, address = socket.socket(socket.AF_INET, socket.SOCK_STREAM), (_LOOPBACK, record.address)
    elif not HAS_UNIX_SOCKETS:
        return None
    else:
        connection, address = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM), record.address  # type: ignore[assignment]
    try:
        connection.settimeout(limits.GREETING_S)
        connection.connect(address)
        if _is_users_own(connection):
            return connection
    except (OSError, ValueError):
        pass
    connection.close()
    return None


def forget(record: Record) -> None:
    """Remove the socket of a record, and the folder that was made for it."""
    if not isinstance(record.address, str):
        return
    path = Path(record.address)
    if path.parent.name != FOLDER and not path.parent.name.startswith(_FAR_PREFIX):
        return  # no owner of ours has listened there
    with contextlib.suppress(OSError, ValueError):
        if stat.S_ISSOCK(path.lstat().st_mode):
            path.unlink()
            if path.parent.name.startswith(_FAR_PREFIX):
                path.parent.rmdir()


def _is_ours(told: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or told.st_uid == os.geteuid()


def _is_users_own(connection: socket.socket) -> bool:
    """Whether the process at the other end of a Unix socket belongs to this user, where the system tells."""
    if not hasattr(socket, "SO_PEERCRED") or connection.family != socket.AF_UNIX:
        return True
    _, user, _ = struct.unpack("iII", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return bool(user == os.geteuid())
