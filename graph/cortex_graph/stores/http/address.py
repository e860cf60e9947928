"""The address of a server, checked before anything is sent to it.

Rules kept here:
- an address is a scheme, a host, perhaps a port and a path. Whoever puts a user, a password, a query string or a
  fragment into it is refused: addresses are shown in messages, and secrets are not;
- what is refused is not repeated in the message, for the same reason.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from cortex_graph.errors import invalid

_VISIBLE = re.compile(r"[\x21-\x7e]+")
_HINT = "for instance `https://example.org/sparql`"


def base_url(address: object, field: str, *, schemes: tuple[str, ...] = ("http", "https")) -> str:
    """The address itself, when it is one.

    Args:
        address: what was given.
        field: what to call it in an error.
        schemes: those that may be.

    Raises:
        InvalidArguments: it is not.

    """
    if not isinstance(address, str) or not _VISIBLE.fullmatch(address):
        raise invalid(field, "is no address of a server", hint=_HINT)
    try:
        url = urlsplit(address)
        host, port = url.hostname, url.port
    except ValueError as error:
        raise invalid(field, f"is no address of a server: {error}", hint=_HINT) from None
    if url.scheme.lower() not in schemes or not host or port == 0:
        raise invalid(field, "is no address of a server", hint=_HINT)
    if "@" in url.netloc:
        hint = "name them apart: `{query: URL, auth: {type: basic, user: …, password: ${VARIABLE}}}`"
        raise invalid(field, f"holds a user or a password of {host}", hint=hint)
    if url.query or url.fragment or "?" in address or "#" in address:
        raise invalid(field, f"of {host} holds a query string or a fragment", hint="leave it out")
    return address
