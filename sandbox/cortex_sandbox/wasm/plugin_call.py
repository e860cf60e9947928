"""One call of a module: its store, its time, and the host functions that it may use.

Rules kept here:
- each call has a store of its own: nothing stays from one call to the next;
- a deadline that passes during a host function stops the guest when the function returns;
- an exception of a host function reaches the guest as an error with a code; without a code the guest learns only that
  the function failed, and the host's log has the traceback, a limited number of times;
- what the guest passes is limited in size, and what a host function returns is checked before it is passed on;
- a call of a host function uses fuel, and so does each byte that is passed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from cortex_sandbox.engine.component_import import U16, WitResult
from cortex_sandbox.engine.engine import Engine
from cortex_sandbox.engine.timed_store import TimedStore
from cortex_sandbox.errors import TimedOut
from cortex_sandbox.wasm.plugin_host import HostRefusal, HttpRequest, HttpResponse, PluginHost
from cortex_sandbox.wasm.wasm_limits import HOST_CALL_FUEL, MAX_TABLES, WasmLimits

log = logging.getLogger(__name__)

_MAX_ERROR_TEXT = 2048
_LOG_BYTES = 64 << 10
_LINE_BYTES = 16
_MAX_FAILURES_LOGGED = 10


class PluginCall(TimedStore):
    """The store of one call.

    Args:
        engine: the engine that compiled the module.
        limits: the limits of the call.
        host: what the module may use.
        memories: how many memories the module has; each gets an equal part of `limits.memory_bytes`.
    """

    def __init__(self, engine: Engine, limits: WasmLimits, host: PluginHost, memories: int = 1) -> None:
        super().__init__(
            engine,
            memory_size=limits.memory_bytes // memories,
            table_elements=limits.table_elements,
            instances=limits.instances,
            memories=memories,
            tables=MAX_TABLES,
        )
        self.store = self._store
        self.store.set_fuel(limits.fuel)
        self.host = host
        self.memory_size: Callable[[], int] = lambda: 0  # of a core module that exports its memory, in bytes
        self.transfer_bytes = limits.transfer_bytes
        self._log_room = _LOG_BYTES
        self._failures = 0

    def give_way(self) -> None:
        """Let other threads run, and take the fuel of a call of a host function."""
        super().give_way()
        self.charge(HOST_CALL_FUEL)

    def charge(self, fuel: int) -> None:
        """Take fuel from the guest, which stops at its next step when it has none left."""
        self.store.set_fuel(max(0, self.store.get_fuel() - fuel))

    def answer(self, name: str, work: Callable[[], Any]) -> WitResult:
        """The result of a host function as the guest gets it.

        Args:
            name: the function.
            work: calls it.
        """
        try:
            value = work()
        except Exception as error:
            return WitResult(False, self._described(name, error))
        texts = value if isinstance(value, list) else [value] if isinstance(value, str) else ()
        self.charge(sum(len(each.encode()) for each in texts))  # bytes were counted when they were checked
        return WitResult(True, value)

    def check_time(self) -> None:
        """Raise an error if the time of the call is over.

        Raises:
            TimedOut: it is.
        """
        if time.monotonic() >= self.deadline:
            raise TimedOut("stopped: the time limit was reached", "Timeout")

    def granted(self, kind: str, handle: int) -> str:
        """The grant behind a handle.

        Raises:
            HostRefusal: there is none.
        """
        name = self.host.grants.granted(kind, handle)
        if name is None:
            raise HostRefusal("not_granted", f"{handle} is not a handle of a granted {kind}")
        return name

    def limited(self, *parts: str | bytes | None) -> None:
        """Check the size of what the guest passes to a host function, or gets from it, and take the fuel for it.

        Raises:
            HostRefusal: it is larger than the limit.
        """
        sizes = [len(part.encode() if isinstance(part, str) else part) for part in parts if part is not None]
        self.charge(sum(sizes))
        if None in parts or sum(sizes) > self.transfer_bytes:
            raise HostRefusal("too_large", f"more than {self.transfer_bytes} bytes cannot be passed in one call")

    def keep_line(self, level: str, message: str | None) -> None:
        """Pass a line to the host's log, until its room is used up; None is a line that was too long."""
        size = len((message or "").encode()) + _LINE_BYTES
        if message is None or size > self._log_room:
            self._log_room = 0
            return
        self._log_room -= size
        try:
            self.host.log(level, message)
        except Exception as error:
            self._described("log", error)

    def http_fetch(self, handle: int, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request of the guest."""
        host = self.granted("http", handle)
        method, path, fields, body = request.values()
        self.limited(method, path, fields and b"", body)
        headers = tuple((field["name"], field["value"]) for field in fields)
        self.limited(method, path, body, *(part for pair in headers for part in pair))
        response = self.host.http_fetch(host, HttpRequest(method, path, headers, body))
        if not isinstance(response, HttpResponse) or not 100 <= response.status <= 999:
            raise TypeError("http_fetch must return an HttpResponse with a status from 100 to 999")
        self.limited(_bytes(response.body))
        pairs = [{"name": text(name), "value": text(value)} for name, value in response.headers]
        return {"status": U16(response.status), "headers": pairs, "body": response.body}

    def secret_read(self, handle: int) -> str:
        """A secret."""
        return text(self.host.secret_read(self.granted("secret", handle)))

    def storage_read(self, handle: int, key: str) -> bytes:
        """What is stored under a key."""
        self.limited(key)
        value = _bytes(self.host.storage_read(self.granted("storage", handle), key))
        self.limited(value)
        return value

    def storage_write(self, handle: int, key: str, value: bytes) -> None:
        """Store bytes under a key."""
        self.limited(key, value)
        self.host.storage_write(self.granted("storage", handle), key, value)

    def storage_list(self, handle: int, key: str) -> list[str]:
        """The keys that start with a text."""
        self.limited(key)
        return [text(found) for found in self.host.storage_list(self.granted("storage", handle), key)]

    def channel_send(self, handle: int, message: bytes) -> None:
        """Send bytes to a channel."""
        self.limited(message)
        self.host.channel_send(self.granted("channel", handle), message)

    def config_read(self, name: str) -> str:
        """A configured value as JSON."""
        self.limited(name)
        return text(self.host.config_read(name))

    def graph_query(self, arguments: str) -> str:
        """Query the graph."""
        self.limited(arguments)
        return text(self.host.graph_query(arguments))

    def graph_assert(self, arguments: str) -> str:
        """Assert to the graph."""
        self.limited(arguments)
        return text(self.host.graph_assert(arguments))

    def _described(self, name: str, error: Exception) -> dict[str, str]:
        """The guest's view of an exception in a host function: a record `error`."""
        code, message = getattr(error, "code", None), str(error)[:_MAX_ERROR_TEXT]
        if not isinstance(code, str):
            self._failures += 1
            if self._failures <= _MAX_FAILURES_LOGGED:
                log.warning("the host function %s failed", name, exc_info=error)
            code, message = "host_error", f"{name} failed in the host"
        return {key: value.encode("utf-8", "replace").decode() for key, value in (("code", code), ("message", message))}


def text(value: str) -> str:
    """The value, if it can be passed to a guest.

    Raises:
        TypeError: it is not a text.
        UnicodeEncodeError: it has a lone surrogate.
    """
    if not isinstance(value, str):
        raise TypeError("a text is needed")
    value.encode()
    return value


def _bytes(value: bytes) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError("bytes are needed")
    return value
