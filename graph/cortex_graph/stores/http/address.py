"""The address of a server, checked before anything is sent to it.

Rules kept here:
- an address is a scheme, a host, an optional port and a path. User, password, query string and fragment are refused:
  addresses are shown in messages, and secrets must not be;
- messages do not repeat what was refused, for the same reason.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from cortex_graph.exceptions import invalid

_VISIBLE = re.compile(r"[\x21-\x7e]+")
_HINT = "for instance `https://example.org/sparql`"


def base_url(address: object, field: str, *, schemes: tuple[str, ...] = ("http", "https")) -> str:
    """Return an address if it is valid."""
    if not isinstance(address, str) or not _VISIBLE.fullmatch(address):
        raise invalid(field, "is not the address of a server", hint=_HINT)
    try:
        url = urlsplit(address)
        host, port = url.hostname, url.port
    except ValueError as error:
        raise invalid(field, f"is not the address of a server: {error}", hint=_HINT) from None
    if url.scheme.lower() not in schemes or not host or port == 0:
        raise invalid(field, "is not the address of a server", hint=_HINT)
    if "@" in url.netloc:
        hint = "give them separately: `{query: URL, auth: {type: basic, user: …, password: ${VARIABLE}}}`"
        raise invalid(field, f"holds a user or a password of {host}", hint=hint)
    if url.query or url.fragment or "?" in address or "#" in address:
        raise invalid(field, f"of {host} holds a query string or a fragment", hint="leave it out")
    return address
