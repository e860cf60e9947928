"""A real server on a loopback port, in a thread of this process or in a separate process."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from cortex_skills import Plugin
from cortex_skills.doors.server.protocol import ConnectionLimits
from cortex_skills.doors.server.serve import bound, prepared, url_of
from cortex_skills.tokens import Holder, TokenFile, new_token
from tests import fork_server
from tests.configs import config

WAIT_S = 100  # generous: only so that a test ends
FAST: dict[str, Any] = {"verify": False}  # there is no TLS here: certificates need not be read


class Running:
    """A server that answers.

    Attributes:
        url: where.
        plugin: what it serves.
        tokens: its file of tokens.

    """

    def __init__(self, url: str, plugin: Plugin, tokens: TokenFile) -> None:
        self.url, self.plugin, self.tokens = url, plugin, tokens
        self.host, port = url.removeprefix("http://").rsplit(":", 1)
        self.port = int(port)
        self.server: Any = None
        self._texts: dict[str, str] = {}
        self._clients: list[httpx.Client] = []

    def token(
        self,
        name: str,
        namespaces: tuple[str, ...] = ("mayros",),
        permissions: tuple[str, ...] = ("read", "write"),
        holder: Holder | None = None,
        person: str = "",
    ) -> str:
        """The text of a token; the token is made when it is first asked for."""
        if name not in self._texts:
            token, text = new_token(name, namespaces, permissions, None, datetime.now(UTC), holder, person)
            self.tokens.add(token)
            self._texts[name] = text
        return self._texts[name]

    def client(self, token: str | None = None, **settings: Any) -> httpx.Client:
        """A client that shows a token, or none."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        client = httpx.Client(base_url=self.url, headers=headers, timeout=WAIT_S, trust_env=False, **FAST, **settings)
        self._clients.append(client)
        return client

    def end(self) -> None:
        """Begin the shutdown; the context manager waits for its end."""
        self.server.should_exit = True

    def close(self) -> None:
        for client in self._clients:
            client.close()


@contextlib.contextmanager
def served(
    folder: Path,
    *,
    limits: ConnectionLimits | None = None,
    body_s: float = 30.0,
    plugin: Plugin | None = None,
    **settings: Any,
) -> Iterator[Running]:
    """A server in a thread."""
    cortex = {"tokenFile": str(folder / "tokens.json"), **settings.pop("cortex", {})}
    plugin = plugin or Plugin.open(config(cortex=cortex, **settings))
    ready = threading.Event()
    try:
        with bound("127.0.0.1", 0) as listener:
            server = prepared(plugin, "127.0.0.1", ready.set, limits=limits, body_s=body_s)
            url = url_of(listener)
            thread = threading.Thread(target=server.run, args=([listener],))
            thread.start()
            running = Running(url, plugin, TokenFile(folder / "tokens.json"))
            running.server = server
            try:
                assert ready.wait(WAIT_S)
                yield running
            finally:
                running.close()
                server.should_exit = True
                thread.join(WAIT_S)
                assert not thread.is_alive()
    finally:
        plugin.close()


class Process:
    """`cortex-skills serve` in a separate process."""

    def __init__(self, folder: Path, *words: str, port: int = 0) -> None:
        self.folder = folder
        variables = {key: value for key, value in os.environ.items() if not key.startswith("CORTEX_")}
        variables |= {"CORTEX_CORTEX__TOKEN_FILE": str(folder / "tokens.json"), "CORTEX_STORE": str(folder / "store")}
        self._process = subprocess.Popen(
            [fork_server.command(), "serve", "--json", "--port", str(port), *words],
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            self.document = self._started()
        except BaseException:
            self.end()
            raise
        self.url = self.document["url"]

    def _started(self) -> dict[str, Any]:
        """What it prints once it listens."""
        assert self._process.stdout is not None
        text = ""
        while not text.rstrip().endswith("}"):
            line = self._process.stdout.readline()
            if not line:
                raise AssertionError(self._process.communicate(timeout=WAIT_S)[1])
            text += line
        document: dict[str, Any] = json.loads(text)
        return document

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def wait(self) -> tuple[int, str]:
        """How it ended, and what it wrote to standard error."""
        _, errors = self._process.communicate(timeout=WAIT_S)
        return self._process.returncode, errors

    def end(self) -> None:
        """Kill it if it is still there, and close its streams."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate(timeout=WAIT_S)


def until_healthy(client: httpx.Client) -> None:
    """Ask until the store has answered within the two seconds that it is given."""
    end = time.monotonic() + WAIT_S
    while client.get("/api/v1/health").json()["status"] != "healthy":
        assert time.monotonic() < end


def talk(port: int, data: bytes, *, finish: bool = True) -> bytes:
    """What a server answers to some bytes until it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as connection:
        with contextlib.suppress(OSError):  # it may have answered, and closed, before it has received everything
            connection.sendall(data)
            if finish:
                connection.shutdown(socket.SHUT_WR)
        return drained(connection)


def drained(connection: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    parts = []
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


def statuses(answer: bytes) -> list[int]:
    """The statuses of the answers in a stream."""
    return [int(status) for status in re.findall(rb"HTTP/1\.1 ([0-9]{3}) ", answer)]
