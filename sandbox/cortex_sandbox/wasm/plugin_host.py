"""The functions that a host provides to a component.

Rules kept here:
- a function gets the name of the grant, never a handle: a handle that was not granted is refused before;
- a function that the host does not provide is refused with a code;
- a function should end within `cortex_sandbox.remaining_s()`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from cortex_sandbox.wasm.grants import Grants


class HostRefusal(Exception):
    """A host function refuses; the guest gets the code and the message.

    Any other exception with an attribute `code` that is a string is a refusal, too.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request to a granted host, as the guest made it: nothing of it is checked but its types.

    Attributes:
        method: such as `GET`.
        path: the path with the query.
        headers: names and values, in order.
        body: the body; may be empty.
    """

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A response; the attributes are as those of `HttpRequest`, the status is 100 to 999."""

    status: int
    headers: Sequence[tuple[str, str]] = ()
    body: bytes = b""


def _not_provided(*_: object) -> NoReturn:
    raise HostRefusal("not_provided", "this host does not provide the function")


def _ignore(_level: str, _message: str) -> None:
    return None


@dataclass(frozen=True)
class PluginHost:
    """What a module may use.

    Attributes:
        grants: what it was granted.
        http_fetch: sends a request to a granted host.
        secret_read: the value of a granted secret.
        storage_read: what is stored under a prefix and a key.
        storage_write: stores bytes under a prefix and a key.
        storage_list: the keys under a prefix that start with a text.
        channel_send: sends bytes to a granted channel.
        config_read: a value that the owner configured, by its name; as JSON.
        graph_query: queries the graph; arguments and result as JSON.
        graph_assert: asserts to the graph; arguments and result as JSON.
        log: keeps a line; the level is `debug`, `info`, `warning` or `error`.
    """

    grants: Grants = field(default_factory=Grants)
    http_fetch: Callable[[str, HttpRequest], HttpResponse] = _not_provided
    secret_read: Callable[[str], str] = _not_provided
    storage_read: Callable[[str, str], bytes] = _not_provided
    storage_write: Callable[[str, str, bytes], None] = _not_provided
    storage_list: Callable[[str, str], Sequence[str]] = _not_provided
    channel_send: Callable[[str, bytes], None] = _not_provided
    config_read: Callable[[str], str] = _not_provided
    graph_query: Callable[[str], str] = _not_provided
    graph_assert: Callable[[str], str] = _not_provided
    log: Callable[[str, str], None] = _ignore
