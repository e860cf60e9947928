"""`serve`: the application on a port, until a signal ends the process.

Rules kept here:
- the port is bound before anything else, so that a port in use is reported at once;
- an address that other machines can reach is served only if every request needs a token, and with a warning: there is
  no TLS here;
- SIGTERM and SIGINT shut down gracefully: no new connections, streams end, queries and calls of tools are cancelled,
  other requests under way are finished within a time limit, and the sandboxes are emptied.
"""

from __future__ import annotations

import ipaddress
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType

import uvicorn

from cortex_skills.doors.explorer.callers import ExplorerState
from cortex_skills.doors.explorer.code_socket import CodeSocket
from cortex_skills.doors.http.auth import AccessControl
from cortex_skills.doors.http.bodies import BODY_S
from cortex_skills.doors.mcp.http import McpEndpoint
from cortex_skills.doors.server.app import create_app
from cortex_skills.doors.server.connection_places import ConnectionPlaces
from cortex_skills.doors.server.file_descriptors import connections_within
from cortex_skills.doors.server.protocol import MAX_HEAD, ConnectionLimits, LimitedProtocol
from cortex_skills.errors import CortexError
from cortex_skills.feature import functions
from cortex_skills.plugin import Plugin

log = logging.getLogger(__name__)

_BACKLOG = 512
_SHORT = 20


def serve(
    plugin: Plugin,
    host: str,
    port: int,
    ready: Callable[[str], None],
    *,
    limits: ConnectionLimits | None = None,
    body_s: float = BODY_S,
    explorer: ExplorerState | None = None,
    codes_at: Path | None = None,
    for_this_user: bool = False,
) -> None:
    """Serve a plugin until a signal ends the process; call it from the main thread.

    Args:
        plugin: the plugin to serve.
        host: an address or a name of this machine.
        port: 0 for a free one.
        ready: called with the URL once the server answers.
        limits: of connections.
        body_s: how long the body of a request may take to arrive, in seconds.
        explorer: the state of its explorer, if the caller makes codes for it.
        codes_at: the private socket where `cortex-skills explore` asks for codes; None for none.
        for_this_user: whether the user who runs it is let in by a code, so that no token is needed.

    Raises:
        CortexError: `config_invalid`: the address cannot be used, or is not allowed with this configuration.
    """
    limits = limits or ConnectionLimits()
    limits = replace(limits, connections=connections_within(limits.connections))
    with bound(host, port) as listener:
        check_reach(plugin, listener, needs_token=not for_this_user)
        url = url_of(listener)
        server = prepared(plugin, host, partial(ready, url), limits=limits, body_s=body_s, explorer=explorer)
        if codes_at is not None:
            server.codes = (codes_at, local_url(url))
        server.run([listener])


def prepared(
    plugin: Plugin,
    host: str,
    ready: Callable[[], None],
    *,
    limits: ConnectionLimits | None = None,
    body_s: float = BODY_S,
    explorer: ExplorerState | None = None,
) -> _Server:
    """A server that can be run on a socket; arguments as in `serve`."""
    limits = limits or ConnectionLimits()
    app = create_app(plugin, host=host, body_s=body_s, explorer=explorer)
    mcp: McpEndpoint = app.state.mcp
    mcp.is_ended_by_server = True
    places = ConnectionPlaces[LimitedProtocol](limits.connections, limits.of_token)
    config = uvicorn.Config(
        app,
        http=partial(LimitedProtocol, limits=limits, places=places),  # type: ignore[arg-type]
        loop="asyncio",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=_BACKLOG,
        timeout_keep_alive=limits.idle_s,
        timeout_graceful_shutdown=limits.shutdown_s,
        h11_max_incomplete_event_size=MAX_HEAD,
    )
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # below that it logs what any client can cause

    def begin_shutdown() -> None:
        mcp.end()
        app.state.service.cancel_calls()

    return _Server(config, ready, begin_shutdown)


def url_of(listener: socket.socket) -> str:
    """The URL of a listening socket."""
    address, port = listener.getsockname()[:2]
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"


def local_url(url: str) -> str:
    """The URL by which this machine reaches a server that listens at all its addresses."""
    return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")


class _Server(uvicorn.Server):
    """Calls back when it answers, and shuts down on a signal without raising it again afterwards.

    Attributes:
        codes: the path of the private socket for codes, and the URL that it names; None for none.
    """

    codes: tuple[Path, str] | None = None
    _code_socket: CodeSocket | None = None

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None], begin_shutdown: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready
        self._begin_shutdown = begin_shutdown

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.codes is not None:
            state = self.config.app.state  # type: ignore[union-attr]
            path, url = self.codes
            self._code_socket = await CodeSocket.open(path, state.explorer, state.service.access, url)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._begin_shutdown()
        if self._code_socket is not None:
            self._code_socket.close()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():  # only the main thread gets signals
            yield
            return
        names = ("SIGINT", "SIGTERM", "SIGBREAK")
        handlers = {name: signal.signal(getattr(signal, name), self._end) for name in names if hasattr(signal, name)}
        try:
            yield
        finally:
            for name, handler in handlers.items():
                signal.signal(getattr(signal, name), handler)

    def _end(self, number: int, _: FrameType | None) -> None:
        if self.should_exit and number == signal.SIGINT:
            self.force_exit = True  # a second Ctrl-C
        self.should_exit = True


@contextmanager
def bound(host: str, port: int) -> Iterator[socket.socket]:
    """A listening socket, closed at the end.

    Raises:
        CortexError: `config_invalid`: the address cannot be used.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        hint = "an address of this machine, such as 127.0.0.1"
        raise CortexError("config_invalid", f"cannot listen at {host}: {error}", hint=hint) from error
    with listener:
        try:
            if os.name == "posix":
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(_BACKLOG)
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            hint = "is another server running? choose another port with --port, or 0 for any that is free"
            raise CortexError(
                "config_invalid", f"cannot listen at port {port} of {host}: {reason}", hint=hint
            ) from error
        listener.setblocking(False)
        yield listener


def check_reach(plugin: Plugin, listener: socket.socket, *, needs_token: bool = True) -> None:
    """Refuse an address that other machines can reach, unless every request needs a token.

    Raises:
        CortexError: `config_invalid`.
    """
    settings = plugin.config.cortex
    has_tokens = AccessControl(plugin.config).has_tokens()
    if settings.auth_token is not None and len(settings.auth_token) < _SHORT:
        log.warning("cortex.authToken is short enough to be guessed: use %d characters or more", _SHORT)
    address = listener.getsockname()[0]
    if ipaddress.ip_address(address.partition("%")[0]).is_loopback:
        if needs_token and not has_tokens and not settings.allow_anonymous_reads:
            added = [route.path.partition("/{")[0] for of in functions("routes") for route in of(plugin.config)]
            but = f" but those of {', '.join(added)}" if added else ""
            hint = "`cortex-skills token create NAME` makes one"
            log.warning("there is no token, so every request%s is refused: %s", but, hint)
        return
    if settings.allow_anonymous_reads:
        message = f"other machines can reach {address}, and cortex.allowAnonymousReads is on"
        raise CortexError("config_invalid", message, hint="turn it off, or listen at 127.0.0.1")
    if not has_tokens:
        hint = "make one first with `cortex-skills token create NAME`, or listen at 127.0.0.1"
        raise CortexError("config_invalid", f"other machines can reach {address}, and there is no token", hint=hint)
    log.warning("other machines can reach %s, and nothing is encrypted: put a proxy with TLS in front of it", address)
