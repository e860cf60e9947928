"""The SPARQL 1.1 Protocol, from the client's side.

Rules kept here:
- queries go as a form (Virtuoso does not take them otherwise), updates as they are (SPARQL 1.1 Protocol §2.1.2 and
  §2.2.2);
- an answer counts when it has the type that was asked for and can be read to its end. Rows are read as they come, and
  one row may have `MAX_ROW` bytes;
- some servers end an answer in the middle of a row when their time is over, with a status of 200: that is a
  `QueryTimeout`. Virtuoso may end it silently, and says so in a header.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import IO, Any, cast
from urllib.parse import urlencode

from pyoxigraph import QueryResultsFormat, QuerySolution, QuerySolutions, parse_query_results

from cortex_graph.errors import GraphError, QueryTimeout
from cortex_graph.stopping import Stop
from cortex_graph.store import Dataset
from cortex_graph.stores.http.client import HttpClient, Reply, excerpt
from cortex_graph.stores.remote.endpoints import Endpoints

MAX_ROW = 64 << 20
_MAX_SMALL = 1 << 20
_TAIL = 256
_TIME_OVER = ("cancelled", "canceled", "timeout", "timed out", "time limit", "execution time")


class RefusedError(Exception):
    """The server refused a text with status 400."""


class Protocol:
    """A SPARQL server.

    Args:
        endpoints: its addresses.
        client: what carries the requests.

    """

    def __init__(self, endpoints: Endpoints, client: HttpClient) -> None:
        self.client = client
        self.server = ""
        self._endpoints = endpoints

    def update(self, text: str) -> None:
        """Carry out an update whose repetition does no harm.

        Raises:
            RefusedError: the server does not take the text.
            GraphUnavailable: it was not carried out, or that is not known.

        """
        reply = self.client.send(
            "POST",
            self._endpoints.update,
            headers={"Content-Type": "application/sparql-update", "Accept": "*/*"},
            body=text.encode(),
            writes=True,
        )
        self._check(reply, writes=True)
        reply.read(_MAX_SMALL)

    def ask(self, text: str, dataset: Dataset | None = None) -> bool:
        """The answer to an ASK query."""
        reply = self.query(text, QueryResultsFormat.JSON.media_type, dataset)
        body = reply.read(_MAX_SMALL)
        try:
            answer = _truth(body)
        except (SyntaxError, ValueError) as error:
            raise self._unreadable(body, error) from error
        if answer is None:
            raise self.client.unavailable("answers ASK with rows")
        return answer

    def rows(self, text: str) -> Generator[QuerySolution, None, None]:
        """The rows of a SELECT query, as they come."""
        reply = self.query(text, QueryResultsFormat.JSON.media_type)
        most = _row_limit(reply)
        body = _Body(self, reply)
        count = 0
        answer: object = None
        try:
            answer = parse_query_results(cast(IO[bytes], body), format=QueryResultsFormat.JSON)
            if not isinstance(answer, QuerySolutions):
                raise self.client.unavailable("answers SELECT without rows")
            for row in answer:
                count += 1
                body.row_bytes = 0
                yield row
        except (SyntaxError, ValueError) as error:
            raise self._unreadable(body.tail, error) from error
        finally:
            answer = None  # an error's traceback would keep it, for whatever thread collects that; it is this one's
            reply.close()
        if most is not None and count >= most:
            hint = "raise its limit (Virtuoso: ResultSetMaxRows)"
            raise self.client.unavailable(f"answers no more than {most} rows", hint=hint)

    def query(
        self,
        text: str,
        accept: str,
        dataset: Dataset | None = None,
        timeout_s: float | None = None,
        stop: Stop | None = None,
    ) -> Reply:
        """The answer to a query, unread.

        Raises:
            RefusedError: the server does not take the text.
            QueryTimeout: it took too long.
            GraphUnavailable: anything else.

        """
        form = [("query", text)]
        if dataset is not None:
            form += [("default-graph-uri", graph.value) for graph in dataset.default]
            form += [("named-graph-uri", graph.value) for graph in dataset.named]
        reply = self.client.send(
            "POST",
            self._endpoints.query,
            headers={"Content-Type": "application/x-www-form-urlencoded", "Accept": accept},
            body=urlencode(form).encode(),
            timeout_s=timeout_s,
            stop=stop,
        )
        self._check(reply, writes=False)
        if reply.media_type != accept:
            kind = excerpt(reply.media_type) or "no type"
            reply.close()
            raise self.client.unavailable(f"answers with {kind} where {accept} was asked for")
        if reply.headers.get("x-sql-state", "").startswith("S1TAT"):
            reply.close()
            raise self.time_over("gave a part of the answer when its time was over")
        return reply

    def time_over(self, problem: str) -> QueryTimeout:
        """The error for a time that was over on the server's side."""
        name = self.client.name
        return QueryTimeout(f"{name} {problem}", hint="ask for less", details={"endpoint": name})

    def broken(self, tail: bytes) -> GraphError:
        """The error for an answer that ends like this, and cannot be read."""
        said = excerpt(tail.decode(errors="replace")[-100:])
        if any(word in said.lower() for word in _TIME_OVER):
            return self.time_over(f"ended the answer when its time was over: … {said[-60:]}")
        return self.client.unavailable(f"gives an answer that cannot be read; it ends with {said[-60:]!r}")

    def _unreadable(self, tail: bytes, error: Exception) -> GraphError:
        problem = self.broken(tail[-_TAIL:])
        problem.details["reason"] = excerpt(str(error))
        return problem

    def _check(self, reply: Reply, *, writes: bool) -> None:
        self.server = reply.headers.get("server", self.server)
        status = reply.status
        if 200 <= status < 300:
            return
        said = reply.excerpt()
        details = f" ({said})" if said else ""
        if status == 400:
            raise RefusedError(said)
        if status in (401, 403):
            hint = "set `auth` of the store, and see what this user may do"
            what = "update" if writes else "query"
            raise self.client.unavailable(f"does not let us {what}: it answers {status}", hint=hint)
        if status in (404, 405, 406, 415):
            hint = "give the address of its SPARQL endpoint; see `query` and `update` in docs/graph.md"
            raise self.client.unavailable(f"speaks no SPARQL there: it answers {status}{details}", hint=hint)
        if status == 413:
            raise self.client.unavailable(
                "takes no request of this size", hint="raise its limit, or write less at once"
            )
        if not writes and (status == 408 or any(word in said.lower() for word in _TIME_OVER)):
            raise self.time_over(f"ran out of time{details}")
        raise self.client.unavailable(f"answers {status}{details}")


class _Body:
    """The body of an answer as a file, which knows its end and how much the row that is being read has."""

    def __init__(self, protocol: Protocol, reply: Reply) -> None:
        self.tail = b""
        self.row_bytes = 0
        self._client = protocol.client
        self._chunks = reply.chunks()
        self._rest = b""

    def read(self, size: int = -1) -> bytes:
        chunk = self._rest or next(self._chunks, b"")
        if 0 <= size < len(chunk):
            chunk, self._rest = chunk[:size], chunk[size:]
        else:
            self._rest = b""
        self.row_bytes += len(chunk)
        if self.row_bytes > MAX_ROW:
            raise self._client.unavailable(f"answers with a row of more than {MAX_ROW} bytes")
        self.tail = (self.tail + chunk)[-_TAIL:]
        return chunk

    def readable(self) -> bool:
        return True


def _truth(body: bytes) -> bool | None:
    """What an ASK was answered with; None for rows: an error's traceback must not keep them, they are this thread's."""
    answer = parse_query_results(body, format=QueryResultsFormat.JSON)
    return None if isinstance(answer, QuerySolutions) else bool(answer)


def _row_limit(reply: Reply) -> int | None:
    text: Any = reply.headers.get("x-sparql-maxrows", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
