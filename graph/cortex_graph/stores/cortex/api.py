"""A client of the Cortex REST API.

Rules kept here:
- a response is valid when it has the required status and shape: JSON in UTF-8, an object, of a bounded size;
- an error of the server becomes a `GraphError` with its address: 401 and 403 are `GraphUnavailable`, since the token of
  the store is refused; a refused argument is `InvalidArguments`;
- `graph_busy` and `query_timeout` of the server are answers: the request is not repeated, and they are not failures;
- writes may be executed twice, so they are repeated when their outcome is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from cortex_graph.exceptions import GraphBusy, GraphError, QueryLimit, QueryTimeout, invalid
from cortex_graph.stores.cortex.server_address import ServerAddress
from cortex_graph.stores.http.client import HttpClient, Reply, excerpt

MAX_BODY = 8 << 20  # of a request; the limit of the server
_MAX_ANSWER = 256 << 20
_MAX_ERROR = 1 << 16
_JSON = "application/json"
_HINT = "check that this is `cortex-skills serve`, of this version"
_RIGHTS = "its token (`auth` of the store) needs the namespace and the permissions read, write and provenance"


class CortexApi:
    """A Cortex server.

    Args:
        place: its address and credentials.
        timeout_s: the time limit of an exchange, in seconds.
    """

    def __init__(self, place: ServerAddress, timeout_s: float) -> None:
        self.url = place.url
        self.client = HttpClient(place.url, place.credentials, timeout_s=timeout_s, verdict=self._verdict)

    def get(self, path: str, **parameters: str) -> dict[str, Any]:
        """Return the document at a path."""
        return self._document(self._send("GET", path, parameters))

    def find(self, path: str, **parameters: str) -> dict[str, Any] | None:
        """Return the document at a path; None when the server answers that the id does not exist."""
        reply = self._send("GET", path, parameters)
        return None if self._is_missing(reply) else self._document(reply)

    def post(
        self, path: str, document: Mapping[str, Any], *, writes: bool = False, **parameters: str
    ) -> dict[str, Any]:
        """Send a document and return the answer."""
        try:
            body = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:
            raise invalid("triples", "contain a lone surrogate", hint="strings are Unicode text") from None
        if len(body) > MAX_BODY:
            problem = f"make a request of {len(body)} bytes, and {self.url} accepts {MAX_BODY}"
            raise invalid("triples", problem, hint="write fewer, or shorter ones, at once")
        return self._document(self._send("POST", path, parameters, body, writes=writes))

    def post_nothing(self, path: str) -> dict[str, Any]:
        """Send a request without a document and return the answer."""
        return self._document(self._send("POST", path, {}, writes=True))

    def delete(self, path: str, **parameters: str) -> bool:
        """Delete the resource at a path; returns whether it existed."""
        reply = self._send("DELETE", path, parameters, writes=True)
        if self._is_missing(reply):
            return False
        if reply.status != 204:
            self.check(reply)
            raise self.strange(f"answers a deletion with {reply.status}")
        reply.read(0)
        return True

    def check(self, reply: Reply) -> None:
        """Raise the error of a response, if it is one."""
        if 200 <= reply.status < 300:
            return
        body = reply.beginning(_MAX_ERROR)
        raise self._problem(reply.status, body)

    def strange(self, problem: str) -> GraphError:
        """Return the error for an invalid response."""
        return self.client.unavailable(problem, hint=_HINT)

    def _send(
        self, method: str, path: str, parameters: Mapping[str, str], body: bytes = b"", *, writes: bool = False
    ) -> Reply:
        query = f"?{urlencode(parameters)}" if parameters else ""
        headers = {"Accept": _JSON, **({"Content-Type": _JSON} if body else {})}
        return self.client.send(method, f"{self.url}/api/v1/{path}{query}", headers=headers, body=body, writes=writes)

    def _document(self, reply: Reply) -> dict[str, Any]:
        self.check(reply)
        if reply.media_type != _JSON:
            kind = excerpt(reply.media_type) or "no type"
            reply.close()
            raise self.strange(f"answers with {kind} instead of {_JSON}")
        document = _parsed(reply.read(_MAX_ANSWER))
        if not isinstance(document, dict):
            raise self.strange("returns something that is not a JSON object")
        return document

    def _is_missing(self, reply: Reply) -> bool:
        """Return whether this is the 404 of a missing id, and not of an unknown path."""
        if reply.status != 404:
            return False
        body = reply.beginning(_MAX_ERROR)
        if _error_document(body).get("code") != "not_found":
            raise self._problem(404, body)
        return True

    def _verdict(self, body: bytes) -> GraphError | None:
        error = _error_document(body)
        message = f"{self.url} reports: {_message(error)}"
        details = {"endpoint": self.url}
        if error.get("code") == "graph_busy":
            return GraphBusy(message, hint="try again later", details=details)
        if error.get("code") == "query_timeout":
            return QueryTimeout(message, hint="request less", details=details)
        return None

    def _problem(self, status: int, body: bytes) -> GraphError:
        if verdict := self._verdict(body):
            return verdict
        error = _error_document(body)
        code, message = error.get("code"), _message(error)
        reason = f": {message}" if message else ""
        if status == 400 and code == "invalid_arguments":
            field = error.get("details", {}).get("field") if isinstance(error.get("details"), dict) else None
            name = excerpt(field) if isinstance(field, str) and field else "triples"
            return invalid(name, f"is refused by {self.url}{reason}", hint=excerpt(str(error.get("hint", ""))))
        if status == 401:
            hint = "its token (`auth` of the store) is missing, unknown, expired or revoked"
            return self.client.unavailable(f"refuses the token: it answers 401{reason}", hint=hint)
        if status == 403:
            return self.client.unavailable(f"does not permit this: it answers 403{reason}", hint=_RIGHTS)
        if status == 404:
            hint = "the store must be `cortex-skills serve`, of this version: another Cortex keeps no records"
            return self.client.unavailable("lacks a path of the Cortex API: it answers 404", hint=hint)
        if status == 413:
            return invalid("triples", f"are too many for {self.url}{reason}", hint="write less at once")
        if status == 422 and code == "query_limit":
            return QueryLimit(f"{self.url} reports{reason}", hint="request less", details={"endpoint": self.url})
        return self.client.unavailable(f"answers {status}{reason}")


def error_of(reply: Reply) -> tuple[dict[str, Any], str]:
    """Return the error document of a response, and its message."""
    error = _error_document(reply.beginning(_MAX_ERROR))
    return error, _message(error)


def _parsed(body: bytes) -> Any:
    """Parse JSON; returns None for anything else."""
    try:
        return json.loads(body.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None


def _no_constant(word: str) -> Any:
    raise ValueError(word)


def _error_document(body: bytes) -> dict[str, Any]:
    document = _parsed(body)
    return document if isinstance(document, dict) else {}


def _message(error: Mapping[str, Any]) -> str:
    message = error.get("error")
    return excerpt(message) if isinstance(message, str) else ""
