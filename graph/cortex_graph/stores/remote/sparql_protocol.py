"""A client of the SPARQL 1.1 Protocol.

Rules kept here:
- queries are sent as a form (required by Virtuoso), updates as the body (SPARQL 1.1 Protocol §2.1.2 and §2.2.2);
- a response is valid when it has the requested type and can be read to its end. Rows are read as a stream, and one row
  may have `MAX_ROW` bytes;
- some servers end a response within a row when their time limit is exceeded, with a status of 200: that is a
  `QueryTimeout`. Virtuoso may truncate the rows instead, and reports it in a header.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import IO, Any, cast
from urllib.parse import urlencode

from pyoxigraph import QueryResultsFormat, QuerySolution, QuerySolutions, parse_query_results

from cortex_graph.cancellation import Cancellation
from cortex_graph.exceptions import GraphError, QueryTimeout
from cortex_graph.store import Dataset
from cortex_graph.stores.http.client import HttpClient, Reply, excerpt
from cortex_graph.stores.remote.endpoints import Endpoints

MAX_ROW = 64 << 20
_MAX_SMALL = 1 << 20
_TAIL = 256
_MAX_REST = 1 << 16
_TIME_OVER = ("cancelled", "canceled", "timeout", "timed out", "time limit", "execution time")


class RefusedError(Exception):
    """The server refused a text with status 400."""


class SparqlProtocol:
    """A SPARQL server."""

    def __init__(self, endpoints: Endpoints, client: HttpClient) -> None:
        self.client = client
        self.server = ""
        self._endpoints = endpoints

    def update(self, text: str) -> bytes:
        """Execute an idempotent update, and return the answer."""
        reply = self.client.send(
            "POST",
            self._endpoints.update,
            headers={"Content-Type": "application/sparql-update", "Accept": "*/*"},
            body=text.encode(),
            writes=True,
        )
        self._check(reply, writes=True)
        return reply.read(_MAX_SMALL)

    def ask(self, text: str, dataset: Dataset | None = None) -> bool:
        """Return the result of an ASK query."""
        reply = self.query(text, QueryResultsFormat.JSON.media_type, dataset)
        body = reply.read(_MAX_SMALL)
        try:
            answer = _truth(body)
        except (SyntaxError, ValueError) as error:
            raise self._unreadable(body, error) from error
        if answer is None:
            raise self.client.unavailable("answers ASK with rows")
        return answer

    def rows(
        self, text: str, dataset: Dataset | None = None, timeout_s: float | None = None
    ) -> Generator[QuerySolution, None, None]:
        """Yield the rows of a SELECT query."""
        reply = self.query(text, QueryResultsFormat.JSON.media_type, dataset, timeout_s)
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
            body.finish()
        except (SyntaxError, ValueError) as error:
            raise self._unreadable(body.tail, error) from error
        finally:
            answer = None  # a traceback would keep it for another thread, and it belongs to this one
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
        cancel: Cancellation | None = None,
    ) -> Reply:
        """Send a query and return the unread response.

        Raises:
            RefusedError: the server refuses the text.
            QueryTimeout: it took too long.
            GraphUnavailable: any other failure.
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
            cancel=cancel,
        )
        self._check(reply, writes=False)
        if reply.media_type != accept.partition(";")[0]:  # `text/csv; charset=utf-8`
            kind = excerpt(reply.media_type) or "no type"
            reply.close()
            raise self.client.unavailable(f"answers with {kind} instead of {accept}")
        if reply.headers.get("x-sql-state", "").startswith("S1TAT"):
            reply.close()
            raise self.timed_out("returned a part of the result at its time limit")
        return reply

    def timed_out(self, problem: str) -> QueryTimeout:
        """Return the error for a time limit of the server."""
        name = self.client.name
        return QueryTimeout(f"{name} {problem}", hint="ask for less", details={"endpoint": name})

    def broken(self, tail: bytes) -> GraphError:
        """Return the error for a response that ends like this, and cannot be read."""
        end = excerpt(tail.decode(errors="replace")[-100:])
        if any(word in end.lower() for word in _TIME_OVER):
            return self.timed_out(f"ended the response at its time limit: … {end[-60:]}")
        return self.client.unavailable(f"returns a response that cannot be read; it ends with {end[-60:]!r}")

    def _unreadable(self, tail: bytes, error: Exception) -> GraphError:
        problem = self.broken(tail[-_TAIL:])
        problem.details["reason"] = excerpt(str(error))
        return problem

    def _check(self, reply: Reply, *, writes: bool) -> None:
        self.server = reply.headers.get("server", self.server)
        status = reply.status
        if 200 <= status < 300:
            return
        message = reply.excerpt()
        details = f" ({message})" if message else ""
        if status == 400:
            raise RefusedError(message)
        if status in (401, 403):
            hint = "set `auth` of the store, and check the permissions of the user"
            what = "update" if writes else "query"
            raise self.client.unavailable(f"does not permit this {what}: it answers {status}", hint=hint)
        if status in (404, 405, 406, 415):
            hint = "give the address of its SPARQL endpoint; see `query` and `update` in docs/graph.md"
            raise self.client.unavailable(f"has no SPARQL endpoint there: it answers {status}{details}", hint=hint)
        if status == 413:
            raise self.client.unavailable(
                "refuses requests of this size", hint="raise its limit, or write less at once"
            )
        if not writes and (status == 408 or any(word in message.lower() for word in _TIME_OVER)):
            raise self.timed_out(f"exceeded its time limit{details}")
        raise self.client.unavailable(f"answers {status}{details}")


class _Body:
    """The body of a response as a file, which records its last bytes and the size of the current row."""

    def __init__(self, protocol: SparqlProtocol, reply: Reply) -> None:
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

    def finish(self) -> None:
        """Read the rest behind the last row, if it is short, so that the connection can be used again."""
        left = _MAX_REST
        while left > 0 and (chunk := self.read()):
            left -= len(chunk)

    def readable(self) -> bool:
        return True


def _truth(body: bytes) -> bool | None:
    """Return the result of an ASK; None for rows, which must stay in this thread and out of tracebacks."""
    answer = parse_query_results(body, format=QueryResultsFormat.JSON)
    return None if isinstance(answer, QuerySolutions) else bool(answer)


def _row_limit(reply: Reply) -> int | None:
    text: Any = reply.headers.get("x-sparql-maxrows", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
