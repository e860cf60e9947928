"""HTTP requests of components to granted hosts.

Rules kept here:
- a request goes to the host of the grant and to no other, with https; a grant with `*` takes the host from the header
  `Host`, which must fit it. The owner may reach a host at another address (`artifacts.addresses`), also on this
  machine, which alone is reached without TLS;
- an address that is not public is refused (`safe_io.outbound`);
- redirects are answers: the component decides, and its next request is checked as the first one;
- the time is that of the call, ten seconds at most, the size that of `MAX_BYTES`; no cookies, no proxy, no credentials
  of this machine; headers that belong to the connection are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase

import httpcore
import httpx

from cortex_graph.stores.http.deadline import Deadline
from cortex_sandbox import remaining_s
from cortex_sandbox.wasm import HostRefusal, HttpRequest, HttpResponse
from cortex_skills.cancellation import CancelToken
from cortex_skills.safe_io.outbound import OutboundError, TooLongError, body, outbound_client
from cortex_skills.safe_io.schemas import shown

MAX_BYTES = 1 << 20
MAX_PATH = 8192
MAX_HEADERS = 64
MAX_S = 10.0
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_VALUE = re.compile(r"[\t\x20-\x7e]{0,8000}")
_PATH = re.compile(r"/[\x21\x22\x24-\x7e]*")  # without #, which is not sent
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")
_OF_THE_CONNECTION = frozenset(
    {
        "connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization", "proxy-connection", "te",
        "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip


def fetch(
    granted: str, request: HttpRequest, addresses: Mapping[str, str], cancel: CancelToken | None = None
) -> HttpResponse:
    """Send a request of a component.

    Args:
        granted: the host of the grant.
        request: as the component made it.
        addresses: where the owner reaches some hosts, as `https://HOST:PORT`.
        cancel: cancels the call.

    Raises:
        HostRefusal: `http_refused` for the request, `host_refused` for its address, `http_failed` without an answer.
    """
    host, headers = _checked(granted, request)
    base, is_own = addresses.get(host, f"https://{host}"), host in addresses
    try:
        target = httpx.URL(base).copy_with(raw_path=request.path.encode())
        _ = target.host  # the name, decoded: one that only looks like an international name has none
    except (httpx.InvalidURL, UnicodeError, ValueError):
        raise _refused(f"{shown(host)} is not a host that has an address") from None
    return send(target, request.method, headers, request.body, is_own=is_own, cancel=cancel)


def send(
    target: httpx.URL,
    method: str,
    headers: list[tuple[str, str]],
    content: bytes,
    *,
    is_own: bool,
    cancel: CancelToken | None,
) -> HttpResponse:
    """Send a request to an address.

    Args:
        target: the address.
        method: of the request.
        headers: of the request.
        content: of the request.
        is_own: whether the owner configured the address, so that it may be on this machine.
        cancel: cancels the call.

    Raises:
        HostRefusal: `host_refused` or `http_failed`.
    """
    deadline = Deadline(min(MAX_S, remaining_s()), cancel)

    try:
        with (
            outbound_client(deadline, allow_loopback=is_own) as client,
            deadline.holds(),
            client.stream(method, target, headers=headers, content=content or None) as response,
        ):
            data = body(response, MAX_BYTES)
            pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw]
            return HttpResponse(response.status_code, pairs, data)
    except TooLongError:
        raise HostRefusal("http_failed", f"the answer is longer than {MAX_BYTES:,} bytes") from None
    except OutboundError as error:
        raise HostRefusal("host_refused" if error.code == "host_refused" else "http_failed", error.message) from None
    except (httpx.TimeoutException, httpcore.TimeoutException):
        raise HostRefusal("http_failed", f"{shown(target.host)} did not answer in time") from None
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, ValueError) as error:
        raise HostRefusal("http_failed", f"{shown(target.host)} cannot be reached: {type(error).__name__}") from None


def _checked(granted: str, request: HttpRequest) -> tuple[str, list[tuple[str, str]]]:
    """The host and the headers of a request."""
    if request.method not in METHODS:
        raise _refused(f"{shown(request.method)} is not one of {', '.join(METHODS)}")
    if len(request.path) > MAX_PATH or not _PATH.fullmatch(request.path):
        raise _refused("the path does not start with /, is too long, or has characters to be encoded")
    if len(request.headers) > MAX_HEADERS:
        raise _refused(f"it has more than {MAX_HEADERS} headers")
    host, headers = granted, []
    for name, value in request.headers:
        if not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
            raise _refused(f"the header {shown(name)} is not valid")
        if name.lower() == "host" and "*" in granted:
            host = value.strip().lower()
        elif name.lower() in _OF_THE_CONNECTION:
            raise _refused(f"the header {shown(name)} belongs to the connection")
        else:
            headers.append((name, value))
    if not _HOST.fullmatch(host) or not fnmatchcase(host, granted):
        raise _refused(f"{shown(host)} is not a host of the grant {shown(granted)}: name it in the header Host")
    return host, headers


def _refused(what: str) -> HostRefusal:
    return HostRefusal("http_refused", what)
