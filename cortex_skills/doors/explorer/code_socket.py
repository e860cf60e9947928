"""The private socket of a running server: it gives codes for its explorer to the user who runs it.

    socket = await CodeSocket.open(path, explorer, access, url)      # in the server
    with asked(path, token=None) as invitation: ...                  # in `cortex-skills explore`; None: nobody answers

Rules kept here:
- the socket is in a folder of mode 0700 of the user, has mode 0600, and on Linux the user of the other side is checked;
- a code has the rights of a token of the server's file, named by the client, or reads the namespace of the server;
- one server answers for a store and a namespace; a socket that a killed server left behind is replaced, one that is
  answered is not;
- a line has at most `_MAX_LINE` bytes and arrives within `_LINE_S`; the connection stays open until the code was used
  or is late, so that the client knows when to remove the file with it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cortex_skills.config.settings import Config
from cortex_skills.doors.explorer.callers import ExplorerState, now
from cortex_skills.doors.explorer.sessions import CODE_S, LOCAL
from cortex_skills.doors.http.auth import AccessControl
from cortex_skills.errors import CortexError
from cortex_skills.safe_io.private_files import check_private_folder, locked, make_private_folder
from cortex_skills.safe_io.strict_json import read_json

log = logging.getLogger(__name__)

_MAX_LINE = 4096
_MAX_PATH = 100  # of a Unix socket: `sun_path` has 104 bytes or more
_LINE_S = 5.0
_POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class Invitation:
    """A code, and the server that takes it."""

    url: str
    code: str

    @property
    def address(self) -> str:
        """The address that opens the explorer; the code is in its fragment."""
        return f"{self.url}/explore/enter#{self.code}"


def folder_of_user() -> Path:
    """The folder of the explorer in the user's data folder."""
    from platformdirs import user_data_path

    return user_data_path("cortex-skills", appauthor=False) / "explorer"


def path_for(config: Config) -> Path | None:
    """The socket of the server of a store and a namespace; None where there cannot be one."""
    if config.store == "memory:" or not hasattr(socket, "AF_UNIX"):
        return None
    where = config.store_name if config.store_folder is None else os.path.realpath(config.store_folder)
    name = hashlib.sha256(f"{where}\n{config.agent_namespace}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
    path = folder_of_user() / f"{name}.sock"
    return path if len(os.fsencode(path)) <= _MAX_PATH else None


def grant_named(name: str | None, access: AccessControl) -> str:
    """The grant of a token by its name, or that of the user of this machine.

    Raises:
        CortexError: `invalid_arguments`: there is no valid token of that name.
    """
    if name is None:
        return LOCAL
    for token in access.file.tokens():
        if token.name == name and access.holder(token.digest) is not None:
            return token.digest
    hint = "`cortex-skills token list` lists them"
    raise CortexError("invalid_arguments", "there is no valid token of that name", hint=hint)


class CodeSocket:
    """The socket, in the server."""

    def __init__(self, server: asyncio.Server, path: Path) -> None:
        self._server = server
        self._path = path

    @classmethod
    async def open(cls, path: Path, explorer: ExplorerState, access: AccessControl, url: str) -> CodeSocket | None:
        """Listen at a path; None, and a line in the log, when that is impossible or another server does."""

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(OSError, TimeoutError, ValueError):
                await _answer(reader, writer, explorer, access, url)
            writer.close()

        try:
            make_private_folder(path.parent)
            check_private_folder(path.parent)
            with locked(path):
                if _is_answered(path):
                    return None
                path.unlink(missing_ok=True)
                server = await asyncio.start_unix_server(answer, path, limit=_MAX_LINE)
                path.chmod(0o600)
        except Exception as error:
            log.info("`cortex-skills explore` cannot reach this server: %s", error)
            return None
        return cls(server, path)

    def close(self) -> None:
        """Answer nobody any more, and remove the socket."""
        self._server.close()
        with suppress(OSError):
            self._path.unlink()


async def _answer(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    explorer: ExplorerState,
    access: AccessControl,
    url: str,
) -> None:
    if not _is_own(writer.get_extra_info("socket")):
        return
    async with asyncio.timeout(_LINE_S):
        line = await reader.readline()
    request: Any = read_json(line)
    name = request.get("token") if isinstance(request, dict) else 0
    if not (name is None or isinstance(name, str)):
        return
    try:
        code = explorer.sessions.new_code(grant_named(name, access), now())
    except CortexError as error:
        writer.write(_line({"error": error.message, "code": error.code, "hint": error.hint}))
        await writer.drain()
        return
    writer.write(_line({"url": url, "code": code}))
    await writer.drain()
    while explorer.sessions.is_waiting(code, now()) and not reader.at_eof():
        await asyncio.sleep(_POLL_S)


@contextmanager
def asked(path: Path, token: str | None) -> Iterator[tuple[Invitation, socket.socket] | None]:
    """Ask a running server for a code; None if none answers. The socket ends when the code was used or is late.

    Raises:
        CortexError: the server refused, with its code.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_LINE_S)
        try:
            check_private_folder(path.parent)
            connection.connect(os.fspath(path))
            connection.sendall(_line({"token": token}))
            answer: Any = read_json(_read_line(connection))
        except Exception as error:
            log.info("no running server answers at %s: %s", path, error)
            answer = None
        if isinstance(answer, dict) and "error" in answer:
            raise CortexError(str(answer["code"]), str(answer["error"]), hint=str(answer["hint"]))
        if not isinstance(answer, dict):
            yield None
            return
        connection.settimeout(CODE_S + _LINE_S)
        yield Invitation(str(answer["url"]), str(answer["code"])), connection


def _read_line(connection: socket.socket) -> bytes:
    read = b""
    while not read.endswith(b"\n"):
        part = connection.recv(_MAX_LINE)
        read += part
        if not part or len(read) > _MAX_LINE:
            raise ValueError("the answer is not a line")
    return read


def _line(document: dict[str, Any]) -> bytes:
    return json.dumps(document).encode() + b"\n"


def _is_answered(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_LINE_S)
        try:
            connection.connect(os.fspath(path))
        except OSError:
            return False
    return True


def _is_own(connection: Any) -> bool:
    """Whether the other side of a connection is a process of this user; True where that cannot be asked."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    size = struct.calcsize("3i")
    _, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, option, size))
    return bool(user == os.geteuid())
