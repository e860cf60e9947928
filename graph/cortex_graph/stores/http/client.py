"""A client for one server: it gives up in time, asks again where that is safe, and leaves a failing server in peace.

Rules kept here:
- an exchange has one deadline, from the first connection to the last byte, whatever the server does meanwhile;
- asked again, with jitter, is what never reached the server, what it says it did not do (429, 503), and what may be
  done twice when its outcome is unknown. A time that is over is not spent again;
- an answer is what it is: redirects are not followed (the credentials would go along), and a compressed body is
  refused, since a small one may unfold to gigabytes. Bodies are read in pieces, up to a limit that the caller sets;
- errors name the server (`GraphUnavailable`, `QueryTimeout`) and hold no secret. What the server says about itself is
  shortened, and printable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NoReturn
from urllib.parse import urlsplit

import httpx
import tenacity

from cortex_graph.errors import GraphError, GraphUnavailable, QueryTimeout
from cortex_graph.stopping import Stop
from cortex_graph.stores.http.breaker import CircuitBreaker
from cortex_graph.stores.http.credentials import Credentials
from cortex_graph.stores.http.deadline import Deadline, DeadlineTransport

CONNECT_S = 5.0
_ATTEMPTS = 3
_CONNECTIONS = 16
_NOT_DONE = frozenset({429, 503})
_UNKNOWN = frozenset({502, 504})
_EXCERPT = 300
_VERDICT = 1 << 16
_DRAINED = 1 << 16  # of a body that is not wanted, so that its connection can be used again
_UNPRINTABLE = re.compile(r"[^\x20-\x7e\xa1-\u024f]+")


class Reply:
    """An answer whose body has not been read yet. Close it, or read it to its end.

    Attributes:
        status: the status code.
        headers: the headers.
        media_type: the type of the body, in lower case and without parameters.

    """

    def __init__(self, client: HttpClient, response: httpx.Response, deadline: Deadline, *, writes: bool) -> None:
        self.status = response.status_code
        self.headers = response.headers
        self.media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        self._client = client
        self._response = response
        self._deadline = deadline
        self._writes = writes

    def chunks(self) -> Iterator[bytes]:
        """The body, as it comes.

        Raises:
            QueryTimeout: the deadline is over; `GraphUnavailable` when something was to be written.
            GraphUnavailable: the connection broke, or the body is not what was announced.

        """
        if (encoding := self.headers.get("content-encoding", "identity").strip().lower()) not in ("", "identity"):
            self.close()
            raise self._client.unavailable(f"answers with a body in {excerpt(encoding)}, which was not asked for")
        raw = self._response.iter_raw()
        try:
            while True:
                try:
                    with self._deadline.holds():
                        chunk = next(raw, b"")
                except httpx.TimeoutException:
                    self._client.breaker.failed()
                    raise self._client.too_late(self._deadline, writes=self._writes) from None
                except (httpx.TransportError, httpx.StreamError) as error:
                    self._client.breaker.failed()
                    raise self._client.unavailable(f"broke off its answer: {excerpt(str(error))}") from error
                if not chunk:
                    return
                yield chunk
        finally:
            self.close()

    def read(self, limit: int) -> bytes:
        """The whole body.

        Raises:
            GraphUnavailable: it has more than `limit` bytes, or what `chunks` raises.

        """
        body = bytearray()
        for chunk in self.chunks():
            body += chunk
            if len(body) > limit:
                self.close()
                raise self._client.unavailable(f"answers with more than {limit} bytes")
        return bytes(body)

    def excerpt(self) -> str:
        """The beginning of what the server says, for a message."""
        return excerpt(self.beginning(_EXCERPT).decode(errors="replace"))

    def beginning(self, length: int) -> bytes:
        """So much of the body, or less; the rest is not read, and what goes wrong is no error."""
        body = b""
        try:
            for chunk in self.chunks():
                body += chunk
                if len(body) > length:
                    break
        except GraphError:
            pass
        finally:
            self.close()
        return body[:length]

    def close(self) -> None:
        """Let go of the connection; it cannot be used again unless the body was read."""
        self._response.close()


class HttpClient:
    """A client for one server.

    Args:
        name: its address, as messages name it.
        credentials: who we are.
        timeout_s: how long an exchange may take unless told, in seconds.
        breaker: shared with other clients of the same server, or one of its own.
        verdict: makes an error of the body of a 429, 502, 503 or 504 with which the server has answered the question,
            or None where it could not: then it is asked again.

    """

    def __init__(
        self,
        name: str,
        credentials: Credentials | None = None,
        *,
        timeout_s: float = 30.0,
        breaker: CircuitBreaker | None = None,
        verdict: Callable[[bytes], GraphError | None] = lambda _: None,
    ) -> None:
        self.name = name
        self._verdict = verdict
        self.timeout_s = timeout_s
        self.breaker = breaker or CircuitBreaker()
        self._auth = credentials.auth() if credentials else None
        self._closed = False
        self._http = httpx.Client(
            transport=DeadlineTransport(_CONNECTIONS),
            follow_redirects=False,
            trust_env=False,
            headers={"Accept-Encoding": "identity", "User-Agent": "cortex-graph"},
        )

    def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        writes: bool = False,
        repeatable: bool = True,
        timeout_s: float | None = None,
        stop: Stop | None = None,
    ) -> Reply:
        """Send a request and wait for the head of its answer, whatever its status.

        Args:
            method: GET, POST, …
            url: where to.
            headers: more headers.
            body: what to send.
            writes: whether it changes something; a time that is over is then no `QueryTimeout`.
            repeatable: whether it may be done twice when its outcome is unknown.
            timeout_s: how long it may take, body included.
            stop: ends it, by cutting its connection; that says nothing about the server.

        Raises:
            GraphUnavailable: the server cannot be reached, does not answer, or is left in peace.
            QueryTimeout: the time is over.

        """
        if self._closed:
            raise self.unavailable("was closed", hint="open the store again")
        deadline = Deadline(self.timeout_s if timeout_s is None else timeout_s, stop)
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(_ATTEMPTS),
            wait=tenacity.wait_random_exponential(multiplier=0.1, max=2),
            retry=tenacity.retry_if_exception(
                lambda error: isinstance(error, _AgainError) and (error.not_done or repeatable) and deadline.left() > 1
            ),
            reraise=True,
        )
        try:
            return retrying(
                self._attempt,
                self._http.build_request(method, url, headers=headers, content=body),
                deadline,
                writes=writes,
            )
        except _AgainError as error:
            raise error.problem from error

    def unavailable(self, problem: str, *, hint: str = "") -> GraphUnavailable:
        """The error that says what is the matter with this server."""
        return GraphUnavailable(
            f"{self.name} {problem}", hint=hint or "see whether the server is well", details={"endpoint": self.name}
        )

    def too_late(self, deadline: Deadline, *, writes: bool) -> GraphError:
        """The error for a time that is over."""
        problem = f"did not answer within {deadline.seconds:g} s"
        if writes:
            return self.unavailable(problem, hint="it may have written all the same; writing it again does no harm")
        return QueryTimeout(
            f"{self.name} {problem}", hint="ask for less, or give it more time", details={"endpoint": self.name}
        )

    def close(self) -> None:
        """Close all connections; every later call raises `GraphUnavailable`."""
        self._closed = True
        self._http.close()

    def _attempt(self, request: httpx.Request, deadline: Deadline, *, writes: bool) -> Reply:
        if wait := self.breaker.wait_s():
            raise self.unavailable(
                f"failed {self.breaker.failures} times in a row and is left in peace for {max(wait, 0.1):.1f} s",
                hint="see whether the server is well, and try again then",
            )
        try:
            response = self._exchange(request, deadline)
        except httpx.ConnectError as error:
            self.breaker.failed()
            raise _AgainError(self.unavailable(f"cannot be reached: {excerpt(str(error))}"), not_done=True) from error
        except (httpx.ConnectTimeout, httpx.PoolTimeout):
            self.breaker.failed()
            problem = self.unavailable("cannot be reached: no connection in time")
            raise _AgainError(problem, not_done=True) from None
        except httpx.TimeoutException:
            self.breaker.failed()
            raise self.too_late(deadline, writes=writes) from None
        except httpx.TransportError as error:
            self.breaker.failed()
            problem = self.unavailable(f"broke off: {excerpt(str(error)) or type(error).__name__}")
            raise _AgainError(problem, not_done=False) from error
        except RuntimeError as error:  # another thread closed the client
            raise self.unavailable("was closed", hint="open the store again") from error
        except BaseException:
            if not deadline.was_stopped:
                self.breaker.failed()
            raise
        reply = Reply(self, response, deadline, writes=writes)
        if reply.status in _NOT_DONE | _UNKNOWN:
            body = reply.beginning(_VERDICT)
            if verdict := self._verdict(body):
                self.breaker.succeeded()
                raise verdict
            self.breaker.failed()
            said = f"answers {reply.status}: {excerpt(body[:_EXCERPT].decode(errors='replace'))}"
            raise _AgainError(self.unavailable(said), not_done=reply.status in _NOT_DONE)
        self.breaker.succeeded()
        if 300 <= reply.status < 400:
            self._refuse_redirect(reply)
        return reply

    def _exchange(self, request: httpx.Request, deadline: Deadline) -> httpx.Response:
        """One request, signed; signed once more when the server challenges."""
        connect = min(CONNECT_S, deadline.seconds)
        request.extensions["timeout"] = {"connect": connect, "pool": connect, "read": None, "write": None}
        flow = self._auth.sync_auth_flow(request) if self._auth else None
        try:
            signed = next(flow) if flow else request
            while True:
                with deadline.holds():
                    response = self._http.send(signed, stream=True, auth=None)
                if flow is None:
                    return response
                try:
                    signed = flow.send(response)
                except StopIteration:
                    return response
                self._drop(response, deadline)
        finally:
            if flow:
                flow.close()

    def _drop(self, response: httpx.Response, deadline: Deadline) -> None:
        read = 0
        with deadline.holds():
            for chunk in response.iter_raw():
                read += len(chunk)
                if read > _DRAINED:
                    break
        response.close()

    def _refuse_redirect(self, reply: Reply) -> NoReturn:
        reply.close()
        target = urlsplit(reply.headers.get("location", "")).hostname or "another place"
        hint = "give the address that it leads to, if that is the one you mean"
        raise self.unavailable(f"redirects to {excerpt(target)}, and that is not followed", hint=hint)


class _AgainError(Exception):
    """What may be tried again, and the error to raise when it is not."""

    def __init__(self, problem: GraphError, *, not_done: bool) -> None:
        super().__init__(problem.message)
        self.problem = problem
        self.not_done = not_done


def excerpt(text: str) -> str:
    """Somebody else's words, short and printable."""
    return _UNPRINTABLE.sub(" ", text)[:_EXCERPT].strip()
