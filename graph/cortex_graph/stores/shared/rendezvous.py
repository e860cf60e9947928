"""Where the processes of one data folder find each other: the hidden folder `.owner` in it.

Rules kept here:
- `.owner` belongs to the user, with mode 0700; the record, the claim and the socket in it have mode 0600. Files of
  another user and symbolic links are not followed and not repaired: they are an error;
- the record (JSON: protocol, pid, address, token, folder) is written atomically, after its owner listens. It is valid
  only in the folder for which it was written: a copy of a data folder does not lead to the owner of the original;
- a socket whose path would be too long for the system is in a 0700 folder among the temporary files;
- without Unix sockets, the owner listens on a port of the loopback interface; the token authenticates clients;
- a record of an ended owner is not an error: no process answers there, and the next owner replaces it.
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

from cortex_graph.exceptions import GraphUnavailable
from cortex_graph.stores.shared import protocol_limits
from cortex_graph.stores.shared.channel import PROTOCOL, PeerSilent

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]

FOLDER = ".owner"
_RECORD = "record.json"
_CLAIM = "claim"
_SOCKET_SUFFIX = ".sock"
_TEMPORARY_PREFIX = "cortex-graph-"
_RECORD_BYTES = 4096
_PID_BYTES = 20
_PATH_BYTES = 100  # of a socket's path; systems take 103 (macOS) or 107 (Linux)
_LOOPBACK = "127.0.0.1"
HAS_UNIX_SOCKETS = hasattr(socket, "AF_UNIX")


@dataclass(frozen=True)
class OwnerRecord:
    """The owner of a folder, and its address.

    Attributes:
        pid: its process id.
        address: the path of a Unix socket, or a loopback port.
        token: the secret that it shares with its clients.
    """

    pid: int
    address: str | int
    token: bytes


class Rendezvous:
    """The `.owner` folder of one data folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._here = folder / FOLDER
        self._claim: int | None = None

    def is_another_users(self) -> bool:
        """Return whether `.owner` belongs to another user."""
        with contextlib.suppress(OSError):
            return not _is_own(self._here.lstat())
        return False

    def prepare(self) -> None:
        """Make `.owner`, or check that it belongs to the user."""
        with self._errors_reported():
            self._here.mkdir(mode=0o700, exist_ok=True)
        self._check()
        with self._errors_reported():
            self._here.chmod(0o700)

    def claim(self) -> bool:
        """Take the claim, which one process can hold until it ends; returns whether it was taken.

        It keeps processes that cannot become the owner from opening the store, which leaves a file behind each time.
        """
        if fcntl is None or self._claim is not None:  # pragma: no branch
            return True
        with self._errors_reported():
            file = os.open(self._here / _CLAIM, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            return False
        self._claim = file
        with contextlib.suppress(OSError):  # on a full disk, for instance
            os.ftruncate(file, 0)
            os.write(file, b"%d" % os.getpid())
        return True

    def claimant(self) -> int | None:
        """Return the process that took the claim last; None when that is not known.

        Only for a process that does not hold the claim: closing its file would release it (POSIX fcntl).
        """
        with contextlib.suppress(OSError, ValueError):
            file = os.open(self._here / _CLAIM, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
            try:
                return int(os.read(file, _PID_BYTES))
            finally:
                os.close(file)
        return None

    def unclaim(self) -> None:
        """Release the claim."""
        if self._claim is not None:
            os.close(self._claim)
            self._claim = None

    def read(self) -> OwnerRecord | None:
        """Return the record; None when there is no valid one."""
        if not self._here.is_symlink() and not self._here.exists():
            return None
        self._check()
        try:
            # A pipe in its place is not waited for.
            flags = (getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK"))
            file = os.open(self._here / _RECORD, os.O_RDONLY | sum(flags))
        except OSError:
            return None
        with os.fdopen(file, "rb") as opened:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode) or not _is_own(status):
                raise self._planted(_RECORD)
            if status.st_mode & 0o077 and hasattr(os, "geteuid"):
                return None  # other users may know the token
            return self._record(opened.read(_RECORD_BYTES + 1))

    def listen(self) -> tuple[socket.socket, OwnerRecord]:
        """Return a listening socket, and the record to write for it."""
        token = secrets.token_hex(32).encode()
        with self._errors_reported():
            if not HAS_UNIX_SOCKETS:
                listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
                listener.bind((_LOOPBACK, 0))
                address: str | int = listener.getsockname()[1]
            else:
                path = self._here / (secrets.token_hex(4) + _SOCKET_SUFFIX)
                if len(os.fsencode(path.absolute())) > _PATH_BYTES:
                    path = Path(tempfile.mkdtemp(prefix=_TEMPORARY_PREFIX), "owner" + _SOCKET_SUFFIX)
                listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                listener.bind(str(path.absolute()))
                path.chmod(0o600)
                address = str(path.absolute())
            listener.listen(protocol_limits.MAX_PEERS)
        return listener, OwnerRecord(os.getpid(), address, token)

    def write(self, record: OwnerRecord) -> None:
        """Write the record, so that other processes find the owner."""
        near = isinstance(record.address, str) and Path(record.address).parent == self._here.absolute()
        document = {
            "protocol": PROTOCOL,
            "pid": record.pid,
            "address": Path(str(record.address)).name if near else record.address,
            "token": record.token.decode(),
            "folder": self._identity(),
        }
        part = self._here / f"{_RECORD}.{record.pid}"
        with self._errors_reported():
            part.unlink(missing_ok=True)
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(orjson.dumps(document))
            part.replace(self._here / _RECORD)

    def clear(self) -> bool:
        """Remove the files of earlier owners; returns whether there was a record. Only for the holder of the claim."""
        with contextlib.suppress(GraphUnavailable):
            if (left := self.read()) is not None:
                forget(left)
        was_there = False
        for entry in self._here.iterdir():
            if entry.name == _RECORD or entry.name.startswith(f"{_RECORD}.") or entry.suffix == _SOCKET_SUFFIX:
                was_there = was_there or entry.name == _RECORD
                with self._errors_reported():
                    entry.unlink(missing_ok=True)
        return was_there

    def remove(self, record: OwnerRecord) -> None:
        """Remove a record of this process, with its socket, if they exist and can be removed."""
        with contextlib.suppress(OSError, GraphUnavailable):
            if self.read() == record:
                (self._here / _RECORD).unlink(missing_ok=True)
        forget(record)

    def _record(self, text: bytes) -> OwnerRecord | None:
        """Parse a record; None for anything else."""
        try:
            record = orjson.loads(text) if len(text) <= _RECORD_BYTES else None
        except ValueError:
            return None
        if not isinstance(record, dict) or record.get("folder") != self._identity():
            return None
        pid, address, token = record.get("pid"), record.get("address"), record.get("token")
        if type(pid) is not int or pid <= 0 or not isinstance(token, str) or len(token) < 32:
            return None
        if isinstance(address, str) and address:
            return OwnerRecord(pid, str(self._here.absolute() / address), token.encode())
        if type(address) is int and 0 < address < 65536:
            return OwnerRecord(pid, address, token.encode())
        return None

    def _identity(self) -> list[int]:
        status = self.folder.stat()
        return [status.st_dev, status.st_ino]

    def _check(self) -> None:
        with self._errors_reported():
            status = self._here.lstat()
        is_writable = status.st_mode & 0o022 and hasattr(os, "geteuid")
        if not stat.S_ISDIR(status.st_mode) or not _is_own(status) or is_writable:
            raise self._planted("")

    def _planted(self, name: str) -> GraphUnavailable:
        return GraphUnavailable(
            f"{self._here / name} does not belong to this user, or is not a plain file or folder",
            hint="see who made it; remove it when no process has the store open",
            details={"folder": str(self.folder)},
        )

    @contextlib.contextmanager
    def _errors_reported(self) -> Any:
        try:
            yield
        except OSError as error:
            raise GraphUnavailable(
                f"{self._here}, where the processes of a store meet, cannot be used: {error.strerror or error}",
                hint="check that you may write to the folder and that the disk is not full",
                details={"folder": str(self.folder)},
            ) from error


def connected(record: OwnerRecord) -> socket.socket | None:
    """Return a connection to the address of a record; None when no process of this user listens there.

    Raises:
        PeerSilent: a process listens there and accepts nothing: its queue of connections is full.
    """
    if isinstance(record.address, int):
        connection, address = socket.socket(socket.AF_INET, socket.SOCK_STREAM), (_LOOPBACK, record.address)
    elif not HAS_UNIX_SOCKETS:
        return None
    else:
        connection, address = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM), record.address  # type: ignore[assignment]
    try:
        connection.settimeout(protocol_limits.GREETING_S)
        connection.connect(address)
        if _is_users_own(connection):
            return connection
    except (TimeoutError, BlockingIOError):
        connection.close()
        raise PeerSilent from None
    except (OSError, ValueError):
        pass
    connection.close()
    return None


def forget(record: OwnerRecord) -> None:
    """Remove the socket of a record, and the folder that was made for it."""
    if not isinstance(record.address, str):
        return
    path = Path(record.address)
    if path.parent.name != FOLDER and not path.parent.name.startswith(_TEMPORARY_PREFIX):
        return  # not the address of an owner
    with contextlib.suppress(OSError, ValueError):
        if stat.S_ISSOCK(path.lstat().st_mode):
            path.unlink()
            if path.parent.name.startswith(_TEMPORARY_PREFIX):
                path.parent.rmdir()


def _is_own(status: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def _is_users_own(connection: socket.socket) -> bool:
    """Return whether the process at the other end of a Unix socket is of this user, where the system reports it."""
    if not hasattr(socket, "SO_PEERCRED") or connection.family != socket.AF_UNIX:
        return True
    _, user, _ = struct.unpack("iII", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return bool(user == os.geteuid())
