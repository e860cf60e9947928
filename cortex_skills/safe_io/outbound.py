"""Requests to servers that others name: which addresses are reached, and how.

    address = web_address(text)
    with outbound_client(deadline, allow_loopback=False) as client, deadline.holds():
        with client.stream("GET", address) as answer:
            data = body(answer, 1 << 20)

Rules kept here:
- https only, without credentials in the address; with `allow_loopback` also this machine, which alone may be reached
  with http;
- an address that is not public is refused after the name was resolved, if one of its addresses is not. The connection
  is made to the address that was checked, so that a second answer of the name server changes nothing;
- one deadline for everything, the resolution of the name included; no redirects, no proxy, no cookies, no credentials
  of this machine, nothing compressed unless it is asked for;
- a body is read up to a size, and no further.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
from queue import Empty, SimpleQueue

import httpcore
import httpx

from cortex_graph.stores.http.deadline import Deadline, DeadlineTransport
from cortex_skills.safe_io.schemas import shown

MAX_URL = 2048
HEADERS = {"User-Agent": "cortex-skills", "Accept-Encoding": "identity"}


class OutboundError(Exception):
    """An address that is not reached.

    Args:
        message: why.
        hint: what to do next.
        code: `host_refused`, or `action_failed` for a host without an address.
    """

    def __init__(self, message: str, hint: str = "give another address", code: str = "host_refused") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code


class TooLongError(Exception):
    """A body that is longer than it may be."""


def web_address(text: object, *, allow_http: bool = False, hint: str = "give an https address") -> httpx.URL:
    """An address that may be reached, as far as its text shows.

    Args:
        text: as somebody gave it.
        allow_http: whether http is allowed; it reaches this machine only.
        hint: for an address that is not https.

    Raises:
        OutboundError: it may not.
    """
    if not isinstance(text, str) or len(text) > MAX_URL or not text.isprintable() or "\\" in text or " " in text:
        raise OutboundError(f"{shown(text)} is not a web address")
    try:
        address = httpx.URL(text)
        host = address.host  # the name, decoded: one that only looks like an international name has none
    except (httpx.InvalidURL, UnicodeError, ValueError):
        raise OutboundError(f"{shown(text)} is not a web address") from None
    if address.userinfo:  # which the message must not repeat
        raise OutboundError("the address has credentials", "give an address without them")
    if address.scheme != "https" and not (address.scheme == "http" and allow_http):
        raise OutboundError(f"{shown(text)} is not https", hint)
    if not host:
        raise OutboundError(f"{shown(text)} has no host", "give an address of a host")
    return address


def outbound_client(deadline: Deadline, *, allow_loopback: bool, accept: str = "") -> httpx.Client:
    """A client for one thread, whose connections are made to checked addresses.

    Its requests raise an `OutboundError` beside the errors of httpx and httpcore.

    Args:
        deadline: of everything.
        allow_loopback: whether this machine may be reached.
        accept: the header `Accept`.
    """
    schemes = ["https"]

    def resolve(host: str, port: int) -> str:
        encrypted = schemes[-1] == "https"
        return public_address(
            host, port, allow_loopback=allow_loopback, is_encrypted=encrypted, timeout_s=deadline.left()
        )

    client = httpx.Client(
        transport=DeadlineTransport(1, address_of=resolve),
        event_hooks={
            "request": [lambda request: schemes.append(request.url.scheme)],
            "response": [lambda _: client.cookies.clear()],
        },
        follow_redirects=False,
        trust_env=False,
        timeout=None,  # noqa: S113 - the deadline
        headers=HEADERS | ({"Accept": accept} if accept else {}),
    )
    return client


def body(response: httpx.Response, most: int) -> bytes:
    """The body of an answer as it was sent.

    Raises:
        TooLongError: it has more bytes.
    """
    data = bytearray()
    for chunk in response.iter_raw():
        data += chunk
        if len(data) > most:
            raise TooLongError
    return bytes(data)


def public_address(
    host: str, port: int, *, allow_loopback: bool, is_encrypted: bool = True, timeout_s: float = 10.0
) -> str:
    """The IP address of a host that is connected to.

    Args:
        host: its name.
        port: its port.
        allow_loopback: whether this machine may be reached.
        is_encrypted: whether TLS is used; else only this machine may be reached.
        timeout_s: for the resolution of the name, in seconds.

    Raises:
        OutboundError: one of its addresses is not public, or it has none.
        ConnectTimeout: of httpcore: the name was not resolved in time.
    """
    found = _addresses(host, port, timeout_s)
    if not found:
        raise OutboundError(f"{shown(host)} has no address", "check the host", "action_failed")
    for address in found:
        if not _may_be_reached(address, allow_loopback=allow_loopback, is_encrypted=is_encrypted):
            raise OutboundError(f"{shown(host)} is at {address}, which is no public address", "name a public host")
    return found[0]


def _addresses(host: str, port: int, timeout_s: float) -> list[str]:
    """The addresses of a host. The resolver of the system has no time limit: its thread is left behind then."""
    answers: SimpleQueue[list[str]] = SimpleQueue()

    def ask() -> None:
        try:
            answers.put([str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)])
        except (OSError, UnicodeError):
            answers.put([])

    threading.Thread(target=ask, name="cortex-resolver", daemon=True).start()
    try:
        return answers.get(timeout=timeout_s)
    except Empty:
        raise httpcore.ConnectTimeout("the name was not resolved in time") from None


def _may_be_reached(text: str, *, allow_loopback: bool, is_encrypted: bool) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1] or _translated(address)
        if inner is not None:
            return address.ipv4_mapped is not None and _may_be_reached(
                str(inner), allow_loopback=allow_loopback, is_encrypted=is_encrypted
            )
        if address.is_site_local:  # which `is_global` does not know
            return False
    if address.is_loopback:
        return allow_loopback
    return is_encrypted and address.is_global and not address.is_multicast and not address.is_reserved


def _translated(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The address of IPv4 that a translator reaches (NAT64, RFC 6052)."""
    prefixes = ("64:ff9b::/96", "64:ff9b:1::/48")
    is_one = any(address in ipaddress.IPv6Network(prefix) for prefix in prefixes)
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if is_one else None
