"""Streams the result of a user's query from a server.

Rules kept here:
- a result is complete, or ends with an error: a server whose time limit is exceeded may end its answer anywhere, with a
  status of 200. So the end of a result is checked before its last bytes are passed on.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import closing

from pyoxigraph import QueryResultsFormat, RdfFormat

from cortex_graph.exceptions import invalid
from cortex_graph.stores.http.client import Reply
from cortex_graph.stores.remote.sparql_protocol import SparqlProtocol

_FORM = re.compile(
    r"(?:\s|#[^\n]*\n|BASE\s*<[^>]*>|PREFIX\s*[^\s:<]*:\s*<[^>]*>)*(SELECT|ASK|CONSTRUCT|DESCRIBE)\b", re.IGNORECASE
)
_TAIL = 256
_CANCELLED = b"The SPARQL operation has been cancelled"
_ENDS = {QueryResultsFormat.JSON: b"}", QueryResultsFormat.XML: b">", RdfFormat.N_TRIPLES: b"."}


def has_rows(text: str) -> bool:
    """Return whether a query is a SELECT or ASK."""
    found = _FORM.match(text)
    if not found:
        raise invalid("query", "is not a SELECT, ASK, CONSTRUCT or DESCRIBE", hint="send updates as updates")
    return found[1].upper() in ("SELECT", "ASK")


def whole(protocol: SparqlProtocol, reply: Reply, form: QueryResultsFormat | RdfFormat) -> Generator[bytes, None, None]:
    """Yield an empty piece, then the body; closing it after the first piece releases the connection."""
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
