"""The answers of a server to a user's query, handed on as they come.

Rules kept here:
- what is handed on is whole, or ends with an error: a server whose time is over may end its answer anywhere, with a
  status of 200. So the end of an answer is looked at before it is let go.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import closing

from pyoxigraph import QueryResultsFormat, RdfFormat

from cortex_graph.errors import invalid
from cortex_graph.stores.http.client import Reply
from cortex_graph.stores.remote.protocol import Protocol

_FORM = re.compile(
    r"(?:\s|#[^\n]*\n|BASE\s*<[^>]*>|PREFIX\s*[^\s:<]*:\s*<[^>]*>)*(SELECT|ASK|CONSTRUCT|DESCRIBE)\b", re.IGNORECASE
)
_TAIL = 256
_CANCELLED = b"The SPARQL operation has been cancelled"
_ENDS = {QueryResultsFormat.JSON: b"}", QueryResultsFormat.XML: b">", RdfFormat.N_TRIPLES: b"."}


def has_rows(text: str) -> bool:
    """Whether a query asks for rows or a truth, not for a graph.

    Raises:
        InvalidArguments: it is no query.

    """
    found = _FORM.match(text)
    if not found:
        raise invalid("query", "is no SELECT, ASK, CONSTRUCT or DESCRIBE", hint="updates go another way")
    return found[1].upper() in ("SELECT", "ASK")


def whole(protocol: Protocol, reply: Reply, form: QueryResultsFormat | RdfFormat) -> Generator[bytes, None, None]:
    """The body of an answer, behind an empty piece: once that is read, closing lets go of the connection.

    Raises:
        QueryTimeout: the time is over, ours or the server's.
        GraphUnavailable: it ends too early.

    """
    held = b""
    with closing(reply):
        yield b""
        for chunk in reply.chunks():
            held += chunk
            if len(held) > _TAIL:
                yield held[:-_TAIL]
                held = held[-_TAIL:]
    end = held.rstrip()
    empty = end.rpartition(b"\n")[2].startswith(b"#") and form == RdfFormat.N_TRIPLES  # Virtuoso: "# Empty NT"
    if end.endswith(_CANCELLED) or (end and not empty and not end.endswith(_ENDS.get(form, b""))):
        raise protocol.broken(held)
    yield held
