"""A client for one server, with deadlines, retries and a circuit breaker.

Rules kept here:
- an exchange has one deadline, from connecting to the last byte;
- a request is repeated, with jitter, when it never reached the server, when the server reports that it did not execute
  it (429, 503), and when its outcome is unknown and it may be executed twice. A request that timed out is not repeated;
- a change that may have reached the server, and of which no answer arrived, is an `UnknownOutcome`, also where a later
  attempt failed before it reached the server;
- redirects are not followed (they would receive the credentials), and compressed bodies are refused, since a small one
  may decompress to gigabytes. Bodies are read in pieces, up to a limit of the caller;
- errors name the server (`GraphUnavailable`, `QueryTimeout`) and contain no secrets. Text of the server is shortened
  and printable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NoReturn
from urllib.parse import urlsplit

import httpx
import tenacity

from cortex_graph.cancellation import Cancellation
from cortex_graph.exceptions import GraphError, GraphUnavailable, QueryTimeout, UnknownOutcome
from cortex_graph.stores.http.breaker import CircuitBreaker
from cortex_graph.stores.http.credentials import Credentials
from cortex_graph.stores.http.deadline import Deadline, DeadlineTransport

CONNECT_S = 5.0
_ATTEMPTS = 3
_CONNECTIONS = 16
_NOT_DONE = frozenset({429, 503})
_UNKNOWN = frozenset({502, 504})
_LOST = "the change was made or not: read what it changes before you repeat it; the same statement again is harmless"
_TOO_LATE = "no answer in time"
_EXCERPT = 300
_VERDICT = 1 << 16
_DRAINED = 1 << 16  # of an unwanted body, so that its connection can be reused
_UNPRINTABLE = re.compile(r"[^\x20-\x7e\xa1-\u024f]+")


class Reply:
    """A response whose body was not read yet. Close it, or read it to its end.

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
        """Yield the body."""
        if (encoding := self.headers.get("content-encoding", "identity").strip().lower()) not in ("", "identity"):
            self.close()
            raise self._client.unavailable(f"answers with a body in {excerpt(encoding)}, which was not requested")
        raw = self._response.iter_raw()
        try:
            while True:
                try:
                    with self._deadline.holds():
                        chunk = next(raw, b"")
                except httpx.TimeoutException:
                    self._client.breaker.failed(_TOO_LATE)
                    raise self._client.too_late(self._deadline, writes=self._writes) from None
                except (httpx.TransportError, httpx.StreamError) as error:
                    problem = self._client.failed(f"broke off its answer: {excerpt(str(error))}")
                    raise (_lost(problem) if self._writes else problem) from error
                if not chunk:
                    return
                yield chunk
        finally:
            self.close()

    def read(self, limit: int) -> bytes:
        """Return the whole body."""
        body = bytearray()
        for chunk in self.chunks():
            body += chunk
            if len(body) > limit:
                self.close()
                raise self._client.unavailable(f"answers with more than {limit} bytes")
        return bytes(body)

    def excerpt(self) -> str:
        """Return the beginning of the body, for a message."""
        return excerpt(self.beginning(_EXCERPT).decode(errors="replace"))

    def beginning(self, length: int) -> bytes:
        """Return up to `length` bytes of the body; the rest is not read, and failures are ignored."""
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
        """Release the connection; it is reused only if the body was read."""
        self._response.close()


