"""`serve`: the application on a port, until it is told to end.

Rules kept here:
- the port is taken before anything else is done, so that a port in use is told of at once;
- an address that others can reach is served only when nobody comes in without a token, and with a warning: there is no
  TLS here;
- SIGTERM and SIGINT end it well: no new connections, what is under way is finished within a time, and the sandboxes
  are emptied.
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
from functools import partial
from types import FrameType

import uvicorn

from cortex_skills.errors import CortexError
from cortex_skills.plugin import Plugin
from cortex_skills.server.app import create_app
from cortex_skills.server.auth import Gate
from cortex_skills.server.bodies import BODY_S
from cortex_skills.server.mcp.door import McpDoor
from cortex_skills.server.protocol import MAX_HEAD, Patience, PatientProtocol

log = logging.getLogger(__name__)

_BACKLOG = 512
_SHORT = 20


def serve(
    plugin: Plugin,
    host: str,
    port: int,
    ready: Callable[[str], None],
    *,
    patience: Patience | None = None,
    body_s: float = BODY_S,
) -> None:
    """Serve a plugin until the process is told to end; call it from the main thread.

    Args:
        plugin: whose store is served.
        host: an address or a name of this machine.
        port: 0 for any that is free.
        ready: called with the URL once it answers.
        patience: what clients may take.
        body_s: how long the body of a request may take, in seconds.

    Raises:
        CortexError: `config_invalid`: the address cannot be used, or must not be used as things are.

    """
    with bound(host, port) as listener:
        check_reach(plugin, listener)
        prepared(plugin, host, partial(ready, url_of(listener)), patience=patience, body_s=body_s).run([listener])


def prepared(
    plugin: Plugin,
    host: str,
    ready: Callable[[], None],
    *,
    patience: Patience | None = None,
    body_s: float = BODY_S,
) -> uvicorn.Server:
    """A server that is ready to be run on a socket; arguments as in `serve`."""
    patience = patience or Patience()
    app = create_app(plugin, host=host, body_s=body_s)
    door: McpDoor = app.state.mcp
    door.is_told_to_end = True
    config = uvicorn.Config(
        app,
        http=partial(PatientProtocol, patience=patience),  # type: ignore[arg-type]
        loop="asyncio",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=_BACKLOG,
        timeout_keep_alive=patience.idle_s,
        timeout_graceful_shutdown=patience.shutdown_s,
        h11_max_incomplete_event_size=MAX_HEAD,
    )
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # below that it tells what any client can cause
    return _Server(config, ready, door.end)


def url_of(listener: socket.socket) -> str:
    """The URL of what listens there."""
    address, port = listener.getsockname()[:2]
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"


class _Server(uvicorn.Server):
    """A server that says when it answers, and ends without being killed by the signal that ended it."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None], end_streams: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready
        self._end_streams = end_streams

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._end_streams()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():  # which alone is told of signals
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
            self.force_exit = True  # asked twice
        self.should_exit = True


@contextmanager
def bound(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that is bound, and closed at the end.

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
        raise CortexError("config_invalid", f"{host} is no address to listen at: {error}", hint=hint) from error
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


def check_reach(plugin: Plugin, listener: socket.socket) -> None:
    """Refuse an address that others can reach, unless everybody needs a token there.

    Raises:
        CortexError: `config_invalid`.

    """
    settings = plugin.config.cortex
    has_tokens = Gate(plugin.config).has_tokens()
    if settings.auth_token is not None and len(settings.auth_token) < _SHORT:
        log.warning("cortex.authToken is short, so it can be guessed: give it %d characters or more", _SHORT)
    address = listener.getsockname()[0]
    if ipaddress.ip_address(address.partition("%")[0]).is_loopback:
        if not has_tokens and not settings.allow_anonymous_reads:
            log.warning("there is no token yet, so nobody can come in: `cortex-skills token create NAME` makes one")
        return
    if settings.allow_anonymous_reads:
        message = f"{address} can be reached by others, and cortex.allowAnonymousReads is on"
        raise CortexError("config_invalid", message, hint="switch it off, or listen at 127.0.0.1")
    if not has_tokens:
        hint = "make one first with `cortex-skills token create NAME`, or listen at 127.0.0.1"
        raise CortexError("config_invalid", f"{address} can be reached by others, and there is no token", hint=hint)
    log.warning("%s can be reached by others, and nothing is encrypted: put a proxy with TLS before it", address)