class HttpClient:
    """A client for one server.

    Args:
        name: its address, for messages.
        credentials: for the server.
        timeout_s: the default time limit of an exchange, in seconds.
        breaker: shared with other clients of the same server; by default one of its own.
        verdict: returns the error that the body of a 429, 502, 503 or 504 reports, which is then final; None to repeat.
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
        cancel: Cancellation | None = None,
    ) -> Reply:
        """Send a request and return the response with any status, as soon as its head has arrived.

        Args:
            method: GET or POST, for instance.
            url: the address.
            headers: additional headers.
            body: the body.
            writes: whether it changes data; an exceeded time limit is not a `QueryTimeout` then.
            repeatable: whether it may be executed twice when its outcome is unknown.
            timeout_s: the time limit, body included.
            cancel: cancels the call.

        Raises:
            GraphUnavailable: the server cannot be reached, does not answer, or is not contacted after failures.
            UnknownOutcome: it changes data, was sent, and was not answered.
            QueryTimeout: the time limit is exceeded.
        """
        if self._closed:
            raise self.unavailable("was closed", hint="open the store again")
        deadline = Deadline(self.timeout_s if timeout_s is None else timeout_s, cancel)
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(_ATTEMPTS),
            wait=tenacity.wait_random_exponential(multiplier=0.1, max=2),
            retry=tenacity.retry_if_exception(
                lambda error: isinstance(error, _AgainError) and (error.not_done or repeatable) and deadline.left() > 1
            ),
            reraise=True,
        )
        request, sent = self._http.build_request(method, url, headers=headers, content=body), False

        def attempt() -> Reply:
            nonlocal sent
            try:
                return self._attempt(request, deadline, writes=writes)
            except _AgainError as error:
                sent = sent or not error.not_done
                raise

        try:
            return retrying(attempt)
        except (_AgainError, GraphError) as error:
            problem = error.problem if isinstance(error, _AgainError) else error
            raise (_lost(problem) if writes and sent else problem) from error

    def unavailable(self, problem: str, *, hint: str = "") -> GraphUnavailable:
        """Return the error for a problem of this server."""
        return GraphUnavailable(
            f"{self.name} {problem}", hint=hint or "check the server", details={"endpoint": self.name}
        )

    def failed(self, problem: str) -> GraphUnavailable:
        """Count a failure, and return the error for it."""
        self.breaker.failed(problem)
        return self.unavailable(problem)

    def too_late(self, deadline: Deadline, *, writes: bool) -> GraphError:
        """Return the error for a deadline that has passed."""
        problem = f"did not answer within {deadline.seconds:g} s"
        if writes:
            return _lost(self.unavailable(problem))
        return QueryTimeout(
            f"{self.name} {problem}", hint="request less, or give it more time", details={"endpoint": self.name}
        )

    def close(self) -> None:
        """Close all connections; every later call raises `GraphUnavailable`."""
        self._closed = True
        self._http.close()

    def _attempt(self, request: httpx.Request, deadline: Deadline, *, writes: bool) -> Reply:
        if wait := self.breaker.wait_s():
            reason = f"; the last time: {self.breaker.reason}" if self.breaker.reason else ""
            failed = f"failed {self.breaker.failures} times in a row"
            raise self.unavailable(
                f"{failed} and is not contacted for {max(wait, 0.1):.1f} s{reason}",
                hint="check the server, and try again later",
            )
        try:
            response = self._exchange(request, deadline)
        except httpx.ConnectError as error:
            problem = self.failed(f"cannot be reached: {excerpt(str(error))}")
            raise _AgainError(problem, not_done=True) from error
        except (httpx.ConnectTimeout, httpx.PoolTimeout):
            problem = self.failed("cannot be reached: no connection in time")
            raise _AgainError(problem, not_done=True) from None
        except httpx.TimeoutException:
            self.breaker.failed(_TOO_LATE)
            raise self.too_late(deadline, writes=writes) from None
        except (httpx.TransportError, UnicodeError) as error:  # UnicodeError: of a redirect to what is no host
            problem = self.failed(f"broke off: {excerpt(str(error)) or type(error).__name__}")
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
            problem = self.failed(f"answers {reply.status}: {excerpt(body[:_EXCERPT].decode(errors='replace'))}")
            raise _AgainError(problem, not_done=reply.status in _NOT_DONE)
        self.breaker.succeeded()
        if 300 <= reply.status < 400:
            self._refuse_redirect(reply)
        return reply

    def _exchange(self, request: httpx.Request, deadline: Deadline) -> httpx.Response:
        """Send one request, signed; sign it once more after a challenge."""
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
        try:
            target = urlsplit(reply.headers.get("location", "")).hostname or "another place"
        except ValueError:
            target = "what is no address"
        hint = "give the address to which it redirects, if that is the right one"
        raise self.unavailable(f"redirects to {excerpt(target)}, which is not followed", hint=hint)


class _AgainError(Exception):
    """An error after which the request may be repeated, and the error to raise otherwise."""

    def __init__(self, problem: GraphError, *, not_done: bool) -> None:
        super().__init__(problem.message)
        self.problem = problem
        self.not_done = not_done


def _lost(problem: GraphError) -> UnknownOutcome:
    """Return the error for a change whose answer was lost by a problem."""
    return UnknownOutcome(problem.message, hint=_LOST, details=problem.details)


def excerpt(text: str) -> str:
    """Return text of a server, shortened and printable."""
    return _UNPRINTABLE.sub(" ", text)[:_EXCERPT].strip()
